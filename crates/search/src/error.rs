//! What can be wrong with a run.

use autocomp_core::{EVENT_FORMAT, SettingError, TaskKey};

/// A run cannot be searched.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// A setting is out of range.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// There is no strategy of that name.
    #[error("there is no strategy `{name}`; there are: {}", known.join(", "))]
    UnknownStrategy {
        /// The name asked for.
        name: String,
        /// All names.
        known: Vec<&'static str>,
    },
    /// The menu has no item.
    #[error("the optimization menu is empty")]
    EmptyMenu,
    /// The events were written by a newer program.
    #[error(
        "the run has events of format {found}, but this program knows formats up to {EVENT_FORMAT}; use the program that made the run, or a newer one"
    )]
    NewerFormat {
        /// The format of the run.
        found: u32,
    },
    /// The first event does not start the run.
    #[error("the first event does not start a run")]
    NotStarted,
    /// An event does not fit the state.
    #[error(transparent)]
    Apply(#[from] ApplyError),
}

/// An event does not follow from the events before it: the journal is not
/// what a run wrote, or it was put together from two.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the event `{event}`{} does not fit the run: {reason}", key.map(|key| format!(" of task {key}")).unwrap_or_default())]
pub struct ApplyError {
    /// The kind of the event.
    pub event: &'static str,
    /// Its task, if it has one.
    pub key: Option<TaskKey>,
    /// What does not fit.
    pub reason: &'static str,
}
