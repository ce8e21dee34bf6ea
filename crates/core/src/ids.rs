//! Identities inside one run.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A kernel that was evaluated correct, numbered within its run; 0 is the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CandidateId(pub u32);

impl fmt::Display for CandidateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c{}", self.0)
    }
}

/// What a task is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Purpose {
    /// Evaluate the baseline.
    Baseline,
    /// Write a plan.
    Plan,
    /// Turn a plan into code.
    Draft,
    /// Correct a draft that failed.
    Repair,
    /// Check, build, test and time a draft.
    Evaluate,
    /// Evaluate one of the best kernels once more; then `parent` is its number, and
    /// `plan` the index of the confirmer.
    Confirm,
    /// Write menu items for a kernel.
    Ideas,
}

/// The key of one task: the same in every replay of a run, so it names the
/// task's random stream and fixes the order in which results are considered.
///
/// Keys order by iteration, then parent, plan, draft, repair, then purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TaskKey {
    /// Iteration, from 1; 0 holds the baseline alone.
    pub iteration: u32,
    /// Position of the parent in the beam of the iteration.
    pub parent: u32,
    /// Index of the plan for that parent.
    pub plan: u32,
    /// Index of the draft for that plan; 0 for plans themselves.
    pub draft: u32,
    /// Which attempt at correcting the draft, from 1; 0 for the draft itself,
    /// its evaluation, and everything else.
    #[serde(default)]
    pub repair: u32,
    /// What the task is for.
    pub purpose: Purpose,
}

impl TaskKey {
    /// The key of the baseline's evaluation.
    pub const BASELINE: Self = Self {
        iteration: 0,
        parent: 0,
        plan: 0,
        draft: 0,
        repair: 0,
        purpose: Purpose::Baseline,
    };

    /// Returns the key of the plan that this task belongs to.
    #[must_use]
    pub fn to_plan(self) -> Self {
        Self {
            draft: 0,
            repair: 0,
            purpose: Purpose::Plan,
            ..self
        }
    }

    /// Returns the key of the task that writes the source which this task is
    /// about: the draft, or the attempt at its repair.
    #[must_use]
    pub fn to_draft(self) -> Self {
        let purpose = if self.repair == 0 {
            Purpose::Draft
        } else {
            Purpose::Repair
        };
        Self { purpose, ..self }
    }

    /// Returns the key of the next attempt at repairing the draft.
    #[must_use]
    pub fn to_next_repair(self) -> Self {
        Self {
            repair: self.repair + 1,
            purpose: Purpose::Repair,
            ..self
        }
    }

    /// Returns the key of the same slot for another purpose.
    #[must_use]
    pub fn with_purpose(self, purpose: Purpose) -> Self {
        Self { purpose, ..self }
    }
}

impl fmt::Display for TaskKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            iteration,
            parent,
            plan,
            draft,
            repair,
            purpose,
        } = self;
        if *purpose == Purpose::Baseline {
            return write!(f, "baseline");
        }
        if *purpose == Purpose::Confirm {
            return write!(f, "i{iteration}.c{parent}.m{plan}.confirm");
        }
        if *purpose == Purpose::Ideas {
            return write!(f, "i{iteration}.b{parent}.ideas");
        }
        write!(f, "i{iteration}.b{parent}.p{plan}")?;
        if *purpose != Purpose::Plan {
            write!(f, ".d{draft}")?;
        }
        if *repair != 0 {
            write!(f, ".r{repair}")?;
        }
        if *purpose == Purpose::Evaluate {
            write!(f, ".eval")?;
        }
        Ok(())
    }
}
