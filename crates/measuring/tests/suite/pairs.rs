//! Comparisons in pairs, of made-up kernels.

use autocomp_core::Seed;
use autocomp_measuring::statistics::Interval;
use autocomp_measuring::{Effort, Paired, Side, Sides, compare};
use std::time::Duration;

/// Kernels whose calls take what a function of the number of the measurement says.
struct MadeUp<F> {
    time_ns: F,
    made: Vec<Side>,
    spent_ns: f64,
}

impl<F: Fn(Side, usize) -> Option<f64>> Sides for MadeUp<F> {
    type Failure = (Side, &'static str);

    fn measure(&mut self, side: Side) -> Result<f64, Self::Failure> {
        let time_ns = (self.time_ns)(side, self.made.len()).ok_or((side, "died"))?;
        self.made.push(side);
        self.spent_ns += time_ns;
        Ok(time_ns)
    }

    fn unsteady(&self, side: Side, _times: Interval) -> Self::Failure {
        (side, "unsteady")
    }

    fn spent(&self) -> Duration {
        Duration::from_nanos(self.spent_ns as u64)
    }

    fn calls(&self) -> usize {
        1
    }
}

/// Never over by the clock, so that tests end in one way.
const EFFORT: Effort = Effort {
    least_rounds: 9,
    most_rounds: 40,
    wall: Duration::MAX,
    half_width: 0.01,
    confidence: 0.99,
    confirmation: 1,
    far: 2.0,
};

type Compared = Result<Paired, (Side, &'static str)>;

fn compared(time_ns: impl Fn(Side, usize) -> Option<f64>, time: Duration) -> (Compared, Vec<Side>) {
    let mut sides = MadeUp {
        time_ns,
        made: Vec::new(),
        spent_ns: 0.0,
    };
    let paired = compare(&mut sides, Seed(3), EFFORT, time);
    (paired, sides.made)
}

fn of(side: Side, candidate_ns: f64, base_ns: f64) -> Option<f64> {
    Some(match side {
        Side::Candidate => candidate_ns,
        Side::Base => base_ns,
    })
}

#[test]
fn rounds_are_symmetric_and_begin_with_either_side() {
    let (paired, made) = compared(|side, _| of(side, 9.5e6, 1e7), Duration::MAX);
    let paired = paired.expect("both can be measured");
    // Without noise as few rounds as the confidence allows.
    assert_eq!(paired.ratios.len(), 9);
    let rounds: Vec<&[Side]> = made.chunks(4).collect();
    assert!(
        rounds
            .iter()
            .all(|it| it[0] == it[3] && it[1] == it[2] && it[0] != it[1])
    );
    let begins = |side| rounds.iter().any(|it| it[0] == side);
    assert!(begins(Side::Candidate) && begins(Side::Base));
    assert!((paired.interval.median - 0.95).abs() < 1e-9);
}

#[test]
fn drift_is_no_difference() {
    let (paired, _) = compared(
        |_, made| Some(1e6 * 1.01_f64.powi(made as i32)),
        Duration::MAX,
    );
    let interval = paired.expect("both can be measured").interval;
    assert!((interval.median - 1.0).abs() < 1e-9, "{interval:?}");
}

#[test]
fn noise_takes_more_rounds_and_large_differences_fewer() {
    let noisy = |side, made: usize| of(side, 1e6 + 2e5 * (made * 7 % 11) as f64, 1.1e6);
    let (paired, _) = compared(noisy, Duration::MAX);
    assert!(9 < paired.expect("both can be measured").ratios.len());
    let (paired, _) = compared(|side, _| of(side, 3e6, 1e6), Duration::MAX);
    assert_eq!(paired.expect("both can be measured").ratios.len(), 3);
}

#[test]
fn no_round_is_begun_beyond_the_time() {
    let time = |side, _| of(side, 1e6, 1e6);
    for (ms, rounds) in [(1, 1), (8, 1), (9, 2), (13, 3), (30, 7)] {
        let (paired, _) = compared(time, Duration::from_millis(ms));
        let paired = paired.expect("both can be measured");
        assert_eq!(paired.ratios.len(), rounds, "{ms} ms");
    }
}

#[test]
fn who_fails_or_does_not_do_all_the_work_is_named() {
    let dies = |side, made| match (side, made) {
        (Side::Base, 6..) => None,
        _ => Some(1e6),
    };
    let (paired, _) = compared(dies, Duration::MAX);
    assert_eq!(paired, Err((Side::Base, "died")));
    let skips = |side, made| match (side, made) {
        (Side::Candidate, 8..) => Some(1e3),
        _ => Some(1e6),
    };
    let (paired, _) = compared(skips, Duration::MAX);
    assert_eq!(paired, Err((Side::Candidate, "unsteady")));
}
