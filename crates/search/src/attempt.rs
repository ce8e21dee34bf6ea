//! What was tried, and on which kernel: for prompts that should not propose it
//! again.

use crate::search::Search;
use autocomp_core::{CandidateId, ContentHash, Outcome, PlanRecord, TaskKey};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The most attempts on one kernel that are looked through.
const MOST_LOOKED_AT: usize = 200;

/// The most failures on other kernels that are told.
const MOST_FAILED: usize = 64;

/// One draft slot of a closed iteration, and what was made of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// The task that wrote the last draft of the slot.
    pub key: TaskKey,
    /// The kernel that was to be changed.
    pub parent: CandidateId,
    /// The plan.
    pub plan: PlanRecord,
    /// The source that came of it, if any.
    pub source: Option<ContentHash>,
    /// What it teaches: 0 for failures and kernels that are no faster, 1 for faster ones
    /// (which are gone on with by themselves), 2 for those without a draft.
    pub(crate) lesson: u8,
}

/// How the kernel that an attempt was made on relates to the one asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kinship {
    /// It is the same.
    Itself,
    /// It is the kernel that the one asked about was made from.
    Parent,
    /// Both were made from the same kernel.
    Sibling,
}

/// All attempts of closed iterations, by kernel, and pairs that were combined.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attempts {
    by_parent: BTreeMap<CandidateId, Vec<Attempt>>,
    pub(crate) pairs: Pairs,
}

/// Pairs of kernels, without order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pairs(BTreeSet<(CandidateId, CandidateId)>);

impl Pairs {
    pub(crate) fn note(&mut self, a: CandidateId, b: CandidateId) {
        self.0.insert((a.min(b), a.max(b)));
    }

    pub(crate) fn has(&self, a: CandidateId, b: CandidateId) -> bool {
        self.0.contains(&(a.min(b), a.max(b)))
    }
}

impl Attempts {
    pub(crate) fn extend(&mut self, attempts: Vec<Attempt>) {
        for attempt in attempts {
            self.by_parent
                .entry(attempt.parent)
                .or_default()
                .push(attempt);
        }
    }

    fn newest_on(&self, id: CandidateId) -> impl Iterator<Item = &Attempt> {
        let attempts = self.by_parent.get(&id);
        attempts.into_iter().flatten().rev().take(MOST_LOOKED_AT)
    }
}

impl Search {
    /// Returns all attempts of closed iterations, by the kernel that they were made on.
    pub fn attempts(&self) -> impl Iterator<Item = &Attempt> {
        self.attempts.by_parent.values().flatten()
    }

    /// Returns the attempts of closed iterations on one kernel, in order.
    pub fn attempts_on(&self, id: CandidateId) -> impl Iterator<Item = &Attempt> {
        self.attempts.by_parent.get(&id).into_iter().flatten()
    }

    /// Returns the newest attempts of closed iterations on other kernels than `id` that came to
    /// nothing: what was made was not right, or cut off because it is slow.
    pub fn failed_elsewhere(&self, id: CandidateId) -> impl Iterator<Item = &Attempt> {
        let others = self.attempts.by_parent.iter().rev();
        let others = others.filter(move |(parent, _)| **parent != id);
        let attempts = others.flat_map(|(_, all)| all.iter().rev().take(MOST_LOOKED_AT));
        let has_failed = |it: &&Attempt| {
            let made = it.source.and_then(|source| self.evaluation(source));
            made.is_some_and(|it| it.outcome != Outcome::Ok)
        };
        attempts.filter(has_failed).take(MOST_FAILED)
    }

    /// Returns at most `most` of what was tried in closed iterations on the candidate
    /// `id`, on the kernel that it was made from, and on its siblings; the nearest first,
    /// then what was right or nearly right and no help, then the newest. Equal
    /// outcomes of equal menu items, and the attempt that made the candidate
    /// itself, are left out.
    #[must_use]
    pub fn attempts_near(&self, id: CandidateId, most: usize) -> Vec<(&Attempt, Kinship)> {
        let mut near = Vec::new();
        let Some(candidate) = self.candidate(id) else {
            return near;
        };
        let of_itself = self.attempts.newest_on(id).collect();
        add(&mut near, of_itself, Kinship::Itself, most);
        let (Some(parent), true) = (candidate.parent, near.len() < most) else {
            return near;
        };
        let of_parent = self.attempts.newest_on(parent);
        let of_parent: Vec<&Attempt> = of_parent
            .filter(|attempt| attempt.source != Some(candidate.source))
            .collect();
        let siblings: BTreeSet<CandidateId> = of_parent
            .iter()
            // The source may be known from elsewhere.
            .filter_map(|attempt| self.id_of(attempt.source?))
            .filter(|it| self.candidate(*it).and_then(|it| it.parent) == candidate.parent)
            .filter(|it| *it != id)
            .collect();
        add(&mut near, of_parent, Kinship::Parent, most);
        if near.len() < most {
            let of_siblings = siblings.into_iter();
            let of_siblings = of_siblings.flat_map(|it| self.attempts.newest_on(it));
            add(&mut near, of_siblings.collect(), Kinship::Sibling, most);
        }
        near
    }

    /// Returns what an attempt teaches, see [`Attempt::lesson`].
    pub(crate) fn lesson(&self, parent: CandidateId, source: Option<ContentHash>) -> u8 {
        let Some(evaluation) = source.and_then(|source| self.evaluation(source)) else {
            return 2;
        };
        let before = self.candidate(parent).map(|parent| parent.cost);
        let cost = evaluation
            .cost()
            .filter(|_| evaluation.outcome == Outcome::Ok);
        u8::from(
            cost.zip(before)
                .is_some_and(|(cost, before)| cost.beats(before)),
        )
    }
}

/// Adds attempts of one kind, the most instructive first, then the newest, until there
/// are `most`; of equal outcomes of equal menu items, the first.
fn add<'a>(
    near: &mut Vec<(&'a Attempt, Kinship)>,
    mut attempts: Vec<&'a Attempt>,
    kinship: Kinship,
    most: usize,
) {
    attempts.sort_by_key(|attempt| (attempt.lesson, Reverse(attempt.key)));
    let mut seen = BTreeSet::new();
    for attempt in attempts {
        if most <= near.len() {
            return;
        }
        if seen.insert((attempt.source, &*attempt.plan.menu_item)) {
            near.push((attempt, kinship));
        }
    }
}
