//! The state of a run, as the fold over its events.

mod apply;
mod choosing;
mod due;
mod replaying;

use crate::attempt::Attempts;
use crate::bandit::Arms;
use crate::bound::FIRST_FORMAT;
use crate::confirming::Confirmations;
use crate::equal::Equals;
use crate::error::SearchError;
use crate::exhaustive::Turns;
use crate::iteration::Iteration;
use crate::progress::Tally;
use crate::strategy::{REGISTRY, Strategy, strategy};
use autocomp_core::{
    ByHash, CandidateId, ContentHash, Cost, EVENT_FORMAT, Evaluation, Event, FinishReason,
    MenuItem, PlanRecord, Purpose, RunStarted, SettingError, Stopped, TaskKey,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A kernel that was evaluated correct, with its provenance.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Its number; 0 is the baseline.
    pub id: CandidateId,
    /// The evaluate task that it came from; of iteration 0 for the baseline and
    /// for kernels of another run, whose parent is the baseline.
    pub key: TaskKey,
    /// The kernel that it was made from; absent for the baseline.
    pub parent: Option<CandidateId>,
    /// The plan that made it from its parent; absent for the baseline.
    pub plan: Option<PlanRecord>,
    /// Its source.
    pub source: ContentHash,
    /// The ranking figure.
    pub cost: Cost,
    /// The whole evaluation.
    pub evaluation: Arc<Evaluation>,
}

impl Candidate {
    /// Percent of its work that the target does of a kernel that counts as translated.
    const ENOUGH_TRANSLATED: f64 = 95.0;

    /// Returns whether nothing is left of what it does without the target, or next to nothing.
    #[must_use]
    pub fn is_translated(&self) -> bool {
        Self::ENOUGH_TRANSLATED <= self.evaluation.translated_percent()
    }
}

/// What the run waits for.
#[derive(Clone, Debug)]
pub(crate) enum Phase {
    /// For the evaluations of the baseline and of kernels of another run.
    Baseline,
    /// For the opening of the next iteration, or the end.
    Between,
    /// For the tasks of an iteration.
    Iteration(Box<Iteration>),
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
    /// Cost of the best kernel at that gain.
    gained_at: Cost,
    candidates: Vec<Candidate>,
    known_sources: ByHash<CandidateId>,
    evaluations: ByHash<Arc<Evaluation>>,
    /// Menu items that a kernel's text says nothing of, where there are any.
    lacking: ByHash<Vec<String>>,
    /// Parents of the places of the next iteration.
    beam: Vec<CandidateId>,
    /// The iteration from which on there is nothing to translate: a kernel of the beam before it
    /// has nothing left that the target does not do.
    translated_from: Option<u32>,
    /// Candidates that have never held a place, cheapest first.
    unplaced: BTreeSet<(Cost, CandidateId)>,
    /// The best of all closed iterations.
    best: Option<CandidateId>,
    stopped: Option<Stopped>,
    /// What the next step of a reused schedule is tried on.
    tip: CandidateId,
    /// The last iteration that was opened is one of polish alone.
    pub(crate) is_polished: bool,
    pub(crate) equals: Equals,
    pub(crate) confirmations: Confirmations,
    /// Menu items that models wrote for kernels; none where they were asked in vain.
    ideas: BTreeMap<CandidateId, Vec<MenuItem>>,
    /// Menu items that had their turn.
    turns: Turns,
    /// What menu items, planning models and coding models have done in closed iterations.
    item_arms: Arms,
    planner_arms: Arms,
    coder_arms: Arms,
    pub(crate) attempts: Attempts,
    pub(crate) tally: Tally,
}

