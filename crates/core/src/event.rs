//! Events: everything that happens in a run, in a form that is kept for ever.
//!
//! A run is a fold over its events. They are appended to the journal in the
//! order in which they happen, which depends on timing; their *canonical
//! history* ([`canonical_history`]) does not: it is the same for any number of
//! workers, and whether or not the run was interrupted.
//!
//! Texts (kernels, plans, prompts, replies) are not in events but in blobs,
//! named by content hash.

use crate::cost::Cost;
use crate::evaluation::{Evaluation, Outcome};
use crate::hash::ContentHash;
use crate::ids::{CandidateId, TaskKey};
use crate::menu::MenuItem;
use crate::plan::Usage;
use crate::quantity::Seed;
use crate::settings::SearchSettings;
use serde::{Deserialize, Serialize};

/// Version of the serialised form of [`Event`]. Raised when a field is added
/// that older readers must not ignore, or when a meaning changes.
pub const EVENT_FORMAT: u32 = 3;

/// Something that happened in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
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
    /// A plan task ended.
    Planned(Planned),
    /// A draft task or a repair task ended.
    Drafted(Drafted),
    /// An evaluation ended; also recorded for every later draft with the same source.
    Evaluated(Evaluated),
    /// An iteration is complete, and its survivors are chosen.
    IterationClosed(IterationClosed),
    /// The run stopped before its end and can be resumed.
    Stopped(Stopped),
    /// The run came to its end. The last event, unless the run is extended.
    Finished(Finished),
    /// The run may go on further than it was started for.
    Extended(Extended),
}

/// What a run is: everything that its course depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunStarted {
    /// Version of the events' serialised form, [`EVENT_FORMAT`].
    pub format: u32,
    /// Version of the program that created the run.
    pub program: String,
    /// Name of the target (its folder).
    pub target: String,
    /// Name of the problem (with its group, `GROUP/gemm-512x512x512`).
    pub problem: String,
    /// Hash of everything that decides the verdict on a kernel besides the
    /// kernel itself (problem, target, evaluator, compiler). A resumed run
    /// whose evaluator has another identity is refused.
    pub evaluator: ContentHash,
    /// Compiler name and version.
    pub compiler: String,
    /// Names of the proposers, in the order given.
    pub proposers: Vec<String>,
    /// Seed of all random streams.
    pub seed: Seed,
    /// How to search.
    pub settings: SearchSettings,
    /// The whole menu, before dropout.
    pub menu: Vec<MenuItem>,
    /// Source of the baseline kernel.
    pub baseline: ContentHash,
    /// Kernels of another run that the search begins with beside the baseline.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taken: Vec<TakenKernel>,
    /// The schedule of another run, in order, that the first iterations replay beside
    /// their search: a step in each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reused: Vec<PlanRecord>,
    /// The effective settings of the program as text, if kept (a TOML file).
    /// Not part of the canonical history: it may name workers and folders.
    #[serde(default)]
    pub spec: Option<ContentHash>,
}

/// A kernel of another run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakenKernel {
    /// Blob that holds its source.
    pub source: ContentHash,
    /// How it came about, in the form of a plan that led to it from the baseline.
    pub plan: PlanRecord,
}

/// The run may go on further than it was started for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extended {
    /// The iteration that was opened last; 0 before the first.
    pub iteration: u32,
    /// Whether the run had come to its end.
    pub after_end: bool,
    /// Iterations at most, from now on.
    pub iterations: u32,
    /// Distinct kernels evaluated at most, from now on; absent for no bound.
    pub max_evaluations: Option<u32>,
    /// Iterations without a gain after which the run ends, from now on, counted anew.
    pub patience: u32,
}

/// A process took the run up again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resumed {
    /// Version of the program.
    pub program: String,
}

/// An iteration began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IterationOpened {
    /// Iteration, from 1.
    pub iteration: u32,
    /// The parent at each place of the beam. One kernel may hold several places.
    pub parents: Vec<CandidateId>,
    /// `slots[parent][plan]`: how many drafts the plan may have. A plan
    /// without drafts is not listed.
    pub slots: Vec<Vec<u32>>,
    /// How many attempts at repairing it each draft may have; those of polish
    /// have none.
    #[serde(default)]
    pub repairs: u32,
    /// `kinds[parent][plan]`: what each plan is for; empty if all are steps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<Vec<PlanKind>>,
}

