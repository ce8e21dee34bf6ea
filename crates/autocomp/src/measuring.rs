//! Opens an evaluator: problem, target, machine, compiler.

use crate::error::CliError;
use crate::output::Output;
use crate::registry;
use crate::run_errors::eval_error;
use crate::workplace::{Workplace, catalog_error};
use autocomp_catalog::{Problem, Target};
use autocomp_core::{ContentHasher, Seed};
use autocomp_eval::isolation::IsolatedBench;
use autocomp_eval::{
    Bench as _, BenchFacts, CachePart, EvalError, EvaluatorSettings, FileStore, Setup,
};
use std::path::Path;
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
    /// What is known of who evaluates.
    pub facts: BenchFacts,
    /// Evaluates in processes of their own, which kernels cannot take this one with.
    pub evaluator: Arc<IsolatedBench>,
}

impl Bench {
    /// Says what makes the tests of the problem doubtful. What was found is kept in the
    /// cache folder, since right answers are needed for it.
    pub fn tell_doubts(&self, cache_folder: &Path, output: Output) -> Result<(), CliError> {
        let store = FileStore::new(cache_folder, CachePart::Answers);
        let mut hasher = ContentHasher::new("autocomp doubts");
        hasher.update(&self.facts.key("").0);
        let key = hasher.finish();
        let known = store.get(&key);
        let known = known.and_then(|bytes| serde_json::from_slice::<Vec<String>>(&bytes).ok());
        let doubts = match known {
            Some(doubts) => doubts,
            None => {
                let doubts = self
                    .evaluator
                    .doubts()
                    .map_err(|error| eval_error(&error))?;
                store.put(&key, &serde_json::to_vec(&doubts).unwrap_or_default());
                doubts
            }
        };
        for doubt in doubts {
            output.message(format!("warning: {doubt}"));
        }
        Ok(())
    }

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
        Self::of(workplace, problem, machine, settings, output)
    }

    /// Opens the evaluator of a problem that was loaded already.
    pub fn of(
        workplace: &Workplace,
        problem: Problem,
        machine: Option<&str>,
        settings: EvaluatorSettings,
        output: Output,
    ) -> Result<Self, CliError> {
        let target = workplace.target_of(&problem)?;
        let machine = machine.unwrap_or(&target.default_machine).to_owned();
        target.machine(Some(&machine)).map_err(catalog_error)?;
        let setup = Setup {
            problem,
            target,
            machine,
            settings,
            tools: workplace.wanted_tools(),
        };
        let text = serde_json::to_string(&setup).map_err(|error| {
            CliError::usage(format!(
                "a path on the command line cannot be used: {error}"
            ))
            .hint("name files and folders by paths in UTF-8")
        })?;
        let evaluator = IsolatedBench::open(
            workplace.isolation.clone(),
            text,
            registry::language(&setup.target)?,
            &mut |line| output.message(line),
        )
        .map_err(|error| match &error {
            // Whatever could not be done for want of a cache, that is the cause.
            EvalError::Environment { .. } => workplace
                .check_cache()
                .err()
                .unwrap_or_else(|| eval_error(&error)),
            _ => eval_error(&error),
        })?;
        let facts = evaluator.facts();
        Ok(Self {
            problem: setup.problem,
            target: setup.target,
            machine: setup.machine,
            compiler: facts.compiler(),
            facts,
            evaluator: Arc::new(evaluator),
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
