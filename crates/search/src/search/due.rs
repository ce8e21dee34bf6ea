//! The state into what comes next: events that follow, and tasks that may run.

use super::{Candidate, Phase, Search};
use crate::dropout::menu_after_dropout;
use crate::iteration::{Allotment, Iteration, allot};
use crate::kinds::{add_polish, first_places, plan_kinds};
use crate::strategy::Pool;
use crate::task::Task;
use autocomp_core::{
    CandidateId, ContentHash, Evaluated, Evaluation, Event, FinishReason, Finished,
    IterationClosed, IterationOpened, MenuItem, NewCandidate, PlanKind, Scope, Seed, TaskKey,
};
use std::collections::BTreeMap;
use std::sync::Arc;

impl Search {
    /// Returns the next event that follows from the state without any task.
    ///
    /// Append it, [apply](Self::apply) it, and ask again.
    #[must_use]
    pub fn due(&self) -> Option<Event> {
        match &self.phase {
            Phase::Baseline | Phase::Finished(_) => None,
            Phase::Between => Some(match self.finish_reason() {
                Some(reason) => Event::Finished(self.finished(reason)),
                None => Event::IterationOpened(self.opening()),
            }),
            Phase::Iteration(iteration) => match iteration.next_repeated() {
                Some((key, source)) => Some(Event::Evaluated(Evaluated {
                    key,
                    source,
                    evaluation: Evaluation::clone(&self.evaluations[&source]),
                })),
                None => iteration
                    .is_complete()
                    .then(|| Event::IterationClosed(self.closing(iteration))),
            },
        }
    }

    /// Returns the tasks that may run now and have not ended, in key order.
    ///
    /// Tasks that are running are among them. A source that several drafts
    /// share is one task, that of the first draft known; so whoever executes
    /// tasks must not start an evaluation of a source that is being evaluated
    /// under another key.
    #[must_use]
    pub fn ready(&self) -> Vec<Task> {
        let evaluations = self.ready_evaluations();
        let mut tasks: Vec<Task> = evaluations
            .map(|(key, source)| Task::Evaluate { key, source })
            .chain(
                self.ready_proposals()
                    .filter_map(|key| self.proposal_task(key)),
            )
            .collect();
        tasks.sort_by_key(Task::key);
        tasks
    }

