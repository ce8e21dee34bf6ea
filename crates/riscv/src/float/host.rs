//! Arithmetic on the host's unit, where the flags can be told from the result.
//!
//! It rounds to nearest even; everything else is for `soft_float`.

use super::FloatOperation;
use crate::soft_float::{INEXACT, Outcome};
use std::hint::cold_path;

/// Lowest bits of a number in double precision that single precision has not.
const LOST: u64 = (1 << 29) - 1;

/// What they are halfway between two numbers in single precision.
const HALFWAY: u64 = 1 << 28;

/// Returns `a` * `b` + `c` if no other flag than the inexact one can have been raised,
/// as far as that is soon seen.
#[inline(always)]
pub(crate) fn plain_fused_single(a: f32, b: f32, c: f32) -> Option<f32> {
    // The product of two 24-bit numbers is exact in double precision.
    let sum = f64::from(a) * f64::from(b) + f64::from(c);
    let result = sum as f32;
    // The sum has been rounded, too: that matters only where it lies halfway. It is
    // zero only if it is exact.
    if sum.to_bits() & LOST != HALFWAY && is_plain_single(result) {
        return Some(result);
    }
    cold_path();
    (sum.to_bits() << 1 == 0).then_some(result)
}

/// The same for a sum or difference of single precision.
#[inline(always)]
pub(crate) fn plain_sum_single(result: f32) -> Option<f32> {
    (is_plain_single(result) || result == 0.0).then_some(result)
}

/// The same of double precision.
#[inline(always)]
pub(crate) fn plain_sum_double(result: f64) -> Option<f64> {
    (is_plain_double(result) || result == 0.0).then_some(result)
}

/// The same for the product of `a` and `b` of single precision.
#[inline(always)]
pub(crate) fn plain_product_single(a: f32, b: f32) -> Option<f32> {
    let result = a * b;
    let exact = result == 0.0 && (a == 0.0 || b == 0.0);
    (is_plain_single(result) || exact).then_some(result)
}

/// The same of double precision.
#[inline(always)]
pub(crate) fn plain_product_double(a: f64, b: f64) -> Option<f64> {
    let result = a * b;
    let exact = result == 0.0 && (a == 0.0 || b == 0.0);
    (is_plain_double(result) || exact).then_some(result)
}

/// Returns whether a result is so far from the ends of the range that the
/// only flag it can raise is the inexact one. The operands were then finite,
/// too, or the operation a division by infinity, which gives zero.
#[inline(always)]
fn is_plain_double(result: f64) -> bool {
    const LEAST: u64 = f64::MIN_POSITIVE.to_bits() + 1;
    result.abs().to_bits().wrapping_sub(LEAST) < f64::MAX.to_bits() - LEAST
}

#[inline(always)]
fn is_plain_single(result: f32) -> bool {
    const LEAST: u32 = f32::MIN_POSITIVE.to_bits() + 1;
    result.abs().to_bits().wrapping_sub(LEAST) < f32::MAX.to_bits() - LEAST
}

/// Returns whether a result of zero surely is exact, given which operands are.
fn gives_zero(operation: FloatOperation, a: bool, b: bool) -> bool {
    use FloatOperation as F;
    match operation {
        F::Add | F::Subtract => true,
        F::Multiply => a || b,
        _ => a,
    }
}

/// Computes on the host's unit, which rounds to nearest even, if the flags can
/// be told.
pub(super) fn fast_double(operation: FloatOperation, a: u64, b: u64, flags: u8) -> Option<Outcome> {
    use FloatOperation as F;
    let (a, b) = (f64::from_bits(a), f64::from_bits(b));
    let result = match operation {
        F::Add => a + b,
        F::Subtract => a - b,
        F::Multiply => a * b,
        F::Divide => a / b,
        _ => a.sqrt(),
    };
    let exact_zero = result == 0.0 && gives_zero(operation, a == 0.0, b == 0.0);
    if !exact_zero && !is_plain_double(result) {
        return None;
    }
    let inexact = if flags & INEXACT != 0 {
        false
    } else {
        match operation {
            F::Add => sum_error_double(a, b, result) != 0.0,
            F::Subtract => sum_error_double(a, -b, result) != 0.0,
            _ => return None,
        }
    };
    Some((result.to_bits(), if inexact { INEXACT } else { 0 }))
}

pub(super) fn fast_single(operation: FloatOperation, a: u64, b: u64, flags: u8) -> Option<Outcome> {
    use FloatOperation as F;
    let (a, b) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
    let result = match operation {
        F::Add => a + b,
        F::Subtract => a - b,
        F::Multiply => a * b,
        F::Divide => a / b,
        _ => a.sqrt(),
    };
    let exact_zero = result == 0.0 && gives_zero(operation, a == 0.0, b == 0.0);
    if !exact_zero && !is_plain_single(result) {
        return None;
    }
    let inexact = if flags & INEXACT != 0 {
        false
    } else {
        match operation {
            F::Add => sum_error_single(a, b, result) != 0.0,
            F::Subtract => sum_error_single(a, -b, result) != 0.0,
            // The product of two 24-bit numbers is exact in double precision.
            F::Multiply => f64::from(a) * f64::from(b) != f64::from(result),
            _ => return None,
        }
    };
    Some((result.to_bits().into(), if inexact { INEXACT } else { 0 }))
}

/// As [`fast_double`], for `a` * `b` + `c`.
#[inline(never)]
pub(super) fn fused_double(a: u64, b: u64, c: u64, flags: u8) -> Option<Outcome> {
    if flags & INEXACT == 0 {
        return None;
    }
    // With the inexact flag up, a normal result can raise nothing new.
    let result = f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c));
    is_plain_double(result).then(|| (result.to_bits(), 0))
}

/// As [`fast_single`], for `a` * `b` + `c`.
#[inline(always)]
pub(super) fn fused_single(a: u64, b: u64, c: u64, flags: u8) -> Option<Outcome> {
    let [a, b, c] = [a, b, c].map(|bits| f64::from(f32::from_bits(bits as u32)));
    // The product of two 24-bit numbers is exact in double precision.
    let product = a * b;
    let sum = product + c;
    let error = sum_error_double(product, c, sum);
    // Rounded to odd, the sum can be rounded again as if it were exact.
    let odd = if error == 0.0 || sum.to_bits() & 1 == 1 {
        sum
    } else {
        let away = (error > 0.0) == (sum > 0.0);
        f64::from_bits(if away {
            sum.to_bits() + 1
        } else {
            sum.to_bits() - 1
        })
    };
    let result = odd as f32;
    let exact_zero = sum == 0.0 && error == 0.0;
    if !exact_zero && !is_plain_single(result) {
        return None;
    }
    let inexact = flags & INEXACT == 0 && (error != 0.0 || f64::from(result) != sum);
    Some((result.to_bits().into(), if inexact { INEXACT } else { 0 }))
}

/// Returns the rounding error of `sum` = `a` + `b`.
///
/// *Source*: Knuth's two-sum, exact in round-to-nearest without overflow.
fn sum_error_double(a: f64, b: f64, sum: f64) -> f64 {
    let b_part = sum - a;
    (a - (sum - b_part)) + (b - b_part)
}

fn sum_error_single(a: f32, b: f32, sum: f32) -> f32 {
    let b_part = sum - a;
    (a - (sum - b_part)) + (b - b_part)
}
