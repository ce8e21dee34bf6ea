//! One iteration: its slots, and what has come back for them.

use autocomp_core::{
    CandidateId, ContentHash, Cost, DraftRecord, ExchangeRecord, IterationOpened, Outcome,
    PlanKind, PlanRecord, Purpose, TaskKey,
};
use std::collections::{BTreeMap, BTreeSet};

/// What a draft slot waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SlotState {
    /// For this draft or repair task.
    Proposal(TaskKey),
    /// For an evaluation.
    Evaluation,
    /// For nothing.
    Done,
}

/// What came back for one plan or draft.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer<T> {
    Made(T),
    Absent,
}

/// An open iteration. What is to do is kept up to date with every event, so that
/// no event costs more in an iteration of many slots.
#[derive(Clone, Debug)]
pub(crate) struct Iteration {
    pub(crate) number: u32,
    pub(crate) parents: Vec<CandidateId>,
    slots: Vec<Vec<u32>>,
    kinds: Vec<Vec<PlanKind>>,
    repairs: u32,
    plans: BTreeMap<TaskKey, Answer<PlanRecord>>,
    /// Drafts and repairs.
    drafts: BTreeMap<TaskKey, Answer<DraftRecord>>,
    /// Evaluations that have ended, and how.
    evaluated: BTreeMap<TaskKey, Outcome>,
    /// Menu items to be written.
    ideas_due: BTreeSet<TaskKey>,
    /// Plans to be made, but for those that wait for menu items.
    plans_due: BTreeSet<TaskKey>,
    /// Drafts and repairs to be made.
    drafts_due: BTreeSet<TaskKey>,
    /// Sources that were not evaluated, each under the first draft known.
    evaluations_due: BTreeMap<TaskKey, ContentHash>,
    /// The evaluate tasks that wait for a source, the first draft known in front.
    waiting: BTreeMap<ContentHash, Vec<TaskKey>>,
    /// Evaluate tasks whose source has been evaluated.
    repeated: BTreeMap<TaskKey, ContentHash>,
    /// The best right kernel of the iteration.
    best: Option<(Cost, TaskKey, ContentHash)>,
    /// What right kernels may cost to survive.
    pub(crate) bound: Option<Cost>,
    /// What calls for tasks have cost, by model.
    costs: BTreeMap<(TaskKey, String), u64>,
}

impl Iteration {
    pub(crate) fn open(opened: &IterationOpened) -> Self {
        let mut iteration = Self {
            number: opened.iteration,
            parents: opened.parents.clone(),
            slots: opened.slots.clone(),
            kinds: opened.kinds.clone(),
            repairs: opened.repairs,
            plans: BTreeMap::new(),
            drafts: BTreeMap::new(),
            evaluated: BTreeMap::new(),
            ideas_due: BTreeSet::new(),
            plans_due: BTreeSet::new(),
            drafts_due: BTreeSet::new(),
            evaluations_due: BTreeMap::new(),
            waiting: BTreeMap::new(),
            repeated: BTreeMap::new(),
            best: None,
            bound: opened.bound,
            costs: BTreeMap::new(),
        };
        let written = opened.ideas.iter().map(|place| TaskKey {
            iteration: opened.iteration,
            parent: *place,
            plan: 0,
            draft: 0,
            repair: 0,
            purpose: Purpose::Ideas,
        });
        iteration.ideas_due = written.collect();
        let plans = iteration.plan_keys();
        iteration.plans_due = plans.filter(|key| !iteration.waits(*key)).collect();
        iteration
    }

    /// Returns whether a plan waits for menu items for its kernel.
    fn waits(&self, plan: TaskKey) -> bool {
        let parent = |key: &TaskKey| self.parents.get(key.parent as usize);
        let mut ideas = self.ideas_due.iter();
        ideas.any(|key| parent(key) == parent(&plan))
    }

    /// Returns the tasks that may run and write menu items, in order.
    pub(crate) fn ideas_due(&self) -> &BTreeSet<TaskKey> {
        &self.ideas_due
    }

