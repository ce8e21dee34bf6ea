//! Estimates of reciprocals and reciprocal square roots, right to seven bits.
//!
//! *Source*: RISC-V "V" vector extension 1.0, `vfrec7.v` and `vfrsqrt7.v`. The tables there are
//! the results for the middle of each interval, rounded to seven bits, and are computed here.

use crate::soft_float::{DIVIDE_BY_ZERO, Format, INEXACT, INVALID, OVERFLOW, Outcome, Rounding};

/// Bits of an estimate.
const BITS: u32 = 7;

/// Returns seven bits of 2 / x - 1 for x = 1 + (`idx` + 1/2) / 128.
fn reciprocal_bits(idx: u64) -> u64 {
    // 128 * (2 / x - 1) = 65536 / (257 + 2 idx) - 128, to nearest.
    let divisor = 257 + 2 * idx;
    (2 * 65_536 + divisor) / (2 * divisor) - 128
}

/// Returns seven bits of the reciprocal root for the last bit of the exponent and six bits of
/// the significand.
fn root_bits(idx: u64) -> u64 {
    // x lies in [1, 2) for an even number of places, in [2, 4) for an odd one.
    let (numerator, significand) = if idx < 64 { (2, idx) } else { (4, idx - 64) };
    // 128 * sqrt(numerator / x) for x = (129 + 2 significand) / 128, to nearest: the largest
    // whole n for which (n - 1/2)^2 is no more than the square.
    let divisor = 129 + 2 * significand;
    let mut n = 128;
    while (2 * n + 1) * (2 * n + 1) * divisor <= 4 * 16_384 * 128 * numerator {
        n += 1;
    }
    n - 128
}

/// A number other than zero, infinity and NaN.
struct Parts {
    negative: bool,
    /// Biased, and 0 or less for subnormal numbers.
    exponent: i64,
    /// Without the leading bit.
    fraction: u64,
}

fn parts(format: Format, bits: u64) -> Parts {
    let width = format.fraction_bits;
    let fraction = bits & ((1 << width) - 1);
    let exponent = (bits & (format.sign_bit() - 1)) >> width;
    let negative = bits & format.sign_bit() != 0;
    if exponent != 0 {
        return Parts {
            negative,
            exponent: exponent as i64,
            fraction,
        };
    }
    let shift = fraction.leading_zeros() - (63 - width);
    Parts {
        negative,
        exponent: 1 - i64::from(shift),
        fraction: fraction << shift & ((1 << width) - 1),
    }
}

/// Returns the estimate of 1 / `bits`.
pub(super) fn reciprocal(format: Format, bits: u64, mode: Rounding) -> Outcome {
    let (width, sign) = (format.fraction_bits, bits & format.sign_bit());
    let infinity = format.infinity(false);
    match format.classify(bits) {
        0x001 | 0x080 => return (sign, 0),
        0x008 | 0x010 => return (sign | infinity, DIVIDE_BY_ZERO),
        0x100 => return (format.nan(), INVALID),
        0x200 => return (format.nan(), 0),
        _ => {}
    }
    let number = parts(format, bits);
    if number.exponent < -1 {
        // Too small: its reciprocal is beyond the largest number.
        let stays_finite = match mode {
            Rounding::TowardZero => true,
            Rounding::Down => !number.negative,
            Rounding::Up => number.negative,
            Rounding::NearestEven | Rounding::NearestAway => false,
        };
        return (
            sign | (infinity - u64::from(stays_finite)),
            INEXACT | OVERFLOW,
        );
    }
    let bias = (infinity >> width) as i64 / 2;
    let estimate = reciprocal_bits(number.fraction >> (width - BITS));
    let exponent = 2 * bias - 1 - number.exponent;
    let fraction = estimate << (width - BITS);
    let leading = 1 << width;
    match exponent {
        // Subnormal: the leading bit is no longer implied.
        0 => (sign | (leading | fraction) >> 1, 0),
        -1 => (sign | (leading | fraction) >> 2, 0),
        _ => (sign | (exponent as u64) << width | fraction, 0),
    }
}

/// Returns the estimate of 1 / sqrt(`bits`).
pub(super) fn reciprocal_root(format: Format, bits: u64) -> Outcome {
    let (width, sign) = (format.fraction_bits, bits & format.sign_bit());
    let infinity = format.infinity(false);
    match format.classify(bits) {
        0x008 | 0x010 => return (sign | infinity, DIVIDE_BY_ZERO),
        0x080 => return (0, 0),
        0x200 => return (format.nan(), 0),
        0x001 | 0x002 | 0x004 | 0x100 => return (format.nan(), INVALID),
        _ => {}
    }
    let number = parts(format, bits);
    let bias = (infinity >> width) as i64 / 2;
    let place = (number.exponent & 1) as u64;
    let idx = place << (BITS - 1) | number.fraction >> (width - BITS + 1);
    let exponent = (3 * bias - 1 - number.exponent) / 2;
    let fraction = root_bits(idx) << (width - BITS);
    ((exponent as u64) << width | fraction, 0)
}
