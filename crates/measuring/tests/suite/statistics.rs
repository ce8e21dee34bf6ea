//! Medians, their intervals, and differences.

use autocomp_core::Seed;
use autocomp_measuring::statistics::{
    Difference, Interval, difference, median, median_interval, round_ratio,
};
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
                let values: Vec<f64> = (0..n).map(|_| 0.5 / (1.0 - uniform(&mut seed))).collect();
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
