//! Floating-point instructions on elements of 16, 32 and 64 bits.

use super::estimate::{reciprocal, reciprocal_root};
use super::integer::UNKNOWN;
use super::unit::{Executed, Fields, Operand, Refusal, VectorUnit, ensure};
use crate::float::FloatOperation;
use crate::float::host::{fast_double, fast_single, fused_double, fused_single};
use crate::soft_float::{DOUBLE, Format, HALF, INEXACT, INVALID, Outcome, Rounding, SINGLE};
use std::cell::Cell;

const NO_FORMAT: &str = "elements of this width are no floating-point numbers here";
const BAD_ROUNDING: &str = "`frm` holds no rounding mode";

/// How results are rounded, and the flags raised so far.
pub(super) struct Environment {
    pub mode: Rounding,
    pub flags: Cell<u8>,
}

impl Environment {
    /// Takes the bits of a result, and notes its flags.
    #[inline(always)]
    fn note(&self, (bits, flags): Outcome) -> u64 {
        self.flags.set(self.flags.get() | flags);
        bits
    }
}

/// Computes with the host's unit where it gives the same, else in software.
#[inline(always)]
fn binary(
    format: Format,
    operation: FloatOperation,
    a: u64,
    b: u64,
    environment: &Environment,
) -> u64 {
    let (mode, flags) = (environment.mode, environment.flags.get());
    if mode == Rounding::NearestEven {
        let fast = match format {
            SINGLE => fast_single(operation, a, b, flags),
            DOUBLE => fast_double(operation, a, b, flags),
            _ => None,
        };
        if let Some(outcome) = fast {
            return environment.note(outcome);
        }
    }
    environment.note(match operation {
        FloatOperation::Add => format.add(a, b, mode),
        FloatOperation::Subtract => format.subtract(a, b, mode),
        FloatOperation::Multiply => format.multiply(a, b, mode),
        FloatOperation::Divide => format.divide(a, b, mode),
        _ => format.square_root(a, mode),
    })
}

/// Computes `a` * `b` + `c`, of which `signs` negates the product (bit 0 of its number counted
/// from `vfmacc`: 1 and 3) and the addend (1 and 2).
#[inline(always)]
fn fused(format: Format, signs: usize, [a, b, c]: [u64; 3], environment: &Environment) -> u64 {
    let a = if signs & 1 == 1 { format.negate(a) } else { a };
    let c = if matches!(signs, 1 | 2) {
        format.negate(c)
    } else {
        c
    };
    if environment.mode == Rounding::NearestEven {
        let flags = environment.flags.get();
        let fast = match format {
            SINGLE => fused_single(a, b, c, flags),
            DOUBLE => fused_double(a, b, c, flags),
            _ => None,
        };
        if let Some(outcome) = fast {
            return environment.note(outcome);
        }
    }
    environment.note(format.fused(a, b, c, environment.mode))
}

/// Evaluates an expression with the width of floating-point elements, and their format, as
/// constants.
macro_rules! by_format {
    ($unit:expr, $n:ident, $format:ident => $body:expr) => {
        match $unit.element_bytes() {
            2 => by_format!(2, HALF, $n, $format => $body),
            4 => by_format!(4, SINGLE, $n, $format => $body),
            _ => by_format!(8, DOUBLE, $n, $format => $body),
        }
    };
    ($bytes:literal, $known:ident, $n:ident, $format:ident => $body:expr) => {{
        const $n: usize = $bytes;
        #[allow(unused_variables, reason = "moves look at no format")]
        let $format = $known;
        $body
    }};
}

impl VectorUnit {
    /// Returns the format of elements of so many bytes, if they can be floating-point numbers.
    pub(super) fn format_of(&self, bytes: usize) -> Result<Format, Refusal> {
        match bytes {
            2 if self.has_half => Ok(HALF),
            4 => Ok(SINGLE),
            8 => Ok(DOUBLE),
            _ => Err(Refusal::Illegal(NO_FORMAT)),
        }
    }

    /// Returns the value that a scalar register holds for elements of the selected width: the
    /// canonical NaN if it holds a number of another one.
    pub(super) fn unboxed(&self, register: u64) -> Result<u64, Refusal> {
        let bytes = self.element_bytes();
        let format = self.format_of(bytes)?;
        if bytes == 8 {
            return Ok(register);
        }
        let upper = u64::MAX << (8 * bytes);
        let is_boxed = register & upper == upper;
        Ok(if is_boxed {
            register & !upper
        } else {
            format.nan()
        })
    }

