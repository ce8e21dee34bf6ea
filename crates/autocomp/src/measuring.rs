//! Opens an evaluator: problem, target, machine, compiler.

use crate::error::CliError;
use crate::output::Output;
use crate::registry;
use crate::run_errors::eval_error;
use crate::workplace::{Workplace, catalog_error};
use autocomp_catalog::{Problem, Target};
use autocomp_core::Seed;
use autocomp_eval::{Bench as Measuring, EvaluatorSettings, Opening};
use std::sync::Arc;

/// A problem and what evaluates kernels for it.
pub struct Bench {
    /// What must be computed.
    pub problem: Problem,
    /// On what.
    pub target: Target,
    /// Machine measured on.
    pub machine: String,
    /// Compiler name and version.
    pub compiler: String,
    /// The evaluator.
    pub evaluator: Arc<dyn Measuring>,
}

impl Bench {
    /// Opens the evaluator of `problem`, on the target's default machine unless
    /// another is named. Finds or installs the compiler.
    pub fn open(
        workplace: &mut Workplace,
        problem: &str,
        machine: Option<&str>,
        settings: EvaluatorSettings,
        output: Output,
    ) -> Result<Self, CliError> {
        let problem = workplace.problem(problem)?;
        let target = workplace.target_of(&problem)?;
        let machine = machine.unwrap_or(&target.default_machine).to_owned();
        target.machine(Some(&machine)).map_err(catalog_error)?;
        let evaluator = registry::family(&target)?
            .open(Opening {
                problem: &problem,
                target: &target,
                machine: &machine,
                settings,
                surroundings: &workplace.surroundings(),
                progress: &mut |line| output.message(line),
            })
            .map_err(|error| eval_error(&error))?;
        Ok(Self {
            problem,
            target,
            machine,
            compiler: evaluator.compiler().to_owned(),
            evaluator,
        })
    }
}

/// Returns how kernels are evaluated; without `use_cache`, anew even if the
/// verdict is known.
pub fn evaluator_settings(use_cache: bool) -> EvaluatorSettings {
    EvaluatorSettings {
        use_cache,
        // The fresh inputs of a kernel follow from its content, so that equal
        // kernels get equal verdicts in every run.
        seed: Seed(0),
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        max_instructions: None,
        experiments: false,
    }
}
