//! How evaluators work.

use autocomp_core::Seed;
use serde::{Deserialize, Serialize};

/// How an evaluator works.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvaluatorSettings {
    /// Whether results of earlier evaluations are taken from the cache.
    pub use_cache: bool,
    /// Seed of the inputs that differ from kernel to kernel.
    pub seed: Seed,
    /// Threads that all evaluations and computations of right answers at one
    /// time are meant to keep busy. Every evaluation takes one, and a second one
    /// if it is free, to test and to time the kernel at once; verdicts are the
    /// same with any number.
    pub threads: usize,
    /// Instructions that a call may take; derived from the problem if absent.
    pub max_instructions: Option<u64>,
    /// Whether the feedback on a right kernel is made by experiments on
    /// machines without one of their costs, which takes a few times as long:
    /// right for those who think for seconds about what they read.
    pub experiments: bool,
}
