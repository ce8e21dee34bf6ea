//! Two kernels of the host, measured against each other.
//!
//! Each measurement is made in a new worker, so that nothing is left of earlier
//! ones, with memory of its own: one call that brings in code and pages, on inputs
//! that are never timed, then a few commands, of which the fastest counts, because
//! others on the machine can only slow it down. All calls are on inputs that this
//! worker has not seen, which the parent puts in place only when the worker waits,
//! and takes away afterwards. All outputs are compared.

use crate::overhead::Overhead;
use autocomp_catalog::{Problem, Ranking};
use autocomp_core::Seed;
use autocomp_eval::EvalError;
use autocomp_eval::inputs::Case;
use autocomp_measuring::statistics::Interval;
use autocomp_measuring::{Effort, Paired, Side, Sides, compare};
use autocomp_native::{Offence, Placement, Program, WorkerSettings};
use std::time::Duration;

/// Processor time that one command should take at least, so that what a
/// command itself takes does not count.
const COMMAND_NS: f64 = 3e5;
/// Commands of one measurement, the fastest of which counts.
const COMMANDS: usize = 6;
/// Processor time from which on fewer commands suffice.
const MEASUREMENT_NS: f64 = 1.5e7;
/// A kernel that takes longer needs no call to warm up.
const NO_WARM_UP_NS: f64 = 5e7;
/// A kernel that can be timed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernel<'p> {
    /// Its program.
    pub program: &'p Program,
    /// Roughly what a call takes, nanoseconds.
    pub call_ns: f64,
}

/// Which side did what it must not do.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The candidate.
    Candidate(Offence),
    /// The base: it was right before.
    Base(Offence),
    /// autocomp or its environment.
    Environment(EvalError),
}

impl Failure {
    fn of(side: Side, offence: Offence) -> Self {
        match side {
            Side::Candidate => Self::Candidate(offence),
            Side::Base => Self::Base(offence),
        }
    }
}

impl From<EvalError> for Failure {
    fn from(error: EvalError) -> Self {
        Self::Environment(error)
    }
}

/// Times kernels of one problem on one core.
#[derive(Debug)]
pub(crate) struct Pairs<'p> {
    problem: &'p Problem,
    cases: &'p [Case],
    settings: WorkerSettings,
    overhead: &'p Overhead,
    seed: Seed,
    /// Processor time of all calls so far, nanoseconds.
    spent_ns: f64,
}

impl<'p> Pairs<'p> {
    /// Prepares timing on `cases`, all of them different; the first one is for
    /// warming up.
    pub(crate) fn new(
        problem: &'p Problem,
        cases: &'p [Case],
        settings: WorkerSettings,
        overhead: &'p Overhead,
        seed: Seed,
    ) -> Self {
        Self {
            problem,
            cases,
            settings,
            overhead,
            seed,
            spent_ns: 0.0,
        }
    }

    /// Returns the processor time of all calls so far.
    pub(crate) fn spent(&self) -> Duration {
        Duration::from_nanos(self.spent_ns as u64)
    }

    /// Returns how many commands one measurement of a kernel has that takes
    /// `call_ns`, and how many calls each of them makes.
    fn counts(&self, call_ns: f64) -> (usize, usize) {
        let call_ns = call_ns.max(1.0);
        let most = self.cases.len() - 1;
        let calls = ((COMMAND_NS / call_ns).ceil() as usize).clamp(1, most);
        let in_time = (MEASUREMENT_NS / (call_ns * calls as f64)) as usize;
        (in_time.clamp(1, COMMANDS.min(most / calls)), calls)
    }