    /// Returns the evaluations that may run now, in key order, as
    /// [`Search::ready`] does.
    pub fn ready_evaluations(&self) -> impl Iterator<Item = (TaskKey, ContentHash)> + '_ {
        let is_first = matches!(self.phase, Phase::Baseline);
        let first = is_first.then(|| self.first_tasks()).into_iter().flatten();
        let first = first.filter(|(_, source)| !self.evaluations.contains_key(source));
        let due = self.open().into_iter();
        let due = due.flat_map(|iteration| iteration.evaluations_due());
        first.chain(due.map(|(key, source)| (*key, *source)))
    }

    /// Returns the tasks of proposers that may run now: drafts and repairs, then
    /// plans, each in key order. [`Search::proposal_task`] tells what each is.
    pub fn ready_proposals(&self) -> impl Iterator<Item = TaskKey> + '_ {
        let open = self.open().into_iter();
        open.flat_map(|iteration| iteration.drafts_due().iter().chain(iteration.plans_due()))
            .copied()
    }

    /// Returns the task of a proposer with the key `key`, if it may run now.
    #[must_use]
    pub fn proposal_task(&self, key: TaskKey) -> Option<Task> {
        let iteration = self.open()?;
        let parent = *iteration.parents.get(key.parent as usize)?;
        let kernel = self.candidate(parent)?.source;
        let seed = self.started.seed.derive(&key.to_string());
        if iteration.plans_due().contains(&key) {
            let kind = iteration.kind(key).clone();
            return Some(Task::Plan {
                key,
                seed,
                parent,
                kernel,
                menu: self.menu_for(&kind, seed),
                kind,
            });
        }
        if !iteration.drafts_due().contains(&key) {
            return None;
        }
        let plan = iteration.plan_of(key)?.clone();
        let Some(repair) = key.repair.checked_sub(1) else {
            return Some(Task::Draft {
                key,
                seed,
                parent,
                kernel,
                kind: iteration.kind(key).clone(),
                plan,
            });
        };
        let failed = TaskKey { repair, ..key }.to_draft();
        Some(Task::Repair {
            key,
            seed,
            parent,
            kernel,
            plan,
            draft: iteration.draft(failed)?.clone(),
        })
    }

    /// Returns the part of the menu that a plan sees.
    fn menu_for(&self, kind: &PlanKind, seed: Seed) -> Vec<MenuItem> {
        let menu = self.started.menu.iter();
        if let PlanKind::Reserved { item, .. } = kind {
            return menu.filter(|it| it.id == *item).cloned().collect();
        }
        let steps: Vec<MenuItem> = menu.filter(|it| it.scope == Scope::Step).cloned().collect();
        match kind {
            PlanKind::Polish { .. } | PlanKind::Reused { .. } => steps,
            _ => {
                let dropout = self.started.settings.menu_dropout;
                menu_after_dropout(&steps, dropout, seed.derive("menu"))
            }
        }
    }

    fn finish_reason(&self) -> Option<FinishReason> {
        let settings = &self.started.settings;
        let Some(best) = self.best else {
            return Some(FinishReason::BaselineFailed);
        };
        let measurement = self.candidates[best.0 as usize]
            .evaluation
            .measurement
            .as_ref();
        let percent = measurement.map_or(0.0, |measurement| measurement.percent_of_peak);
        if settings
            .stop_at_percent_of_peak
            .is_some_and(|enough| enough <= percent)
        {
            Some(FinishReason::PercentOfPeak)
        } else if measurement.is_some_and(|it| it.cost.value <= it.floor.value) {
            Some(FinishReason::Floor)
        } else if settings.iterations <= self.n_closed {
            Some(FinishReason::Iterations)
        } else if settings
            .max_evaluations
            .is_some_and(|most| most <= self.n_evaluations())
        {
            Some(FinishReason::Evaluations)
        } else if settings.patience != 0 && settings.patience <= self.n_stalled {
            Some(FinishReason::Stalled)
        } else {
            None
        }
    }

    fn finished(&self, reason: FinishReason) -> Finished {
        Finished {
            reason,
            best: self.best,
            best_cost: self.best.map(|id| self.candidates[id.0 as usize].cost),
            evaluations: self.n_evaluations(),
        }
    }

    fn opening(&self) -> IterationOpened {
        let settings = &self.started.settings;
        let iteration = self.n_closed + 1;
        let remaining = settings
            .max_evaluations
            .map(|most| most.saturating_sub(self.n_evaluations()));
        // Vacant places are filled by repeating the beam from its best.
        let n_places = settings.beam as usize;
        let parents: Vec<CandidateId> = self.beam.iter().copied().cycle().take(n_places).collect();
        if let Some(step) = self.step_of(iteration) {
            return self.replaying(step, parents, remaining);
        }
        let survivors: Vec<usize> = first_places(&parents).collect();
        let Allotment {
            mut slots,
            repairs,
            polish,
        } = allot(settings, iteration, remaining, survivors.len() as u32);
        let seed = self.started.seed.derive(&format!("kinds.i{iteration}"));
        let pairs = self.attempts.pairs.clone();
        let menu = &self.started.menu;
        let mut kinds = plan_kinds(menu, iteration, &parents, &slots, pairs, seed);
        add_polish(polish, &survivors, &mut slots, &mut kinds);
        IterationOpened {
            iteration,
            parents,
            slots,
            repairs,
            kinds,
        }
    }

    fn closing(&self, iteration: &Iteration) -> IterationClosed {
        let n_known = self.candidates.len();
        let mut fresh: Vec<Candidate> = Vec::new();
        let mut ids: BTreeMap<ContentHash, CandidateId> = BTreeMap::new();
        let mut children = Vec::new();
        for (key, source) in iteration.sources() {
            let evaluation = &self.evaluations[&source];
            let Some(cost) = evaluation.cost() else {
                continue;
            };
            let known = self.id_of(source).or_else(|| ids.get(&source).copied());
            let id = known.unwrap_or_else(|| {
                let id = CandidateId((n_known + fresh.len()) as u32);
                ids.insert(source, id);
                fresh.push(Candidate {
                    id,
                    key,
                    parent: Some(iteration.parents[key.parent as usize]),
                    plan: iteration.plan_of(key).cloned(),
                    source,
                    cost,
                    evaluation: Arc::clone(evaluation),
                });
                id
            });
            children.push((key.parent, id));
        }
        let seed = self
            .started
            .seed
            .derive(&format!("select.i{}", iteration.number));
        let beam = self.strategy.select(&Pool {
            settings: &self.started.settings,
            seed,
            iteration: iteration.number,
            known: &self.candidates,
            fresh: &fresh,
            beam: &self.beam,
            places: &iteration.parents,
            children: &children,
            unplaced: &self.unplaced,
        });
        let candidates = fresh.into_iter().map(|it| NewCandidate {
            id: it.id,
            key: it.key,
            parent: it.parent.unwrap_or(CandidateId(0)),
            source: it.source,
            cost: it.cost,
        });
        IterationClosed {
            iteration: iteration.number,
            candidates: candidates.collect(),
            beam,
            evaluations: self.n_evaluations(),
        }
    }
}