/// What a plan is for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanKind {
    /// One change, chosen from the menu of steps.
    #[default]
    Step,
    /// A menu item for which the plan is set aside.
    Reserved {
        /// Its identifier.
        item: String,
        /// The second kernel, if it is about two.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        other: Option<CandidateId>,
    },
    /// A change by the rewriter, beside those of the proposer.
    Polish {
        /// Which of those for this kernel in this iteration, from 0.
        number: u32,
    },
    /// A step of the schedule of another run.
    Reused {
        /// Index into [`RunStarted::reused`].
        step: u32,
    },
}

/// A call of a model is about to be sent: written before it, so that its cost
/// is known even if the process does not live to see the reply. The
/// [`ExchangeRecord`] with the same number settles it; one that no process is
/// left to settle counts in full.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reserved {
    /// Its number within the run, from 0, without gaps.
    pub reservation: u64,
    /// Model string.
    pub model: String,
    /// What is asked for: phase and task.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// The most that the call may use.
    pub most: Usage,
}

/// A plan task ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Planned {
    /// The task.
    pub key: TaskKey,
    /// The plan, or why there is none.
    pub result: Proposal<PlanRecord>,
    /// Calls of models made for it.
    #[serde(default)]
    pub exchanges: Vec<ExchangeRecord>,
}

/// A draft task or a repair task ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drafted {
    /// The task.
    pub key: TaskKey,
    /// The draft, or why there is none.
    pub result: Proposal<DraftRecord>,
    /// Calls of models made for it.
    #[serde(default)]
    pub exchanges: Vec<ExchangeRecord>,
}

/// What a proposer gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Proposal<T> {
    /// Something.
    Made(T),
    /// Nothing to propose here; not a fault.
    Nothing {
        /// Why, for people.
        message: String,
    },
    /// The attempt failed. An error text is never a plan or a draft.
    Failed {
        /// What happened, without secrets.
        message: String,
    },
}

/// A plan by reference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanRecord {
    /// The chosen menu item.
    pub menu_item: String,
    /// Who made it.
    pub proposer: String,
    /// Blob that holds the whole [`Plan`](crate::Plan) as JSON.
    pub plan: ContentHash,
}

/// A draft by reference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DraftRecord {
    /// Who made it.
    pub proposer: String,
    /// Blob that holds the kernel source.
    pub source: ContentHash,
}

/// One call of a model, texts by reference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExchangeRecord {
    /// Model string.
    pub model: String,
    /// Blob that holds the exact prompt.
    pub prompt: ContentHash,
    /// Blob that holds the exact reply.
    pub reply: ContentHash,
    /// The error, if the call failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What it used.
    pub usage: Usage,
    /// The provider did not tell what it used: tokens and cost are a careful guess.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cost_is_estimate: bool,
    /// Wall time in milliseconds. Not part of the canonical history.
    pub latency_ms: u64,
    /// The number of the [`Reserved`] that it settles; absent in runs of older
    /// programs. Not part of the canonical history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reservation: Option<u64>,
}

/// An evaluation ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluated {
    /// The task; [`TaskKey::BASELINE`] for the baseline.
    pub key: TaskKey,
    /// Blob that holds the kernel source.
    pub source: ContentHash,
    /// What happened to it.
    pub evaluation: Evaluation,
}

/// An iteration is complete.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IterationClosed {
    /// Iteration, from 1.
    pub iteration: u32,
    /// Correct kernels that were new in this iteration, in the order of their ids.
    pub candidates: Vec<NewCandidate>,
    /// The survivors: parents of the next iteration, best first.
    pub beam: Vec<CandidateId>,
    /// Distinct kernels evaluated so far, the baseline included.
    pub evaluations: u32,
}

/// A correct kernel gets its number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewCandidate {
    /// The number.
    pub id: CandidateId,
    /// The evaluate task that it came from: the first in key order, if several
    /// drafts had this source.
    pub key: TaskKey,
    /// The kernel it was made from.
    pub parent: CandidateId,
    /// Blob that holds the kernel source.
    pub source: ContentHash,
    /// The ranking figure.
    #[serde(alias = "cycles")]
    pub cost: Cost,
}

