//! The state into what comes next: events that follow, and tasks that may run.

use super::choosing::{before, turn};
use super::{Candidate, Phase, Search};
use crate::allotment::{Allotment, allot};
use crate::exhaustive::deal;
use crate::iteration::Iteration;
use crate::kinds::{add_polish, first_places, plan_kinds};
use crate::strategy::Pool;
use crate::task::Task;
use autocomp_core::{
    CandidateId, ContentHash, Evaluated, Event, Exhaustive, FinishReason, Finished,
    IterationClosed, IterationOpened, Measurement, NewCandidate, TaskKey,
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
            Phase::Between => match (self.last_polish(), self.ending()) {
                (Some(opening), _) => Some(Event::IterationOpened(opening)),
                (None, Some(_)) if !self.ready_confirmations().is_empty() => None,
                (None, Some(reason)) => Some(Event::Finished(self.finished(reason))),
                (None, None) => Some(Event::IterationOpened(self.opening())),
            },
            Phase::Iteration(iteration) => match iteration.next_repeated() {
                Some((key, source)) => Some(Event::Evaluated(Evaluated {
                    key,
                    source,
                    evaluation: Arc::clone(&self.evaluations[&self.equals.resolve(source)]),
                    same_as: self.equal_to(source),
                    code: self.equals.code_of(source),
                    lacks: self.lacking.get(&source).cloned().unwrap_or_default(),
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
        let confirmations = self.ready_confirmations().into_iter();
        let confirmations = confirmations.map(|(key, candidate)| Task::Confirm {
            key,
            source: candidate.source,
        });
        let mut tasks: Vec<Task> = evaluations
            .map(|(key, source)| Task::Evaluate {
                key,
                source,
                bound: self.bound(),
            })
            .chain(confirmations)
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
    /// plans, then menu items to be written, each in key order. [`Search::proposal_task`] tells what each is.
    pub fn ready_proposals(&self) -> impl Iterator<Item = TaskKey> + '_ {
        let open = self.open().into_iter();
        open.flat_map(|iteration| {
            let plans = iteration.drafts_due().iter().chain(iteration.plans_due());
            plans.chain(iteration.ideas_due())
        })
        .copied()
    }

    /// Returns the task of a proposer with the key `key`, if it may run now.
    #[must_use]
    pub fn proposal_task(&self, key: TaskKey) -> Option<Task> {
        let iteration = self.open()?;
        let parent = *iteration.parents.get(key.parent as usize)?;
        let kernel = self.candidate(parent)?.source;
        let seed = self.started.seed.derive(&key.to_string());
        if iteration.ideas_due().contains(&key) {
            return Some(Task::Ideas {
                key,
                seed,
                parent,
                kernel,
                menu: self
                    .items_in(key.iteration, parent)
                    .into_iter()
                    .cloned()
                    .collect(),
                count: self.started.settings.ideas,
            });
        }
        if iteration.plans_due().contains(&key) {
            let kind = iteration.kind(key).clone();
            let (place, number) = turn(iteration, key);
            return Some(Task::Plan {
                key,
                seed,
                parent,
                kernel,
                place,
                number,
                menu: self.menu_for(&kind, parent, key.iteration, seed),
                kind,
                first_asked: self.first_asked(false, seed),
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
                number: before(iteration, key.to_plan()).len() as u32,
                first_asked: self.first_asked(true, seed),
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

    /// Returns why the run has to end, if `held` of its evaluations are not there.
    pub(crate) fn finish_reason(&self, held: u32) -> Option<FinishReason> {
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
        } else if measurement.is_some_and(|it| self.is_at_floor(it)) {
            Some(FinishReason::Floor)
        } else if settings.iterations <= self.n_closed {
            Some(FinishReason::Iterations)
        } else if settings
            .max_evaluations
            .is_some_and(|most| most.saturating_sub(held) <= self.n_evaluations())
        {
            Some(FinishReason::Evaluations)
        } else if settings.patience != 0 && settings.patience <= self.n_stalled {
            Some(FinishReason::Stalled)
        } else {
            None
        }
    }

    /// Returns whether the best kernel leaves no gain above the floor for which patience would
    /// begin anew. Before drafts of one iteration have cost no less than the floor, nothing but
    /// the problem's file says where that is.
    fn is_at_floor(&self, best: &Measurement) -> bool {
        let settings = &self.started.settings;
        let (cost, floor) = (best.cost.value, best.floor.value);
        let is_near = cost as f64 * (1.0 - settings.least_gain) < floor as f64;
        cost <= floor || settings.patience != 0 && 0 < self.n_closed && is_near
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
        // Unless nothing else is left.
        let remaining = remaining.map(|left| match left.saturating_sub(self.held_back()) {
            0 => left,
            left => left,
        });
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
        let is_translation = self.is_translation(iteration);
        let mut kinds = if is_translation {
            Vec::new()
        } else {
            plan_kinds(menu, iteration, &parents, &slots, pairs, seed)
        };
        let is_exhaustive = match settings.exhaustive {
            Exhaustive::Never => false,
            Exhaustive::Stalled => 0 < self.n_stalled,
            Exhaustive::Always => true,
        };
        if is_exhaustive {
            let steps = self.steps_in(iteration);
            let turns = &self.turns;
            deal(&steps, &parents, &survivors, turns, &mut slots, &mut kinds);
        }
        if !is_translation {
            add_polish(polish, &survivors, &mut slots, &mut kinds);
        }
        let ideas = self.to_be_written(&parents, &survivors, &slots);
        IterationOpened {
            iteration,
            bound: self.bound_of(iteration, &parents),
            parents,
            slots,
            repairs,
            kinds,
            ideas,
        }
    }

    /// Returns the places for whose kernels menu items are to be written: those that have
    /// plans, and were not asked about before.
    fn to_be_written(
        &self,
        parents: &[CandidateId],
        survivors: &[usize],
        slots: &[Vec<u32>],
    ) -> Vec<u32> {
        if self.started.settings.ideas == 0 {
            return Vec::new();
        }
        let has_plans = |place: &&usize| {
            let of_same = |idx: &usize| parents[*idx] == parents[**place];
            (0..parents.len())
                .filter(of_same)
                .any(|idx| !slots[idx].is_empty())
        };
        let places = survivors.iter().filter(has_plans);
        let new = places.filter(|place| !self.ideas.contains_key(&parents[**place]));
        new.map(|place| *place as u32).collect()
    }

    fn closing(&self, iteration: &Iteration) -> IterationClosed {
        let n_known = self.candidates.len();
        let mut fresh: Vec<Candidate> = Vec::new();
        let mut ids: BTreeMap<ContentHash, CandidateId> = BTreeMap::new();
        let mut children = Vec::new();
        for (key, source) in iteration.sources() {
            let source = self.equals.resolve(source);
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
        let pool = Pool {
            settings: &self.started.settings,
            translates: self.is_translation(iteration.number),
            seed,
            iteration: iteration.number,
            known: &self.candidates,
            fresh: &fresh,
            beam: &self.beam,
            places: &iteration.parents,
            children: &children,
            unplaced: &self.unplaced,
            struck: &self.confirmations.struck,
        };
        let mut beam = self.strategy.select(&pool);
        pool.drop_untranslated(&mut beam);
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
