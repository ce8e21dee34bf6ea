//! Exponentials of the scalar engine.

use autocomp_trainium_sim::inside::{RANGE, exponentials};
use std::f64::consts::{LN_2, LOG2_E};

/// The same with the rounding of the standard library.
fn plain(x: f32) -> f32 {
    let wide = f64::from(x) * LOG2_E;
    let whole = wide.round_ties_even();
    let rest = (wide - whole) * LN_2;
    let mut sum = 1.0 / 720.0 + rest / 5040.0;
    for factor in [1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        sum = factor + rest * sum;
    }
    let scale = f64::from_bits(((whole as i64 + 1023) as u64) << 52);
    (sum * scale) as f32
}

#[test]
fn exponentials_round_as_the_standard_library_does() {
    // Every 4,099th number of the range, both signs, and its ends.
    let mut all: Vec<f32> = (0..=100.0_f32.to_bits())
        .step_by(4099)
        .flat_map(|bits| [f32::from_bits(bits), -f32::from_bits(bits)])
        .filter(|it| RANGE.contains(it))
        .collect();
    all.extend([0.0, -0.0, 88.8, -100.0, 1.0, -1.0]);
    let right: Vec<f32> = all.iter().map(|it| plain(*it)).collect();
    let mut found = all.clone();
    exponentials(&mut found);
    for ((x, f), r) in all.iter().zip(&found).zip(&right) {
        assert_eq!(f.to_bits(), r.to_bits(), "exp({x})");
    }
    let mut beyond = [f32::NAN, 200.0, -200.0, f32::NEG_INFINITY, 0.0];
    exponentials(&mut beyond);
    assert!(beyond[0].is_nan() && beyond[1] == f32::INFINITY);
    assert_eq!(&beyond[2..], &[0.0, 0.0, 1.0]);
}
