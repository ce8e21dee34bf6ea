//! One iteration: its slots, and what has come back for them.

use autocomp_core::{
    CandidateId, ContentHash, IterationOpened, PlanRecord, Purpose, SearchSettings, TaskKey,
};
use std::collections::{BTreeMap, BTreeSet};

/// Returns how many drafts each plan of each place may have
/// (`slots[parent][plan]`), given that `remaining` evaluations are left.
///
/// Slots are dealt in rounds: the first draft of the first plan of every
/// place, then of the second plan, and so on, then the second drafts. A
/// bounded budget is spread evenly over the iterations left, so that a small
/// one still searches deep: it gives each iteration its share, rounded up, and
/// no less than one slot per place while it lasts.
#[must_use]
pub fn allot_slots(
    settings: &SearchSettings,
    iteration: u32,
    remaining: Option<u32>,
) -> Vec<Vec<u32>> {
    let full = settings.drafts_per_iteration();
    let n_slots = match remaining {
        None => full,
        Some(remaining) => {
            let iterations_left = settings.iterations.saturating_sub(iteration) + 1;
            let share = remaining.div_ceil(iterations_left).max(settings.beam);
            share.min(remaining).min(full)
        }
    };
    let (beam, plans) = (settings.beam as usize, settings.plans as usize);
    let mut slots = vec![vec![0; plans]; beam];
    for slot in 0..n_slots as usize {
        slots[slot % beam][slot / beam % plans] += 1;
    }
    for plans in &mut slots {
        while plans.last() == Some(&0) {
            plans.pop();
        }
    }
    slots
}

/// What came back for one plan or draft.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer<T> {
    Made(T),
    Absent,
}

/// An open iteration.
#[derive(Clone, Debug)]
pub(crate) struct Iteration {
    pub(crate) number: u32,
    pub(crate) parents: Vec<CandidateId>,
    slots: Vec<Vec<u32>>,
    plans: BTreeMap<TaskKey, Answer<PlanRecord>>,
    drafts: BTreeMap<TaskKey, Answer<ContentHash>>,
    evaluated: BTreeSet<TaskKey>,
}

impl Iteration {
    pub(crate) fn open(opened: &IterationOpened) -> Self {
        Self {
            number: opened.iteration,
            parents: opened.parents.clone(),
            slots: opened.slots.clone(),
            plans: BTreeMap::new(),
            drafts: BTreeMap::new(),
            evaluated: BTreeSet::new(),
        }
    }

    /// Returns the keys of all plans with at least one draft slot, in order.
    pub(crate) fn plan_keys(&self) -> impl Iterator<Item = TaskKey> {
        let iteration = self.number;
        self.slots
            .iter()
            .enumerate()
            .flat_map(move |(parent, plans)| {
                plans
                    .iter()
                    .enumerate()
                    .filter(|(_, drafts)| 0 < **drafts)
                    .map(move |(plan, _)| TaskKey {
                        iteration,
                        parent: parent as u32,
                        plan: plan as u32,
                        draft: 0,
                        purpose: Purpose::Plan,
                    })
            })
    }

    /// Returns the keys of all drafts of a plan, in order.
    pub(crate) fn draft_keys(&self, plan: TaskKey) -> impl Iterator<Item = TaskKey> + use<> {
        let drafts = self.n_drafts(plan);
        (0..drafts).map(move |draft| TaskKey {
            draft,
            purpose: Purpose::Draft,
            ..plan
        })
    }

    fn n_drafts(&self, key: TaskKey) -> u32 {
        self.slots
            .get(key.parent as usize)
            .and_then(|plans| plans.get(key.plan as usize))
            .copied()
            .unwrap_or(0)
    }

    pub(crate) fn plan(&self, key: TaskKey) -> Option<&Answer<PlanRecord>> {
        self.plans.get(&key)
    }

    pub(crate) fn draft(&self, key: TaskKey) -> Option<&Answer<ContentHash>> {
        self.drafts.get(&key)
    }

    /// Returns the plan that a draft or an evaluation belongs to, if it was made.
    pub(crate) fn plan_of(&self, key: TaskKey) -> Option<&PlanRecord> {
        match self.plans.get(&key.to_plan()) {
            Some(Answer::Made(plan)) => Some(plan),
            _ => None,
        }
    }

