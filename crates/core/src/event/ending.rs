//! How a run pauses, ends and goes on.

use super::proposal::ExchangeRecord;
use crate::cost::Cost;
use crate::ids::CandidateId;
use crate::settings::SearchSettings;
use serde::{Deserialize, Serialize};

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
    /// The best kernel leaves no gain that counts above what no right kernel can be below.
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
                format!("stalled: {} in {iterations}", no_gain(settings))
            }
            Self::PercentOfPeak => format!(
                "done: the best kernel has the {} % of peak that were asked for",
                settings.stop_at_percent_of_peak.unwrap_or_default()
            ),
            Self::Floor => format!("at the floor: {} is possible any more", no_gain(settings)),
            Self::BaselineFailed => "the kernel to start from is not correct".to_owned(),
        }
    }
}

/// Says of which gains there are none.
fn no_gain(settings: &SearchSettings) -> String {
    match settings.least_gain {
        0.0 => "no gain".to_owned(),
        _ => format!("no gain of {}", settings.least_gain_text()),
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
