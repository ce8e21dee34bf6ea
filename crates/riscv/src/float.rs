//! Floating-point instructions (F and D extensions): forms and execution.
//!
//! Frequent operations run on the host's floating-point unit where that is
//! known to give the same bits and flags; everything else runs in
//! [`crate::soft_float`].

#![allow(missing_docs, reason = "public for the suite alone, see `inside`")]

pub(crate) mod divider;
mod half;
pub(crate) mod host;
pub(crate) mod several;

use crate::soft_float::{Format, Outcome, Rounding};
pub(crate) use divider::{divider_cycles, plain_divider_cycles};
pub(crate) use half::{execute_half, execute_half_fused};
pub(crate) use host::{
    exact_fused_double, is_exact_fused_single, is_exact_product_double, is_exact_product_single,
    is_exact_sum_double, is_exact_sum_single, plain_fused_single, plain_integer, plain_narrowed,
    plain_product_double, plain_product_single, plain_quotient_double, plain_quotient_single,
    plain_root_double, plain_root_single, plain_sum_double, plain_sum_single, rounded_fused_double,
};
use host::{fast_double, fast_single, fused_double, fused_single};

/// What a floating-point instruction other than a fused one computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FloatOperation {
    Add,
    Subtract,
    Multiply,
    Divide,
    SquareRoot,
    SignCopy,
    SignNegate,
    SignXor,
    Minimum,
    Maximum,
    LessEqual,
    Less,
    Equal,
    ToInteger,
    FromInteger,
    ToOtherFormat,
    MoveToInteger,
    MoveFromInteger,
    Classify,
}

const OPERATIONS: [FloatOperation; 19] = {
    use FloatOperation as F;
    [
        F::Add,
        F::Subtract,
        F::Multiply,
        F::Divide,
        F::SquareRoot,
        F::SignCopy,
        F::SignNegate,
        F::SignXor,
        F::Minimum,
        F::Maximum,
        F::LessEqual,
        F::Less,
        F::Equal,
        F::ToInteger,
        F::FromInteger,
        F::ToOtherFormat,
        F::MoveToInteger,
        F::MoveFromInteger,
        F::Classify,
    ]
};

/// A floating-point instruction without its registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatForm {
    pub operation: FloatOperation,
    /// Whether the format in the instruction is double precision.
    pub double: bool,
    /// Rounding mode field: 0 to 4, or 7 for the one in `frm`.
    pub rounding: u8,
    /// Integer type of a conversion: 0 `w`, 1 `wu`, 2 `l`, 3 `lu`.
    pub integer: u8,
}

impl FloatForm {
    /// Decodes the fields of opcode OP-FP.
    pub fn decode(funct7: u32, rs2: u32, funct3: u32) -> Option<Self> {
        use FloatOperation as F;
        let double = match funct7 & 3 {
            0 => false,
            1 => true,
            _ => return None,
        };
        let rounded = funct3 < 5 || funct3 == 7;
        let operation = match (funct7 >> 2, funct3, rs2) {
            (0, _, _) if rounded => F::Add,
            (1, _, _) if rounded => F::Subtract,
            (2, _, _) if rounded => F::Multiply,
            (3, _, _) if rounded => F::Divide,
            (0x0b, _, 0) if rounded => F::SquareRoot,
            (4, 0, _) => F::SignCopy,
            (4, 1, _) => F::SignNegate,
            (4, 2, _) => F::SignXor,
            (5, 0, _) => F::Minimum,
            (5, 1, _) => F::Maximum,
            (0x14, 0, _) => F::LessEqual,
            (0x14, 1, _) => F::Less,
            (0x14, 2, _) => F::Equal,
            (0x18, _, 0..=3) if rounded => F::ToInteger,
            (0x1a, _, 0..=3) if rounded => F::FromInteger,
            (8, _, other) if rounded && other == u32::from(!double) => F::ToOtherFormat,
            (0x1c, 0, 0) => F::MoveToInteger,
            (0x1c, 1, 0) => F::Classify,
            (0x1e, 0, 0) => F::MoveFromInteger,
            _ => return None,
        };
        Some(Self {
            operation,
            double,
            rounding: funct3 as u8,
            integer: rs2 as u8 & 3,
        })
    }

    /// Returns whether the operands are floating-point registers.
    pub fn reads_float(self) -> bool {
        !matches!(
            self.operation,
            FloatOperation::FromInteger | FloatOperation::MoveFromInteger
        )
    }

    /// Returns whether there is a second operand.
    pub fn reads_second(self) -> bool {
        (self.operation as u8) < FloatOperation::ToInteger as u8
            && self.operation != FloatOperation::SquareRoot
    }

    /// Returns whether the result goes to a floating-point register.
    pub fn writes_float(self) -> bool {
        use FloatOperation as F;
        !matches!(
            self.operation,
            F::LessEqual | F::Less | F::Equal | F::ToInteger | F::MoveToInteger | F::Classify
        )
    }

