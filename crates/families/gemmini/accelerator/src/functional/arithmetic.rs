//! Number formats: rounding, scaling, activations, bit by bit.
//!
//! Source: Gemmini `Arithmetic`, `AccumulatorScale`, `VectorScalarMultiplier`;
//! conversions as in Berkeley HardFloat (`RecFNToIN`).

#![allow(missing_docs, reason = "public for the suite alone, see `inside`")]

/// Adding and subtracting this rounds a small `f32` to an integer, half to
/// even; the low bits of the sum are that integer.
const ROUNDER: f32 = 12_582_912.0;
const CANONICAL_NAN: u32 = 0x7fc0_0000;

/// Rounds half to even and clamps to int8. NaN becomes 127, as the converter
/// treats it as too large.
#[inline(always)]
pub fn to_i8(value: f32) -> i8 {
    let upper = if value < 127.0 { value } else { 127.0 };
    let clamped = if upper > -128.0 { upper } else { -128.0 };
    ((clamped + ROUNDER).to_bits() as i32).wrapping_sub(ROUNDER.to_bits() as i32) as i8
}

/// Clamps to int8.
#[inline(always)]
pub fn clamp_i8(value: i32) -> i8 {
    value.clamp(-128, 127) as i8
}

/// Shifts right by `shift` (0 to 31), rounding half to even.
#[inline]
pub fn round_shift(value: i32, shift: u32) -> i32 {
    if shift == 0 {
        return value;
    }
    let half = value >> (shift - 1) & 1;
    let sticky = i32::from(value & ((1 << (shift - 1)) - 1) != 0);
    let shifted = value >> shift;
    shifted.wrapping_add(half & (sticky | (shifted & 1)))
}

/// Wraps a sum to `bits` bits, two's complement.
#[inline(always)]
pub fn wrap(value: i32, bits: u32) -> i32 {
    value << (32 - bits) >> (32 - bits)
}

/// Replaces every NaN by the one that the hardware makes.
#[inline(always)]
pub(crate) fn canonical(value: f32) -> f32 {
    if value.is_nan() {
        f32::from_bits(CANONICAL_NAN)
    } else {
        value
    }
}

/// Negative numbers become +0; NaN and -0 stay.
#[inline(always)]
pub fn relu_f32(value: f32) -> f32 {
    if value < 0.0 { 0.0 } else { value }
}

/// Integer GELU.
pub fn igelu(q: i32, qb: i32, qc: i32) -> i32 {
    let sign = if q < 0 { -1 } else { 1i32 };
    let clipped = q.wrapping_abs().min(qb.wrapping_neg());
    let base = clipped.wrapping_add(qb);
    let erf = sign.wrapping_mul(base.wrapping_mul(base).wrapping_add(qc));
    q.wrapping_mul(erf.wrapping_add(qc))
}

/// Constants of [`iexp`].
#[derive(Clone, Copy, Debug)]
pub struct ExpConstants {
    pub qln2: i32,
    pub qln2_inv: i32,
    pub qb: i32,
    pub qc: i32,
}

/// Integer exponential of a number that is not positive.
pub fn iexp(q: i32, constants: ExpConstants) -> i32 {
    let ExpConstants {
        qln2,
        qln2_inv,
        qb,
        qc,
    } = constants;
    let z = (-i64::from(q)).wrapping_mul(i64::from(qln2_inv)) >> 16;
    let z = z.clamp(0, 32) as i32;
    let qp = q.wrapping_add(z.wrapping_mul(qln2));
    let base = qp.wrapping_add(qb);
    (i64::from(base.wrapping_mul(base).wrapping_add(qc)) >> z) as i32
}