    /// Returns the drafts that exist, in key order of their evaluate tasks.
    pub(crate) fn sources(&self) -> impl Iterator<Item = (TaskKey, ContentHash)> + '_ {
        self.drafts.iter().filter_map(|(key, answer)| match answer {
            Answer::Made(source) => Some((key.with_purpose(Purpose::Evaluate), *source)),
            Answer::Absent => None,
        })
    }

    pub(crate) fn is_evaluated(&self, key: TaskKey) -> bool {
        self.evaluated.contains(&key)
    }

    /// Returns whether every slot has been tried to its end.
    pub(crate) fn is_complete(&self) -> bool {
        self.plan_keys().all(|plan| match self.plans.get(&plan) {
            None => false,
            Some(Answer::Absent) => true,
            Some(Answer::Made(_)) => {
                self.draft_keys(plan)
                    .all(|draft| match self.drafts.get(&draft) {
                        None => false,
                        Some(Answer::Absent) => true,
                        Some(Answer::Made(_)) => self
                            .evaluated
                            .contains(&draft.with_purpose(Purpose::Evaluate)),
                    })
            }
        })
    }

    /// Notes a plan. Returns why it cannot be, if so.
    pub(crate) fn set_plan(
        &mut self,
        key: TaskKey,
        answer: Answer<PlanRecord>,
    ) -> Result<(), &'static str> {
        if key.purpose != Purpose::Plan || key.draft != 0 || self.n_drafts(key) == 0 {
            return Err("the iteration has no such plan");
        }
        if self.plans.insert(key, answer).is_some() {
            return Err("the plan task has ended before");
        }
        Ok(())
    }

    /// Notes a draft. Returns why it cannot be, if so.
    pub(crate) fn set_draft(
        &mut self,
        key: TaskKey,
        answer: Answer<ContentHash>,
    ) -> Result<(), &'static str> {
        if key.purpose != Purpose::Draft || self.n_drafts(key) <= key.draft {
            return Err("the iteration has no such draft");
        }
        if self.plan_of(key).is_none() {
            return Err("there is no plan for the draft");
        }
        if self.drafts.insert(key, answer).is_some() {
            return Err("the draft task has ended before");
        }
        Ok(())
    }

    /// Notes an evaluation. Returns why it cannot be, if so.
    pub(crate) fn set_evaluated(
        &mut self,
        key: TaskKey,
        source: ContentHash,
    ) -> Result<(), &'static str> {
        let draft = self.drafts.get(&key.with_purpose(Purpose::Draft));
        if key.purpose != Purpose::Evaluate || draft != Some(&Answer::Made(source)) {
            return Err("there is no draft with that source");
        }
        if !self.evaluated.insert(key) {
            return Err("the evaluation has ended before");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::allot_slots;
    use autocomp_core::SearchSettings;
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    fn settings(beam: u32, plans: u32, drafts: u32, iterations: u32) -> SearchSettings {
        SearchSettings {
            beam,
            plans,
            drafts,
            iterations,
            ..SearchSettings::default()
        }
    }

    #[test]
    fn without_a_budget_every_slot_is_allotted() {
        assert_eq!(
            allot_slots(&settings(2, 3, 4, 5), 1, None),
            [[4, 4, 4], [4, 4, 4]]
        );
    }

    #[test]
    fn a_budget_is_spread_over_iterations_places_and_plans() {
        // 20 left for 4 iterations: 5 now.
        assert_eq!(
            allot_slots(&settings(2, 3, 4, 5), 2, Some(20)),
            [vec![1, 1, 1], vec![1, 1]]
        );
        // Second drafts come after first drafts of all plans.
        assert_eq!(
            allot_slots(&settings(2, 2, 2, 5), 5, Some(5)),
            [[2, 1], [1, 1]]
        );
        // The last three: one for each of the first three places.
        assert_eq!(
            allot_slots(&settings(4, 3, 1, 9), 1, Some(3)),
            [vec![1], vec![1], vec![1], vec![]]
        );
        assert_eq!(
            allot_slots(&settings(2, 2, 2, 5), 5, Some(0)),
            [vec![], Vec::<u32>::new()]
        );
    }

    proptest! {
        #[test]
        fn slots_stay_within_budget_and_are_fair(
            beam in 1u32..7, plans in 1u32..7, drafts in 1u32..4, remaining in 0u32..400,
            iterations in 1u32..20, iteration in 1u32..20,
        ) {
            let settings = settings(beam, plans, drafts, iterations);
            let slots = allot_slots(&settings, iteration.min(iterations), Some(remaining));
            let sums: Vec<u32> = slots.iter().map(|plans| plans.iter().sum()).collect();
            let total: u32 = sums.iter().sum();
            prop_assert!(total <= remaining && total <= settings.drafts_per_iteration());
            prop_assert_eq!(total == 0, remaining == 0);
            prop_assert!(sums.iter().max().unwrap() - sums.iter().min().unwrap() <= 1);
            prop_assert!(slots.iter().flatten().all(|n| 1 <= *n && *n <= drafts));
            if iteration == iterations {
                prop_assert_eq!(total, remaining.min(settings.drafts_per_iteration()));
            }
        }
    }
}