    /// Returns what a scalar register holds of the first element of `vs2`.
    pub(super) fn first_boxed(&self, fields: Fields) -> Result<u64, Refusal> {
        let bytes = self.element_bytes();
        self.format_of(bytes)?;
        let value = self.element(fields.vs2(), bytes, 0);
        Ok(if bytes == 8 {
            value
        } else {
            value | u64::MAX << (8 * bytes)
        })
    }

    /// Executes an instruction with a vector or a scalar as operand; returns the flags raised.
    pub(super) fn float(
        &mut self,
        fields: Fields,
        operand: Operand,
        frm: u8,
        flags: u8,
    ) -> Result<u8, Refusal> {
        let mode = Rounding::decode(frm).ok_or(Refusal::Illegal(BAD_ROUNDING))?;
        let environment = Environment {
            mode,
            flags: Cell::new(flags),
        };
        let is_vector = matches!(operand, Operand::Vector(_));
        match fields.funct6() {
            0x01 | 0x03 | 0x05 | 0x07 if is_vector => self.reduce_floats(fields, &environment),
            0x31 | 0x33 if is_vector => self.reduce_floats_widening(fields, &environment),
            0x12 if is_vector => self.convert(fields, &environment),
            0x13 if is_vector => self.unary(fields, &environment),
            0x18..=0x1f => self.compare_floats(fields, operand, &environment),
            0x30..=0x3f => self.widen_floats(fields, operand, &environment),
            _ if self.is_plain(fields, &environment) => {
                self.same_width(fields, operand)?;
                let matters = flags & INEXACT == 0;
                let computed = self.compute_plain(fields, operand, matters);
                environment.note((0, u8::from(computed.is_inexact) * INEXACT));
                if computed.count < self.vl {
                    self.vstart = computed.count;
                    self.compute(fields, operand, &environment)?;
                }
                Ok(())
            }
            _ => self.compute(fields, operand, &environment),
        }?;
        Ok(environment.flags.get())
    }

    /// Returns whether all elements of an instruction may be what the host's unit makes of them.
    fn is_plain(&self, fields: Fields, env: &Environment) -> bool {
        fields.is_unmasked()
            && self.vstart == 0
            && self.vl > 0
            && self.element_bytes() == 4
            && env.mode == Rounding::NearestEven
    }

    fn compute(&mut self, fields: Fields, operand: Operand, env: &Environment) -> Executed {
        use FloatOperation as F;
        let format = self.format_of(self.element_bytes())?;
        self.same_width(fields, operand)?;
        let is_scalar = matches!(operand, Operand::Scalar(_));
        macro_rules! each {
            (|$a:pat_param, $b:pat_param, $d:pat_param| $value:expr) => {
                by_format!(self, N, format => self.each::<N, N, N>(fields, operand, |$a, $b, $d| $value))
            };
        }
        match fields.funct6() {
            0x00 => each!(|a, b, _| binary(format, F::Add, a, b, env)),
            0x02 => each!(|a, b, _| binary(format, F::Subtract, a, b, env)),
            0x04 => each!(|a, b, _| env.note(format.extremum(a, b, false))),
            0x06 => each!(|a, b, _| env.note(format.extremum(a, b, true))),
            0x08 => each!(|a, b, _| format.inject_sign(a, b, 0)),
            0x09 => each!(|a, b, _| format.inject_sign(a, b, 1)),
            0x0a => each!(|a, b, _| format.inject_sign(a, b, 2)),
            0x17 if is_scalar && fields.is_unmasked() => {
                ensure(fields.vs2() == 0, "a move names a second source")?;
                each!(|_, b, _| b);
            }
            0x17 if is_scalar => self.merge(fields, operand),
            0x20 => each!(|a, b, _| binary(format, F::Divide, a, b, env)),
            0x21 if is_scalar => each!(|a, b, _| binary(format, F::Divide, b, a, env)),
            0x24 => each!(|a, b, _| binary(format, F::Multiply, a, b, env)),
            0x27 if is_scalar => each!(|a, b, _| binary(format, F::Subtract, b, a, env)),
            which @ 0x28..=0x2b => each!(|a, b, d| fused(format, which & 3, [d, b, a], env)),
            which @ 0x2c..=0x2f => each!(|a, b, d| fused(format, which & 3, [a, b, d], env)),
            _ => return Err(UNKNOWN),
        }
        Ok(())
    }

