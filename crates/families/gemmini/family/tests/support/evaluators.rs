//! Evaluators that tests make, each with the compiler that all of them share.

use crate::support;
use autocomp_catalog::{Problem, Target};
use autocomp_core::Seed;
use autocomp_eval::EvaluatorSettings;
use autocomp_gemmini_family::GemminiEvaluator;
use std::path::Path;

/// Every kernel is evaluated anew, on one thread.
pub const UNCACHED: EvaluatorSettings = EvaluatorSettings {
    use_cache: false,
    seed: Seed(1),
    threads: 1,
    max_instructions: None,
    experiments: false,
};

/// Returns an evaluator for `problem` on the default machine of `target`.
pub fn evaluator_for(
    problem: &Problem,
    target: &Target,
    cache: &Path,
    settings: EvaluatorSettings,
) -> GemminiEvaluator {
    let toolchain = support::toolchain();
    autocomp_gemmini_family::evaluator(problem, target, None, toolchain, cache, settings)
        .expect("an evaluator")
}
