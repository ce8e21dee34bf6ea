//! Arithmetic on the host's unit, where the flags can be told from the result.
//!
//! It rounds to nearest even; everything else is for `soft_float`.

use super::FloatOperation;
use crate::soft_float::{INEXACT, Outcome};
use std::hint::cold_path;

/// Lowest bits of a number in double precision that single precision has not.
pub(super) const LOST: u64 = (1 << 29) - 1;

/// What they are halfway between two numbers in single precision.
pub(super) const HALFWAY: u64 = 1 << 28;

/// Returns `a` * `b` + `c` if no other flag than the inexact one can have been raised,
/// as far as that is soon seen.
#[inline(always)]
pub fn plain_fused_single(a: f32, b: f32, c: f32) -> Option<f32> {
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

/// A result for one of several elements that are added up.
#[derive(Clone, Copy)]
pub(crate) struct Plain {
    pub number: f32,
    /// Whether no other flag than the inexact one can have been raised, as far as that is soon
    /// seen.
    pub is_plain: bool,
    /// Whether the result has been rounded, if that is noted.
    pub is_inexact: bool,
}

/// Returns `a` + `b`.
#[inline(always)]
pub(crate) fn plain_sum<const NOTES: bool>(a: f32, b: f32) -> Plain {
    let number = a + b;
    Plain {
        number,
        is_plain: is_plain_single(number) | (number == 0.0),
        is_inexact: NOTES && sum_error_single(a, b, number) != 0.0,
    }
}

/// Returns whether such a `result` = `a` * `b` + `c` has not been rounded.
#[inline(always)]
pub(crate) fn is_exact_fused_single(a: f32, b: f32, c: f32, result: f32) -> bool {
    let product = f64::from(a) * f64::from(b);
    let sum = product + f64::from(c);
    f64::from(result) == sum && sum_error_double(product, c.into(), sum) == 0.0
}

/// The same for a sum or difference of single precision.
#[inline(always)]
pub fn plain_sum_single(result: f32) -> Option<f32> {
    (is_plain_single(result) || result == 0.0).then_some(result)
}

/// The same of double precision.
#[inline(always)]
pub fn plain_sum_double(result: f64) -> Option<f64> {
    (is_plain_double(result) || result == 0.0).then_some(result)
}

/// The same for the product of `a` and `b` of single precision.
#[inline(always)]
pub fn plain_product_single(a: f32, b: f32) -> Option<f32> {
    let result = a * b;
    let exact = result == 0.0 && (a == 0.0 || b == 0.0);
    (is_plain_single(result) || exact).then_some(result)
}

/// The same of double precision.
#[inline(always)]
pub fn plain_product_double(a: f64, b: f64) -> Option<f64> {
    let result = a * b;
    let exact = result == 0.0 && (a == 0.0 || b == 0.0);
    (is_plain_double(result) || exact).then_some(result)
}

/// Returns whether `sum` = `a` + `b` has not been rounded.
#[inline(always)]
pub(crate) fn is_exact_sum_single(a: f32, b: f32, sum: f32) -> bool {
    sum_error_single(a, b, sum) == 0.0
}

/// The same of double precision.
#[inline(always)]
pub(crate) fn is_exact_sum_double(a: f64, b: f64, sum: f64) -> bool {
    sum_error_double(a, b, sum) == 0.0
}

/// Returns whether `product` = `a` * `b` has not been rounded.
#[inline(always)]
pub(crate) fn is_exact_product_single(a: f32, b: f32, product: f32) -> bool {
    // It is exact in double precision.
    f64::from(a) * f64::from(b) == f64::from(product)
}

/// Returns whether a plain product of `a` and `b` of double precision surely has not been
/// rounded: as many bits as both have together are enough for it.
#[inline(always)]
pub(crate) fn is_exact_product_double(a: f64, b: f64, product: f64) -> bool {
    let zeros = |number: f64| (number.to_bits() | HIDDEN_DOUBLE).trailing_zeros();
    zeros(a) + zeros(b) > 52 || product == 0.0
}

/// Returns `a` * `b` + `c` if surely neither the product nor the sum has to be rounded.
#[inline(always)]
pub(crate) fn exact_fused_double(a: f64, b: f64, c: f64) -> Option<f64> {
    let product = plain_product_double(a, b)?;
    let sum = plain_sum_double(product + c)?;
    let exact = is_exact_product_double(a, b, product) && is_exact_sum_double(product, c, sum);
    exact.then_some(sum)
}

/// Returns `a` * `b` + `c` if no other flag than the inexact one can have been raised, as
/// far as that is soon seen.
#[inline(always)]
pub(crate) fn rounded_fused_double(a: f64, b: f64, c: f64) -> Option<f64> {
    let result = a.mul_add(b, c);
    is_plain_double(result).then_some(result)
}

/// Returns `a` / `b` of single precision if no other flag than the inexact one can have
/// been raised, which is raised at most if `may_round`.
#[inline(always)]
pub(crate) fn plain_quotient_single(a: f32, b: f32, may_round: bool) -> Option<f32> {
    let result = a / b;
    let exact = may_round || is_exact_product_single(result, b, a);
    (is_plain_single(result) && exact).then_some(result)
}

/// The same of double precision.
#[inline(always)]
pub(crate) fn plain_quotient_double(a: f64, b: f64, may_round: bool) -> Option<f64> {
    let result = a / b;
    let exact = may_round || is_exact_product_double(result, b, a) && result * b == a;
    (is_plain_double(result) && is_plain_double(a) && exact).then_some(result)
}

/// Returns the square root of `a` of single precision if no other flag than the inexact
/// one can have been raised, which is raised at most if `may_round`.
#[inline(always)]
pub(crate) fn plain_root_single(a: f32, may_round: bool) -> Option<f32> {
    let result = a.sqrt();
    let exact = may_round || is_exact_product_single(result, result, a);
    (is_plain_single(result) && exact).then_some(result)
}

/// The same of double precision.
#[inline(always)]
pub(crate) fn plain_root_double(a: f64, may_round: bool) -> Option<f64> {
    let result = a.sqrt();
    let exact = may_round || is_exact_product_double(result, result, a) && result * result == a;
    (is_plain_double(result) && is_plain_double(a) && exact).then_some(result)
}

/// Returns `value` in single precision, on the same terms.
#[inline(always)]
pub(crate) fn plain_narrowed(value: f64, may_round: bool) -> Option<f32> {
    let result = value as f32;
    let exact = f64::from(result) == value;
    (exact || may_round && is_plain_single(result)).then_some(result)
}

/// Returns the integer that `value` is rounded to, toward zero if that `truncates` and
/// otherwise to nearest even, on the same terms.
#[inline(always)]
pub(crate) fn plain_integer(value: f64, truncates: bool, may_round: bool) -> Option<i64> {
    // Beyond that all numbers are integers.
    const LIMIT: f64 = (1u64 << 51) as f64;
    // Leaves no room for a fraction.
    const SHIFT: f64 = 3.0 * LIMIT;
    if value.abs() >= LIMIT || value.is_nan() {
        return None;
    }
    let integer = if truncates {
        value as i64
    } else {
        (value + SHIFT - SHIFT) as i64
    };
    (may_round || integer as f64 == value).then_some(integer)
}

/// Returns whether a result is so far from the ends of the range that the
/// only flag it can raise is the inexact one. The operands were then finite,
/// too, or the operation a division by infinity, which gives zero.
#[inline(always)]
fn is_plain_double(result: f64) -> bool {
    // The highest and the lowest exponent of normal numbers are left out, too.
    let exponent = result.to_bits() >> 52 & 0x7ff;
    exponent.wrapping_sub(2) < 0x7fc
}

#[inline(always)]
pub(super) fn is_plain_single(result: f32) -> bool {
    const LEAST: u32 = f32::MIN_POSITIVE.to_bits() + 1;
    result.abs().to_bits().wrapping_sub(LEAST) < f32::MAX.to_bits() - LEAST
}

/// The bit of a normal number's significand that is not stored.
const HIDDEN_DOUBLE: u64 = 1 << 52;

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
pub(crate) fn fast_double(operation: FloatOperation, a: u64, b: u64, flags: u8) -> Option<Outcome> {
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
            F::Multiply if is_exact_product_double(a, b, result) => false,
            _ => return None,
        }
    };
    Some((result.to_bits(), if inexact { INEXACT } else { 0 }))
}

pub(crate) fn fast_single(operation: FloatOperation, a: u64, b: u64, flags: u8) -> Option<Outcome> {
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
pub(crate) fn fused_double(a: u64, b: u64, c: u64, flags: u8) -> Option<Outcome> {
    let [a, b, c] = [a, b, c].map(f64::from_bits);
    let result = if flags & INEXACT != 0 {
        rounded_fused_double(a, b, c)
    } else {
        exact_fused_double(a, b, c)
    };
    Some((result?.to_bits(), 0))
}

/// As [`fast_single`], for `a` * `b` + `c`.
#[inline(always)]
pub(crate) fn fused_single(a: u64, b: u64, c: u64, flags: u8) -> Option<Outcome> {
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
pub(super) fn sum_error_double(a: f64, b: f64, sum: f64) -> f64 {
    let b_part = sum - a;
    (a - (sum - b_part)) + (b - b_part)
}

pub(super) fn sum_error_single(a: f32, b: f32, sum: f32) -> f32 {
    let b_part = sum - a;
    (a - (sum - b_part)) + (b - b_part)
}
