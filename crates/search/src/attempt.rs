//! What was tried, and on which kernel: for prompts that should not propose it
//! again.

use crate::search::Search;
use autocomp_core::{CandidateId, ContentHash, Outcome, PlanRecord, TaskKey};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The most attempts on one kernel that are looked through.
const MOST_LOOKED_AT: usize = 200;

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
    /// Returns what was tried in closed iterations on the candidate `id`, on
    /// the kernel that it was made from, and on its siblings; the nearest first,
    /// then what was right or nearly right and no help, then the newest. Equal
    /// outcomes of equal menu items, and the attempt that made the candidate
    /// itself, are left out.
    #[must_use]
    pub fn attempts_near(&self, id: CandidateId) -> Vec<(&Attempt, Kinship)> {
        let Some(candidate) = self.candidate(id) else {
            return Vec::new();
        };
        let mut near: Vec<(&Attempt, Kinship)> = self
            .attempts
            .newest_on(id)
            .map(|attempt| (attempt, Kinship::Itself))
            .collect();
        if let Some(parent) = candidate.parent {
            let mut siblings = BTreeSet::new();
            for attempt in self.attempts.newest_on(parent) {
                if attempt.source == Some(candidate.source) {
                    continue;
                }
                near.push((attempt, Kinship::Parent));
                // The source may be known from elsewhere.
                let child = attempt.source.and_then(|source| self.id_of(source));
                let is_sibling = |id: &CandidateId| {
                    self.candidate(*id).and_then(|it| it.parent) == candidate.parent
                };
                siblings.extend(child.filter(is_sibling));
            }
            siblings.remove(&id);
            for sibling in siblings {
                let tried = self.attempts.newest_on(sibling);
                near.extend(tried.map(|attempt| (attempt, Kinship::Sibling)));
            }
        }
        near.sort_by_cached_key(|(attempt, kinship)| {
            (*kinship, self.lesson(attempt), Reverse(attempt.key))
        });
        let mut seen = BTreeSet::new();
        near.retain(|(attempt, kinship)| {
            seen.insert((*kinship, attempt.source, attempt.plan.menu_item.clone()))
        });
        near
    }

    /// Ranks attempts by what they teach: failures and kernels that are no
    /// faster, then faster ones (which are gone on with by themselves), then
    /// those without a draft.
    fn lesson(&self, attempt: &Attempt) -> u8 {
        let Some(evaluation) = attempt.source.and_then(|source| self.evaluation(source)) else {
            return 2;
        };
        let before = self.candidate(attempt.parent).map(|parent| parent.cost);
        let cost = evaluation
            .cost()
            .filter(|_| evaluation.outcome == Outcome::Ok);
        u8::from(
            cost.zip(before)
                .is_some_and(|(cost, before)| cost.beats(before)),
        )
    }
}
