//! Medians and their intervals.

use autocomp::inside::{Interval, median};

#[test]
fn medians_have_intervals() {
    assert_eq!(median(&[]), None);
    assert_eq!(median(&[3.0, 1.0]), Some(2.0));
    let one = Interval {
        median: 5.0,
        low: 5.0,
        high: 5.0,
    };
    assert_eq!(Interval::of(&[5.0]), Some(one));
    let figures: Vec<f64> = (0..21).map(f64::from).collect();
    let interval = Interval::of(&figures).unwrap();
    assert_eq!(interval.median, 10.0);
    assert!((3.0..8.0).contains(&interval.low), "{interval:?}");
    assert!((12.0..17.0).contains(&interval.high), "{interval:?}");
}
