//! How to execute: what may differ between two sessions of one run.

use autocomp_core::UsdMicros;
use std::time::Duration;

/// How a session executes tasks. Without influence on the course of the run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Evaluations at a time, at least 1.
    pub workers: usize,
    /// Plans and drafts at a time, at least 1. The rewriter uses a processor
    /// for each; models mostly wait.
    pub proposals: usize,
    /// When to stop, although the run is not finished.
    pub limits: Limits,
    /// How long running tasks may go on after a stop before they are abandoned.
    pub grace: Duration,
}

impl RunOptions {
    /// Returns options for `workers` evaluations at a time, without limits.
    #[must_use]
    pub fn new(workers: usize) -> Self {
        Self {
            workers,
            proposals: 16,
            limits: Limits::default(),
            grace: Duration::from_secs(10),
        }
    }
}

/// Caps that stop a session; the run can be resumed with higher ones. They
/// count what all sessions of the run have spent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Time worked on the run.
    pub max_wall: Option<Duration>,
    /// Money spent on models.
    pub max_cost: Option<UsdMicros>,
    /// Tokens of models: input, cached and output.
    pub max_tokens: Option<u64>,
}
