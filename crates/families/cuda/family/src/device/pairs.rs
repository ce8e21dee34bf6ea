//! Two kernels on a device, measured against each other.
//!
//! Each measurement is the median of a few calls, each on buffers at other addresses, with
//! contents that were put there anew; what each of them computed is compared.

use super::session::{Failure, Loaded, Session, Uploaded};
use crate::texts::TEXTS;
use autocomp_core::{Diagnostic, Outcome, Seed, Stage};
use autocomp_measuring::statistics::{Interval, median};
use autocomp_measuring::{Effort, Side, Sides, compare};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Calls of one measurement.
const CALLS: usize = 3;

/// What a comparison of two kernels found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Comparison {
    /// The candidate's time of each measurement, nanoseconds.
    pub candidate_ns: Vec<f64>,
    /// The base's.
    pub base_ns: Vec<f64>,
    /// The candidate's time over the base's: lower end of the interval, median, upper end.
    pub ratio: [f64; 3],
}

/// A kernel that failed while it was timed: whether it was the candidate, and what it did.
#[derive(Debug)]
pub struct Entry(pub Side, pub Failure);

struct Duel<'s, 'p> {
    session: &'s mut Session<'p>,
    candidate: &'s mut Loaded<'p>,
    base: &'s mut Loaded<'p>,
    cases: &'s [Uploaded<'p>],
    seed: Seed,
}

impl Sides for Duel<'_, '_> {
    type Failure = Entry;

    fn measure(&mut self, side: Side) -> Result<f64, Entry> {
        let mut times = [0.0; CALLS];
        for time in &mut times {
            let case = &self.cases[self.seed.below(self.cases.len())];
            let loaded = match side {
                Side::Candidate => &mut *self.candidate,
                Side::Base => &mut *self.base,
            };
            *time = self
                .session
                .time(loaded, case)
                .map_err(|it| Entry(side, it))?;
        }
        Ok(median(&times))
    }

    fn unsteady(&self, side: Side, times: Interval) -> Entry {
        let found = Diagnostic {
            remedy: TEXTS.remedy("unsteady"),
            ..Diagnostic::error(
                Stage::Time,
                "unsteady",
                format!(
                    "calls on inputs of the same kind take between {:.0} and {:.0} ns",
                    times.low, times.high
                ),
            )
        };
        Entry(side, Failure::Kernel(Outcome::Wrong, Box::new(found)))
    }

    fn spent(&self) -> Duration {
        Duration::from_nanos(self.session.spent_ns as u64)
    }

    fn calls(&self) -> usize {
        CALLS
    }
}

impl<'p> Session<'p> {
    /// Measures one program against another on cases that each call draws from.
    ///
    /// # Errors
    /// What one of them did.
    pub fn compare(
        &mut self,
        (candidate, base): (&mut Loaded<'p>, &mut Loaded<'p>),
        cases: &[Uploaded<'p>],
        seed: Seed,
        effort: Effort,
    ) -> Result<Comparison, Entry> {
        let mut duel = Duel {
            session: self,
            candidate,
            base,
            cases,
            seed: seed.derive("cases"),
        };
        let paired = compare(&mut duel, seed, effort, Duration::MAX)?;
        Ok(Comparison {
            candidate_ns: paired.candidate_ns,
            base_ns: paired.base_ns,
            ratio: paired.interval.ends(),
        })
    }
}
