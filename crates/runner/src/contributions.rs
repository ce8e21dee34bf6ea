//! Who contributed what to a run: plans, drafts and gains by proposer and by
//! what the plans were for.

use crate::view::RunView;
use autocomp_core::{Cost, Drafted, Evaluated, Event, PlanKind, Planned, Proposal, TaskKey};
use serde::Serialize;
use std::collections::BTreeMap;

/// What one proposer contributed with plans of one kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Contribution {
    /// Who wrote the code, or the plan if no code came of it.
    pub proposer: String,
    /// What the plans were for: `step`, `polish`, or the menu item that they
    /// were set aside for.
    pub kind: String,
    /// Drafts asked for, attempts at repairs not counted.
    pub drafts: u32,
    /// Drafts of which code came.
    pub made: u32,
    /// Drafts that were right, at once or after repairs.
    pub right: u32,
    /// Drafts that were right and faster than the kernel that they changed.
    pub faster: u32,
    /// Steps on the way to the best kernel.
    pub steps_to_best: u32,
    /// By what factor these steps made it faster, together.
    pub factor: f64,
}

/// What is known of a draft slot.
struct Slot {
    proposer: String,
    kind: String,
    is_made: bool,
    is_right: bool,
    is_faster: bool,
}

impl RunView {
    /// Returns who contributed what, in the order of proposers and kinds.
    #[must_use]
    pub fn contributions(&self) -> Vec<Contribution> {
        let mut contributions: BTreeMap<(String, String), Contribution> = BTreeMap::new();
        let mut entry = |proposer: &str, kind: &str, add: &dyn Fn(&mut Contribution)| {
            let key = (proposer.to_owned(), kind.to_owned());
            add(contributions.entry(key).or_insert_with(|| Contribution {
                proposer: proposer.to_owned(),
                kind: kind.to_owned(),
                drafts: 0,
                made: 0,
                right: 0,
                faster: 0,
                steps_to_best: 0,
                factor: 1.0,
            }));
        };
        let slots = self.slots();
        for slot in slots.values() {
            entry(&slot.proposer, &slot.kind, &|it| {
                it.drafts += 1;
                it.made += u32::from(slot.is_made);
                it.right += u32::from(slot.is_right);
                it.faster += u32::from(slot.is_faster);
            });
        }
        for pair in self.search.best_lineage().windows(2) {
            let Some(slot) = slots.get(&slot_of(pair[1].key)) else {
                continue;
            };
            let factor = pair[1].cost.times(pair[0].cost);
            entry(&slot.proposer, &slot.kind, &|it| {
                it.steps_to_best += 1;
                it.factor *= factor;
            });
        }
        contributions.into_values().collect()
    }

    fn slots(&self) -> BTreeMap<TaskKey, Slot> {
        let mut slots: BTreeMap<TaskKey, Slot> = BTreeMap::new();
        let mut planners: BTreeMap<TaskKey, &str> = BTreeMap::new();
        let mut kinds: BTreeMap<u32, &[Vec<PlanKind>]> = BTreeMap::new();
        let mut parents: BTreeMap<(u32, u32), Cost> = BTreeMap::new();
        for stored in &self.events {
            match &stored.event {
                Event::IterationOpened(opened) => {
                    kinds.insert(opened.iteration, &opened.kinds);
                    for (place, id) in opened.parents.iter().enumerate() {
                        if let Some(parent) = self.search.candidate(*id) {
                            parents.insert((opened.iteration, place as u32), parent.cost);
                        }
                    }
                }
                Event::Planned(Planned {
                    key,
                    result: Proposal::Made(plan),
                    ..
                }) => {
                    planners.insert(*key, &plan.proposer);
                }
                Event::Drafted(Drafted { key, result, .. }) => {
                    let planner = planners.get(&key.to_plan()).copied().unwrap_or_default();
                    let kind = kind_name(kinds.get(&key.iteration).copied(), *key);
                    let slot = slots.entry(slot_of(*key)).or_insert_with(|| Slot {
                        proposer: planner.to_owned(),
                        kind,
                        is_made: false,
                        is_right: false,
                        is_faster: false,
                    });
                    if let Proposal::Made(draft) = result {
                        slot.proposer.clone_from(&draft.proposer);
                        slot.is_made = true;
                    }
                }
                Event::Evaluated(Evaluated {
                    key, evaluation, ..
                }) if evaluation.outcome.is_right() => {
                    let before = parents.get(&(key.iteration, key.parent)).copied();
                    if let Some(slot) = slots.get_mut(&slot_of(*key)) {
                        slot.is_right = true;
                        let cost = evaluation.cost();
                        slot.is_faster = cost.zip(before).is_some_and(|(it, old)| it.beats(old));
                    }
                }
                _ => {}
            }
        }
        slots
    }
}

/// Returns the key of the slot that a draft, a repair or an evaluation is about.
fn slot_of(key: TaskKey) -> TaskKey {
    TaskKey { repair: 0, ..key }.to_draft()
}

fn kind_name(kinds: Option<&[Vec<PlanKind>]>, key: TaskKey) -> String {
    let kind = kinds
        .and_then(|kinds| kinds.get(key.parent as usize))
        .and_then(|kinds| kinds.get(key.plan as usize));
    match kind {
        None | Some(PlanKind::Step) => "step".to_owned(),
        Some(PlanKind::Exhaustive { .. }) => "exhaustive".to_owned(),
        Some(PlanKind::Polish { .. }) => "polish".to_owned(),
        Some(PlanKind::Reused { .. }) => "reuse".to_owned(),
        Some(PlanKind::Reserved { item, .. }) => item.clone(),
    }
}
