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

#[cfg(test)]
mod tests {
    use super::{Difference, Interval, difference, median, median_interval, round_ratio};
    use autocomp_core::Seed;
    use proptest::prelude::*;

    fn uniform(seed: &mut Seed) -> f64 {
        (seed.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    #[test]
    fn eight_values_are_needed_for_99_percent() {
        let values: Vec<f64> = (1..=8).map(f64::from).collect();
        assert_eq!(median_interval(&values[..7], 0.99), None);
        let interval = median_interval(&values, 0.99).expect("enough");
        assert_eq!(
            (interval.low, interval.median, interval.high),
            (1.0, 4.5, 8.0)
        );
    }

    #[test]
    fn the_interval_holds_the_true_median_as_often_as_it_says() {
        // A distribution with a long tail, whose median is 1.
        let mut seed = Seed(5);
        for (n, confidence) in [(8, 0.99), (20, 0.95), (31, 0.99), (60, 0.9)] {
            let tries = 4000;
            let held = (0..tries)
                .filter(|_| {
                    let values: Vec<f64> =
                        (0..n).map(|_| 0.5 / (1.0 - uniform(&mut seed))).collect();
                    let interval = median_interval(&values, confidence).expect("enough");
                    interval.low <= 1.0 && 1.0 <= interval.high
                })
                .count();
            let share = held as f64 / f64::from(tries);
            // Three deviations of 4000 tries are 0.014 at most.
            assert!(confidence - 0.014 <= share, "{n} {confidence} {share}");
        }
    }

    #[test]
    fn drift_cancels_within_a_round() {
        // Every measurement takes 10 % longer than the one before it: A B B A.
        let time = |position: i32| 1.1_f64.powi(position);
        let ratio = round_ratio([2.0 * time(0), 2.0 * time(3)], [time(1), time(2)]);
        assert!((ratio - 2.0).abs() < 1e-12, "{ratio}");
    }

    #[test]
    fn ties_are_no_difference() {
        let interval = |low, high| Interval {
            low,
            median: 1.0,
            high,
        };
        assert_eq!(difference(&interval(0.97, 0.98), 0.01), Difference::Faster);
        assert_eq!(difference(&interval(0.98, 0.995), 0.01), Difference::None);
        assert_eq!(difference(&interval(0.97, 1.03), 0.01), Difference::None);
        assert_eq!(difference(&interval(1.02, 1.03), 0.01), Difference::Slower);
    }

    proptest! {
        #[test]
        fn bounds_are_samples_in_order(values in prop::collection::vec(0.1_f64..10.0, 8..80)) {
            let interval = median_interval(&values, 0.99).expect("enough");
            prop_assert!(values.contains(&interval.low) && values.contains(&interval.high));
            prop_assert!(interval.low <= interval.median && interval.median <= interval.high);
        }

        #[test]
        fn more_confidence_is_never_narrower(values in prop::collection::vec(0.1_f64..10.0, 12..80)) {
            let wide = median_interval(&values, 0.99).expect("enough");
            let narrow = median_interval(&values, 0.9).expect("enough");
            prop_assert!(wide.low <= narrow.low && narrow.high <= wide.high);
        }

        #[test]
        fn scaling_all_samples_scales_the_median(
            values in prop::collection::vec(0.1_f64..10.0, 1..40),
            factor in 0.5_f64..2.0,
        ) {
            let scaled: Vec<f64> = values.iter().map(|value| value * factor).collect();
            prop_assert!((median(&scaled) - factor * median(&values)).abs() < 1e-9);
        }

        #[test]
        fn exchanging_the_sides_inverts_the_ratio(
            a in 0.1_f64..10.0, b in 0.1_f64..10.0, c in 0.1_f64..10.0, d in 0.1_f64..10.0,
        ) {
            let product = round_ratio([a, b], [c, d]) * round_ratio([c, d], [a, b]);
            prop_assert!((product - 1.0).abs() < 1e-9);
        }
    }
}
