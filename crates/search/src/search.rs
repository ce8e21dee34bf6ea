//! The state of a run, as the fold over its events.

use crate::dropout::menu_after_dropout;
use crate::iteration::{Allotment, Answer, Iteration, SlotState, allot};
use crate::progress::Tally;
use crate::strategy::{Pool, REGISTRY, Strategy, strategy};
use crate::task::Task;
use autocomp_core::{
    CandidateId, ContentHash, Cycles, EVENT_FORMAT, Evaluated, Evaluation, Event, FinishReason,
    Finished, IterationClosed, IterationOpened, NewCandidate, Outcome, PlanRecord, Proposal,
    RunStarted, SettingError, Stopped, TaskKey,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A run cannot be searched.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// A setting is out of range.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// There is no strategy of that name.
    #[error("there is no strategy `{name}`; there are: {}", known.join(", "))]
    UnknownStrategy {
        /// The name asked for.
        name: String,
        /// All names.
        known: Vec<&'static str>,
    },
    /// The menu has no item.
    #[error("the optimization menu is empty")]
    EmptyMenu,
    /// The events were written by a newer program.
    #[error(
        "the run has events of format {found}, but this program knows formats up to {EVENT_FORMAT}; use the program that made the run, or a newer one"
    )]
    NewerFormat {
        /// The format of the run.
        found: u32,
    },
    /// The first event does not start the run.
    #[error("the first event does not start a run")]
    NotStarted,
    /// An event does not fit the state.
    #[error(transparent)]
    Apply(#[from] ApplyError),
}

/// An event does not follow from the events before it: the journal is not
/// what a run wrote, or it was put together from two.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the event `{event}`{} does not fit the run: {reason}", key.map(|key| format!(" of task {key}")).unwrap_or_default())]
pub struct ApplyError {
    /// The kind of the event.
    pub event: &'static str,
    /// Its task, if it has one.
    pub key: Option<TaskKey>,
    /// What does not fit.
    pub reason: &'static str,
}

/// A kernel that was evaluated correct, with its provenance.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Its number; 0 is the baseline.
    pub id: CandidateId,
    /// The evaluate task that it came from.
    pub key: TaskKey,
    /// The kernel that it was made from; absent for the baseline.
    pub parent: Option<CandidateId>,
    /// The plan that made it from its parent; absent for the baseline.
    pub plan: Option<PlanRecord>,
    /// Its source.
    pub source: ContentHash,
    /// The ranking figure.
    pub cycles: Cycles,
    /// The whole evaluation.
    pub evaluation: Arc<Evaluation>,
}

/// What the run waits for.
#[derive(Clone, Debug)]
enum Phase {
    /// For the baseline's evaluation.
    Baseline,
    /// For the opening of the next iteration, or the end.
    Between,
    /// For the tasks of an iteration.
    Iteration(Iteration),
    /// For nothing.
    Finished(FinishReason),
}

/// The state of a run.
#[derive(Clone, Debug)]
pub struct Search {
    started: RunStarted,
    strategy: &'static dyn Strategy,
    phase: Phase,
    /// Iterations closed.
    n_closed: u32,
    /// Closed iterations since the last gain that counts.
    n_stalled: u32,
    /// Cycles of the best kernel at that gain.
    gained_at: Cycles,
    candidates: Vec<Candidate>,
    known_sources: BTreeMap<ContentHash, CandidateId>,
    evaluations: BTreeMap<ContentHash, Arc<Evaluation>>,
    beam: Vec<CandidateId>,
    /// Candidates that have held a place.
    placed: BTreeSet<CandidateId>,
    /// The best of all closed iterations.
    best: Option<CandidateId>,
    stopped: Option<Stopped>,
    pub(crate) tally: Tally,
}

impl Search {
    /// Starts a search.
    ///
    /// # Errors
    /// The settings are out of range, the menu is empty, or the run was made
    /// by a newer program.
    pub fn new(started: RunStarted) -> Result<Self, SearchError> {
        if EVENT_FORMAT < started.format {
            return Err(SearchError::NewerFormat {
                found: started.format,
            });
        }
        started.settings.check()?;
        if started.menu.is_empty() {
            return Err(SearchError::EmptyMenu);
        }
        let name = &started.settings.strategy;
        let strategy = strategy(name).ok_or_else(|| SearchError::UnknownStrategy {
            name: name.clone(),
            known: REGISTRY.iter().map(|strategy| strategy.name()).collect(),
        })?;
        Ok(Self {
            started,
            strategy,
            phase: Phase::Baseline,
            n_closed: 0,
            n_stalled: 0,
            gained_at: Cycles(u64::MAX),
            candidates: Vec::new(),
            known_sources: BTreeMap::new(),
            evaluations: BTreeMap::new(),
            beam: Vec::new(),
            placed: BTreeSet::new(),
            best: None,
            stopped: None,
            tally: Tally::default(),
        })
    }

