//! How tests and examples open the bench of a problem.

use autocomp_catalog::{Problem, Target};
use autocomp_core::Seed;
use autocomp_eval::{Bench, EvalError, EvaluatorSettings, Family as _, Opening, Surroundings};
use autocomp_trainium_family::Trainium;
use std::path::PathBuf;
use std::sync::Arc;

/// Opens the bench of a problem on the default machine of `target`, with nothing remembered.
pub fn open(
    problem: &Problem,
    target: &Target,
    cache_folder: PathBuf,
    seed: u64,
    threads: usize,
) -> Result<Arc<dyn Bench>, EvalError> {
    let surroundings = Surroundings::installing(cache_folder, std::env::var_os("PATH"));
    let machine = &target.default_machine;
    open_in(problem, (target, machine), &surroundings, seed, threads)
}

/// Opens the bench of a problem on a machine of a target.
pub fn open_in(
    problem: &Problem,
    (target, machine): (&Target, &str),
    surroundings: &Surroundings,
    seed: u64,
    threads: usize,
) -> Result<Arc<dyn Bench>, EvalError> {
    Trainium.open(Opening {
        problem,
        target,
        machine,
        settings: EvaluatorSettings {
            use_cache: false,
            seed: Seed(seed),
            threads,
            max_instructions: None,
            experiments: false,
        },
        surroundings,
        progress: &mut |_| {},
    })
}
