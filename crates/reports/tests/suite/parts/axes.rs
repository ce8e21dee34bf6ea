//! Axes: ticks, places, labels.

use autocomp_reports::inside::{Axis, spread};

#[test]
fn ticks_are_round_and_within() {
    let axis = Axis::log(65_536.0, 225_108.0, 300.0, 0.0);
    let ticks = axis.ticks(6);
    assert_eq!(
        ticks,
        [80_000.0, 100_000.0, 120_000.0, 150_000.0, 200_000.0]
    );
    assert_eq!(
        Axis::linear(60.0, 0.0, 1.0).ticks(6),
        [0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0]
    );
    // Of a short run, none stands for the same whole number as its neighbour.
    assert_eq!(Axis::linear(1.0, 0.0, 1.0).ticks_apart(8, 1.0), [0.0, 1.0]);
    assert_eq!(Axis::linear(0.3, 0.0, 1.0).ticks_apart(8, 1.0), [0.0]);
    assert!((axis.place(axis.high)).abs() < 1e-6);
}

#[test]
fn a_stretched_axis_tells_what_is_near_the_best_apart() {
    let (from, to) = (300.0, 0.0);
    let axis = Axis::stretched(100.0, 400.0, from, to);
    let places = [100.0, 101.0, 105.0, 120.0, 400.0].map(|it| axis.place(it));
    assert!(
        places.windows(2).all(|pair| pair[1] < pair[0] - 9.0),
        "{places:?}"
    );
    assert!(
        places.iter().all(|it| (to..=from).contains(it)),
        "{places:?}"
    );
    let ticks = axis.ticks(6);
    assert_eq!(ticks, [101.0, 109.0, 128.0, 163.0, 225.0, 336.0]);
    let logarithmic = Axis::log(100.0, 400.0, from, to);
    let apart = |axis: &Axis| axis.place(100.0) - axis.place(105.0);
    assert!(4.0 * apart(&logarithmic) < apart(&axis));
}

#[test]
fn labels_do_not_overlap() {
    let mut places = [10.0, 11.0, 12.0, 100.0];
    spread(&mut places, 14.0, 100.0);
    assert!(
        places
            .windows(2)
            .all(|pair| 14.0 <= pair[1] - pair[0] + 1e-9)
    );
    assert!(places[3] <= 100.0);
}