    fn compare_floats(&mut self, fields: Fields, operand: Operand, env: &Environment) -> Executed {
        let format = self.format_of(self.element_bytes())?;
        self.to_mask(fields, operand)?;
        let is_scalar = matches!(operand, Operand::Scalar(_));
        macro_rules! masks {
            (|$a:ident, $b:ident| $value:expr) => {
                by_format!(self, N, format => self.each_mask::<N>(fields, operand, false, |$a, $b, _| {
                    env.note($value) == 1
                }))
            };
        }
        match fields.funct6() {
            0x18 => masks!(|a, b| format.equal(a, b)),
            0x19 => masks!(|a, b| format.less(a, b, true)),
            0x1b => masks!(|a, b| format.less(a, b, false)),
            0x1c => {
                masks!(|a, b| {
                    let (equal, flags) = format.equal(a, b);
                    (1 - equal, flags)
                });
            }
            0x1d if is_scalar => masks!(|a, b| format.less(b, a, false)),
            0x1f if is_scalar => masks!(|a, b| format.less(b, a, true)),
            _ => return Err(UNKNOWN),
        }
        Ok(())
    }

    /// Executes square roots, estimates and classes.
    fn unary(&mut self, fields: Fields, env: &Environment) -> Executed {
        let format = self.format_of(self.element_bytes())?;
        let operand = Operand::Scalar(0);
        self.same_width(fields, operand)?;
        let compute: &dyn Fn(u64) -> u64 = match fields.vs1() {
            0x00 => &|a| binary(format, FloatOperation::SquareRoot, a, 0, env),
            0x04 => &|a| env.note(reciprocal_root(format, a)),
            0x05 => &|a| env.note(reciprocal(format, a, env.mode)),
            0x10 => &|a| format.classify(a),
            _ => return Err(UNKNOWN),
        };
        by_format!(self, N, format => self.each::<N, N, N>(fields, operand, |a, _, _| compute(a)));
        Ok(())
    }

    fn reduce_floats(&mut self, fields: Fields, env: &Environment) -> Executed {
        self.format_of(self.element_bytes())?;
        self.reduces(fields)?;
        let is_greatest = fields.funct6() == 0x07;
        let is_sum = matches!(fields.funct6(), 0x01 | 0x03);
        if is_sum && self.is_plain(fields, env) {
            let matters = env.flags.get() & INEXACT == 0;
            if let Some(is_inexact) = self.sum_plain(fields, matters) {
                env.note((0, u8::from(is_inexact) * INEXACT));
                return Ok(());
            }
        }
        match fields.funct6() {
            0x05 | 0x07 => by_format!(self, N, format => self.reduce::<N, N>(fields, |a, b| {
                env.note(format.extremum(a, b, is_greatest))
            })),
            // In order, which is one of the orders that `vfredusum` may take, too.
            _ => by_format!(self, N, format => self.reduce::<N, N>(fields, |a, b| {
                binary(format, FloatOperation::Add, a, b, env)
            })),
        }
        Ok(())
    }

    fn reduce_floats_widening(&mut self, fields: Fields, env: &Environment) -> Executed {
        let bytes = self.element_bytes();
        let (narrow, wide) = (self.format_of(bytes)?, self.format_of(2 * bytes)?);
        self.reduces(fields)?;
        let compute = |a, b| {
            let b = env.note(narrow.convert(b, wide, env.mode));
            binary(wide, FloatOperation::Add, a, b, env)
        };
        match bytes {
            2 => self.reduce::<4, 2>(fields, compute),
            _ => self.reduce::<8, 4>(fields, compute),
        }
        Ok(())
    }

