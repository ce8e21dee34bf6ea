//! Events into the state: the fold that makes resuming exact.

use super::{Candidate, Phase, Search};
use crate::attempt::Attempt;
use crate::error::ApplyError;
use crate::iteration::{Answer, Iteration};
use autocomp_core::{
    CandidateId, Cost, Evaluated, Event, IterationClosed, IterationOpened, Outcome, PlanKind,
    Proposal, TaskKey,
};
use std::sync::Arc;

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
            if let Some(cost) = evaluation.cost() {
                let id = CandidateId(0);
                self.candidates.push(Candidate {
                    id,
                    key: *key,
                    parent: None,
                    plan: None,
                    source: *source,
                    cost,
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
        let attempts: Vec<Attempt> = iteration
            .attempts()
            .into_iter()
            .map(|(key, plan, source)| Attempt {
                key,
                parent: iteration.parents[key.parent as usize],
                plan: plan.clone(),
                source,
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
        let n_candidates = self.candidates.len() + candidates.len();
        if closed.beam.is_empty() || closed.beam.iter().any(|id| n_candidates <= id.0 as usize) {
            return Err("a survivor does not exist");
        }
        self.attempts.extend(attempts);
        for candidate in candidates {
            self.known_sources.insert(candidate.source, candidate.id);
            self.candidates.push(candidate);
        }
        let best = self
            .candidates
            .iter()
            .min_by_key(|it| (it.cost, it.id))
            .map(|it| it.id);
        if let Some(baseline) = self.candidates.first() {
            self.gained_at = self.gained_at.min(baseline.cost);
        }
        let best_cost = best.map_or(Cost::MAX, |id| self.candidates[id.0 as usize].cost);
        let least = self.gained_at.value as f64 * (1.0 - self.started.settings.least_gain);
        if best_cost.beats(self.gained_at) && best_cost.value as f64 <= least {
            self.n_stalled = 0;
            self.gained_at = best_cost;
        } else {
            self.n_stalled += 1;
        }
        self.best = best;
        self.beam.clone_from(&closed.beam);
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
