//! What a coordinator needs: benches of a setup, opened by workers.

use crate::names::{one_line, token};
use crate::place::Place;
use autocomp_core::ContentHash;
use autocomp_eval::BenchFacts;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Leases that jobs may have, milliseconds.
const LEASES_MS: RangeInclusive<u64> = 100..=3_600_000;

/// Shares that searches may have beside others.
const WEIGHTS: RangeInclusive<u32> = 1..=1000;

/// What a coordinator tells every few seconds as long as it needs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Demand {
    /// The version of what is told and asked, [`PROTOCOL`](crate::PROTOCOL).
    pub protocol: u32,
    /// Version of the coordinator's program.
    pub program: String,
    /// Who asks.
    pub user: String,
    /// Name of the queue of its jobs, another one for each coordinator and setup.
    pub queue: String,
    /// What is worked on, for people.
    pub title: String,
    /// Name of the target.
    pub target: String,
    /// Hash of the text of the setup, which is in the store of texts.
    pub setup: ContentHash,
    /// Hash of what decides results in the setup, [`Setup::content`](autocomp_eval::Setup::content).
    pub content: ContentHash,
    /// How large a share of workers it gets beside others.
    pub weight: u32,
    /// After how long a job whose worker is not heard of goes to another one, milliseconds.
    pub lease_ms: u64,
    /// The facts that all its results have.
    pub chosen: Option<Chosen>,
    /// The device that the run holds: all that it measures is measured there.
    pub held: Option<Place>,
    /// The worker that measures for the run, alone while it is there: another one that has the
    /// same device, or says so, may be on another machine of the same name.
    pub holder: Option<String>,
    /// Workers whose answers are not taken any more.
    pub refused: Vec<String>,
    /// Whether nothing is needed any more.
    pub ended: bool,
}

impl Demand {
    /// Returns by what a worker knows it: queues of one name of two users are two.
    pub(crate) fn key(&self) -> String {
        format!("{}.{}", self.user, self.queue)
    }

    /// Makes what others wrote into it safe to be shown. Returns whether its names are names, and its
    /// numbers some that a search may have.
    pub(crate) fn is_sound(&mut self) -> bool {
        for text in [&mut self.title, &mut self.target, &mut self.program] {
            *text = one_line(text);
        }
        self.chosen
            .iter_mut()
            .for_each(|it| it.worker = token(&it.worker));
        self.holder.iter_mut().for_each(|it| *it = token(it));
        self.held
            .iter_mut()
            .for_each(|it| it.machine = token(&it.machine));
        let names = [&self.user, &self.queue];
        names.iter().all(|it| token(it) == **it)
            && LEASES_MS.contains(&self.lease_ms)
            && WEIGHTS.contains(&self.weight)
    }

    /// Returns whether it asks for the same bench as another one of its queue.
    pub(crate) fn is_for_bench_of(&self, other: &Self) -> bool {
        let bench = |it: &Self| (it.protocol, it.setup, it.content, it.target.clone());
        bench(self) == bench(other)
    }
}

impl Demand {
    /// Returns what a worker that may not answer differs from.
    pub(crate) fn compared_with(&self) -> String {
        match &self.chosen {
            Some(chosen) => format!("worker {}, whose facts the run has", chosen.worker),
            None => "where the run was measured".to_owned(),
        }
    }

    /// Returns why `worker` with `facts` on `machine` is not to answer, in the words of a message;
    /// nothing if it may.
    #[must_use]
    pub fn difference(&self, facts: &BenchFacts, worker: &str, machine: &str) -> Option<String> {
        let differs = self.chosen.as_ref().and_then(|it| it.difference(facts));
        differs.or_else(|| {
            let own = Place::of(facts, machine)?;
            match (&self.held, &self.holder) {
                (Some(held), _) if *held != own => {
                    Some(format!("device: {own} here, {held} there"))
                }
                (_, Some(holder)) if holder != worker => {
                    Some(format!("worker {holder} measures for it on {own}"))
                }
                _ => None,
            }
        })
    }
}

/// The facts that all results of a demand have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chosen {
    /// The facts.
    pub facts: BenchFacts,
    /// The worker that told them first.
    pub worker: String,
}

impl Chosen {
    /// Returns what is other about a worker with `facts`, in the words of a message; nothing if it
    /// fits.
    fn difference(&self, facts: &BenchFacts) -> Option<String> {
        let ours = facts;
        let facts = &self.facts;
        let named = [
            ("tools", facts.compiler(), ours.compiler()),
            ("engine", facts.engine.clone(), ours.engine.clone()),
        ];
        let hashes = [
            (
                "sources of the family, problem, target or device",
                facts.key_base.short(),
                ours.key_base.short(),
            ),
            ("identity", facts.identity.short(), ours.identity.short()),
        ];
        let differ = |compared: &[(&str, String, String)]| {
            let found = compared.iter().filter(|(_, theirs, ours)| theirs != ours);
            let found =
                found.map(|(what, theirs, ours)| format!("{what}: {ours} here, {theirs} there"));
            found.collect::<Vec<_>>()
        };
        let mut found = differ(&named);
        if found.is_empty() {
            found = differ(&hashes);
        }
        (!found.is_empty()).then(|| found.join("; "))
    }
}
