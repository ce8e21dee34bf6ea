//! Tasks: what may run now.

use autocomp_core::{
    CandidateId, ContentHash, Cost, DraftRecord, MenuItem, PlanKind, PlanRecord, Seed, TaskKey,
};

/// A task that may run now. Texts are named by content hash.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Task {
    /// Write menu items for a kernel.
    Ideas {
        /// The task.
        key: TaskKey,
        /// Its random stream.
        seed: Seed,
        /// The kernel.
        parent: CandidateId,
        /// Source of the kernel.
        kernel: ContentHash,
        /// What plans for it can choose from already.
        menu: Vec<MenuItem>,
        /// How many are wanted at most.
        count: u32,
    },
    /// Write a plan.
    Plan {
        /// The task.
        key: TaskKey,
        /// Its random stream.
        seed: Seed,
        /// The kernel to improve.
        parent: CandidateId,
        /// Source of the kernel to improve.
        kernel: ContentHash,
        /// What the plan is for.
        kind: PlanKind,
        /// The first place that holds the kernel.
        place: u32,
        /// Number of the plan among those of its kind for the kernel, over all its places.
        number: u32,
        /// The menu after dropout; the item alone for which the plan is set aside.
        menu: Vec<MenuItem>,
        /// The model to be asked first, if that is not by turns.
        first_asked: Option<String>,
    },
    /// Turn a plan into code.
    Draft {
        /// The task.
        key: TaskKey,
        /// Its random stream.
        seed: Seed,
        /// The kernel to improve.
        parent: CandidateId,
        /// Source of the kernel to improve.
        kernel: ContentHash,
        /// What the plan is for.
        kind: PlanKind,
        /// The plan to carry out.
        plan: PlanRecord,
        /// Number of the plan among those for the kernel, over all its places.
        number: u32,
        /// The model to be asked first, if that is not by turns.
        first_asked: Option<String>,
    },
    /// Correct a draft that failed.
    Repair {
        /// The task.
        key: TaskKey,
        /// Its random stream.
        seed: Seed,
        /// The kernel to improve.
        parent: CandidateId,
        /// Source of the kernel to improve.
        kernel: ContentHash,
        /// The plan that was carried out.
        plan: PlanRecord,
        /// The draft, or earlier repair, that failed.
        draft: DraftRecord,
    },
    /// Evaluate a kernel; also the baseline.
    Evaluate {
        /// The task.
        key: TaskKey,
        /// Source of the kernel.
        source: ContentHash,
        /// What it may cost to survive, if that is known: of one that costs more, nobody
        /// wants to know how much.
        bound: Option<Cost>,
    },
    /// Evaluate one of the best kernels once more.
    Confirm {
        /// The task; its `plan` is the index of the confirmer.
        key: TaskKey,
        /// Source of the kernel.
        source: ContentHash,
    },
}

impl Task {
    /// Returns the key of the task.
    #[must_use]
    pub fn key(&self) -> TaskKey {
        match self {
            Self::Ideas { key, .. }
            | Self::Plan { key, .. }
            | Self::Draft { key, .. }
            | Self::Repair { key, .. }
            | Self::Evaluate { key, .. }
            | Self::Confirm { key, .. } => *key,
        }
    }
}
