//! What can be said of noisy measurements: pure functions of samples.
//!
//! Times on a shared machine have no known distribution: long tails, levels
//! that change, drift. So nothing here assumes one. The statistic is the median
//! of ratios, each of measurements that were made next to each other, and its
//! interval follows from the ranks of the samples alone: the true median lies
//! below a sample or above it with equal chance.

/// An interval around a median.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower bound.
    pub low: f64,
    /// The median.
    pub median: f64,
    /// Upper bound.
    pub high: f64,
}

impl Interval {
    /// Returns half its width, as a share of the median.
    #[must_use]
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0 / self.median
    }

    /// Returns the lower bound, the median and the upper bound.
    #[must_use]
    pub fn ends(&self) -> [f64; 3] {
        [self.low, self.median, self.high]
    }

    /// Returns the greatest distance of a bound from one.
    #[must_use]
    pub fn reach(&self) -> f64 {
        (self.high - 1.0).abs().max((1.0 - self.low).abs())
    }
}

/// What an interval of ratios says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The ratio is below one by more than the tie band.
    Faster,
    /// No difference was found.
    None,
    /// The ratio is above one by more than the tie band.
    Slower,
}

/// Returns the median.
///
/// # Panics
/// Panics if there are no values.
#[must_use]
pub fn median(values: &[f64]) -> f64 {
    let sorted = sorted(values);
    let middle = sorted.len() / 2;
    match sorted.len() % 2 {
        1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

/// Returns the median with an interval that holds the true one with at least
/// this `confidence`, whatever the distribution; nothing if there are too few
/// values for that (8 are needed for 0.99).
///
/// Source: the interval of the sign test (Thompson, "On confidence ranges for
/// the median", 1936).
#[must_use]
pub fn median_interval(values: &[f64], confidence: f64) -> Option<Interval> {
    let n = values.len();
    // Chance that at most `rank` of the values lie on one side of the true median.
    let (mut rank, mut tail, mut term) = (None, 0.0, 0.5_f64.powi(n as i32));
    for k in 0..n {
        tail += term;
        if 1.0 - 2.0 * tail < confidence {
            break;
        }
        rank = Some(k);
        term *= (n - k) as f64 / (k + 1) as f64;
    }
    let rank = rank?;
    let sorted = sorted(values);
    Some(Interval {
        low: sorted[rank],
        median: median(values),
        high: sorted[n - 1 - rank],
    })
}

/// Returns what `interval` says of a ratio, if differences up to `band` are ties.
#[must_use]
pub fn difference(interval: &Interval, band: f64) -> Difference {
    if interval.high < 1.0 - band {
        Difference::Faster
    } else if 1.0 + band < interval.low {
        Difference::Slower
    } else {
        Difference::None
    }
}

/// Returns the ratio of candidate to base of one round of four measurements,
/// in which drift that is the same per measurement cancels out.
#[must_use]
pub fn round_ratio(candidate: [f64; 2], base: [f64; 2]) -> f64 {
    (candidate[0] * candidate[1] / (base[0] * base[1])).sqrt()
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}
