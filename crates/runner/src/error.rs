//! What can go wrong besides candidates and proposers.

use autocomp_search::{ApplyError, SearchError};
use autocomp_store::StoreError;

/// A run cannot be started, continued or read. What the journal holds is safe.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The run folder.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The settings or the events of the run.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// A resumed run would be measured with another ruler.
    #[error(
        "the run was evaluated with another problem, target, evaluator or compiler than there is now (its compiler: {compiler})"
    )]
    EvaluatorChanged {
        /// Compiler of the run.
        compiler: String,
    },
    /// A bound of a run would become lower.
    #[error("the run goes on until `{name} = {before}`, and cannot be shortened to {asked}")]
    Shortened {
        /// The setting.
        name: &'static str,
        /// Its value.
        before: u32,
        /// The value asked for.
        asked: u32,
    },
    /// An extended run would have nothing to do.
    #[error("the run would end again at once: {reason}")]
    EndsAtOnce {
        /// Why.
        reason: String,
    },
    /// A record in a blob cannot be understood.
    #[error("the plan of task {task} cannot be understood: {reason}")]
    BadPlan {
        /// The task.
        task: String,
        /// What is wrong.
        reason: String,
    },
    /// The search waits for something, but offers no task.
    #[error("the search has come to a standstill in iteration {iteration}; this is a bug")]
    Standstill {
        /// The open iteration.
        iteration: u32,
    },
}

impl RunError {
    /// Returns what the user can do.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            Self::Store(error) => error.remedy(),
            Self::Search(SearchError::Setting(_) | SearchError::UnknownStrategy { .. }) => {
                "change the setting in the flags or the settings file".to_owned()
            }
            Self::Search(SearchError::EmptyMenu) => {
                "add at least the item `other` to the target's menu.toml".to_owned()
            }
            Self::Search(_) | Self::BadPlan { .. } => {
                "start the run anew with the same seed in another folder".to_owned()
            }
            Self::EvaluatorChanged { .. } => {
                "restore the problem, the target and the compiler of the run, or start a new run"
                    .to_owned()
            }
            Self::Shortened { .. } => {
                "ask for more than before, or leave the flag out; a running one is stopped with Ctrl-C"
                    .to_owned()
            }
            Self::EndsAtOnce { .. } => {
                "raise the bound that ended it, or start a new run from it with `--from`".to_owned()
            }
            Self::Standstill { .. } => "report it with the run folder".to_owned(),
        }
    }
}

impl From<ApplyError> for RunError {
    fn from(error: ApplyError) -> Self {
        Self::Search(error.into())
    }
}
