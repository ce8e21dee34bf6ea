//! Rounding, saturation and the integer forms of functions.

use autocomp_gemmini::inside::{ExpConstants, iexp, igelu, relu_f32, round_shift, to_i8, wrap};
use proptest::prelude::*;

/// Half to even by exact rational comparison in 64-bit floats.
fn to_i8_reference(value: f32) -> i8 {
    if value.is_nan() {
        return 127;
    }
    let value = f64::from(value).clamp(-1000.0, 1000.0);
    let floor = value.floor();
    let rest = value - floor;
    let up = rest > 0.5 || (rest == 0.5 && (floor as i64) % 2 != 0);
    (floor as i64 + i64::from(up)).clamp(-128, 127) as i8
}

#[test]
fn halves_round_to_even_and_extremes_saturate() {
    for (value, expected) in [
        (0.5, 0),
        (1.5, 2),
        (2.5, 2),
        (-0.5, 0),
        (-1.5, -2),
        (126.5, 126),
        (127.5, 127),
        (-128.5, -128),
        (f32::INFINITY, 127),
        (f32::NEG_INFINITY, -128),
        (f32::NAN, 127),
        (1e30, 127),
        (-0.0, 0),
    ] {
        assert_eq!(to_i8(value), expected, "{value}");
    }
}

#[test]
fn move_in_scaling_agrees_for_every_int8_value() {
    let scales = [
        1.0,
        0.5,
        -1.0,
        1.0 / 3.0,
        2f32.powi(-20),
        f32::NAN,
        f32::INFINITY,
        0.1,
        127.0,
        0.0,
    ];
    for scale in scales {
        for value in i8::MIN..=i8::MAX {
            let product = f32::from(value) * scale;
            assert_eq!(
                to_i8(product),
                to_i8_reference(product),
                "{value} * {scale}"
            );
        }
    }
}

#[test]
fn round_shift_is_half_to_even() {
    for shift in 1..=8u32 {
        for value in -2000..2000 {
            let exact = f64::from(value) / f64::from(1 << shift);
            let floor = exact.floor();
            let up = exact - floor > 0.5 || (exact - floor == 0.5 && (floor as i64) % 2 != 0);
            assert_eq!(
                i64::from(round_shift(value, shift)),
                floor as i64 + i64::from(up),
                "{value} >> {shift}"
            );
        }
    }
}

#[test]
fn wrap_keeps_the_low_bits() {
    assert_eq!(wrap(1 << 19, 20), -(1 << 19));
    assert_eq!(wrap((1 << 19) - 1, 20), (1 << 19) - 1);
    assert_eq!(wrap(-(1 << 19) - 1, 20), (1 << 19) - 1);
    assert_eq!(wrap(i32::MIN, 32), i32::MIN);
}

#[test]
fn integer_gelu_follows_its_formula() {
    let (qb, qc) = (-100, 7000);
    for q in -500..500i64 {
        let c = q.abs().min(100);
        let sign = if q < 0 { -1 } else { 1 };
        let expected = q * (sign * ((c - 100) * (c - 100) + 7000) + 7000);
        assert_eq!(i64::from(igelu(q as i32, qb, qc)), expected);
    }
}

#[test]
fn integer_exponential_falls_with_its_argument_and_ends_at_zero() {
    let constants = ExpConstants {
        qln2: 69,
        qln2_inv: 65536 / 69,
        qb: 135,
        qc: 9700,
    };
    let values: Vec<i32> = (0..4000).map(|x| iexp(-x, constants)).collect();
    assert!(
        values.windows(2).all(|pair| pair[1] <= pair[0] + 64),
        "nearly monotone"
    );
    assert_eq!((values[0], values[3999]), (135 * 135 + 9700, 0));
    assert_eq!(
        values[70],
        (134 * 134 + 9700) >> 1,
        "one ln 2 and one halve it"
    );
}

#[test]
fn float_relu_keeps_nan_and_minus_zero() {
    assert!(relu_f32(f32::NAN).is_nan());
    assert_eq!(relu_f32(-0.0).to_bits(), (-0.0f32).to_bits());
    assert_eq!(relu_f32(-1.0).to_bits(), 0);
}

proptest! {
    #[test]
    fn conversion_agrees_with_the_reference(bits in any::<u32>()) {
        let value = f32::from_bits(bits);
        prop_assert_eq!(to_i8(value), to_i8_reference(value));
    }

    #[test]
    fn conversion_agrees_near_the_interesting_range(value in -300.0f32..300.0) {
        prop_assert_eq!(to_i8(value), to_i8_reference(value));
        let half = value.round() + 0.5;
        prop_assert_eq!(to_i8(half), to_i8_reference(half));
    }

    #[test]
    fn exponentials_never_overflow_the_host(q: i32, qln2: i32, qln2_inv: i32, qb: i32, qc: i32) {
        iexp(q, ExpConstants { qln2, qln2_inv, qb, qc });
        igelu(q, qb, qc);
    }
}
