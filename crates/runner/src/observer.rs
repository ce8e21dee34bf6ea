//! Observers: they see everything and decide nothing.

use autocomp_search::Progress;
use autocomp_store::Stored;
use std::time::Duration;

/// Tasks that are running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Running {
    /// Plans and drafts.
    pub proposals: usize,
    /// Evaluations.
    pub evaluations: usize,
}

/// Something changed.
#[derive(Clone, Debug)]
pub struct Notice<'a> {
    /// The event that was appended; absent if only tasks began, or when a
    /// session begins.
    pub event: Option<&'a Stored>,
    /// How far the run has come.
    pub progress: &'a Progress,
    /// What is running.
    pub running: Running,
    /// How long the run has been worked on, by all sessions.
    pub elapsed: Duration,
}

/// Sees a run while it is going on. Called from the dispatching task: it
/// should return at once.
pub trait Observer: Send {
    /// Tells of a change.
    fn notice(&mut self, notice: &Notice<'_>);
}

impl<F: FnMut(&Notice<'_>) + Send> Observer for F {
    fn notice(&mut self, notice: &Notice<'_>) {
        self(notice);
    }
}
