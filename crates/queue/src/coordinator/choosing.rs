//! Which worker's facts a demand takes.

use super::{SILENCE, Shared, locked, unavailable};
use crate::demand::{Chosen, Demand};
use crate::job::PROTOCOL;
use crate::place::Place;
use crate::presence::{Presence, State};
use autocomp_core::{ContentHash, Cost};
use autocomp_eval::{BenchFacts, EvalError};
use std::time::{Duration, Instant};

/// How often it is told that nobody is there.
const REMINDER: Duration = Duration::from_secs(60);

impl Shared {
    /// Returns the facts of the first worker that has opened the bench of `setup`; from then
    /// on, all others are to have the same.
    pub(super) async fn open(
        &self,
        setup: &str,
        tell: &mut dyn FnMut(&str),
    ) -> Result<BenchFacts, EvalError> {
        let hash = self.demand(setup).await?;
        let mut heard = self.heard.subscribe();
        let started = Instant::now();
        // A worker that hears of it tells at once that it opens it.
        let mut reminded = started + 2 * self.options.beat - REMINDER;
        loop {
            let chosen = self.choose(hash)?;
            if let Some(chosen) = chosen {
                self.tell_demands().await;
                return Ok(chosen.facts);
            }
            let waited = started.elapsed();
            if 2 * self.options.beat < waited {
                self.check_hopes(hash)?;
                let rights = self.server.check_rights().await;
                rights.map_err(|error| unavailable(&error))?;
            }
            if REMINDER <= reminded.elapsed() {
                reminded = Instant::now();
                tell(&self.waiting_for(hash));
            }
            let _ = tokio::time::timeout(self.options.beat, heard.changed()).await;
            if Duration::from_secs(600) < waited {
                // The text may have been thrown away by the server meanwhile.
                self.keep_setup(setup)
                    .await
                    .map_err(|it| unavailable(&it))?;
            }
        }
    }

    /// Returns the workers that are there, with how they stand to a demand, if they do.
    pub(super) fn stands(&self, demand: &Demand) -> Vec<(Presence, Option<State>)> {
        let present = self.present().into_iter();
        present
            .map(|presence| {
                let stand = presence.stands.get(&demand.key());
                let state = stand.map(|it| it.state.clone());
                (presence, state)
            })
            .collect()
    }

    /// Returns whether a worker has the bench of a demand open, or is opening it, that is not one of
    /// `failed`.
    pub(super) fn has_others(&self, setup: ContentHash, failed: &[String]) -> bool {
        let demand = locked(&self.demands)
            .get(&setup)
            .map(|it| it.demand.clone());
        demand.is_some_and(|demand| {
            let mut stands = self.stands(&demand).into_iter();
            stands.any(|it| {
                let is_hopeful = matches!(it.1, Some(State::Opening)) || works(&demand, &it);
                is_hopeful && !failed.contains(&it.0.worker)
            })
        })
    }

    fn choose(&self, setup: ContentHash) -> Result<Option<Chosen>, EvalError> {
        let mut demands = locked(&self.demands);
        let Some(wanted) = demands.get_mut(&setup) else {
            return Err(EvalError::Fault("a demand is gone".to_owned()));
        };
        let demand = &mut wanted.demand;
        if demand.chosen.is_some() {
            return Ok(demand.chosen.clone());
        }
        let opened = self.stands(demand).into_iter().find_map(|(it, state)| {
            let State::Opened(facts) = state? else {
                return None;
            };
            let is_fit = it.protocol == PROTOCOL
                && is_possible(&facts, wanted.least)
                && !demand.refused.contains(&it.worker)
                && demand.difference(&facts, &it.worker, &it.machine).is_none();
            is_fit.then_some((it, facts))
        });
        let Some((presence, facts)) = opened else {
            return Ok(None);
        };
        let place = Place::of(&facts, &presence.machine);
        demand.chosen = Some(Chosen {
            worker: presence.worker.clone(),
            facts,
        });
        let chosen = demand.chosen.clone();
        if let Some(place) = place.filter(|_| !self.options.any_machine) {
            // What confirms is measured where the search is.
            *locked(&self.held) = Some(place.clone());
            *locked(&self.holder) = Some(presence.worker.clone());
            demands.values_mut().for_each(|it| {
                it.demand.held = Some(place.clone());
                it.demand.holder = Some(presence.worker.clone());
            });
        }
        Ok(chosen)
    }

    /// Has another worker measure for the run if the one that did is gone: one that says it has the
    /// same device.
    pub(super) fn choose_holder(&self) {
        let held = locked(&self.held).clone();
        let holder = locked(&self.holder).clone();
        let (Some(held), Some(holder)) = (held, holder) else {
            return;
        };
        let there = self.present();
        let mut demands = locked(&self.demands);
        let serves = |it: &Presence| {
            let mut demands = demands.values().map(|it| &it.demand);
            demands.all(|of| !of.refused.contains(&it.worker))
        };
        if there.iter().any(|it| it.worker == holder && serves(it)) {
            return;
        }
        let knows = |it: &Presence| {
            let mut keys = demands.values().map(|it| it.demand.key());
            keys.any(|key| it.stands.contains_key(&key))
        };
        let mut others = there.iter().filter(|it| it.machine == held.machine);
        let Some(other) = others.find(|it| it.worker != holder && serves(it) && knows(it)) else {
            return;
        };
        (self.options.tell)(&format!(
            "worker {} measures on {held} in place of {holder}",
            other.worker
        ));
        *locked(&self.holder) = Some(other.worker.clone());
        let all = demands.values_mut();
        all.for_each(|it| it.demand.holder = Some(other.worker.clone()));
    }

