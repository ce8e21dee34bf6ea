//! Two kernels timed against each other.
//!
//! A round is four measurements in the order A B B A or B A A B, drawn at
//! random. Each is made in a new worker, so that nothing is left of earlier
//! ones, with memory of its own: one call that brings in code and pages, on inputs
//! that are never timed, then a few commands, of which the fastest counts, because
//! others on the machine can only slow it down. All calls are on inputs that this
//! worker has not seen, which the parent puts in place only when the worker waits,
//! and takes away afterwards. All outputs are compared.

use crate::overhead::Overhead;
use crate::statistics::{Interval, median, median_interval, round_ratio};
use autocomp_catalog::{Problem, Ranking};
use autocomp_core::Seed;
use autocomp_eval::EvalError;
use autocomp_native::{Case, Offence, Placement, Program, WorkerSettings};
use std::time::{Duration, Instant};

/// How long and how precisely kernels are timed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Rounds that are made at least, if time allows.
    pub least_rounds: usize,
    /// Rounds that are made at most.
    pub most_rounds: usize,
    /// Wall time after which no further round is begun.
    pub wall: Duration,
    /// Half width of the interval that is narrow enough, as a share.
    pub half_width: f64,
    /// Confidence of the interval.
    pub confidence: f64,
    /// How many times as long and as often what seems to be best is timed once more.
    pub confirmation: u32,
    /// Ratio from which on, or from whose inverse on, all of the fewest rounds are enough.
    pub far: f64,
}

impl Effort {
    /// Returns the effort for what seems to be best.
    #[must_use]
    pub fn confirming(self) -> Self {
        Self {
            most_rounds: self.most_rounds * self.confirmation as usize,
            wall: self.wall * self.confirmation,
            far: f64::INFINITY,
            ..self
        }
    }
}

impl Default for Effort {
    fn default() -> Self {
        Self {
            least_rounds: 9,
            most_rounds: 40,
            wall: Duration::from_secs(4),
            half_width: 0.01,
            confidence: 0.99,
            confirmation: 4,
            far: 2.0,
        }
    }
}

/// Rounds below which there is nothing to tell, however slow the kernels are.
const FEWEST_ROUNDS: usize = 3;
/// Processor time that one command should take at least, so that what a
/// command itself takes does not count.
const COMMAND_NS: f64 = 3e5;
/// Commands of one measurement, the fastest of which counts.
const COMMANDS: usize = 6;
/// Processor time from which on fewer commands suffice.
const MEASUREMENT_NS: f64 = 1.5e7;
/// A kernel that takes longer needs no call to warm up.
const NO_WARM_UP_NS: f64 = 5e7;
/// How many times as long as the shortest one a measurement of the same kernel may take; a
/// busy machine makes it a few times as long.
const STEADY: f64 = 50.0;
/// What is added to both before: of shorter calls nobody can tell such a ratio, nanoseconds.
const STEADY_FROM_NS: f64 = 2e3;

/// One of two kernels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side<'p> {
    /// Its program.
    pub program: &'p Program,
    /// Roughly what a call takes, nanoseconds.
    pub call_ns: f64,
}

/// What a comparison in pairs found.
#[derive(Clone, Debug, PartialEq)]
pub struct Paired {
    /// Ratio of the candidate's time to the base's, of each round.
    pub ratios: Vec<f64>,
    /// The candidate's time per call, nanoseconds, of each measurement.
    pub candidate_ns: Vec<f64>,
    /// The base's time per call, nanoseconds, of each measurement.
    pub base_ns: Vec<f64>,
    /// Median of the ratios with its interval; of few rounds, with their range.
    pub interval: Interval,
    /// Commands per measurement, the fastest of which counted.
    pub commands: usize,
    /// Calls per command.
    pub calls: usize,
}

impl Paired {
    /// Returns what the measurements allow at most, for too few rounds to say more.
    fn extremes(&self) -> Interval {
        let (candidate, base) = (range(&self.candidate_ns), range(&self.base_ns));
        Interval {
            low: candidate.low / base.high,
            median: median(&self.ratios),
            high: candidate.high / base.low,
        }
    }

    /// Returns the same with the interval of this confidence.
    pub(crate) fn with_confidence(self, confidence: f64) -> Self {
        Self {
            interval: match self.ratios.len() {
                ..FEWEST_ROUNDS => self.extremes(),
                _ => interval(&self.ratios, confidence),
            },
            ..self
        }
    }
}

