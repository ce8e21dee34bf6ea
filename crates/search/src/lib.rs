//! Beam search as a pure state machine: events in, tasks out.
//!
//! [`Search`] folds the events of a run. From its state follow the tasks that
//! may run now ([`Search::ready`]) and the events that follow from what is
//! known and need no task ([`Search::due`]: an iteration opens or closes, a
//! draft repeats a known kernel, the run is finished). Whoever executes tasks
//! appends each event to the journal and applies it here; so resuming a run
//! is applying its journal.
//!
//! Deliberately absent: clocks, files, threads, and every source of randomness
//! but the seeds of tasks. Selection looks at complete iterations in key
//! order, so the course of a run does not depend on timing.

mod allotment;
mod attempt;
mod bandit;
mod bound;
mod confirming;
mod dropout;
mod equal;
mod error;
mod exhaustive;
mod iteration;
mod kinds;
mod last_polish;
mod lineage;
mod pareto;
mod progress;
mod search;
mod strategy;
mod task;

pub use allotment::{Allotment, allot};
pub use attempt::{Attempt, Kinship};
pub use bound::Bounding;
pub use dropout::menu_after_dropout;
pub use error::{ApplyError, SearchError};
pub use lineage::LineageStep;
pub use pareto::FrontEntry;
pub use progress::{BestKernel, Progress, ProposalCounts};
pub use search::{Candidate, Search};
pub use strategy::{Pool, REGISTRY, Strategy, strategy};
pub use task::Task;

/// Parts that `tests/suite` looks at one by one. Tests inside would have all of the crate
/// compiled a second time. No interface.
#[doc(hidden)]
pub mod inside {
    pub use crate::bandit::{Arms, MOST_COUNTED, Record, success_rate};
    pub use crate::exhaustive::{Turns, deal};
}