/// Why a run stopped before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// The user asked for it.
    Interrupted,
    /// The wall time is spent.
    WallTime,
    /// The money or the tokens are spent.
    Cost,
    /// The proposers can make no further call.
    Exhausted,
    /// The environment does not allow to evaluate.
    Environment,
    /// A file of the problem is unusable.
    Input,
    /// The evaluator contradicts itself.
    Fault,
}

impl StopReason {
    /// Returns the serialised name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Interrupted => "interrupted",
            Self::WallTime => "wall_time",
            Self::Cost => "cost",
            Self::Exhausted => "exhausted",
            Self::Environment => "environment",
            Self::Input => "input",
            Self::Fault => "fault",
        }
    }
}

/// The run stopped before its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stopped {
    /// Why.
    pub reason: StopReason,
    /// The same for people, with the remedy.
    pub message: String,
    /// Calls of models that were made for tasks that did not end.
    #[serde(default)]
    pub exchanges: Vec<ExchangeRecord>,
}

/// Why a run came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FinishReason {
    /// All iterations are done.
    Iterations,
    /// All evaluations allowed are done.
    Evaluations,
    /// No better kernel for as many iterations as patience lasts.
    Stalled,
    /// The best kernel is close enough to the peak.
    PercentOfPeak,
    /// The best kernel costs what no right kernel can be below.
    Floor,
    /// The baseline is not correct, so there is nothing to start from.
    BaselineFailed,
}

impl FinishReason {
    /// Returns the serialised name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Iterations => "iterations",
            Self::Evaluations => "evaluations",
            Self::Stalled => "stalled",
            Self::PercentOfPeak => "percent_of_peak",
            Self::Floor => "floor",
            Self::BaselineFailed => "baseline_failed",
        }
    }

    /// Returns the same in words, for a run with these settings.
    #[must_use]
    pub fn text(self, settings: &SearchSettings) -> String {
        match self {
            Self::Iterations => format!("budget: all {} iterations are done", settings.iterations),
            Self::Evaluations => format!(
                "budget: all {} evaluations are done",
                settings.max_evaluations.unwrap_or_default()
            ),
            Self::Stalled => {
                let iterations = match settings.patience {
                    1 => "1 iteration".to_owned(),
                    n => format!("{n} iterations"),
                };
                let gain = match settings.least_gain {
                    0.0 => "no gain".to_owned(),
                    // Of a share such as 0.005, without digits that it has not.
                    least => format!("no gain of {} %", (least * 1e8).round() / 1e6),
                };
                format!("stalled: {gain} in {iterations}")
            }
            Self::PercentOfPeak => format!(
                "done: the best kernel has the {} % of peak that were asked for",
                settings.stop_at_percent_of_peak.unwrap_or_default()
            ),
            Self::Floor => {
                "at the floor: no right kernel can cost less than the best one".to_owned()
            }
            Self::BaselineFailed => "the kernel to start from is not correct".to_owned(),
        }
    }
}