/// Returns the interval of the median of `ratios`; of few, their range.
fn interval(ratios: &[f64], confidence: f64) -> Interval {
    median_interval(ratios, confidence).unwrap_or_else(|| range(ratios))
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
        side: Side<'_>,
        (commands, calls): (usize, usize),
    ) -> Result<f64, Failure> {
        // The first set is for warming up.
        let sets: Vec<Placement> = (0..=commands * calls)
            .map(|set| [Placement::AtTheStart, Placement::NearTheEnd][set % 2])
            .collect();
        let seed = Seed(self.seed.next_u64());
        let mut worker = self
            .overhead
            .start(self.problem, side.program, &sets, self.settings, seed)?
            .map_err(Failure::Candidate)?;
        let time = self.settings.command_time;
        let cases = self.cases;
        if side.call_ns < NO_WARM_UP_NS {
            worker.fill(0, &cases[0]);
            let warm = worker.call(0, &[&cases[0]], time);
            self.spent_ns += warm.map_err(Failure::Candidate)?.cpu_ns as f64;
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
            let spent = worker
                .call(sets.start, &timed, time)
                .map_err(Failure::Candidate)?;
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
        candidate: Side<'_>,
        base: Side<'_>,
        effort: Effort,
        time: Duration,
    ) -> Result<Paired, Failure> {
        let (began, spent_before) = (Instant::now(), self.spent_ns);
        let counts = self.counts(candidate.call_ns.max(base.call_ns));
        let mut paired = Paired {
            ratios: Vec::new(),
            candidate_ns: Vec::new(),
            base_ns: Vec::new(),
            interval: Interval {
                low: 0.0,
                median: 1.0,
                high: f64::INFINITY,
            },
            commands: counts.0,
            calls: counts.1,
        };
        loop {
            let before_round = self.spent_ns;
            let candidate_outside = self.seed.below(2) == 0;
            let (mut of_candidate, mut of_base) = (Vec::new(), Vec::new());
            for position in 0..4 {
                let outside = position == 0 || position == 3;
                if outside == candidate_outside {
                    of_candidate.push(self.measured(candidate, counts)?);
                } else {
                    of_base.push(
                        self.measured(base, counts)
                            .map_err(|failure| match failure {
                                Failure::Candidate(offence) => Failure::Base(offence),
                                other => other,
                            })?,
                    );
                }
            }
            let pair = |times: &[f64]| [times[0], times[1]];
            paired
                .ratios
                .push(round_ratio(pair(&of_candidate), pair(&of_base)));
            paired.candidate_ns.extend(of_candidate);
            paired.base_ns.extend(of_base);
            steady(&paired.candidate_ns).map_err(Failure::Candidate)?;
            steady(&paired.base_ns).map_err(Failure::Base)?;
            let rounds = paired.ratios.len();
            let next_ns = 2.0 * self.spent_ns - before_round - spent_before;
            let is_spent = time.as_nanos() as f64 <= next_ns;
            if rounds < FEWEST_ROUNDS {
                if is_spent {
                    paired.interval = paired.extremes();
                    return Ok(paired);
                }
                continue;
            }
            let known = median_interval(&paired.ratios, effort.confidence);
            paired.interval = known.unwrap_or_else(|| range(&paired.ratios));
            let narrow = known.is_some_and(|interval| {
                // Large differences need no precision.
                let enough = effort.half_width.max((interval.median - 1.0).abs() / 20.0);
                interval.half_width() < enough
            });
            let out_of_time = effort.wall < began.elapsed();
            let all = range(&paired.ratios);
            let is_far = effort.far < all.low || all.high < effort.far.recip();
            if out_of_time
                || is_spent
                || is_far
                || effort.most_rounds <= rounds
                || effort.least_rounds <= rounds && narrow
            {
                return Ok(paired);
            }
        }
    }
}

/// Returns an offence if measurements of one kernel are too far apart to be of the same work.
fn steady(times: &[f64]) -> Result<(), Offence> {
    let all = range(times);
    let ratio = (all.high + STEADY_FROM_NS) / (all.low + STEADY_FROM_NS);
    match STEADY < ratio {
        true => Err(Offence::Unsteady {
            least_ns: all.low,
            greatest_ns: all.high,
        }),
        false => Ok(()),
    }
}

fn range(values: &[f64]) -> Interval {
    let fold = |pick: fn(f64, f64) -> f64| values.iter().copied().fold(values[0], pick);
    Interval {
        low: fold(f64::min),
        median: median(values),
        high: fold(f64::max),
    }
}
