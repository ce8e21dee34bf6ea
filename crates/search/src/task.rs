//! Tasks: what may run now.

use autocomp_core::{
    CandidateId, ContentHash, DraftRecord, MenuItem, PlanKind, PlanRecord, Seed, TaskKey,
};

/// A task that may run now. Texts are named by content hash.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Task {
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
        /// The menu after dropout; the item alone for which the plan is set aside.
        menu: Vec<MenuItem>,
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
    },
}

impl Task {
    /// Returns the key of the task.
    #[must_use]
    pub fn key(&self) -> TaskKey {
        match self {
            Self::Plan { key, .. }
            | Self::Draft { key, .. }
            | Self::Repair { key, .. }
            | Self::Evaluate { key, .. } => *key,
        }
    }
}