    /// Executes what gives elements twice as wide.
    fn widen_floats(&mut self, fields: Fields, operand: Operand, env: &Environment) -> Executed {
        let bytes = self.element_bytes();
        let (narrow, wide) = (self.format_of(bytes)?, self.format_of(2 * bytes)?);
        let funct6 = fields.funct6();
        let is_first_wide = matches!(funct6, 0x34 | 0x36);
        self.to_wide(fields, operand, is_first_wide)?;
        let widened = |bits| env.note(narrow.convert(bits, wide, env.mode));
        let compute: &dyn Fn(u64, u64, u64) -> u64 = match funct6 {
            0x30 => &|a, b, _| binary(wide, FloatOperation::Add, widened(a), widened(b), env),
            0x32 => &|a, b, _| binary(wide, FloatOperation::Subtract, widened(a), widened(b), env),
            0x34 => &|a, b, _| binary(wide, FloatOperation::Add, a, widened(b), env),
            0x36 => &|a, b, _| binary(wide, FloatOperation::Subtract, a, widened(b), env),
            0x38 => &|a, b, _| binary(wide, FloatOperation::Multiply, widened(a), widened(b), env),
            0x3c..=0x3f => &|a, b, d| fused(wide, funct6 & 3, [widened(a), widened(b), d], env),
            _ => return Err(UNKNOWN),
        };
        match (bytes, is_first_wide) {
            (2, false) => self.each::<4, 2, 2>(fields, operand, compute),
            (2, true) => self.each::<4, 4, 2>(fields, operand, compute),
            (_, false) => self.each::<8, 4, 4>(fields, operand, compute),
            (_, true) => self.each::<8, 8, 4>(fields, operand, compute),
        }
        Ok(())
    }

    /// Executes conversions between numbers and integers, and from width to width.
    fn convert(&mut self, fields: Fields, env: &Environment) -> Executed {
        let bytes = self.element_bytes();
        let which = fields.vs1();
        // Widths of destination and source.
        let (to, from) = match which >> 3 {
            0 => (bytes, bytes),
            1 => (2 * bytes, bytes),
            2 => (bytes, 2 * bytes),
            _ => return Err(UNKNOWN),
        };
        ensure(to.max(from) <= 8, NO_FORMAT)?;
        let operand = Operand::Scalar(0);
        match which >> 3 {
            0 => self.same_width(fields, operand)?,
            1 => self.to_wide(fields, operand, false)?,
            _ => self.to_narrow(fields, operand)?,
        }
        let toward_zero = which & 6 == 6;
        let mode = if toward_zero {
            Rounding::TowardZero
        } else {
            env.mode
        };
        let is_signed = which & 1 == 1;
        let compute: &dyn Fn(u64) -> u64 = match which & 7 {
            0 | 1 | 6 | 7 => {
                let format = self.format_of(from)?;
                &move |a| env.note(format.to_integer(a, 8 * to as u32, is_signed, mode))
            }
            2 | 3 => {
                let format = self.format_of(to)?;
                &move |a: u64| {
                    let shift = 64 - 8 * from as u32;
                    let value = (a << shift) as i64 >> shift;
                    let is_negative = is_signed && value < 0;
                    let magnitude = if is_negative { value.unsigned_abs() } else { a };
                    env.note(format.integer_to_float(magnitude, is_negative, mode))
                }
            }
            4 if which != 4 => {
                let (format, other) = (self.format_of(from)?, self.format_of(to)?);
                &move |a| env.note(format.convert(a, other, mode))
            }
            5 if which == 0x15 => {
                let (format, other) = (self.format_of(from)?, self.format_of(to)?);
                // To odd: whatever is lost sets the last bit.
                &move |a| {
                    let (bits, flags) = format.convert(a, other, Rounding::TowardZero);
                    let odd = u64::from(flags & (INEXACT | INVALID) == INEXACT);
                    env.note((bits | odd, flags))
                }
            }
            _ => return Err(UNKNOWN),
        };
        macro_rules! each {
            ($d:literal, $a:literal) => {
                self.each::<$d, $a, 1>(fields, operand, |a, _, _| compute(a))
            };
        }
        match (to, from) {
            (1, 2) => each!(1, 2),
            (2, 1) => each!(2, 1),
            (2, 2) => each!(2, 2),
            (2, 4) => each!(2, 4),
            (4, 2) => each!(4, 2),
            (4, 4) => each!(4, 4),
            (4, 8) => each!(4, 8),
            (8, 4) => each!(8, 4),
            (8, 8) => each!(8, 8),
            _ => return Err(Refusal::Illegal(NO_FORMAT)),
        }
        Ok(())
    }
}
