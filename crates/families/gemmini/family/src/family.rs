//! Gemmini behind the contract of families.

use crate::agreement;
use crate::evaluator::{Explained, GemminiEvaluator};
use crate::profile_text::sections;
use crate::simulator::{Programs, Suites};
use autocomp_c::C;
use autocomp_catalog::{Problem, Target};
use autocomp_core::{Cost, Language, Rewriter, Unit};
use autocomp_eval::profile::{Profile, Profiled};
use autocomp_eval::simulator::{Calibrated, ProgramSimulator};
use autocomp_eval::{Bench, EvalError, Family, Opening, doubts, read_machine};
use autocomp_gemmini_rewriter::{GemminiRewriter, HardwareLimits, Vocabulary};
use autocomp_gemmini_sim::MachineConfig;
use std::path::Path;
use std::sync::Arc;

/// The family of Gemmini accelerators beside a Rocket core.
#[derive(Debug)]
pub struct Gemmini;

/// Argument registers of the core (RISC-V calling convention: `a0` to `a7`).
const ARGUMENT_REGISTERS: usize = 8;

impl Family for Gemmini {
    fn name(&self) -> &'static str {
        "gemmini"
    }

    fn languages(&self) -> &'static [&'static dyn Language] {
        &[&C]
    }

    fn unit(&self) -> Unit {
        Unit::Cycles
    }

    fn check_target(&self, target: &Target) -> Result<(), EvalError> {
        target.machines.keys().try_for_each(|name| {
            let machine = machine_config(target, name)?;
            agreement::check(target, name, &machine.accelerator)
        })
    }

    fn open(&self, opening: Opening<'_>) -> Result<Arc<dyn Bench>, EvalError> {
        check_parameters(opening.problem)?;
        let surroundings = opening.surroundings;
        let toolchain = autocomp_toolchain::find_toolchain(surroundings, opening.progress)?;
        let evaluator = GemminiEvaluator::new(
            opening.problem,
            opening.target,
            Some(opening.machine),
            toolchain,
            &surroundings.cache_folder,
            opening.settings,
        )?;
        Ok(Arc::new(evaluator))
    }

    fn rewriter(
        &self,
        problem: &Problem,
        target: &Target,
        machine: &str,
    ) -> Result<Option<Arc<dyn Rewriter>>, EvalError> {
        let gemmini = machine_config(target, machine)?.accelerator;
        let limits = HardwareLimits::of(&gemmini);
        let mut vocabulary = Vocabulary::of(&limits);
        vocabulary.entry.clone_from(&problem.entry);
        vocabulary.signature.clone_from(&problem.signature);
        let library = target.runtime.get("gemmini_tiled.h");
        vocabulary.library = library
            .map(|text| String::from_utf8_lossy(text).into_owned())
            .unwrap_or_default();
        let rewriter = GemminiRewriter::new(limits).with_vocabulary(vocabulary);
        Ok(Some(Arc::new(rewriter)))
    }

    fn program_simulator(&self) -> Option<&'static dyn ProgramSimulator> {
        Some(&Programs)
    }

    fn calibrated(&self) -> Option<&'static dyn Calibrated> {
        Some(&Suites)
    }

    fn has_timelines(&self) -> bool {
        true
    }

    fn probe(&self) -> &'static str {
        "gemmini/gemm-512x512x512"
    }
}

/// Reads the description of a machine of `target`.
///
/// # Errors
/// [`EvalError::Input`] with the file and what is wrong in it.
pub fn machine_config(target: &Target, name: &str) -> Result<MachineConfig, EvalError> {
    read_machine(target, name, MachineConfig::from_toml)
}

impl Bench for GemminiEvaluator {
    fn doubts(&self) -> Result<Vec<String>, EvalError> {
        let (problem, cases) = self.known()?;
        let mut found = doubts::trivial_outputs(problem, cases);
        found.extend(doubts::too_little_work(problem));
        Ok(found)
    }

    fn compiler(&self) -> &str {
        &self.toolchain().name
    }

    fn compiler_program(&self) -> Option<&Path> {
        Some(self.toolchain().program())
    }

    fn engine(&self) -> &str {
        &self.engine.name
    }

    fn floor(&self) -> Cost {
        Cost::cycles(self.ideal)
    }

    fn profile(&self, source: &str) -> Result<Profiled, EvalError> {
        Ok(match self.explain(source)? {
            Explained::Failed(evaluation) => Profiled::Failed(evaluation),
            Explained::Right { profile, timeline } => Profiled::Right(Box::new(Profile {
                sections: sections(&profile),
                data: serde_json::to_value(&profile)
                    .map_err(|error| EvalError::Fault(error.to_string()))?,
                timeline: Some(timeline),
            })),
        })
    }
}

/// Refuses what a kernel cannot be called with: it gets the addresses of its buffers in the
/// registers of the calling convention.
fn check_parameters(problem: &Problem) -> Result<(), EvalError> {
    autocomp_eval::refuse_arguments(problem)?;
    let count = problem.buffers.len();
    if count <= ARGUMENT_REGISTERS {
        return Ok(());
    }
    Err(EvalError::Input {
        message: format!(
            "{} has {count} buffers; kernels of this target get {ARGUMENT_REGISTERS} at most, one in each argument register",
            problem.name
        ),
        remedies: vec!["put several tensors into one buffer".into()],
    })
}
