//! The evaluator of a platform behind the contract of families.

use crate::evaluator::{Explained, KernelEvaluator};
use crate::platform::Platform;
use autocomp_catalog::Problem;
use autocomp_core::{Cost, Unit};
use autocomp_eval::profile::{Profile, Profiled};
use autocomp_eval::{Bench, BenchFacts, EvalError, Evaluator as _, doubts};

/// Argument registers of the core (RISC-V calling convention: `a0` to `a7`).
const ARGUMENT_REGISTERS: usize = 8;

impl<P: Platform> Bench for KernelEvaluator<P> {
    fn doubts(&self) -> Result<Vec<String>, EvalError> {
        Ok(doubts::of_problem(self.problem(), self.known_cases()?))
    }

    fn facts(&self) -> BenchFacts {
        BenchFacts {
            key_base: self.evaluations.base(),
            identity: self.identity(),
            unit: Unit::Cycles,
            engine: self.platform().engine().to_owned(),
            tools: vec![self.toolchain().name.clone()],
            floor: Cost::cycles(self.ideal_cycles()),
            device: None,
        }
    }

    fn profile(&self, source: &str) -> Result<Profiled, EvalError> {
        Ok(match self.explain(source)? {
            Explained::Failed(evaluation) => Profiled::Failed(evaluation),
            Explained::Right { profile, timeline } => Profiled::Right(Box::new(Profile {
                sections: self.platform().sections(&profile),
                data: serde_json::to_value(&profile)
                    .map_err(|error| EvalError::Fault(error.to_string()))?,
                timeline,
            })),
        })
    }
}

/// Refuses what a kernel cannot be called with: it gets the addresses of its buffers in the
/// registers of the calling convention.
///
/// # Errors
/// [`EvalError::Input`] if the problem has arguments that its signature lacks, or too many
/// buffers.
pub fn check_parameters(problem: &Problem) -> Result<(), EvalError> {
    autocomp_eval::check_arguments(problem)?;
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