    /// Folds the events of a run, in the order of its journal.
    ///
    /// # Errors
    /// As [`Search::new`], or an event does not fit.
    pub fn fold<'a>(events: impl IntoIterator<Item = &'a Event>) -> Result<Self, SearchError> {
        let mut events = events.into_iter();
        let Some(Event::Started(started)) = events.next() else {
            return Err(SearchError::NotStarted);
        };
        let mut search = Self::new(started.clone())?;
        for event in events {
            search.apply(event)?;
        }
        Ok(search)
    }

    /// Takes an event into the state.
    ///
    /// # Errors
    /// The event does not follow from the events before it. The state is as before.
    pub fn apply(&mut self, event: &Event) -> Result<(), ApplyError> {
        let applied = match event {
            Event::Started(_) => Err("the run has started before"),
            Event::Resumed(_) => {
                self.stopped = None;
                Ok(())
            }
            Event::Stopped(stopped) => {
                self.stopped = Some(stopped.clone());
                Ok(())
            }
            Event::IterationOpened(opened) => self.apply_opened(opened),
            Event::Planned(planned) => {
                let answer = match &planned.result {
                    Proposal::Made(plan) => Answer::Made(plan.clone()),
                    Proposal::Nothing { .. } | Proposal::Failed { .. } => Answer::Absent,
                };
                self.open_iteration(planned.key)
                    .and_then(|iteration| iteration.set_plan(planned.key, answer))
            }
            Event::Drafted(drafted) => {
                let answer = match &drafted.result {
                    Proposal::Made(draft) => Answer::Made(draft.clone()),
                    Proposal::Nothing { .. } | Proposal::Failed { .. } => Answer::Absent,
                };
                self.open_iteration(drafted.key)
                    .and_then(|iteration| iteration.set_draft(drafted.key, answer))
            }
            Event::Evaluated(evaluated) => self.apply_evaluated(evaluated),
            Event::IterationClosed(closed) => self.apply_closed(closed),
            Event::Finished(finished) => match self.phase {
                Phase::Between => {
                    self.phase = Phase::Finished(finished.reason);
                    Ok(())
                }
                _ => Err("tasks are still to do, or the run has finished before"),
            },
            _ => Err("this program does not know the event"),
        };
        applied.map_err(|reason| ApplyError {
            event: event.kind(),
            key: event.key(),
            reason,
        })?;
        self.tally.count(event);
        Ok(())
    }

    fn open_iteration(&mut self, key: TaskKey) -> Result<&mut Iteration, &'static str> {
        match &mut self.phase {
            Phase::Iteration(iteration) if iteration.number == key.iteration => Ok(iteration),
            _ => Err("its iteration is not open"),
        }
    }

    fn apply_opened(&mut self, opened: &IterationOpened) -> Result<(), &'static str> {
        if !matches!(self.phase, Phase::Between) || opened.iteration != self.n_closed + 1 {
            return Err("another iteration is to come");
        }
        if opened.parents.len() != opened.slots.len() {
            return Err("it has not as many parents as places");
        }
        if opened
            .parents
            .iter()
            .any(|id| self.candidates.len() <= id.0 as usize)
        {
            return Err("a parent does not exist");
        }
        self.placed.extend(&opened.parents);
        self.phase = Phase::Iteration(Iteration::open(opened));
        Ok(())
    }

    fn apply_evaluated(&mut self, evaluated: &Evaluated) -> Result<(), &'static str> {
        let Evaluated {
            key,
            source,
            evaluation,
        } = evaluated;
        if (evaluation.outcome == Outcome::Ok) != evaluation.measurement.is_some() {
            return Err("a measurement goes with the outcome `ok` and no other");
        }
        if *key == TaskKey::BASELINE {
            if !matches!(self.phase, Phase::Baseline) {
                return Err("the baseline was evaluated before");
            }
            if *source != self.started.baseline {
                return Err("it is not the baseline's source");
            }
            let evaluation = Arc::new(evaluation.clone());
            if let Some(cycles) = evaluation.cycles() {
                let id = CandidateId(0);
                self.candidates.push(Candidate {
                    id,
                    key: *key,
                    parent: None,
                    plan: None,
                    source: *source,
                    cycles,
                    evaluation: Arc::clone(&evaluation),
                });
                self.known_sources.insert(*source, id);
                self.beam = vec![id];
                self.best = Some(id);
            }
            self.evaluations.insert(*source, evaluation);
            self.phase = Phase::Between;
            return Ok(());
        }
        self.open_iteration(*key)?
            .set_evaluated(*key, *source, evaluation.outcome)?;
        self.evaluations
            .entry(*source)
            .or_insert_with(|| Arc::new(evaluation.clone()));
        Ok(())
    }

    fn apply_closed(&mut self, closed: &IterationClosed) -> Result<(), &'static str> {
        let Phase::Iteration(iteration) = &self.phase else {
            return Err("no iteration is open");
        };
        if iteration.number != closed.iteration || !iteration.is_complete() {
            return Err("the iteration is not complete");
        }
        let mut candidates = Vec::new();
        for (idx, new) in closed.candidates.iter().enumerate() {
            let evaluation = self.evaluations.get(&new.source);
            let Some((evaluation, cycles)) =
                evaluation.and_then(|it| it.cycles().map(|cycles| (Arc::clone(it), cycles)))
            else {
                return Err("a new candidate was not evaluated correct");
            };
            let is_next = new.id.0 as usize == self.candidates.len() + idx;
            let is_parent = self.candidates.len() > new.parent.0 as usize;
            if !is_next || !is_parent || cycles != new.cycles {
                return Err("a new candidate contradicts the events before");
            }
            candidates.push(Candidate {
                id: new.id,
                key: new.key,
                parent: Some(new.parent),
                plan: iteration.plan_of(new.key).cloned(),
                source: new.source,
                cycles,
                evaluation,
            });
        }
        let n_candidates = self.candidates.len() + candidates.len();
        if closed.beam.is_empty() || closed.beam.iter().any(|id| n_candidates <= id.0 as usize) {
            return Err("a survivor does not exist");
        }
        for candidate in candidates {
            self.known_sources.insert(candidate.source, candidate.id);
            self.candidates.push(candidate);
        }
        let best = self
            .candidates
            .iter()
            .min_by_key(|it| (it.cycles, it.id))
            .map(|it| it.id);
        if let Some(baseline) = self.candidates.first() {
            self.gained_at = self.gained_at.min(baseline.cycles);
        }
        let best_cycles = best.map_or(Cycles(u64::MAX), |id| self.candidates[id.0 as usize].cycles);
        let least = self.gained_at.0 as f64 * (1.0 - self.started.settings.least_gain);
        if best_cycles < self.gained_at && best_cycles.0 as f64 <= least {
            self.n_stalled = 0;
            self.gained_at = best_cycles;
        } else {
            self.n_stalled += 1;
        }
        self.best = best;
        self.beam.clone_from(&closed.beam);
        self.n_closed = closed.iteration;
        self.phase = Phase::Between;
        Ok(())
    }

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
                    let dropout = self.started.settings.menu_dropout;
                    tasks.push(Task::Plan {
                        key: plan_key,
                        seed,
                        parent,
                        kernel,
                        menu: menu_after_dropout(&self.started.menu, dropout, seed.derive("menu")),
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
            best_cycles: self.best.map(|id| self.candidates[id.0 as usize].cycles),
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
        let Allotment { slots, repairs } = allot(settings, iteration, remaining);
        let parents = self.beam.iter().copied().cycle().take(n_places).collect();
        IterationOpened {
            iteration,
            parents,
            slots,
            repairs,
        }
    }

    fn closing(&self, iteration: &Iteration) -> IterationClosed {
        let mut candidates = self.candidates.clone();
        let mut seen: BTreeSet<ContentHash> = self.known_sources.keys().copied().collect();
        let mut new = Vec::new();
        for (key, source) in iteration.sources() {
            let evaluation = &self.evaluations[&source];
            let Some(cycles) = evaluation.cycles() else {
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
                cycles,
            });
            candidates.push(Candidate {
                id,
                key,
                parent: Some(parent),
                plan: None,
                source,
                cycles,
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

    /// Returns what the run is.
    #[must_use]
    pub fn started(&self) -> &RunStarted {
        &self.started
    }

    /// Returns all correct kernels of closed iterations, by id.
    #[must_use]
    pub fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// Returns a candidate, if there is one with that number.
    #[must_use]
    pub fn candidate(&self, id: CandidateId) -> Option<&Candidate> {
        self.candidates.get(id.0 as usize)
    }

    /// Returns the survivors of the last closed iteration, best first.
    #[must_use]
    pub fn beam(&self) -> &[CandidateId] {
        &self.beam
    }

    /// Returns the evaluation of a source, if it was evaluated.
    #[must_use]
    pub fn evaluation(&self, source: ContentHash) -> Option<&Arc<Evaluation>> {
        self.evaluations.get(&source)
    }

    /// Returns the evaluations of all distinct kernels.
    pub fn evaluations(&self) -> impl Iterator<Item = &Evaluation> {
        self.evaluations.values().map(Arc::as_ref)
    }

    /// Returns how many distinct kernels were evaluated, the baseline included.
    #[must_use]
    pub fn n_evaluations(&self) -> u32 {
        self.evaluations.len() as u32
    }

    /// Returns why the run is finished, if it is.
    #[must_use]
    pub fn finish(&self) -> Option<FinishReason> {
        match self.phase {
            Phase::Finished(reason) => Some(reason),
            _ => None,
        }
    }

    /// Returns why the run was stopped, if it was and no process took it up again.
    #[must_use]
    pub fn stopped(&self) -> Option<&Stopped> {
        self.stopped.as_ref()
    }

    /// Returns the open iteration, from 1, or the last closed one; 0 before the first.
    #[must_use]
    pub fn iteration(&self) -> u32 {
        match &self.phase {
            Phase::Iteration(iteration) => iteration.number,
            _ => self.n_closed,
        }
    }

    pub(crate) fn open(&self) -> Option<&Iteration> {
        match &self.phase {
            Phase::Iteration(iteration) => Some(iteration),
            _ => None,
        }
    }

    pub(crate) fn best_closed(&self) -> Option<&Candidate> {
        self.best.and_then(|id| self.candidate(id))
    }
}
