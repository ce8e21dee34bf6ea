//! Events into the state: the fold that makes resuming exact.

use super::{Candidate, Phase, Search};
use crate::attempt::Attempt;
use crate::error::ApplyError;
use crate::iteration::{Answer, Iteration};
use crate::last_polish::is_polish_alone;
use autocomp_core::{
    CandidateId, ContentHash, Cost, Evaluated, Evaluation, Event, Extended, FinishReason, Ideas,
    IterationClosed, IterationOpened, MenuItem, Outcome, PlanKind, Proposal, SearchSettings,
    TaskKey,
};
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// The most drafts of an iteration, those for polish and for single menu items included.
const MOST_DRAFTS: u64 = 2 * SearchSettings::MOST_DRAFTS;

impl Search {
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
            Event::Reserved(reserved) if reserved.reservation == self.next_reservation() => Ok(()),
            Event::Reserved(_) => Err("another reservation is to come"),
            Event::IterationOpened(opened) => self.apply_opened(opened),
            Event::Ideas(ideas) => self.apply_ideas(ideas),
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
                let known = match &answer {
                    Answer::Made(draft) => self.known_as(draft).map(|known| (draft.source, known)),
                    Answer::Absent => None,
                };
                let set = self.open_iteration(drafted.key).and_then(|iteration| {
                    iteration.set_draft(drafted.key, answer, known.is_some())
                });
                if let (Ok(()), Some((source, known))) = (&set, known) {
                    self.equals.set_same(source, known);
                }
                set
            }
            Event::Evaluated(evaluated) => self.apply_evaluated(evaluated),
            Event::IterationClosed(closed) => self.apply_closed(closed),
            Event::Confirmed(confirmed) => self.apply_confirmed(confirmed),
            Event::Finished(finished) => match self.phase {
                Phase::Between => {
                    self.end_confirming();
                    self.phase = Phase::Finished(finished.reason);
                    Ok(())
                }
                _ => Err("tasks are still to do, or the run has finished before"),
            },
            Event::Extended(extended) => self.apply_extended(extended),
            _ => Err("this program does not know the event"),
        };
        applied.map_err(|reason| ApplyError {
            event: event.kind(),
            key: event.key(),
            reason,
        })?;
        self.tally.count(event);
        if self.started.settings.bandit
            && let (Some(key), Phase::Iteration(iteration)) = (event.key(), &mut self.phase)
        {
            iteration.note_costs(key, event.exchanges());
        }
        Ok(())
    }

    /// Takes menu items that were written for a kernel.
    fn apply_ideas(&mut self, ideas: &Ideas) -> Result<(), &'static str> {
        let iteration = self.open_iteration(ideas.key)?;
        iteration.set_ideas(ideas.key)?;
        let parent = iteration.parents[ideas.key.parent as usize];
        let items = match &ideas.result {
            Proposal::Made(items) => items.clone(),
            Proposal::Nothing { .. } | Proposal::Failed { .. } => Vec::new(),
        };
        let most = self.started.settings.ideas as usize;
        let is_new = |item: &MenuItem| self.started.menu.iter().all(|it| it.id != item.id);
        let items = items.into_iter().filter(is_new).take(most).collect();
        self.ideas.insert(parent, items);
        Ok(())
    }

    fn open_iteration(&mut self, key: TaskKey) -> Result<&mut Iteration, &'static str> {
        match &mut self.phase {
            Phase::Iteration(iteration) if iteration.number == key.iteration => {
                Ok(&mut **iteration)
            }
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
        let n_drafts = opened.slots.iter().flatten().map(|it| u64::from(*it));
        if MOST_DRAFTS < n_drafts.sum::<u64>() {
            return Err("it has more drafts than a run can have");
        }
        if opened
            .parents
            .iter()
            .any(|id| self.candidates.len() <= id.0 as usize)
        {
            return Err("a parent does not exist");
        }
        if !opened.kinds.is_empty() && !is_parallel(&opened.kinds, &opened.slots) {
            return Err("it has not as many kinds as plans");
        }
        for (parent, kinds) in opened.parents.iter().zip(&opened.kinds) {
            for kind in kinds {
                if let PlanKind::Reserved {
                    other: Some(other), ..
                } = kind
                {
                    if self.candidates.len() <= other.0 as usize {
                        return Err("a kernel to combine does not exist");
                    }
                    self.attempts.pairs.note(*parent, *other);
                }
            }
        }
        self.is_polished = is_polish_alone(opened);
        if (opened.ideas.iter()).any(|place| opened.parents.len() <= *place as usize) {
            return Err("a place does not exist");
        }
        for (parent, kinds) in opened.parents.iter().zip(&opened.kinds) {
            for kind in kinds {
                if let PlanKind::Exhaustive { item } = kind {
                    self.turns.note(*parent, item);
                }
            }
        }
        for parent in &opened.parents {
            let cost = self.candidates[parent.0 as usize].cost;
            self.unplaced.remove(&(cost, *parent));
        }
        self.phase = Phase::Iteration(Box::new(Iteration::open(opened)));
        Ok(())
    }

    fn apply_evaluated(&mut self, evaluated: &Evaluated) -> Result<(), &'static str> {
        let Evaluated {
            key,
            source,
            evaluation,
            same_as,
            code,
            lacks,
        } = evaluated;
        if (evaluation.outcome == Outcome::Ok) != evaluation.measurement.is_some() {
            return Err("a measurement goes with the outcome `ok` and no other");
        }
        if !lacks.is_empty() {
            self.lacking.insert(*source, lacks.clone());
        }
        if key.iteration == 0 {
            return self.apply_first(evaluated);
        }
        if let Some(known) = same_as
            && self.evaluations.get(known).map(|it| it.outcome) != Some(evaluation.outcome)
        {
            return Err("the kernel that it is said to be the same as was not evaluated so");
        }
        self.open_iteration(*key)?.set_evaluated(
            *key,
            *source,
            evaluation.outcome,
            evaluation.cost(),
        )?;
        self.equals.set_code(*source, *code);
        match same_as {
            Some(known) => self.equals.set_same(*source, *known),
            None => self.keep_evaluation(*source, evaluation),
        }
        Ok(())
    }

    /// Keeps the first evaluation of a source.
    fn keep_evaluation(&mut self, source: ContentHash, evaluation: &Arc<Evaluation>) {
        if let Entry::Vacant(entry) = self.evaluations.entry(source) {
            entry.insert(Arc::clone(evaluation));
            self.tally.count_outcome(evaluation.outcome);
        }
    }

    /// Takes the evaluation of a kernel that the run begins with.
    fn apply_first(&mut self, evaluated: &Evaluated) -> Result<(), &'static str> {
        if !matches!(self.phase, Phase::Baseline) {
            return Err("the kernels that the run begins with were evaluated before");
        }
        let mut tasks = self.first_tasks();
        if !tasks.any(|(key, source)| key == evaluated.key && source == evaluated.source) {
            return Err("it is not the source of a kernel that the run begins with");
        }
        drop(tasks);
        if self.evaluations.contains_key(&evaluated.source) {
            return Err("the kernel was evaluated before");
        }
        self.keep_evaluation(evaluated.source, &evaluated.evaluation);
        self.equals.set_code(evaluated.source, evaluated.code);
        let mut tasks = self.first_tasks();
        if tasks.all(|(_, source)| self.evaluations.contains_key(&source)) {
            drop(tasks);
            self.begin();
        }
        Ok(())
    }

    /// All kernels that the run begins with have been evaluated.
    fn begin(&mut self) {
        self.phase = Phase::Between;
        let tasks: Vec<(TaskKey, ContentHash)> = self.first_tasks().collect();
        let forms = self
            .started
            .forms
            .iter()
            .copied()
            .chain(std::iter::repeat(None));
        let kernels = tasks.iter().map(|(_, source)| *source).zip(forms);
        self.equals.begin(kernels);
        for (idx, (key, source)) in tasks.into_iter().enumerate() {
            let evaluation = Arc::clone(&self.evaluations[&source]);
            let Some(cost) = evaluation.cost() else {
                if idx == 0 {
                    // Without a baseline there is nothing to compare with.
                    return;
                }
                continue;
            };
            let taken = idx.checked_sub(1).map(|idx| &self.started.taken[idx]);
            let candidate = Candidate {
                id: CandidateId(self.candidates.len() as u32),
                key,
                parent: taken.map(|_| CandidateId(0)),
                plan: taken.map(|kernel| kernel.plan.clone()),
                source,
                cost,
                evaluation,
            };
            self.add_candidate(candidate);
        }
        let mut beam: Vec<CandidateId> = self.candidates.iter().skip(1).map(|it| it.id).collect();
        if beam.is_empty() {
            beam.push(CandidateId(0));
        }
        beam.sort_by_key(|id| (self.candidates[id.0 as usize].cost, *id));
        beam.truncate(self.started.settings.beam as usize);
        self.beam = beam;
        self.note_translated(1);
        self.gained_at = self.best_closed().map_or(Cost::MAX, |best| best.cost);
    }

    fn add_candidate(&mut self, candidate: Candidate) {
        let rank = (candidate.cost, candidate.id);
        let best = self.best_closed().map(|best| (best.cost, best.id));
        if best.is_none_or(|best| rank < best) {
            self.best = Some(candidate.id);
        }
        self.unplaced.insert(rank);
        self.known_sources.insert(candidate.source, candidate.id);
        self.candidates.push(candidate);
    }

    fn apply_extended(&mut self, extended: &Extended) -> Result<(), &'static str> {
        let is_at_end = match self.phase {
            Phase::Finished(FinishReason::BaselineFailed) => {
                return Err("there is nothing to go on from");
            }
            Phase::Finished(_) => true,
            _ => false,
        };
        if extended.iteration != self.iteration() || extended.after_end != is_at_end {
            return Err("the run was at another point");
        }
        let settings = SearchSettings {
            iterations: extended.iterations,
            max_evaluations: extended.max_evaluations,
            patience: extended.patience,
            ..self.started.settings.clone()
        };
        if settings.check().is_err() {
            return Err("its settings are out of range");
        }
        self.started.settings = settings;
        self.n_stalled = 0;
        self.end_confirming();
        if is_at_end {
            self.phase = Phase::Between;
        }
        Ok(())
    }

    fn apply_closed(&mut self, closed: &IterationClosed) -> Result<(), &'static str> {
        let Phase::Iteration(iteration) = &self.phase else {
            return Err("no iteration is open");
        };
        if iteration.number != closed.iteration || !iteration.is_complete() {
            return Err("the iteration is not complete");
        }
        let attempts: Vec<Attempt> = iteration
            .attempts()
            .into_iter()
            .map(|(key, plan, source)| {
                let parent = iteration.parents[key.parent as usize];
                Attempt {
                    key,
                    parent,
                    plan: plan.clone(),
                    source,
                    lesson: self.lesson(parent, source),
                }
            })
            .collect();
        let mut candidates = Vec::new();
        for (idx, new) in closed.candidates.iter().enumerate() {
            let evaluation = self.evaluations.get(&new.source);
            let Some((evaluation, cost)) =
                evaluation.and_then(|it| it.cost().map(|cost| (Arc::clone(it), cost)))
            else {
                return Err("a new candidate was not evaluated correct");
            };
            let is_next = new.id.0 as usize == self.candidates.len() + idx;
            let is_parent = self.candidates.len() > new.parent.0 as usize;
            if !is_next || !is_parent || cost != new.cost {
                return Err("a new candidate contradicts the events before");
            }
            candidates.push(Candidate {
                id: new.id,
                key: new.key,
                parent: Some(new.parent),
                plan: iteration.plan_of(new.key).cloned(),
                source: new.source,
                cost,
                evaluation,
            });
        }
        let is_replay = self.step_of(closed.iteration).is_some();
        let reused = iteration.reused();
        let n_candidates = self.candidates.len() + candidates.len();
        if closed.beam.is_empty() || closed.beam.iter().any(|id| n_candidates <= id.0 as usize) {
            return Err("a survivor does not exist");
        }
        self.attempts.extend(attempts);
        let Phase::Iteration(iteration) = std::mem::replace(&mut self.phase, Phase::Between) else {
            return Err("no iteration is open");
        };
        self.equals.close(&iteration);
        self.credit(&iteration);
        for candidate in candidates {
            self.add_candidate(candidate);
        }
        let best_cost = self.best_closed().map_or(Cost::MAX, |best| best.cost);
        let least = self.gained_at.value as f64 * (1.0 - self.started.settings.least_gain);
        if best_cost.beats(self.gained_at) && best_cost.value as f64 <= least {
            self.n_stalled = 0;
            self.gained_at = best_cost;
        } else {
            self.n_stalled += 1;
        }
        if is_replay {
            self.move_tip(&reused);
            // A schedule may gain with its last step only.
            self.n_stalled = 0;
        }
        if self.is_translation(closed.iteration) {
            // A translation is slower than its original at first.
            self.n_stalled = 0;
        }
        self.beam.clone_from(&closed.beam);
        self.note_translated(closed.iteration + 1);
        self.n_closed = closed.iteration;
        self.phase = Phase::Between;
        Ok(())
    }
}

fn is_parallel(kinds: &[Vec<PlanKind>], slots: &[Vec<u32>]) -> bool {
    kinds.len() == slots.len()
        && kinds
            .iter()
            .zip(slots)
            .all(|(kinds, slots)| kinds.len() == slots.len())
}
