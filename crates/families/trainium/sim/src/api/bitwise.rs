//! Operators on bits: they work on the bytes of integers as these lie in memory.
//!
//! Facts (NKI documentation, "Supported Math Operators"): with operators on bits, inputs and
//! outputs are integers, and nothing is cast to float32 on the way.

use super::arithmetic::Alu;
use super::operands::Elementwise;
use super::{Device, Value};
use crate::diagnostic::Outcome;
use crate::tensor::bits::{decode, encode, keep};
use crate::tensor::dtype::{Dtype, POISON, is_undefined};
use crate::tensor::view::View;

/// An element of which nothing is known.
const UNKNOWN: i64 = i64::MIN;

/// One operator of an instruction with what is on its other side.
pub(super) struct BitStep {
    pub(super) operator: Alu,
    /// None: the next tile among the operands.
    pub(super) number: Option<i64>,
    pub(super) reversed: bool,
}

/// The bits of a number beside a tile of integers.
pub(super) fn whole(value: &Value) -> Option<i64> {
    let number = || value.as_number().map(|it| it as i64);
    value.as_int().or_else(number)
}

impl Alu {
    /// `a op b` of an operator on bits; other operators leave `a`.
    pub(crate) fn on_bits(self, a: i64, b: i64) -> i64 {
        let count = b.clamp(0, 31);
        match self {
            Self::BitNot => !a,
            Self::BitAnd => a & b,
            Self::BitOr => a | b,
            Self::BitXor => a ^ b,
            Self::ShiftLeft => a << count,
            // The vendor's table of operators has the logical shift alone, of 32 bits.
            Self::ShiftRight if a < 0 && 0 < count => i64::from(a as i32 as u32) >> count,
            Self::ShiftRight => a >> count,
            _ => a,
        }
    }
}

impl Alu {
    /// `a op b` of an operator on bits with words that lie in float32.
    pub(super) fn of_words(self, a: f32, b: f32) -> f32 {
        if is_undefined(a) || is_undefined(b) {
            return f32::from_bits(POISON);
        }
        let [a, b] = [a, b].map(|it| i64::from(it.to_bits()));
        f32::from_bits(self.on_bits(a, b) as u32)
    }
}

impl Device {
    /// Runs operators on bits over the first operand, one after the other.
    pub(super) fn bitwise(
        &mut self,
        mut request: Elementwise,
        steps: impl IntoIterator<Item = BitStep>,
    ) -> Outcome<View> {
        let result = request.dtype;
        let types: Vec<Dtype> = request.inputs.iter().map(|it| it.dtype).collect();
        let bytes = types.iter().map(|it| it.bytes()).max().unwrap_or(4);
        let signed = types.first().is_some_and(|it| it.is_signed());
        // Words are moved as they are, as those of float32 are.
        let destination = request.destination.iter_mut();
        for view in request.inputs.iter_mut().chain(destination) {
            if view.dtype.bytes() == 4 {
                view.dtype = Dtype::Float32;
            }
        }
        if result.bytes() == 4 {
            request.dtype = Dtype::Float32;
        }
        let mut place = self.elementwise(request, |inputs| {
            let mut inputs = inputs
                .into_iter()
                .zip(types)
                .map(|(values, dtype)| words(&values, dtype, bytes));
            let mut left = inputs.next().unwrap_or_default();
            for step in steps {
                let right = match step.number {
                    Some(number) => std::iter::repeat_n(number, left.len()).collect(),
                    None => inputs.next().unwrap_or_default(),
                };
                for (left, right) in left.iter_mut().zip(right) {
                    *left = match (*left, right) {
                        (UNKNOWN, _) | (_, UNKNOWN) => UNKNOWN,
                        (a, b) if step.reversed => step.operator.on_bits(b, a),
                        (a, b) => step.operator.on_bits(a, b),
                    };
                    if *left != UNKNOWN {
                        *left = i64::from(keep(*left as u32, bytes));
                    }
                }
            }
            let wide = |word: i64| match signed {
                true => extended(word as u32, bytes),
                false => word,
            };
            left.into_iter()
                .map(|word| match word {
                    UNKNOWN => f32::from_bits(POISON),
                    word if result.bytes() == 4 => f32::from_bits(wide(word) as u32),
                    word => result.load(decode(result, keep(word as u32, result.bytes()))),
                })
                .collect()
        })?;
        if place.dtype.bytes() == 4 {
            place.dtype = result;
        }
        Ok(place)
    }
}

/// The elements of an operand, as words of so many bytes.
fn words(values: &[f32], dtype: Dtype, bytes: usize) -> Vec<i64> {
    let word = |value: f32| match dtype.bytes() {
        4 => value.to_bits(),
        own if dtype.is_signed() => {
            extended(keep(encode(dtype, dtype.store(value)), own), own) as u32
        }
        own => keep(encode(dtype, dtype.store(value)), own),
    };
    let known = values.iter().map(|value| match is_undefined(*value) {
        true => UNKNOWN,
        false => i64::from(keep(word(*value), bytes)),
    });
    known.collect()
}

/// A word of so many bytes as a number with its sign.
fn extended(word: u32, bytes: usize) -> i64 {
    let shift = 64 - 8 * bytes as u32;
    (i64::from(word) << shift) >> shift
}
