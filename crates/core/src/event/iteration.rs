//! An iteration: how it begins and how it ends.

use crate::cost::Cost;
use crate::hash::ContentHash;
use crate::ids::{CandidateId, TaskKey};
use serde::{Deserialize, Serialize};

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
    /// Places for whose kernels menu items are written before they are planned for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ideas: Vec<u32>,
    /// A right kernel of the iteration that costs more cannot survive, and need not be timed
    /// to the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<Cost>,
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
    /// One change, for this item of the menu: its turn has come.
    Exhaustive {
        /// Its identifier.
        item: String,
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
