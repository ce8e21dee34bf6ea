//! Opens an evaluator: problem, target, machine, compiler.

use crate::commands::EVALUATOR;
use crate::environment::variables_of_evaluators;
use crate::error::CliError;
use crate::output::{Format, Output};
use crate::registry;
use crate::run_errors::eval_error;
use crate::workplace::{Workplace, WorkplaceOptions, catalog_error};
use autocomp_catalog::{Problem, Target};
use autocomp_core::{ContentHasher, Seed};
use autocomp_eval::isolation::{IsolatedEvaluator, Isolation, IsolationLimits, serve};
use autocomp_eval::{
    Bench as Measuring, CachePart, EvalError, Evaluator, EvaluatorSettings, FileStore, Opening,
};
use serde::{Deserialize, Serialize};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
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
    /// Evaluates in processes of their own, which kernels cannot take this one with.
    pub evaluator: Arc<dyn Evaluator>,
    /// The same evaluator in this process.
    pub direct: Arc<dyn Measuring>,
}

/// What a process that evaluates is told to open.
#[derive(Serialize, Deserialize)]
struct Setup {
    workplace: WorkplaceOptions,
    problem: String,
    machine: String,
    settings: EvaluatorSettings,
}

/// Returns the processes that evaluate for this one; none is started yet.
pub fn isolation() -> Isolation {
    let start = || {
        // This very program, even if another has taken its place on the disk.
        let mut command = Command::new("/proc/self/exe");
        command.arg0("autocomp").arg(EVALUATOR).env_clear();
        command.envs(variables_of_evaluators());
        Ok(command)
    };
    Isolation::new(Box::new(start), IsolationLimits::standard())
}

/// Evaluates for the process that started this one.
pub fn evaluate_for_parent() -> io::Result<()> {
    serve(io::stdin(), io::stdout(), |setup| {
        let open = || {
            let setup: Setup = serde_json::from_str(setup).map_err(CliError::internal)?;
            let mut workplace = Workplace::open(&setup.workplace)?;
            let machine = Some(setup.machine.as_str());
            // What there is to say was said by the parent.
            let output = Output {
                format: Format::Text,
            };
            Bench::open(
                &mut workplace,
                &setup.problem,
                machine,
                setup.settings,
                output,
            )
        };
        match open() {
            Ok(bench) => Ok(Box::new(bench.direct)),
            Err(error) => Err(EvalError::Environment {
                message: error.message,
                remedies: error.hints,
            }),
        }
    })
}

impl Bench {
    /// Says what makes the tests of the problem doubtful. What was found is kept in the
    /// cache folder, since right answers are needed for it.
    pub fn tell_doubts(&self, cache_folder: &Path, output: Output) -> Result<(), CliError> {
        let store = FileStore::new(cache_folder, CachePart::Answers);
        let mut hasher = ContentHasher::new("autocomp doubts");
        hasher.update(&self.direct.key("").0);
        let key = hasher.finish();
        let known = store.get(&key);
        let known = known.and_then(|bytes| serde_json::from_slice::<Vec<String>>(&bytes).ok());
        let doubts = match known {
            Some(doubts) => doubts,
            None => {
                let doubts = self.direct.doubts().map_err(|error| eval_error(&error))?;
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
        let direct = registry::family(&target)?
            .open(Opening {
                problem: &problem,
                target: &target,
                machine: &machine,
                settings: settings.clone(),
                surroundings: &workplace.surroundings(),
                progress: &mut |line| output.message(line),
            })
            .map_err(|error| match &error {
                // Whatever could not be done for want of a cache, that is the cause.
                EvalError::Environment { .. } => workplace
                    .check_cache()
                    .err()
                    .unwrap_or_else(|| eval_error(&error)),
                _ => eval_error(&error),
            })?;
        let setup = Setup {
            workplace: workplace.options_of_its_like(),
            problem: problem.name.clone(),
            machine: machine.clone(),
            settings,
        };
        let setup = serde_json::to_string(&setup).map_err(|error| {
            CliError::usage(format!(
                "a path on the command line cannot be used: {error}"
            ))
            .hint("name files and folders by paths in UTF-8")
        })?;
        let isolation = workplace.isolation.clone();
        Ok(Self {
            problem,
            target,
            machine,
            compiler: direct.compiler().to_owned(),
            evaluator: Arc::new(IsolatedEvaluator::new(isolation, direct.clone(), setup)),
            direct,
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
