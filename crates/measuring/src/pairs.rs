//! Two kernels measured against each other.
//!
//! A round is four measurements in the order A B B A or B A A B, drawn at
//! random, so that neither side gains from drift or from coming first.

use crate::statistics::{Interval, median, median_interval, round_ratio};
use autocomp_core::Seed;
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
/// How many times as long as the shortest one a measurement of the same kernel may take; a
/// busy machine makes it a few times as long.
const STEADY: f64 = 50.0;
/// What is added to both before: of shorter calls nobody can tell such a ratio, nanoseconds.
const STEADY_FROM_NS: f64 = 2e3;

/// One of two kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The kernel whose cost is asked for.
    Candidate,
    /// The kernel that the candidate is measured against.
    Base,
}

impl Side {
    fn other(self) -> Self {
        match self {
            Self::Candidate => Self::Base,
            Self::Base => Self::Candidate,
        }
    }
}

/// Two kernels that can be measured.
pub trait Sides {
    /// Why a side cannot be measured.
    type Failure;

    /// Makes one measurement and returns the time of a call in it, nanoseconds.
    ///
    /// # Errors
    /// What the kernel did instead, or the device.
    fn measure(&mut self, side: Side) -> Result<f64, Self::Failure>;

    /// Returns what is said of a side whose measurements, of which `times` has the least and
    /// the greatest, are too far apart to be of the same work.
    fn unsteady(&self, side: Side, times: Interval) -> Self::Failure;

    /// Returns the time of the device that all calls so far have taken.
    fn spent(&self) -> Duration;

    /// Returns how many calls one measurement makes at most.
    fn calls(&self) -> usize;
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
    /// Calls per measurement at most.
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
    #[must_use]
    pub fn with_confidence(self, confidence: f64) -> Self {
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

/// Measures both sides until the interval is narrow enough or the effort is spent; `seed` draws
/// the order. No round is begun that would take the calls beyond `time` of the device, but for
/// the first one.
///
/// # Errors
/// What is said of a side that cannot be measured, or not twice alike.
pub fn compare<S: Sides>(
    sides: &mut S,
    mut seed: Seed,
    effort: Effort,
    time: Duration,
) -> Result<Paired, S::Failure> {
    let (began, spent_before) = (Instant::now(), sides.spent());
    let mut paired = Paired {
        ratios: Vec::new(),
        candidate_ns: Vec::new(),
        base_ns: Vec::new(),
        interval: Interval {
            low: 0.0,
            median: 1.0,
            high: f64::INFINITY,
        },
        calls: sides.calls(),
    };
    loop {
        let before_round = sides.spent();
        let outer = [Side::Candidate, Side::Base][seed.below(2)];
        let inner = outer.other();
        let (mut of_candidate, mut of_base) = (Vec::new(), Vec::new());
        for side in [outer, inner, inner, outer] {
            let times = match side {
                Side::Candidate => &mut of_candidate,
                Side::Base => &mut of_base,
            };
            times.push(sides.measure(side)?);
        }
        let pair = |times: &[f64]| [times[0], times[1]];
        let ratio = round_ratio(pair(&of_candidate), pair(&of_base));
        paired.ratios.push(ratio);
        paired.candidate_ns.extend(of_candidate);
        paired.base_ns.extend(of_base);
        for (side, times) in [
            (Side::Candidate, &paired.candidate_ns),
            (Side::Base, &paired.base_ns),
        ] {
            let times = range(times);
            if !is_steady(times) {
                return Err(sides.unsteady(side, times));
            }
        }
        let rounds = paired.ratios.len();
        let spent = sides.spent();
        let is_spent = time.saturating_add(spent_before + before_round) <= 2 * spent;
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

/// Returns whether measurements of one kernel may be of the same work.
fn is_steady(times: Interval) -> bool {
    (times.high + STEADY_FROM_NS) / (times.low + STEADY_FROM_NS) <= STEADY
}

fn range(values: &[f64]) -> Interval {
    let fold = |pick: fn(f64, f64) -> f64| values.iter().copied().fold(values[0], pick);
    Interval {
        low: fold(f64::min),
        median: median(values),
        high: fold(f64::max),
    }
}