    /// Makes one measurement: the time per call in a new worker, nanoseconds.
    fn measured(
        &mut self,
        kernel: Kernel<'_>,
        (commands, calls): (usize, usize),
        side: Side,
    ) -> Result<f64, Failure> {
        let failed = |offence| Failure::of(side, offence);
        // The first set is for warming up.
        let sets: Vec<Placement> = (0..=commands * calls)
            .map(|set| [Placement::AtTheStart, Placement::NearTheEnd][set % 2])
            .collect();
        let seed = Seed(self.seed.next_u64());
        let mut worker = self
            .overhead
            .start(self.problem, kernel.program, &sets, self.settings, seed)?
            .map_err(failed)?;
        let time = self.settings.command_time;
        let cases = self.cases;
        if kernel.call_ns < NO_WARM_UP_NS {
            worker.fill(0, &cases[0]);
            let warm = worker.call(0, &[&cases[0]], time);
            self.spent_ns += warm.map_err(failed)?.cpu_ns as f64;
        }
        // Another start for the same reason as other addresses.
        let first = 1 + self.seed.below(cases.len() - commands * calls);
        let mut least = f64::INFINITY;
        let mut next = 0;
        for _ in 0..commands {
            // Not always as many: a kernel that knew which call is the last of a command could
            // leave the others to that one.
            let count = calls - self.seed.below(calls / 2 + 1);
            let sets = 1 + next..1 + next + count;
            let timed: Vec<&Case> = cases[first + next..][..count].iter().collect();
            next += count;
            for (set, case) in sets.clone().zip(&timed) {
                worker.fill(set, case);
            }
            if self.problem.ranking == Ranking::Cold {
                worker.flush(sets.clone());
            }
            let spent = worker.call(sets.start, &timed, time).map_err(failed)?;
            self.spent_ns += spent.cpu_ns as f64;
            least = least.min(self.overhead.own_ns(spent, count) / count as f64);
        }
        Ok(least)
    }

    /// Times `candidate` against `base` until the interval is narrow enough or
    /// the effort is spent. No round is begun that would take the calls beyond `time` of a
    /// processor, but for the first one.
    pub(crate) fn compare(
        &mut self,
        candidate: Kernel<'_>,
        base: Kernel<'_>,
        effort: Effort,
        time: Duration,
    ) -> Result<Paired, Failure> {
        let before = self.spent();
        match self.compare_once(candidate, base, effort, time) {
            // What interrupts a short call can take as long as a hundred of them, but seldom does.
            // Whoever does not do all the work does it no better in other workers.
            Err(
                Failure::Candidate(Offence::Unsteady { .. })
                | Failure::Base(Offence::Unsteady { .. }),
            ) => {
                let left = time.saturating_sub(self.spent() - before);
                self.compare_once(candidate, base, effort, left)
            }
            compared => compared,
        }
    }

    fn compare_once(
        &mut self,
        candidate: Kernel<'_>,
        base: Kernel<'_>,
        effort: Effort,
        time: Duration,
    ) -> Result<Paired, Failure> {
        let seed = Seed(self.seed.next_u64());
        let counts = self.counts(candidate.call_ns.max(base.call_ns));
        let mut pair = Pair {
            pairs: self,
            candidate,
            base,
            counts,
        };
        compare(&mut pair, seed, effort, time)
    }
}

/// Two kernels that are being timed against each other.
struct Pair<'s, 'p> {
    pairs: &'s mut Pairs<'p>,
    candidate: Kernel<'s>,
    base: Kernel<'s>,
    /// Commands of a measurement, and calls of a command.
    counts: (usize, usize),
}

impl Sides for Pair<'_, '_> {
    type Failure = Failure;

    fn measure(&mut self, side: Side) -> Result<f64, Failure> {
        let kernel = match side {
            Side::Candidate => self.candidate,
            Side::Base => self.base,
        };
        self.pairs.measured(kernel, self.counts, side)
    }

    fn unsteady(&self, side: Side, times: Interval) -> Failure {
        let offence = Offence::Unsteady {
            least_ns: times.low,
            greatest_ns: times.high,
        };
        Failure::of(side, offence)
    }

    fn spent(&self) -> Duration {
        self.pairs.spent()
    }

    fn calls(&self) -> usize {
        self.counts.0 * self.counts.1
    }
}