/// The run came to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finished {
    /// Why.
    pub reason: FinishReason,
    /// The best kernel, unless the baseline failed.
    pub best: Option<CandidateId>,
    /// Cost of the best kernel.
    #[serde(default, alias = "best_cycles")]
    pub best_cost: Option<Cost>,
    /// Distinct kernels evaluated, the baseline included.
    pub evaluations: u32,
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
            Self::Planned(_) => "planned",
            Self::Drafted(_) => "drafted",
            Self::Evaluated(_) => "evaluated",
            Self::IterationClosed(_) => "iteration_closed",
            Self::Stopped(_) => "stopped",
            Self::Finished(_) => "finished",
            Self::Extended(_) => "extended",
        }
    }

    /// Returns the task that ended, if the event tells of one.
    #[must_use]
    pub fn key(&self) -> Option<TaskKey> {
        match self {
            Self::Planned(planned) => Some(planned.key),
            Self::Drafted(drafted) => Some(drafted.key),
            Self::Evaluated(evaluated) => Some(evaluated.key),
            _ => None,
        }
    }

    /// Returns the calls of models that the event accounts for.
    #[must_use]
    pub fn exchanges(&self) -> &[ExchangeRecord] {
        match self {
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
            _ => {}
        }
        for exchange in self.exchanges() {
            blobs.push(exchange.prompt);
            blobs.push(exchange.reply);
        }
        blobs
    }

    /// Returns the event without what differs between two runs of the same
    /// seed, or nothing if the event tells of a process rather than of the run.
    #[must_use]
    pub fn canonical(&self) -> Option<Self> {
        let mut event = self.clone();
        match &mut event {
            Self::Resumed(_) | Self::Stopped(_) | Self::Reserved(_) => return None,
            Self::Started(started) => started.spec = None,
            Self::Planned(Planned { exchanges, .. }) | Self::Drafted(Drafted { exchanges, .. }) => {
                for exchange in exchanges {
                    exchange.latency_ms = 0;
                    exchange.reservation = None;
                }
            }
            Self::Evaluated(evaluated) => {
                let evaluation = &mut evaluated.evaluation;
                evaluation.tiers.clear();
                // In which words an evaluator dies depends on the machine.
                if evaluation.outcome == Outcome::Fault {
                    evaluation.diagnostics.clear();
                }
            }
            Self::IterationOpened(_)
            | Self::IterationClosed(_)
            | Self::Finished(_)
            | Self::Extended(_) => {}
        }
        Some(event)
    }

    /// Returns the place of the event in the canonical history, if
    /// `iteration` was opened last before it.
    fn canonical_rank(&self, iteration: u32) -> (u32, u8, Option<TaskKey>) {
        match self {
            Self::Started(_) => (0, 0, None),
            Self::IterationOpened(opened) => (opened.iteration, 0, None),
            Self::Planned(_) | Self::Drafted(_) | Self::Evaluated(_) => {
                let key = self.key();
                (key.map_or(0, |key| key.iteration), 1, key)
            }
            Self::IterationClosed(closed) => (closed.iteration, 2, None),
            Self::Resumed(_)
            | Self::Stopped(_)
            | Self::Reserved(_)
            | Self::Finished(_)
            | Self::Extended(_) => (iteration, 3, None),
        }
    }
}

/// Returns the canonical history of a run: its events in the order of
/// iteration and task key, without host times and without the comings and
/// goings of processes.
///
/// Two runs with the same [`RunStarted`] (but for `spec`), deterministic
/// proposers and a deterministic evaluator have equal canonical histories,
/// whatever the number of workers and the interruptions.
#[must_use]
pub fn canonical_history<'a>(events: impl IntoIterator<Item = &'a Event>) -> Vec<Event> {
    let mut iteration = 0;
    let mut history = Vec::new();
    for event in events {
        if let Event::IterationOpened(opened) = event {
            iteration = opened.iteration;
        }
        let rank = event.canonical_rank(iteration);
        history.extend(event.canonical().map(|event| (rank, event)));
    }
    history.sort_by_key(|(rank, _)| *rank);
    history.into_iter().map(|(_, event)| event).collect()
}

#[cfg(test)]
mod tests {
    use super::{
        Event, FinishReason, Finished, IterationOpened, Planned, Proposal, Resumed,
        canonical_history,
    };
    use crate::{Purpose, TaskKey};

    fn planned(iteration: u32, plan: u32) -> Event {
        Event::Planned(Planned {
            key: TaskKey {
                iteration,
                parent: 0,
                plan,
                draft: 0,
                repair: 0,
                purpose: Purpose::Plan,
            },
            result: Proposal::Nothing {
                message: "no loop to split".to_owned(),
            },
            exchanges: Vec::new(),
        })
    }

    #[test]
    fn canonical_history_orders_by_key_and_forgets_processes() {
        let finished = Event::Finished(Finished {
            reason: FinishReason::Iterations,
            best: None,
            best_cost: None,
            evaluations: 1,
        });
        let resumed = Event::Resumed(Resumed {
            program: "0.1.0".to_owned(),
        });
        let opened = |iteration| {
            Event::IterationOpened(IterationOpened {
                iteration,
                parents: Vec::new(),
                slots: Vec::new(),
                repairs: 0,
                kinds: Vec::new(),
            })
        };
        let live = [
            opened(1),
            opened(2),
            planned(2, 1),
            resumed,
            planned(1, 3),
            planned(2, 0),
            finished.clone(),
        ];
        assert_eq!(
            canonical_history(&live),
            [
                opened(1),
                planned(1, 3),
                opened(2),
                planned(2, 0),
                planned(2, 1),
                finished
            ]
        );
    }
}
