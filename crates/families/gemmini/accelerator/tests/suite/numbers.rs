//! Numerics of single commands: floats, scaled stores, pooling, repetition.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::driver;

use autocomp_gemmini::InstructionSet;
use driver::instances::{fp32_4, int8_16};
use driver::{ACC, ADD, BASE, Driver, FULL, NONE, high, noise, tile};
use proptest::prelude::*;
use rustc_apfloat::Float;
use rustc_apfloat::ieee::Single;

const OUT: u64 = BASE + 0x8000;

fn floats(len: usize) -> impl Strategy<Value = Vec<f32>> {
    let value = prop_oneof![
        8 => -100.0f32..100.0,
        2 => any::<u32>().prop_map(f32::from_bits),
        1 => prop::sample::select(vec![0.0, -0.0, 1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MIN_POSITIVE, 1e-45]),
    ];
    prop::collection::vec(value, len)
}

fn bytes(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

fn soft(value: f32) -> Single {
    Single::from_bits(value.to_bits().into())
}

fn bits(value: Single) -> u32 {
    if value.is_nan() {
        0x7fc0_0000
    } else {
        value.to_bits() as u32
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Against software floats: the chain over k, then one rounded addition.
    #[test]
    fn float_tiles_follow_the_order_of_the_array(
        a in floats(16), b in floats(16), before in floats(16), inner in 1u32..5,
        set in prop::sample::select(InstructionSet::available()), os: bool,
    ) {
        let mut d = Driver::new(fp32_4());
        assert!(d.gemmini.use_instructions(set));
        d.configure(16);
        d.config_ex(!os, false, false);
        d.write(BASE, &bytes(&a));
        d.write(BASE + 64, &bytes(&b));
        d.write(BASE + 128, &bytes(&before));
        d.mvin(BASE, 0, 4, 4);
        d.mvin(BASE + 64, 4096, 4, 4);
        d.mvin(BASE + 128, ACC, 4, 4);
        if os {
            d.run(6, tile(NONE, 4, 4), tile(ADD, 4, 4));
            d.run(4, tile(0, inner, 4), tile(4096, 4, inner));
        } else {
            d.run(6, tile(4096, 4, inner), tile(ADD, 4, 4));
            d.run(4, tile(0, inner, 4), tile(NONE, 4, 4));
        }
        for i in 0..4 {
            for j in 0..4 {
                let mut sum = soft(0.0);
                for k in 0..4 {
                    let used = k < inner as usize;
                    let left = if used { a[i * 4 + k] } else { 0.0 };
                    let right = if used { b[k * 4 + j] } else { 0.0 };
                    sum = soft(left).mul_add(soft(right), sum).value;
                }
                let expected = bits((soft(before[i * 4 + j]) + soft(f32::from_bits(bits(sum)))).value);
                prop_assert_eq!(d.gemmini.acc_row(i as u32).unwrap()[j] as u32, expected, "({}, {})", i, j);
            }
        }
    }

    #[test]
    fn float_moves_multiply_once(values in floats(16), into in -4.0f32..4.0, out in -4.0f32..4.0, relu: bool) {
        let mut d = Driver::new(fp32_4());
        d.configure(16);
        d.run(0, high(into) | 4 << 16 | 1, 16);
        d.config_st(16, out, u64::from(relu));
        d.write(BASE, &bytes(&values));
        d.mvin(BASE, ACC, 4, 4);
        d.mvin(BASE, 0, 4, 4);
        d.mvout(OUT, ACC, 4, 4);
        d.mvout(OUT + 64, 0, 4, 4);
        for (at, value) in values.iter().enumerate() {
            let product = f32::from_bits(bits((soft(*value) * soft(into)).value));
            let shown = if relu && product < 0.0 { 0.0 } else { product };
            let expected = [bits((soft(shown) * soft(out)).value), product.to_bits()];
            for (offset, expected) in [OUT, OUT + 64].into_iter().zip(expected) {
                let found = u32::from_le_bytes(d.read(offset + at as u64 * 4, 4).try_into().unwrap());
                prop_assert_eq!(found, expected, "{} * {} * {}", value, into, out);
            }
        }
    }

    /// Scaled stores against exact rational rounding of the 32-bit product.
    #[test]
    fn scaled_stores_round_half_to_even(
        words in prop::collection::vec(prop_oneof![any::<i32>(), -2000i32..2000], 16),
        scale in prop_oneof![-2.0f32..2.0, prop::sample::select(vec![1.0, 0.5, 0.25, f32::NAN, f32::INFINITY])],
        relu: bool,
    ) {
        let mut d = Driver::new(int8_16());
        d.configure(64);
        d.config_st(16, scale, u64::from(relu));
        d.write(BASE, &words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>());
        d.mvin(BASE, ACC, 16, 1);
        d.mvout(OUT, ACC, 16, 1);
        d.mvout(OUT + 64, FULL, 16, 1);
        for (at, word) in words.iter().enumerate() {
            let value = Single::from_i128(i128::from(if relu { (*word).max(0) } else { *word })).value;
            let product = (value * soft(scale)).value;
            let expected = if product.is_nan() {
                127
            } else {
                let exact = f64::from(f32::from_bits(bits(product))).clamp(-1e3, 1e3);
                let floor = exact.floor();
                let rest = exact - floor;
                let up = rest > 0.5 || (rest == 0.5 && floor as i64 % 2 != 0);
                (floor as i64 + i64::from(up)).clamp(-128, 127)
            };
            prop_assert_eq!(i64::from(d.read(OUT + at as u64, 1)[0] as i8), expected, "{} * {}", word, scale);
            prop_assert_eq!(d.read(OUT + 64 + at as u64 * 4, 4), &word.to_le_bytes()[..]);
        }
    }
}

#[test]
fn pooling_counts_pixels_outside_the_image_as_zero() {
    let mut d = Driver::new(int8_16());
    d.configure(16);
    let image: Vec<u8> = noise(5, 12 * 16).iter().map(|byte| byte | 0x80).collect();
    d.write(BASE, &image);
    d.mvin(BASE, 0, 16, 12);
    // 3 x 4 pixels, windows of 2 x 2 every 2 pixels, one row and one column of padding.
    let pool =
        2u64 << 4 | 2 << 6 | 1 << 8 | 1 << 10 | 5 << 24 | 2 << 32 | 3 << 40 | 3 << 48 | 4 << 56;
    d.run(0, pool | 2, high(1.0) | 32);
    d.mvout(OUT, 0, 7, 1);
    let pixel = |row: i64, col: i64, ch: usize| {
        let inside = (0..3).contains(&row) && (0..4).contains(&col);
        if inside {
            image[(row * 4 + col) as usize * 16 + ch] as i8
        } else {
            0
        }
    };
    for row in 0..2i64 {
        for col in 0..3i64 {
            for ch in 0..7 {
                let window = [(0, 0), (0, 1), (1, 0), (1, 1)];
                let best = window
                    .iter()
                    .map(|(r, c)| pixel(2 * row + r - 1, 2 * col + c - 1, ch))
                    .max();
                let at = OUT + ((row * 5 + col) * 32) as u64 + ch as u64;
                assert_eq!(
                    d.read(at, 1)[0] as i8,
                    best.unwrap(),
                    "({row}, {col}) channel {ch}"
                );
            }
        }
    }
}

#[test]
fn repeated_pixels_climb_the_rows_above_down_to_the_half() {
    let mut d = Driver::new(int8_16());
    d.configure(4);
    d.run(0, high(1.0) | 16 << 16 | 3 << 8 | 1, 4);
    d.write(BASE, &(1..=12).collect::<Vec<u8>>());
    d.mvin(BASE, 8192 + 1, 4, 3);
    let row = |at: u32| d.gemmini.spad_row(at).unwrap()[..12].to_vec();
    assert_eq!(row(8192 + 3), [9, 10, 11, 12, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(row(8192 + 2), [5, 6, 7, 8, 9, 10, 11, 12, 0, 0, 0, 0]);
    assert_eq!(row(8192 + 1), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    assert_eq!(row(8192), [0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(row(8191), [0; 12], "the other half is not touched");
    d.run(3, OUT, tile(8192 + 1, 12, 1));
}

#[test]
fn short_tiles_leave_the_rest_of_a_row_alone() {
    let mut d = Driver::new(int8_16());
    d.configure(16);
    d.write(BASE, &[7; 16]);
    d.mvin(BASE, 0, 16, 1);
    d.write(BASE, &[9; 16]);
    d.mvin(BASE, 0, 5, 1);
    assert_eq!(
        d.gemmini.spad_row(0).unwrap(),
        [9, 9, 9, 9, 9, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7]
    );
}

#[test]
fn softmax_and_layer_norm_need_two_passes_over_a_row() {
    let mut config = int8_16();
    config.features.normalizations = true;
    let mut d = Driver::new(config);
    d.configure(64);
    let row: Vec<i32> = (0..16).map(|x| x * 8 - 60).collect();
    d.write(
        BASE,
        &row.iter()
            .flat_map(|word| word.to_le_bytes())
            .collect::<Vec<_>>(),
    );
    d.mvin(BASE, ACC, 16, 1);
    let norm = |command: u32| ACC | command << 26;
    // Layer norm: mean, then deviation, then the row itself.
    d.config_st(16, 16.0, 2);
    d.mvout(OUT, norm(2), 16, 1);
    d.mvout(OUT, norm(4), 16, 1);
    d.mvout(OUT, norm(0), 16, 1);
    let sum: i32 = row.iter().sum();
    let mean = sum / 16;
    let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<i32>() / 16;
    let deviation = f64::from(variance).sqrt().floor() as i32;
    for (at, x) in row.iter().enumerate() {
        let normal = (x - mean) as f32 * (1.0 / deviation as f32);
        let expected = (normal * 16.0).round_ties_even().clamp(-128.0, 127.0) as i8;
        assert_eq!(d.read(OUT + at as u64, 1)[0] as i8, expected, "{x}");
    }
    // Softmax: maximum, sum of exponentials, then the row.
    d.fence();
    let (qln2, qln2_inv, qb, qc) = (22i64, 65536i64 / 22, 43i64, 1000i64);
    d.run(
        0,
        (qln2 as u64) << 32 | 1 << 16 | 3,
        (qc as u64) << 32 | qb as u64,
    );
    d.run(
        0,
        (qln2_inv as u64) << 32 | 1 << 18 | 1 << 16 | 3,
        (qc as u64) << 32 | qb as u64,
    );
    d.config_st(16, 1.0, 0);
    d.mvout(OUT, norm(5), 16, 1);
    d.mvout(OUT, norm(7), 16, 1);
    d.mvout(OUT, norm(0), 16, 1);
    let max = i64::from(*row.iter().max().unwrap());
    let exp = |x: i32| {
        let q = i64::from(x) - max;
        let z = ((-q * qln2_inv) >> 16).min(32);
        let base = q + z * qln2 + qb;
        (base * base + qc) >> z
    };
    let total: i64 = row.iter().map(|x| exp(*x)).sum();
    let mut shares = 0;
    for (at, x) in row.iter().enumerate() {
        let share = exp(*x) as f32 * (127.0 / total as f32);
        let expected = share.round_ties_even().clamp(-128.0, 127.0) as i8;
        assert_eq!(d.read(OUT + at as u64, 1)[0] as i8, expected, "{x}");
        shares += i32::from(expected);
    }
    assert!(
        (120..135).contains(&shares),
        "the shares add up to about one: {shares}"
    );
}
