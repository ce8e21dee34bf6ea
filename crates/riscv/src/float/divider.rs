//! How long the divider works on its operands.

use super::{FloatForm, FloatOperation, operand};
use crate::soft_float::{Apart, Format};

/// Returns the cycles from a division's or square root's memory stage to its result:
/// one per bit of the result and of the rounding; fewer for operands that decide
/// it at once.
///
/// *Source*: Berkeley HardFloat, `DivSqrtRawFN_small`.
pub fn divider_cycles(form: FloatForm, a: u64, b: u64) -> u64 {
    let format = Format::of(form.double);
    let [a, b] = [a, b].map(|bits| format.take_apart(operand(bits, form.double)));
    cycles(form, a, b)
}

/// The same if both are soon seen to be normal numbers, the second one where there is one.
#[inline(always)]
pub fn plain_divider_cycles(form: FloatForm, a: u64, b: u64) -> Option<u64> {
    let format = Format::of(form.double);
    let a = format.take_normal_apart(a)?;
    let b = match form.operation {
        FloatOperation::SquareRoot => None,
        _ => Some(format.take_normal_apart(b)?),
    };
    Some(cycles(form, Some(a), b))
}

#[inline(always)]
fn cycles(form: FloatForm, a: Option<Apart>, b: Option<Apart>) -> u64 {
    let bits = Format::of(form.double).significand_bits();
    match (form.operation, a, b) {
        // An odd exponent leaves a bit less.
        (FloatOperation::SquareRoot, Some((false, exponent, _)), _) => {
            bits + u64::from(exponent & 1 == 0)
        }
        // A quotient of one or more has its last bit a cycle earlier.
        (FloatOperation::Divide, Some((.., a)), Some((.., b))) => bits + 2 - u64::from(a >= b),
        _ => 1,
    }
}
