//! Events: everything that happens in a run, in a form that is kept for ever.
//!
//! A run is a fold over its events. They are appended to the journal in the
//! order in which they happen, which depends on timing; their *canonical
//! history* ([`canonical_history`]) does not: it is the same for any number of
//! workers, and whether or not the run was interrupted.
//!
//! Texts (kernels, plans, prompts, replies) are not in events but in blobs,
//! named by content hash.

mod ending;
mod history;
mod iteration;
mod proposal;
mod start;
mod verdict;

pub use ending::{Extended, FinishReason, Finished, Resumed, StopReason, Stopped};
pub use history::canonical_history;
pub use iteration::{IterationClosed, IterationOpened, NewCandidate, PlanKind};
pub use proposal::{
    DraftRecord, Drafted, ExchangeRecord, Ideas, PlanRecord, Planned, Proposal, Reserved,
};
pub use start::{Confirmer, RunStarted, TakenKernel};
pub use verdict::{Confirmed, Evaluated};

use crate::hash::ContentHash;
use crate::ids::TaskKey;
use serde::{Deserialize, Serialize};

/// Version of the serialised form of [`Event`]. Raised when a field is added
/// that older readers must not ignore, or when a meaning changes.
pub const EVENT_FORMAT: u32 = 5;

/// Something that happened in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[allow(
    clippy::large_enum_variant,
    reason = "the large one begins a run, and there is one of it"
)]
#[non_exhaustive]
pub enum Event {
    /// The run was created. Always the first event, exactly once.
    Started(RunStarted),
    /// A process took the run up again.
    Resumed(Resumed),
    /// An iteration began: who the parents are, and which slots may be filled.
    IterationOpened(IterationOpened),
    /// A call of a model is about to be sent.
    Reserved(Reserved),
    /// A task ended that writes menu items for a kernel.
    Ideas(Ideas),
    /// A plan task ended.
    Planned(Planned),
    /// A draft task or a repair task ended.
    Drafted(Drafted),
    /// An evaluation ended; also recorded for every later draft with the same source.
    Evaluated(Evaluated),
    /// An iteration is complete, and its survivors are chosen.
    IterationClosed(IterationClosed),
    /// One of the best kernels was evaluated once more.
    Confirmed(Confirmed),
    /// The run stopped before its end and can be resumed.
    Stopped(Stopped),
    /// The run came to its end. The last event, unless the run is extended.
    Finished(Finished),
    /// The run may go on further than it was started for.
    Extended(Extended),
}

impl Event {
    /// Returns the name of the kind of event, as serialised.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Started(_) => "started",
            Self::Resumed(_) => "resumed",
            Self::IterationOpened(_) => "iteration_opened",
            Self::Reserved(_) => "reserved",
            Self::Ideas(_) => "ideas",
            Self::Planned(_) => "planned",
            Self::Drafted(_) => "drafted",
            Self::Evaluated(_) => "evaluated",
            Self::IterationClosed(_) => "iteration_closed",
            Self::Confirmed(_) => "confirmed",
            Self::Stopped(_) => "stopped",
            Self::Finished(_) => "finished",
            Self::Extended(_) => "extended",
        }
    }

    /// Returns the task that ended, if the event tells of one.
    #[must_use]
    pub fn key(&self) -> Option<TaskKey> {
        match self {
            Self::Ideas(ideas) => Some(ideas.key),
            Self::Planned(planned) => Some(planned.key),
            Self::Drafted(drafted) => Some(drafted.key),
            Self::Evaluated(evaluated) => Some(evaluated.key),
            Self::Confirmed(confirmed) => Some(confirmed.key),
            _ => None,
        }
    }

    /// Returns the calls of models that the event accounts for.
    #[must_use]
    pub fn exchanges(&self) -> &[ExchangeRecord] {
        match self {
            Self::Ideas(ideas) => &ideas.exchanges,
            Self::Planned(planned) => &planned.exchanges,
            Self::Drafted(drafted) => &drafted.exchanges,
            Self::Stopped(stopped) => &stopped.exchanges,
            _ => &[],
        }
    }

    /// Returns the blobs that the event refers to.
    #[must_use]
    pub fn blobs(&self) -> Vec<ContentHash> {
        let mut blobs = Vec::new();
        match self {
            Self::Started(started) => {
                blobs.push(started.baseline);
                for kernel in &started.taken {
                    blobs.extend([kernel.source, kernel.plan.plan]);
                }
                blobs.extend(started.reused.iter().map(|record| record.plan));
                blobs.extend(started.spec);
            }
            Self::Planned(Planned {
                result: Proposal::Made(record),
                ..
            }) => blobs.push(record.plan),
            Self::Drafted(Drafted {
                result: Proposal::Made(record),
                ..
            }) => {
                blobs.push(record.source);
            }
            Self::Evaluated(evaluated) => blobs.push(evaluated.source),
            Self::Confirmed(confirmed) => blobs.push(confirmed.source),
            _ => {}
        }
        for exchange in self.exchanges() {
            blobs.push(exchange.prompt);
            blobs.push(exchange.reply);
        }
        blobs
    }
}
