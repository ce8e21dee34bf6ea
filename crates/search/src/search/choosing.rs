//! What plans choose from, and who is asked first.

use super::Search;
use crate::dropout::{fitting, menu_after_dropout};
use crate::iteration::Iteration;
use autocomp_core::{CandidateId, MenuItem, Outcome, PlanKind, Scope, Seed, TaskKey};

/// What stands behind a model's name in the list of proposers if it writes code.
const CODES: &str = " (code)";

impl Search {
    /// Returns the part of the menu that a plan for `parent` sees.
    pub(super) fn menu_for(
        &self,
        kind: &PlanKind,
        parent: CandidateId,
        iteration: u32,
        seed: Seed,
    ) -> Vec<MenuItem> {
        let menu = self.started.menu.iter();
        let settings = &self.started.settings;
        match kind {
            PlanKind::Reserved { item, .. } | PlanKind::Exhaustive { item } => {
                menu.filter(|it| it.id == *item).cloned().collect()
            }
            PlanKind::Polish { .. } | PlanKind::Reused { .. } => {
                menu.filter(|it| it.scope == Scope::Step).cloned().collect()
            }
            PlanKind::Step => {
                let menu = self.items_in(iteration, parent);
                let seed = seed.derive("menu");
                let evaluation = &*self.candidates[parent.0 as usize].evaluation;
                if settings.bandit {
                    let menu = fitting(menu.into_iter().cloned(), evaluation);
                    self.item_arms.menu(&menu, settings.menu_dropout, seed)
                } else {
                    menu_after_dropout(&menu, Some(evaluation), settings.menu_dropout, seed)
                }
            }
        }
    }

    /// Returns what a single change of `parent` may be in an iteration: translations and
    /// `other` while the kernel is translated, else steps that its text says something of, and
    /// what was written for it.
    pub(super) fn items_in(&self, iteration: u32, parent: CandidateId) -> Vec<&MenuItem> {
        let ideas = self.ideas.get(&parent).into_iter().flatten();
        let source = self.candidates[parent.0 as usize].source;
        let lacking = self.lacking.get(&source).map_or(&[][..], Vec::as_slice);
        let mut menu = self.steps_in(iteration);
        menu.retain(|it| it.id == MenuItem::OTHER || !lacking.contains(&it.id));
        menu.extend(ideas);
        menu
    }

    /// Returns the part of that which is the same for all kernels.
    pub(super) fn steps_in(&self, iteration: u32) -> Vec<&MenuItem> {
        let is_translation = self.is_translation(iteration);
        let is_wanted = |it: &&MenuItem| match it.scope {
            Scope::Translation => is_translation,
            Scope::Step => !is_translation || it.id == MenuItem::OTHER,
            Scope::Schedule | Scope::Combination | Scope::Idea => false,
        };
        let menu = self.started.menu.iter().filter(is_wanted);
        menu.collect()
    }

    /// Returns whether an iteration, from 1, translates.
    pub(super) fn is_translation(&self, iteration: u32) -> bool {
        let is_left = self.translated_from.is_none_or(|from| iteration < from);
        is_left && iteration <= self.started.settings.translation
    }

    /// Notes whether a kernel of the beam, which is that of an iteration, is translated.
    pub(super) fn note_translated(&mut self, iteration: u32) {
        let is_translated = |id: &CandidateId| self.candidates[id.0 as usize].is_translated();
        if self.translated_from.is_none() && self.beam.iter().any(is_translated) {
            self.translated_from = Some(iteration);
        }
    }

    /// Returns the name of the model that is to be asked first for a plan, or for code,
    /// if that is chosen by what helped so far.
    pub(super) fn first_asked(&self, codes: bool, seed: Seed) -> Option<String> {
        if !self.started.settings.bandit {
            return None;
        }
        let names = || self.started.proposers.iter();
        let coders: Vec<&str> = names().filter_map(|it| it.strip_suffix(CODES)).collect();
        let planners = names().filter(|it| !it.ends_with(CODES));
        let planners: Vec<&str> = planners.map(String::as_str).collect();
        let (arms, names) = match codes {
            true if coders.is_empty() => (&self.coder_arms, planners),
            true => (&self.coder_arms, coders),
            false => (&self.planner_arms, planners),
        };
        let chosen = arms.choose(names.into_iter(), seed.derive("model"));
        chosen.map(str::to_owned)
    }

    /// Takes what came of an iteration into the records of models and menu items.
    pub(super) fn credit(&mut self, iteration: &Iteration) {
        if !self.started.settings.bandit {
            return;
        }
        for (key, plan, source) in iteration.attempts() {
            let parent = &self.candidates[iteration.parents[key.parent as usize].0 as usize];
            let evaluation = source.and_then(|source| self.evaluations.get(&source));
            let right = evaluation.filter(|it| it.outcome == Outcome::Ok);
            let cost = right.and_then(|it| it.cost());
            let gain = u32::from(cost.is_some_and(|cost| cost.beats(parent.cost)));
            let coder = iteration.draft(key).map(|it| it.proposer.clone());
            let arms = [
                Some(self.item_arms.of(&plan.menu_item)),
                Some(self.planner_arms.of(&plan.proposer)),
                coder.map(|name| self.coder_arms.of(&name)),
            ];
            for record in arms.into_iter().flatten() {
                record.trials += 1;
                record.gains += gain;
            }
        }
        for ((key, model), cost) in iteration.costs() {
            let plan = iteration.plan_of(key.to_plan());
            if let Some(plan) = plan {
                self.item_arms.of(&plan.menu_item).cost += cost;
            }
            if is_planning(*key) {
                self.planner_arms.of(model).cost += cost;
            } else {
                self.coder_arms.of(model).cost += cost;
            }
        }
    }
}

fn is_planning(key: TaskKey) -> bool {
    key == key.to_plan()
}

/// Returns the first place that holds the kernel of a plan, and the number of the plan among
/// those of the same kind for the kernel.
pub(super) fn turn(iteration: &Iteration, plan: TaskKey) -> (u32, u32) {
    let same = before(iteration, plan);
    let first = same.first().unwrap_or(&plan).parent;
    let of_kind = same
        .iter()
        .filter(|it| iteration.kind(**it) == iteration.kind(plan));
    (first, of_kind.count() as u32)
}

/// Returns the plans before one that are for the same kernel.
pub(super) fn before(iteration: &Iteration, plan: TaskKey) -> Vec<TaskKey> {
    let kernel = |key: TaskKey| iteration.parents.get(key.parent as usize);
    let before = iteration.plan_keys().take_while(|it| *it < plan);
    before.filter(|it| kernel(*it) == kernel(plan)).collect()
}
