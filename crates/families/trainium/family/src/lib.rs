//! Trainium behind the contract of families.

mod bench;
mod cost;
mod explanation;
mod figures;
mod language;
mod latencies;
mod neuron;
mod normal;
mod parameters;
mod sections;
mod timeline;

use std::collections::BTreeMap;
use std::sync::Arc;

use autocomp_catalog::{Problem, Target, Tolerance};
use autocomp_core::{Language, Rewriter, Seed, Unit};
use autocomp_eval::inputs::Case;
use autocomp_eval::simulator::Calibrated;
use autocomp_eval::{Bench, EvalError, Family, Opening};
use autocomp_measuring::DeviceFile as _;

use crate::neuron::NeuronBench;
use autocomp_trainium_rewriter::{InputShape, NkiRewriter, Trial};
use autocomp_trainium_sim::timing::Machine;
use autocomp_trainium_sim::{Array, Dialect, Input};
pub(crate) use bench::TrainiumBench;
pub use language::PythonNki;

/// The family of simulated NeuronCores.
#[derive(Debug)]
pub struct Trainium;

impl Family for Trainium {
    fn name(&self) -> &'static str {
        "trainium"
    }

    fn languages(&self) -> &'static [&'static dyn Language] {
        &[&PythonNki]
    }

    fn unit(&self, _target: &Target, _machine: &str) -> Result<Unit, EvalError> {
        Ok(Unit::Nanoseconds)
    }

    fn check_target(&self, target: &Target) -> Result<(), EvalError> {
        let mut names = target.machines.keys();
        names.try_for_each(|name| machine_of(target, name).map(|_| ()))
    }

    fn open(&self, opening: Opening<'_>) -> Result<Arc<dyn Bench>, EvalError> {
        let target = opening.target;
        match device_of(target, opening.machine)? {
            Some(settings) => Ok(Arc::new(NeuronBench::open(opening, settings)?)),
            None => Ok(Arc::new(TrainiumBench::open(opening)?)),
        }
    }

    fn rewriter(
        &self,
        problem: &Problem,
        target: &Target,
        machine: &str,
    ) -> Result<Option<Arc<dyn Rewriter>>, EvalError> {
        let machine = machine_of(target, machine)?;
        // Shapes suffice.
        let given = parameters::given(problem, |_, it| parameters::array(it, Vec::new()));
        let mut inputs = Vec::new();
        let mut arguments = Vec::new();
        for (name, input) in given {
            match input {
                Input::Array(Array { dtype, shape, .. }) => {
                    inputs.push(InputShape { name, dtype, shape });
                }
                other => arguments.push((name, other)),
            }
        }
        let tolerance = match problem.tolerance {
            Tolerance::Exact {} => 0.0,
            Tolerance::Close { relative, .. } => relative,
        };
        let mut rewriter =
            NkiRewriter::new(&problem.entry, inputs, machine, tolerance).with_arguments(arguments);
        rewriter = match trial(problem) {
            Some(trial) => rewriter.with_trial(trial),
            None => rewriter,
        };
        Ok(Some(Arc::new(rewriter)))
    }

    fn calibrated(&self) -> Option<&'static dyn Calibrated> {
        Some(&latencies::Latencies)
    }

    fn has_timelines(&self) -> bool {
        true
    }

    fn figures(
        &self,
        target: &Target,
        machine: &str,
    ) -> Result<BTreeMap<String, String>, EvalError> {
        let machine = machine_of(target, machine)?;
        Ok(figures::figures(&machine))
    }

    fn probe(&self) -> &'static str {
        "trainium/rmsnorm"
    }
}

/// What tells which roundings a problem tolerates: its own kernel on inputs of its sets. None where
/// nothing may be off, or where it has no kernel.
fn trial(problem: &Problem) -> Option<Trial> {
    let Tolerance::Close { relative, absolute } = problem.tolerance else {
        return None;
    };
    let kernel = problem.kernel("baseline").ok()?.to_owned();
    let within = Tolerance::Close {
        relative: Trial::SHARE * relative,
        absolute: Trial::SHARE * absolute,
    };
    let compared = problem.clone();
    let is_close =
        move |found: &[Array], right: &[Array]| bench::are_right(&compared, found, right, within);
    let problem = problem.clone();
    let draw = move || {
        let seed = Seed(0).derive("roundings");
        let sets = problem.input_sets.iter();
        let inputs = sets.map(|set| {
            let case = Case::draw(&problem, set, seed);
            bench::inputs(&problem, &case)
        });
        inputs.collect()
    };
    Some(Trial::new(kernel, draw, is_close))
}

/// The settings of a real device; none for a simulated machine.
fn device_of(target: &Target, name: &str) -> Result<Option<neuron::Settings>, EvalError> {
    autocomp_eval::read_machine(target, name, neuron::Settings::parse)
}

/// Reads the description of a machine of `target`; of a real device, the simulated machine that
/// stands for it.
fn machine_of(target: &Target, name: &str) -> Result<Machine, EvalError> {
    let simulated = device_of(target, name)?.map(|device| device.simulated);
    let named = simulated.as_deref().unwrap_or(name);
    let machine = autocomp_eval::read_machine(target, named, |text| {
        Machine::parse(text).map_err(|failure| failure.message)
    })?;
    let dialect = dialect_of(&machine);
    Ok(machine.for_dialect(dialect))
}

/// The dialect of kernels: "This document is relevant for: Trn2, Trn3", says each page of the
/// second.
fn dialect_of(machine: &Machine) -> Dialect {
    match machine.generation {
        ..3 => Dialect::V1,
        _ => Dialect::V2,
    }
}

/// Parts that `tests/suite` looks at one by one. Tests inside would have all of the crate
/// compiled a second time. No interface.
#[doc(hidden)]
pub mod inside {
    pub use crate::explanation::SENTENCES;
    pub use crate::neuron::summary::parse;
    pub use crate::normal::normal_form;
}
