//! Scalar instructions in half precision (Zfh): in software, since kernels seldom use them.
//!
//! *Source*: RISC-V unprivileged specification, "Zfh".

use super::{FloatForm, FloatOperation, FusedForm, operand, rounding};
use crate::soft_float::{DOUBLE, Format, HALF, Outcome, SINGLE};

/// Bits above a half-precision value in a 64-bit register.
const BOX: u64 = !0xffff;

/// Returns the half-precision value in a register: the canonical NaN if the register holds none.
fn unbox(bits: u64) -> u64 {
    if bits & BOX == BOX {
        bits & !BOX
    } else {
        HALF.nan()
    }
}

impl FloatForm {
    /// Decodes the fields of opcode OP-FP if they are those of an operation on half-precision
    /// numbers. The integer type of a conversion between formats says which, see
    /// `Operation::Half`.
    pub fn decode_half(funct7: u32, rs2: u32, funct3: u32) -> Option<Self> {
        let plain = Self {
            operation: FloatOperation::ToOtherFormat,
            double: false,
            rounding: funct3 as u8,
            integer: 0,
        };
        let is_rounded = funct3 < 5 || funct3 == 7;
        let integer = match (funct7, rs2) {
            (0x22, 0) => 0,
            (0x22, 1) => 1,
            (0x20, 2) => 2,
            (0x21, 2) => 3,
            (0x22, _) => return None,
            _ if funct7 & 3 == 2 => return Self::decode(funct7 & !3, rs2, funct3),
            _ => return None,
        };
        is_rounded.then_some(Self { integer, ..plain })
    }
}

/// Executes an operation on half-precision numbers; otherwise as
/// [`execute`](super::execute).
pub fn execute_half(form: FloatForm, a: u64, b: u64, x: u64, frm: u8) -> Option<Outcome> {
    use FloatOperation as F;
    let (first, second) = (unbox(a), unbox(b));
    let mode = || rounding(form.rounding, frm);
    let number = |(bits, raised): Outcome| Some((bits | BOX, raised));
    match form.operation {
        F::Add => number(HALF.add(first, second, mode()?)),
        F::Subtract => number(HALF.subtract(first, second, mode()?)),
        F::Multiply => number(HALF.multiply(first, second, mode()?)),
        F::Divide => number(HALF.divide(first, second, mode()?)),
        F::SquareRoot => number(HALF.square_root(first, mode()?)),
        F::SignCopy => number((HALF.inject_sign(first, second, 0), 0)),
        F::SignNegate => number((HALF.inject_sign(first, second, 1), 0)),
        F::SignXor => number((HALF.inject_sign(first, second, 2), 0)),
        F::Minimum => number(HALF.extremum(first, second, false)),
        F::Maximum => number(HALF.extremum(first, second, true)),
        F::LessEqual => Some(HALF.less(first, second, true)),
        F::Less => Some(HALF.less(first, second, false)),
        F::Equal => Some(HALF.equal(first, second)),
        F::ToInteger => {
            let bits = if form.integer < 2 { 32 } else { 64 };
            Some(HALF.to_integer(first, bits, form.integer & 1 == 0, mode()?))
        }
        F::FromInteger => {
            let value = match form.integer {
                0 => x as i32 as i64 as u64,
                1 => u64::from(x as u32),
                _ => x,
            };
            let is_negative = form.integer & 1 == 0 && (value as i64) < 0;
            let magnitude = if is_negative {
                value.wrapping_neg()
            } else {
                value
            };
            number(HALF.integer_to_float(magnitude, is_negative, mode()?))
        }
        F::ToOtherFormat => {
            let (from, to) = formats(form.integer);
            let bits = match form.integer {
                0 | 1 => operand(a, form.integer == 1),
                _ => first,
            };
            let (bits, raised) = from.convert(bits, to, mode()?);
            Some((super::boxed_as(bits, to), raised))
        }
        F::MoveToInteger => Some((a as i16 as i64 as u64, 0)),
        F::MoveFromInteger => number((x & !BOX, 0)),
        F::Classify => Some((HALF.classify(first), 0)),
    }
}

fn formats(conversion: u8) -> (Format, Format) {
    match conversion {
        0 => (SINGLE, HALF),
        1 => (DOUBLE, HALF),
        2 => (HALF, SINGLE),
        _ => (HALF, DOUBLE),
    }
}

/// Executes a fused multiply-add of half-precision numbers.
pub fn execute_half_fused(form: FusedForm, operands: [u64; 3], frm: u8) -> Option<Outcome> {
    let mode = rounding(form.rounding, frm)?;
    let [mut a, b, mut c] = operands.map(unbox);
    if form.negate_product {
        a = HALF.negate(a);
    }
    if form.negate_addend {
        c = HALF.negate(c);
    }
    let (bits, raised) = HALF.fused(a, b, c, mode);
    Some((bits | BOX, raised))
}