impl Search {
    /// Starts a search.
    ///
    /// # Errors
    /// The settings are out of range, the menu is empty, or the run was made
    /// by a newer program.
    pub fn new(mut started: RunStarted) -> Result<Self, SearchError> {
        if EVENT_FORMAT < started.format {
            return Err(SearchError::NewerFormat {
                found: started.format,
            });
        }
        started.settings.check()?;
        started.settings.early_cut &= FIRST_FORMAT <= started.format;
        if started.menu.is_empty() {
            return Err(SearchError::EmptyMenu);
        }
        let n_first = 1 + started.taken.len() as u32;
        let most = started.settings.max_evaluations;
        if most.is_some_and(|most| most < n_first) {
            return Err(SettingError {
                name: "max_evaluations",
                value: most.unwrap_or_default().to_string(),
                expected: format!(
                    "at least {n_first}: the kernels that the run begins with are evaluated, too"
                ),
            }
            .into());
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
            gained_at: Cost::MAX,
            candidates: Vec::new(),
            known_sources: ByHash::default(),
            evaluations: ByHash::default(),
            lacking: ByHash::default(),
            beam: Vec::new(),
            translated_from: None,
            unplaced: BTreeSet::new(),
            best: None,
            stopped: None,
            tip: CandidateId(0),
            is_polished: false,
            equals: Equals::default(),
            confirmations: Confirmations::default(),
            ideas: BTreeMap::new(),
            turns: Turns::default(),
            item_arms: Arms::default(),
            planner_arms: Arms::default(),
            coder_arms: Arms::default(),
            attempts: Attempts::default(),
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

    /// Returns the candidate with a source, or with one that is equal, if there is one.
    #[must_use]
    pub fn id_of(&self, source: ContentHash) -> Option<CandidateId> {
        self.known_sources
            .get(&self.equals.resolve(source))
            .copied()
    }

    /// Returns the parents of the next iteration's places; a strategy that
    /// ranks them puts the best first.
    #[must_use]
    pub fn beam(&self) -> &[CandidateId] {
        &self.beam
    }

    /// Returns the evaluation of a source, if it or one that is equal was evaluated.
    #[must_use]
    pub fn evaluation(&self, source: ContentHash) -> Option<&Arc<Evaluation>> {
        self.evaluations.get(&self.equals.resolve(source))
    }

    pub(crate) fn is_evaluated(&self, source: ContentHash) -> bool {
        self.evaluations.contains_key(&source)
    }

    /// Returns whether a candidate has never held a place.
    pub(crate) fn is_unplaced(&self, id: CandidateId) -> bool {
        let candidate = self.candidate(id);
        candidate.is_some_and(|it| self.unplaced.contains(&(it.cost, id)))
    }

    pub(crate) fn is_between(&self) -> bool {
        self.phase.is_between()
    }

    /// Finds the best kernel among those that are not struck.
    pub(crate) fn rank_again(&mut self) {
        let standing = self.candidates.iter();
        let standing = standing.filter(|it| !self.confirmations.struck.contains(&it.id));
        self.best = standing.map(|it| (it.cost, it.id)).min().map(|(_, id)| id);
    }

    /// Takes kernels that were struck out of what survives.
    pub(crate) fn drop_struck(&mut self) {
        let struck = &self.confirmations.struck;
        self.beam.retain(|id| !struck.contains(id));
        self.unplaced.retain(|(_, id)| !struck.contains(id));
        if self.beam.is_empty() {
            self.beam.extend(self.best);
        }
    }

    pub(crate) fn strategy(&self) -> &'static dyn Strategy {
        self.strategy
    }

    pub(crate) fn n_closed(&self) -> u32 {
        self.n_closed
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

    /// Returns the tasks that evaluate what the run begins with, in order: the
    /// baseline first.
    pub(crate) fn first_tasks(&self) -> impl Iterator<Item = (TaskKey, ContentHash)> + '_ {
        let taken = self.started.taken.iter().enumerate();
        let taken = taken.map(|(idx, kernel)| {
            let key = TaskKey {
                parent: idx as u32,
                purpose: Purpose::Evaluate,
                ..TaskKey::BASELINE
            };
            (key, kernel.source)
        });
        [(TaskKey::BASELINE, self.started.baseline)]
            .into_iter()
            .chain(taken)
    }

    pub(crate) fn open(&self) -> Option<&Iteration> {
        match &self.phase {
            Phase::Iteration(iteration) => Some(&**iteration),
            _ => None,
        }
    }

    pub(crate) fn best_closed(&self) -> Option<&Candidate> {
        self.best.and_then(|id| self.candidate(id))
    }
}