    /// Notes that menu items were written, so that the kernel can be planned for. Returns
    /// why it cannot be, if so.
    pub(crate) fn set_ideas(&mut self, key: TaskKey) -> Result<(), &'static str> {
        if !self.ideas_due.remove(&key) {
            return Err("the iteration has no such menu to write, or it was written before");
        }
        let parent = self.parents[key.parent as usize];
        let plans = self.plan_keys().filter(|plan| {
            let is_same = self.parents[plan.parent as usize] == parent;
            is_same && !self.plans.contains_key(plan)
        });
        let plans: Vec<TaskKey> = plans.collect();
        self.plans_due.extend(plans);
        Ok(())
    }

    /// Notes what calls for a task have cost.
    pub(crate) fn note_costs(&mut self, key: TaskKey, exchanges: &[ExchangeRecord]) {
        for exchange in exchanges {
            let cost = self.costs.entry((key, exchange.model.clone())).or_default();
            *cost = cost.saturating_add(exchange.usage.cost.0);
        }
    }

    /// Returns what calls have cost, by task and model.
    pub(crate) fn costs(&self) -> &BTreeMap<(TaskKey, String), u64> {
        &self.costs
    }

    /// Returns the plan tasks that may run, in order.
    pub(crate) fn plans_due(&self) -> &BTreeSet<TaskKey> {
        &self.plans_due
    }

    /// Returns the draft and repair tasks that may run, in order.
    pub(crate) fn drafts_due(&self) -> &BTreeSet<TaskKey> {
        &self.drafts_due
    }

    /// Returns the evaluate tasks that may run, with their sources, in order.
    pub(crate) fn evaluations_due(&self) -> &BTreeMap<TaskKey, ContentHash> {
        &self.evaluations_due
    }

    /// Returns the first evaluate task whose source has been evaluated.
    pub(crate) fn next_repeated(&self) -> Option<(TaskKey, ContentHash)> {
        let first = self.repeated.first_key_value();
        first.map(|(key, source)| (*key, *source))
    }

    /// Returns the best right kernel of the iteration.
    pub(crate) fn best(&self) -> Option<(Cost, TaskKey, ContentHash)> {
        self.best
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
                        repair: 0,
                        purpose: Purpose::Plan,
                    })
            })
    }

    /// Returns the keys of all drafts of a plan, in order.
    pub(crate) fn draft_keys(&self, plan: TaskKey) -> impl Iterator<Item = TaskKey> + use<> {
        let drafts = self.n_drafts(plan);
        (0..drafts).map(move |draft| TaskKey {
            draft,
            repair: 0,
            purpose: Purpose::Draft,
            ..plan
        })
    }

    /// Returns what a plan, or the plan of a draft, is for.
    pub(crate) fn kind(&self, key: TaskKey) -> &PlanKind {
        let kinds = self.kinds.get(key.parent as usize);
        kinds
            .and_then(|kinds| kinds.get(key.plan as usize))
            .unwrap_or(&PlanKind::Step)
    }

    fn repairs(&self, key: TaskKey) -> u32 {
        match self.kind(key) {
            PlanKind::Polish { .. } => 0,
            PlanKind::Step
            | PlanKind::Exhaustive { .. }
            | PlanKind::Reserved { .. }
            | PlanKind::Reused { .. } => self.repairs,
        }
    }

    fn n_drafts(&self, key: TaskKey) -> u32 {
        self.slots
            .get(key.parent as usize)
            .and_then(|plans| plans.get(key.plan as usize))
            .copied()
            .unwrap_or(0)
    }

    /// Returns the draft or repair that was made by the task `key`.
    pub(crate) fn draft(&self, key: TaskKey) -> Option<&DraftRecord> {
        match self.drafts.get(&key) {
            Some(Answer::Made(draft)) => Some(draft),
            _ => None,
        }
    }

    /// Returns what the slot of the draft task `key` waits for. Its plan must
    /// have been made.
    fn slot_state(&self, key: TaskKey) -> SlotState {
        let mut key = key;
        loop {
            match self.drafts.get(&key) {
                None => return SlotState::Proposal(key),
                Some(Answer::Absent) => return SlotState::Done,
                Some(Answer::Made(_)) => {}
            }
            let evaluate = key.with_purpose(Purpose::Evaluate);
            match self.evaluated.get(&evaluate) {
                None => return SlotState::Evaluation,
                Some(outcome) if outcome.is_right() => return SlotState::Done,
                Some(_) if self.repairs(key) <= key.repair => return SlotState::Done,
                Some(_) => key = key.to_next_repair(),
            }
        }
    }

    /// Returns the plan that a draft or an evaluation belongs to, if it was made.
    pub(crate) fn plan_of(&self, key: TaskKey) -> Option<&PlanRecord> {
        match self.plans.get(&key.to_plan()) {
            Some(Answer::Made(plan)) => Some(plan),
            _ => None,
        }
    }

    /// Returns what was made of each draft slot whose plan was made: the key of
    /// its last draft, and its source; no source if there is no draft.
    pub(crate) fn attempts(&self) -> Vec<(TaskKey, &PlanRecord, Option<ContentHash>)> {
        let mut attempts = Vec::new();
        for plan_key in self.plan_keys() {
            let Some(plan) = self.plan_of(plan_key) else {
                continue;
            };
            for first in self.draft_keys(plan_key) {
                let slot = TaskKey {
                    purpose: Purpose::Draft,
                    ..first
                };
                let made = (0..=self.repairs).rev().find_map(|repair| {
                    let key = TaskKey { repair, ..slot }.to_draft();
                    Some((key, self.draft(key)?.source))
                });
                attempts.push(match made {
                    Some((key, source)) => (key, plan, Some(source)),
                    None => (slot, plan, None),
                });
            }
        }
        attempts
    }

    /// Returns the sources that exist, in key order of their evaluate tasks.
    pub(crate) fn sources(&self) -> impl Iterator<Item = (TaskKey, ContentHash)> + '_ {
        self.drafts.iter().filter_map(|(key, answer)| match answer {
            Answer::Made(draft) => Some((key.with_purpose(Purpose::Evaluate), draft.source)),
            Answer::Absent => None,
        })
    }

    /// Returns the drafts that exist, in key order.
    pub(crate) fn drafts_made(&self) -> impl Iterator<Item = &DraftRecord> {
        self.drafts.values().filter_map(|answer| match answer {
            Answer::Made(draft) => Some(draft),
            Answer::Absent => None,
        })
    }

    /// Returns the sources that were made from a reused schedule, in key order.
    pub(crate) fn reused(&self) -> Vec<ContentHash> {
        let sources = self.sources();
        sources
            .filter(|(key, _)| matches!(self.kind(*key), PlanKind::Reused { .. }))
            .map(|(_, source)| source)
            .collect()
    }

    /// Returns whether every slot has been tried to its end.
    pub(crate) fn is_complete(&self) -> bool {
        self.ideas_due.is_empty()
            && self.plans_due.is_empty()
            && self.drafts_due.is_empty()
            && self.waiting.is_empty()
            && self.repeated.is_empty()
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
        if !self.plans_due.remove(&key) {
            return Err("the plan task has ended before");
        }
        if matches!(answer, Answer::Made(_)) {
            let drafts = self.draft_keys(key);
            self.drafts_due.extend(drafts);
        }
        self.plans.insert(key, answer);
        Ok(())
    }

    /// Notes a draft or a repair; `is_known` says whether its source has been
    /// evaluated. Returns why it cannot be, if so.
    pub(crate) fn set_draft(
        &mut self,
        key: TaskKey,
        answer: Answer<DraftRecord>,
        is_known: bool,
    ) -> Result<(), &'static str> {
        if key.to_draft() != key || self.n_drafts(key) <= key.draft {
            return Err("the iteration has no such draft");
        }
        if self.plan_of(key).is_none() {
            return Err("there is no plan for the draft");
        }
        if !self.drafts_due.remove(&key) {
            return Err("the draft task has ended before, or is not due");
        }
        if let Answer::Made(draft) = &answer {
            let evaluate = key.with_purpose(Purpose::Evaluate);
            let source = draft.source;
            if is_known {
                self.repeated.insert(evaluate, source);
            } else {
                let waiting = self.waiting.entry(source).or_default();
                if waiting.is_empty() {
                    self.evaluations_due.insert(evaluate, source);
                }
                waiting.push(evaluate);
            }
        }
        self.drafts.insert(key, answer);
        Ok(())
    }

    /// Notes an evaluation; `cost` is that of a right kernel. Returns why it
    /// cannot be, if so.
    pub(crate) fn set_evaluated(
        &mut self,
        key: TaskKey,
        source: ContentHash,
        outcome: Outcome,
        cost: Option<Cost>,
    ) -> Result<(), &'static str> {
        let draft = self.draft(key.to_draft());
        let is_same = draft.is_some_and(|draft| draft.source == source);
        if key.purpose != Purpose::Evaluate || !is_same {
            return Err("there is no draft with that source");
        }
        if self.evaluated.contains_key(&key) {
            return Err("the evaluation has ended before");
        }
        self.evaluated.insert(key, outcome);
        self.repeated.remove(&key);
        if let Some(waiting) = self.waiting.remove(&source) {
            self.evaluations_due.remove(&waiting[0]);
            let others = waiting.into_iter().filter(|other| *other != key);
            self.repeated.extend(others.map(|other| (other, source)));
        }
        let first = TaskKey { repair: 0, ..key }.to_draft();
        if let SlotState::Proposal(repair) = self.slot_state(first) {
            self.drafts_due.insert(repair);
        }
        if let Some(cost) = cost {
            let found = (cost, key, source);
            self.best = Some(self.best.map_or(found, |best| best.min(found)));
        }
        Ok(())
    }
}
