//! Trainium behind the contract of families.

mod bench;
mod language;
mod timeline;

use std::sync::Arc;

use autocomp_catalog::{Problem, Role, Target, Tolerance};
use autocomp_core::{Language, Rewriter, Unit};
use autocomp_eval::{Bench, EvalError, Family, Opening};

use crate::rewriter::{InputShape, NkiRewriter};
use crate::tensor::dtype::Dtype;
use crate::timing::Machine;
use bench::TrainiumBench;
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

    fn unit(&self) -> Unit {
        Unit::Nanoseconds
    }

    fn check_target(&self, target: &Target) -> Result<(), EvalError> {
        let mut names = target.machines.keys();
        names.try_for_each(|name| machine_of(target, name).map(|_| ()))
    }

    fn open(&self, opening: Opening<'_>) -> Result<Arc<dyn Bench>, EvalError> {
        Ok(Arc::new(TrainiumBench::open(opening)?))
    }

    fn rewriter(
        &self,
        problem: &Problem,
        target: &Target,
        machine: &str,
    ) -> Result<Option<Arc<dyn Rewriter>>, EvalError> {
        let machine = machine_of(target, machine)?;
        let read = problem.buffers.iter().filter(|it| it.role != Role::Output);
        let inputs = read.map(|it| InputShape {
            name: it.name.clone(),
            dtype: Dtype::parse(it.dtype.name()).unwrap_or(Dtype::Float32),
            shape: it.shape.iter().map(|extent| *extent as usize).collect(),
        });
        let tolerance = match problem.tolerance {
            Tolerance::Exact {} => 0.0,
            Tolerance::Close { relative, .. } => relative,
        };
        Ok(Some(Arc::new(NkiRewriter::new(
            &problem.entry,
            inputs.collect(),
            machine,
            tolerance,
        ))))
    }

    fn probe(&self) -> &'static str {
        "trainium/rmsnorm"
    }
}

/// Reads the description of a machine of `target`.
fn machine_of(target: &Target, name: &str) -> Result<Machine, EvalError> {
    let unusable = |message: String| EvalError::Input {
        message,
        remedies: vec![format!(
            "correct machines/{name}.toml in the folder of target {}",
            target.name
        )],
    };
    let text = target
        .machine(Some(name))
        .map_err(|error| unusable(error.to_string()))?;
    Machine::parse(text).map_err(|failure| {
        unusable(format!(
            "machine {name} of target {}: {}",
            target.name, failure.message
        ))
    })
}