    /// Returns whether the result may be rounded to nearest even.
    pub fn is_nearest_even(self) -> bool {
        is_nearest_even(self.rounding)
    }

    /// Returns the integer type of a packed form.
    #[inline(always)]
    pub fn integer_of(extra: u16) -> u8 {
        (extra >> 9 & 3) as u8
    }

    /// Packs the form into an instruction's `extra` field.
    pub fn pack(self) -> u16 {
        self.operation as u16
            | u16::from(self.double) << 5
            | u16::from(self.rounding) << 6
            | u16::from(self.integer) << 9
    }

    /// Reverses [`pack`](Self::pack).
    pub fn unpack(extra: u16) -> Self {
        Self {
            operation: OPERATIONS[usize::from(extra & 31) % OPERATIONS.len()],
            double: extra >> 5 & 1 == 1,
            rounding: (extra >> 6 & 7) as u8,
            integer: (extra >> 9 & 3) as u8,
        }
    }
}

/// A fused multiply-add without its registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FusedForm {
    /// Whether the product is negated (`fnmadd`, `fnmsub`).
    pub negate_product: bool,
    /// Whether the addend is negated (`fmsub`, `fnmadd`).
    pub negate_addend: bool,
    pub double: bool,
    /// As in [`FloatForm`].
    pub rounding: u8,
}

impl FusedForm {
    /// Decodes bits 3:2 of the opcode, the format and the rounding mode.
    pub fn decode(opcode: u32, format: u32, funct3: u32) -> Option<Self> {
        let double = match format {
            0 => false,
            1 => true,
            _ => return None,
        };
        if funct3 == 5 || funct3 == 6 {
            return None;
        }
        Some(Self {
            negate_product: opcode >= 2,
            negate_addend: opcode == 1 || opcode == 3,
            double,
            rounding: funct3 as u8,
        })
    }

    /// Returns what changes the signs of a product in single precision, and of what is
    /// added to it, for a packed form.
    #[inline(always)]
    pub fn single_signs(extra: u16) -> (u64, u64) {
        (u64::from(extra & 1) << 31, u64::from(extra >> 1 & 1) << 31)
    }

    /// The same in double precision.
    #[inline(always)]
    pub fn double_signs(extra: u16) -> (u64, u64) {
        (u64::from(extra & 1) << 63, u64::from(extra >> 1 & 1) << 63)
    }

    /// The same as [`FloatForm::is_nearest_even`].
    pub fn is_nearest_even(self) -> bool {
        is_nearest_even(self.rounding)
    }

    /// Packs the form into an instruction's `extra` field.
    pub fn pack(self) -> u16 {
        u16::from(self.negate_product)
            | u16::from(self.negate_addend) << 1
            | u16::from(self.double) << 5
            | u16::from(self.rounding) << 6
    }

    /// Reverses [`pack`](Self::pack).
    pub fn unpack(extra: u16) -> Self {
        Self {
            negate_product: extra & 1 == 1,
            negate_addend: extra >> 1 & 1 == 1,
            double: extra >> 5 & 1 == 1,
            rounding: (extra >> 6 & 7) as u8,
        }
    }
}

/// Returns whether a rounding mode field may mean rounding to nearest even: so does the
/// one in `frm` mostly.
fn is_nearest_even(rounding: u8) -> bool {
    matches!(rounding, 0 | 7)
}

/// Bits above a single-precision value in a 64-bit register.
pub(crate) const BOX: u64 = 0xffff_ffff_0000_0000;

/// Returns the single-precision value in a register: the canonical NaN if the
/// register holds none.
fn unbox(bits: u64) -> u64 {
    if bits & BOX == BOX {
        bits & !BOX
    } else {
        crate::soft_float::SINGLE.nan()
    }
}

fn operand(bits: u64, double: bool) -> u64 {
    if double { bits } else { unbox(bits) }
}

fn boxed(bits: u64, double: bool) -> u64 {
    if double { bits } else { bits | BOX }
}

/// Returns a number of a format as it stands in a register.
fn boxed_as(bits: u64, format: Format) -> u64 {
    match format {
        crate::soft_float::DOUBLE => bits,
        crate::soft_float::SINGLE => bits | BOX,
        _ => bits | !0xffff,
    }
}

fn rounding(field: u8, frm: u8) -> Option<Rounding> {
    Rounding::decode(if field == 7 { frm } else { field })
}