    /// Returns the workers that are there.
    fn present(&self) -> Vec<Presence> {
        let silent = self.options.beat * SILENCE;
        let workers = locked(&self.workers);
        let present = workers.values().filter(|(_, at)| at.elapsed() < silent);
        present.map(|(presence, _)| presence.clone()).collect()
    }

    /// Gives up where no worker that is there can ever open the bench.
    fn check_hopes(&self, setup: ContentHash) -> Result<(), EvalError> {
        let demand = match locked(&self.demands).get(&setup) {
            Some(wanted) => wanted.demand.clone(),
            None => return Ok(()),
        };
        let stands: Vec<_> = self
            .stands(&demand)
            .into_iter()
            .filter_map(|(presence, state)| Some((presence.worker, state?)))
            .collect();
        let mut unable = stands.iter().filter_map(|(worker, state)| match state {
            State::Unable {
                message,
                remedies,
                is_input,
            } => Some((worker, message, remedies, *is_input)),
            _ => None,
        });
        let is_hopeless = stands
            .iter()
            .all(|(_, state)| matches!(state, State::Unable { .. }));
        // What is wrong with the problem is wrong everywhere.
        let found = match is_hopeless {
            true => unable.next(),
            false => unable.find(|(.., is_input)| *is_input),
        };
        let Some((worker, message, remedies, is_input)) = found else {
            return Ok(());
        };
        let remedies = remedies.clone();
        match is_input {
            true => Err(EvalError::Input {
                message: message.clone(),
                remedies,
            }),
            false => Err(EvalError::Environment {
                message: format!("no worker can evaluate it; {worker} says: {message}"),
                remedies,
            }),
        }
    }

    /// Sees whether anybody works for a demand whose bench was opened. A worker that is away may
    /// come back, of which is told every minute; one whose answers did not fit is not asked again.
    ///
    /// # Errors
    /// Who is there, if all of them are refused.
    pub(super) fn check_workers(&self, setup: ContentHash) -> Result<(), String> {
        let Some(demand) = locked(&self.demands)
            .get(&setup)
            .map(|it| it.demand.clone())
        else {
            return Ok(());
        };
        let stands = self.stands(&demand);
        if stands.iter().any(|it| works(&demand, it)) {
            return Ok(());
        }
        let is_refused = |(it, _): &(Presence, Option<State>)| demand.refused.contains(&it.worker);
        if !stands.is_empty() && stands.iter().all(is_refused) {
            return Err(format!(
                "no worker is left for {}: answers of {} did not fit their jobs",
                demand.title,
                demand.refused.join(", ")
            ));
        }
        let mut reminded = locked(&self.reminded);
        if reminded.is_none_or(|at| REMINDER <= at.elapsed()) {
            *reminded = Some(Instant::now());
            (self.options.tell)(&self.waiting_for(setup));
        }
        Ok(())
    }

    /// Says whom it waits for.
    fn waiting_for(&self, setup: ContentHash) -> String {
        let demand = match locked(&self.demands).get(&setup) {
            Some(wanted) => wanted.demand.clone(),
            None => return String::new(),
        };
        let stands = self.stands(&demand);
        let opening: Vec<&str> = stands
            .iter()
            .filter(|(_, state)| matches!(state, Some(State::Opening)))
            .map(|(presence, _)| presence.worker.as_str())
            .collect();
        if !opening.is_empty() {
            return format!("waiting until the bench is open: {}", opening.join(", "));
        }
        let others = match stands.len() {
            0 => "none is there".to_owned(),
            n => format!("{n} are there that do not work for it"),
        };
        let target = &demand.target;
        match &demand.held {
            Some(held) => format!(
                "waiting for a worker for {target} on device {held}, where the run is measured; \
                 {others} (`--any-machine` lets others measure, too)"
            ),
            None => format!(
                "waiting for a worker for {target}; {others} (`autocomp worker --queue …` starts \
                 one)"
            ),
        }
    }

    /// Tells, once for each, which workers do not fit and why.
    pub(super) fn tell_of_misfits(&self, demand: &Demand) {
        for (presence, state) in self.stands(demand) {
            let worker = &presence.worker;
            match state {
                Some(State::Differs(how)) => {
                    self.tell_once(format!(
                        "worker {worker} refuses {}: it differs from {} ({how})",
                        demand.title,
                        demand.compared_with()
                    ));
                }
                Some(State::Spent(how)) => {
                    self.tell_once(format!("worker {worker} takes no job: {how}"));
                }
                Some(State::Unable { message, .. }) => self.tell_once(format!(
                    "worker {worker} cannot work for {}: {message}",
                    demand.title
                )),
                _ => {}
            }
        }
    }
}

/// Returns whether the floor that a worker tells of is not below what any kernel costs at least.
fn is_possible(facts: &BenchFacts, least: Option<Cost>) -> bool {
    let least = least.filter(|it| facts.device.is_none() && it.unit == facts.unit);
    least.is_none_or(|it| it.value <= facts.floor.value)
}

/// Returns whether a worker has the bench of a demand open, and answers of it are taken.
fn works(demand: &Demand, (presence, state): &(Presence, Option<State>)) -> bool {
    matches!(state, Some(State::Opened(_))) && !demand.refused.contains(&presence.worker)
}
