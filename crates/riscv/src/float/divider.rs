//! How long the divider works on its operands.

use super::{FloatForm, FloatOperation, operand};
use crate::soft_float::Format;

/// Returns the cycles from a division's or square root's memory stage to its result:
/// one per bit of the result and of the rounding; fewer for operands that decide
/// it at once.
///
/// *Source*: Berkeley HardFloat, `DivSqrtRawFN_small`.
pub(crate) fn divider_cycles(form: FloatForm, a: u64, b: u64) -> u64 {
    let format = Format::of(form.double);
    let bits = format.significand_bits();
    let [a, b] = [a, b].map(|bits| format.take_apart(operand(bits, form.double)));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_follow_from_the_operands() {
        let form = |operation, double| FloatForm {
            operation,
            double,
            rounding: 0,
            integer: 0,
        };
        let single = |a: f32, b: f32| {
            let boxed = |x: f32| u64::from(x.to_bits()) | !0 << 32;
            let divide = form(FloatOperation::Divide, false);
            let root = form(FloatOperation::SquareRoot, false);
            let [a, b] = [a, b].map(boxed);
            [divider_cycles(divide, a, b), divider_cycles(root, a, b)]
        };
        assert_eq!(single(1.0, 3.0), [26, 25]);
        assert_eq!(single(3.0, 1.0), [25, 24]);
        assert_eq!(single(f32::MIN_POSITIVE / 2.0, 1.0), [25, 24]);
        assert_eq!(single(-3.0, 3.0), [25, 1]);
        assert_eq!(single(0.0, 3.0), [1, 1]);
        assert_eq!(single(3.0, f32::INFINITY), [1, 24]);
        assert_eq!(single(f32::NAN, 1.0), [1, 1]);
        let double = form(FloatOperation::Divide, true);
        let [one, three] = [1.0f64, 3.0].map(f64::to_bits);
        assert_eq!(divider_cycles(double, one, three), 55);
        // No single-precision value is in this register.
        assert_eq!(
            divider_cycles(form(FloatOperation::Divide, false), one, three),
            1
        );
    }
}
