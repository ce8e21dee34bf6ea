//! How a session ended.

use autocomp_core::{FinishReason, StopReason};
use autocomp_search::Progress;
use std::time::Duration;

/// Why a session stopped before the run's end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The class.
    pub reason: StopReason,
    /// The same for people.
    pub message: String,
    /// What the user can do, one line each.
    pub remedies: Vec<String>,
}

/// How a session ended.
#[derive(Clone, Debug)]
pub struct RunEnd {
    /// Why the run is finished, if it is.
    pub finish: Option<FinishReason>,
    /// Why the session stopped, if the run is not finished. It can be resumed.
    pub stop: Option<Stop>,
    /// How far the run has come.
    pub progress: Progress,
    /// How long the run has been worked on, by all sessions.
    pub elapsed: Duration,
}
