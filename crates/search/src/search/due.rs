//! The state into what comes next: events that follow, and tasks that may run.

use super::{Candidate, Phase, Search};
use crate::dropout::menu_after_dropout;
use crate::iteration::{Allotment, Answer, Iteration, SlotState, allot};
use crate::kinds::{add_polish, plan_kinds};
use crate::strategy::Pool;
use crate::task::Task;
use autocomp_core::{
    CandidateId, ContentHash, Evaluated, Evaluation, Event, FinishReason, Finished,
    IterationClosed, IterationOpened, MenuItem, NewCandidate, PlanKind, Scope, Seed, TaskKey,
};
use std::collections::BTreeSet;
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
            Phase::Iteration(iteration) => {
                let repeated = iteration.sources().find_map(|(key, source)| {
                    let evaluation = self.evaluations.get(&source)?;
                    (!iteration.is_evaluated(key)).then(|| {
                        let evaluation = Evaluation::clone(evaluation);
                        Event::Evaluated(Evaluated {
                            key,
                            source,
                            evaluation,
                        })
                    })
                });
                repeated.or_else(|| {
                    iteration
                        .is_complete()
                        .then(|| Event::IterationClosed(self.closing(iteration)))
                })
            }
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
        match &self.phase {
            Phase::Between | Phase::Finished(_) => Vec::new(),
            Phase::Baseline => {
                vec![Task::Evaluate {
                    key: TaskKey::BASELINE,
                    source: self.started.baseline,
                }]
            }
            Phase::Iteration(iteration) => self.ready_in(iteration),
        }
    }

    fn ready_in(&self, iteration: &Iteration) -> Vec<Task> {
        let mut tasks = Vec::new();
        for plan_key in iteration.plan_keys() {
            let parent = iteration.parents[plan_key.parent as usize];
            let kernel = self.candidates[parent.0 as usize].source;
            let seed = |key: TaskKey| self.started.seed.derive(&key.to_string());
            match iteration.plan(plan_key) {
                None => {
                    let seed = seed(plan_key);
                    let kind = iteration.kind(plan_key).clone();
                    tasks.push(Task::Plan {
                        key: plan_key,
                        seed,
                        parent,
                        kernel,
                        menu: self.menu_for(&kind, seed),
                        kind,
                    });
                }
                Some(Answer::Absent) => {}
                Some(Answer::Made(plan)) => {
                    for draft_key in iteration.draft_keys(plan_key) {
                        let SlotState::Proposal(key) = iteration.slot_state(draft_key) else {
                            continue;
                        };
                        let (seed, plan) = (seed(key), plan.clone());
                        let failed = key.repair.checked_sub(1).and_then(|repair| {
                            iteration
                                .draft(TaskKey { repair, ..key }.to_draft())
                                .cloned()
                        });
                        tasks.push(match failed {
                            None => Task::Draft {
                                key,
                                seed,
                                parent,
                                kernel,
                                kind: iteration.kind(key).clone(),
                                plan,
                            },
                            Some(draft) => Task::Repair {
                                key,
                                seed,
                                parent,
                                kernel,
                                plan,
                                draft,
                            },
                        });
                    }
                }
            }
        }
        let mut sources = BTreeSet::new();
        for (key, source) in iteration.sources() {
            if !self.evaluations.contains_key(&source) && sources.insert(source) {
                tasks.push(Task::Evaluate { key, source });
            }
        }
        tasks.sort_by_key(Task::key);
        tasks
    }

    /// Returns the part of the menu that a plan sees.
    fn menu_for(&self, kind: &PlanKind, seed: Seed) -> Vec<MenuItem> {
        let menu = self.started.menu.iter();
        if let PlanKind::Reserved { item, .. } = kind {
            return menu.filter(|it| it.id == *item).cloned().collect();
        }
        let steps: Vec<MenuItem> = menu.filter(|it| it.scope == Scope::Step).cloned().collect();
        match kind {
            PlanKind::Polish { .. } => steps,
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
        let n_survivors = self.beam.len().min(n_places);
        let Allotment {
            mut slots,
            repairs,
            polish,
        } = allot(settings, iteration, remaining, n_survivors as u32);
        let parents: Vec<CandidateId> = self.beam.iter().copied().cycle().take(n_places).collect();
        let seed = self.started.seed.derive(&format!("kinds.i{iteration}"));
        let pairs = self.attempts.pairs.clone();
        let menu = &self.started.menu;
        let mut kinds = plan_kinds(menu, iteration, &parents, &slots, pairs, seed);
        add_polish(polish, n_survivors, &mut slots, &mut kinds);
        IterationOpened {
            iteration,
            parents,
            slots,
            repairs,
            kinds,
        }
    }

    fn closing(&self, iteration: &Iteration) -> IterationClosed {
        let mut candidates = self.candidates.clone();
        let mut seen: BTreeSet<ContentHash> = self.known_sources.keys().copied().collect();
        let mut new = Vec::new();
        for (key, source) in iteration.sources() {
            let evaluation = &self.evaluations[&source];
            let Some(cost) = evaluation.cost() else {
                continue;
            };
            if !seen.insert(source) {
                continue;
            }
            let id = CandidateId(candidates.len() as u32);
            let parent = iteration.parents[key.parent as usize];
            new.push(NewCandidate {
                id,
                key,
                parent,
                source,
                cost,
            });
            candidates.push(Candidate {
                id,
                key,
                parent: Some(parent),
                plan: None,
                source,
                cost,
                evaluation: Arc::clone(evaluation),
            });
        }
        let fresh: Vec<CandidateId> = new.iter().map(|new| new.id).collect();
        let ids = candidates.iter().map(|candidate| candidate.id);
        let unplaced: Vec<CandidateId> = ids.filter(|id| !self.placed.contains(id)).collect();
        let seed = self
            .started
            .seed
            .derive(&format!("select.i{}", iteration.number));
        let beam = self.strategy.select(&Pool {
            settings: &self.started.settings,
            seed,
            candidates: &candidates,
            beam: &self.beam,
            fresh: &fresh,
            unplaced: &unplaced,
        });
        IterationClosed {
            iteration: iteration.number,
            candidates: new,
            beam,
            evaluations: self.n_evaluations(),
        }
    }
}
