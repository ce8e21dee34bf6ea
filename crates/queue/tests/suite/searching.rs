//! Searches of tests.

use crate::nats::Nats;
use crate::toy::{BEAT, LEASE, bounded_setup, setup};
use autocomp_core::Evaluation;
use autocomp_eval::isolation::{Link, Reply, Request};
use autocomp_queue::{Access, Coordinator, CoordinatorOptions, QueueLink};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A search: a coordinator with an open bench.
pub struct Search {
    pub coordinator: Arc<Coordinator>,
    setup: String,
    /// Lines that it has told.
    pub told: Arc<Mutex<Vec<String>>>,
}

impl Search {
    pub fn start(nats: &Nats, session: &str, number: u64) -> Self {
        Self::weighted(nats, session, number, 1)
    }

    pub fn with_access(access: &Access, session: &str, number: u64) -> Self {
        Self::planned(access, session, number, |_| {})
    }

    pub fn weighted(nats: &Nats, session: &str, number: u64, weight: u32) -> Self {
        Self::planned(&nats.access(), session, number, |it| it.weight = weight)
    }

    pub fn planned(
        access: &Access,
        session: &str,
        number: u64,
        change: impl FnOnce(&mut CoordinatorOptions),
    ) -> Self {
        let told: Arc<Mutex<Vec<String>>> = Arc::default();
        let lines = told.clone();
        let mut options = CoordinatorOptions {
            title: session.to_owned(),
            session: session.to_owned(),
            weight: 1,
            any_machine: false,
            held: None,
            lease: LEASE,
            beat: BEAT,
            tell: Box::new(move |line| lines.lock().unwrap().push(line.to_owned())),
        };
        change(&mut options);
        let coordinator = Coordinator::connect(access, options).unwrap();
        Self {
            coordinator: Arc::new(coordinator),
            setup: setup(number),
            told,
        }
    }

    /// The same search with another bench.
    pub fn on_other_inputs(&self, number: u64) -> Self {
        Self {
            coordinator: self.coordinator.clone(),
            setup: setup(number),
            told: self.told.clone(),
        }
    }

    /// The same search where costs are bounded from below.
    pub fn bounded(&self) -> Self {
        Self {
            coordinator: self.coordinator.clone(),
            setup: bounded_setup(),
            told: self.told.clone(),
        }
    }

    pub fn open(&self) -> Reply {
        self.coordinator.open(&self.setup, &mut |_| {})
    }

    /// Opens the bench, if it is not open, and has a kernel evaluated.
    pub fn ask(&self, source: &str) -> Reply {
        let mut link = QueueLink::new(self.coordinator.clone());
        let mut ask = |request: &Request| {
            let told = self.told.clone();
            let tell = &mut |line: &str| told.lock().unwrap().push(line.to_owned());
            link.ask(request, Duration::ZERO, tell).unwrap()
        };
        let limits = autocomp_eval::isolation::IsolationLimits::standard();
        let setup = self.setup.clone();
        match ask(&Request::Open { setup, limits }) {
            Reply::Opened { .. } => ask(&Request::Evaluate {
                source: source.to_owned(),
                bound: None,
            }),
            other => other,
        }
    }

    pub fn evaluate(&self, source: &str) -> Evaluation {
        match self.ask(source) {
            Reply::Evaluated(evaluation) => *evaluation,
            other => panic!("{other:?}"),
        }
    }

    /// Has kernels evaluated side by side; returns the workers in the order of kernels.
    pub fn evaluate_all(&self, sources: &[String]) -> Vec<String> {
        std::thread::scope(|scope| {
            let threads: Vec<_> = sources
                .iter()
                .map(|source| scope.spawn(|| self.evaluate(source)))
                .collect();
            threads
                .into_iter()
                .map(|it| it.join().unwrap().worker.unwrap())
                .collect()
        })
    }

    pub fn has_told(&self, words: &[&str]) -> bool {
        let told = self.told.lock().unwrap();
        told.iter()
            .any(|line| words.iter().all(|it| line.contains(it)))
    }
}