/// Executes an instruction on the registers `a` and `b` and, if it reads one,
/// the integer register `x`. Returns the bits for the destination register and
/// the flags raised; `None` if the rounding mode is reserved. `flags` are those
/// already raised.
pub fn execute(form: FloatForm, a: u64, b: u64, x: u64, frm: u8, flags: u8) -> Option<Outcome> {
    use FloatOperation as F;
    let double = form.double;
    let format = Format::of(double);
    if (form.operation as u8) <= F::SquareRoot as u8 {
        let mode = rounding(form.rounding, frm)?;
        let (a, b) = (operand(a, double), operand(b, double));
        if mode == Rounding::NearestEven {
            let fast = if double {
                fast_double(form.operation, a, b, flags)
            } else {
                fast_single(form.operation, a, b, flags)
            };
            if let Some((bits, raised)) = fast {
                return Some((boxed(bits, double), raised));
            }
        }
        let (bits, raised) = match form.operation {
            F::Add => format.add(a, b, mode),
            F::Subtract => format.subtract(a, b, mode),
            F::Multiply => format.multiply(a, b, mode),
            F::Divide => format.divide(a, b, mode),
            _ => format.square_root(a, mode),
        };
        return Some((boxed(bits, double), raised));
    }
    let (operand_a, operand_b) = (operand(a, double), operand(b, double));
    let (bits, signed) = (
        [32, 32, 64, 64][usize::from(form.integer)],
        form.integer & 1 == 0,
    );
    Some(match form.operation {
        F::SignCopy => (
            boxed(format.inject_sign(operand_a, operand_b, 0), double),
            0,
        ),
        F::SignNegate => (
            boxed(format.inject_sign(operand_a, operand_b, 1), double),
            0,
        ),
        F::SignXor => (
            boxed(format.inject_sign(operand_a, operand_b, 2), double),
            0,
        ),
        F::Minimum | F::Maximum => {
            let maximum = form.operation == F::Maximum;
            let (bits, raised) = format.extremum(operand_a, operand_b, maximum);
            (boxed(bits, double), raised)
        }
        F::LessEqual => format.less(operand_a, operand_b, true),
        F::Less => format.less(operand_a, operand_b, false),
        F::Equal => format.equal(operand_a, operand_b),
        F::ToInteger => format.to_integer(operand_a, bits, signed, rounding(form.rounding, frm)?),
        F::FromInteger => {
            let value = match form.integer {
                0 => x as i32 as i64 as u64,
                1 => u64::from(x as u32),
                _ => x,
            };
            let negative = signed && (value as i64) < 0;
            let magnitude = if negative {
                value.wrapping_neg()
            } else {
                value
            };
            let mode = rounding(form.rounding, frm)?;
            let (bits, raised) = format.integer_to_float(magnitude, negative, mode);
            (boxed(bits, double), raised)
        }
        F::ToOtherFormat => {
            let mode = rounding(form.rounding, frm)?;
            let (bits, raised) = Format::of(!double).convert(operand(a, !double), format, mode);
            (boxed(bits, double), raised)
        }
        F::MoveToInteger if double => (a, 0),
        F::MoveToInteger => (a as i32 as i64 as u64, 0),
        F::MoveFromInteger => (boxed(if double { x } else { x & !BOX }, double), 0),
        _ => (format.classify(operand_a), 0),
    })
}

/// Executes a fused multiply-add; otherwise as [`execute`].
pub fn execute_fused(
    form: FusedForm,
    a: u64,
    b: u64,
    c: u64,
    frm: u8,
    flags: u8,
) -> Option<Outcome> {
    if let Some(outcome) = execute_fused_fast(form, a, b, c, frm, flags) {
        return Some(outcome);
    }
    let mode = rounding(form.rounding, frm)?;
    let (a, b, c) = fused_operands(form, a, b, c);
    let (bits, raised) = Format::of(form.double).fused(a, b, c, mode);
    Some((boxed(bits, form.double), raised))
}

/// The same if the host's unit can do it, which rounds to nearest even, and
/// the flags can be told.
#[inline(always)]
pub(crate) fn execute_fused_fast(
    form: FusedForm,
    a: u64,
    b: u64,
    c: u64,
    frm: u8,
    flags: u8,
) -> Option<Outcome> {
    if rounding(form.rounding, frm) != Some(Rounding::NearestEven) {
        return None;
    }
    let (a, b, c) = fused_operands(form, a, b, c);
    let (bits, raised) = if form.double {
        fused_double(a, b, c, flags)?
    } else {
        fused_single(a, b, c, flags)?
    };
    Some((boxed(bits, form.double), raised))
}

/// Returns the operands of `a` * `b` + `c`.
#[inline(always)]
fn fused_operands(form: FusedForm, a: u64, b: u64, c: u64) -> (u64, u64, u64) {
    let [mut a, b, mut c] = [a, b, c].map(|bits| operand(bits, form.double));
    // Negating a NaN changes nothing: the result is canonical anyway.
    let format = Format::of(form.double);
    if form.negate_product {
        a = format.negate(a);
    }
    if form.negate_addend {
        c = format.negate(c);
    }
    (a, b, c)
}
