//! Floating-point operations that need no adder: comparisons, conversions and moves.

use super::super::begin_dependent;
use super::{boxed, double, single, slow_float};
use crate::arithmetic as a;
use crate::float::{BOX, FloatForm, FloatOperation, plain_integer, plain_narrowed};
use crate::record::{Below, Core, How, Record, Step};

/// Returns the step of an operation of this kind, if there is one of its own.
pub fn step_of_short<const TIMED: bool>(form: FloatForm) -> Option<Step> {
    if form.double {
        step_of::<TIMED, true>(form)
    } else {
        step_of::<TIMED, false>(form)
    }
}

fn step_of<const TIMED: bool, const DOUBLE: bool>(form: FloatForm) -> Option<Step> {
    use FloatOperation as F;
    Some(match form.operation {
        F::SignCopy => to_float::<TIMED, SignCopy<DOUBLE>>,
        F::SignNegate => to_float::<TIMED, SignNegate<DOUBLE>>,
        F::SignXor => to_float::<TIMED, SignXor<DOUBLE>>,
        F::Minimum => to_float::<TIMED, Extremum<DOUBLE, false>>,
        F::Maximum => to_float::<TIMED, Extremum<DOUBLE, true>>,
        F::MoveFromInteger => to_float::<TIMED, FromBits<DOUBLE>>,
        F::FromInteger if form.is_nearest_even() => to_float::<TIMED, FromInteger<DOUBLE>>,
        F::ToOtherFormat if form.is_nearest_even() => to_float::<TIMED, ToFormat<DOUBLE>>,
        F::LessEqual => to_integer::<TIMED, LessEqual<DOUBLE>>,
        F::Less => to_integer::<TIMED, Less<DOUBLE>>,
        F::Equal => to_integer::<TIMED, Equal<DOUBLE>>,
        F::MoveToInteger => to_integer::<TIMED, ToBits<DOUBLE>>,
        F::ToInteger if form.rounding == 1 => to_integer::<TIMED, ToInteger<DOUBLE, true>>,
        F::ToInteger if form.is_nearest_even() => to_integer::<TIMED, ToInteger<DOUBLE, false>>,
        _ => return None,
    })
}

/// An operation whose result and flags are soon told.
trait Short {
    /// Returns the bits for the destination register; `None` if that takes a closer look.
    fn compute(core: &Core, record: &Record) -> Option<u64>;
}

/// Executes an operation whose result goes to a floating-point register.
fn to_float<const TIMED: bool, O: Short>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let (record, next, now) = begin_dependent!(core, records, now, below);
    let (true, Some(bits)) = (core.csr.float_on(), O::compute(core, record)) else {
        return slow_float::<TIMED>(core, records, now, below);
    };
    if TIMED && !core.pipeline.float_short(now, record.rd & 31) {
        return crate::steps::refused(core, records, now, below);
    }
    core.f[usize::from(record.rd)] = bits;
    (next.step)(core, &records[1..], now, below)
}

/// Executes an operation whose result goes to an integer register.
fn to_integer<const TIMED: bool, O: Short>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let (record, next, now) = begin_dependent!(core, records, now, below);
    let (true, Some(bits)) = (core.csr.float_on(), O::compute(core, record)) else {
        return slow_float::<TIMED>(core, records, now, below);
    };
    if TIMED {
        core.pipeline.float_to_integer(now, record.rd & 31);
    }
    core.x[usize::from(record.rd)] = bits;
    (next.step)(core, &records[1..], now, below)
}

/// Returns the registers that an operation reads, if they hold numbers of its format.
#[inline(always)]
fn operands<const DOUBLE: bool>(core: &Core, record: &Record) -> Option<(u64, u64)> {
    let a = core.f[usize::from(record.rs1)];
    let b = core.f[usize::from(record.rs2)];
    (DOUBLE || a & b >= BOX).then_some((a, b))
}

/// The same for the first one alone, as a number in double precision.
#[inline(always)]
fn number<const DOUBLE: bool>(core: &Core, record: &Record) -> Option<f64> {
    let a = core.f[usize::from(record.rs1)];
    (DOUBLE || a >= BOX).then(|| widened::<DOUBLE>(a))
}

/// Returns a register's number in double precision.
#[inline(always)]
fn widened<const DOUBLE: bool>(bits: u64) -> f64 {
    if DOUBLE {
        double(bits)
    } else {
        single(bits).into()
    }
}

#[inline(always)]
const fn sign<const DOUBLE: bool>() -> u64 {
    if DOUBLE { 1 << 63 } else { 1 << 31 }
}

macro_rules! signs {
    ($($name:ident: |$a:ident, $b:ident| $signed:expr;)*) => {$(
        struct $name<const DOUBLE: bool>;

        impl<const DOUBLE: bool> Short for $name<DOUBLE> {
            #[inline(always)]
            fn compute(core: &Core, record: &Record) -> Option<u64> {
                let ($a, $b) = operands::<DOUBLE>(core, record)?;
                let sign = sign::<DOUBLE>();
                Some($a & !sign | $signed & sign)
            }
        }
    )*};
}

signs! {
    SignCopy: |a, b| b;
    SignNegate: |a, b| !b;
    SignXor: |a, b| a ^ b;
}

macro_rules! comparisons {
    ($($name:ident: |$a:ident, $b:ident| $holds:expr;)*) => {$(
        struct $name<const DOUBLE: bool>;

        impl<const DOUBLE: bool> Short for $name<DOUBLE> {
            #[inline(always)]
            fn compute(core: &Core, record: &Record) -> Option<u64> {
                let (a, b) = operands::<DOUBLE>(core, record)?;
                let ($a, $b) = (widened::<DOUBLE>(a), widened::<DOUBLE>(b));
                // No flag is raised without a NaN.
                (!$a.is_nan() && !$b.is_nan()).then_some(u64::from($holds))
            }
        }
    )*};
}

comparisons! {
    LessEqual: |a, b| a <= b;
    Less: |a, b| a < b;
    Equal: |a, b| a == b;
}

/// The lesser or the `GREATER` one of two numbers.
struct Extremum<const DOUBLE: bool, const GREATER: bool>;

impl<const DOUBLE: bool, const GREATER: bool> Short for Extremum<DOUBLE, GREATER> {
    #[inline(always)]
    fn compute(core: &Core, record: &Record) -> Option<u64> {
        let (a, b) = operands::<DOUBLE>(core, record)?;
        let (first, second) = (widened::<DOUBLE>(a), widened::<DOUBLE>(b));
        if first == second {
            // The bits differ only if both are zero: the negative one is less.
            return Some(if GREATER { a & b } else { a | b });
        }
        let ordered = !first.is_nan() && !second.is_nan();
        ordered.then_some(if (first < second) != GREATER { a } else { b })
    }
}

struct FromBits<const DOUBLE: bool>;

impl<const DOUBLE: bool> Short for FromBits<DOUBLE> {
    #[inline(always)]
    fn compute(core: &Core, record: &Record) -> Option<u64> {
        let bits = core.x[usize::from(record.rs1)];
        Some(if DOUBLE { bits } else { bits | BOX })
    }
}

struct ToBits<const DOUBLE: bool>;

impl<const DOUBLE: bool> Short for ToBits<DOUBLE> {
    #[inline(always)]
    fn compute(core: &Core, record: &Record) -> Option<u64> {
        let bits = core.f[usize::from(record.rs1)];
        Some(if DOUBLE { bits } else { a::word(bits as u32) })
    }
}

struct FromInteger<const DOUBLE: bool>;

impl<const DOUBLE: bool> Short for FromInteger<DOUBLE> {
    #[inline(always)]
    fn compute(core: &Core, record: &Record) -> Option<u64> {
        let value = core.x[usize::from(record.rs1)];
        let value = match FloatForm::integer_of(record.extra) {
            0 => i64::from(value as i32),
            1 => i64::from(value as u32),
            2 => value as i64,
            _ => i64::try_from(value).ok()?,
        };
        let bits = if DOUBLE {
            f64::MANTISSA_DIGITS
        } else {
            f32::MANTISSA_DIGITS
        };
        let exact = value.unsigned_abs() >> bits == 0;
        let quiet = core.csr.float_plain() || exact && core.csr.float_nearest();
        quiet.then(|| {
            if DOUBLE {
                (value as f64).to_bits()
            } else {
                boxed(value as f32)
            }
        })
    }
}

/// To an integer, toward zero if it `TRUNCATES`, otherwise to nearest even.
struct ToInteger<const DOUBLE: bool, const TRUNCATES: bool>;

impl<const DOUBLE: bool, const TRUNCATES: bool> Short for ToInteger<DOUBLE, TRUNCATES> {
    #[inline(always)]
    fn compute(core: &Core, record: &Record) -> Option<u64> {
        let value = number::<DOUBLE>(core, record)?;
        let integer = plain_integer(value, TRUNCATES, core.csr.float_plain())?;
        let (fits, bits) = match FloatForm::integer_of(record.extra) {
            0 => (i32::try_from(integer).is_ok(), integer as u64),
            1 => (u32::try_from(integer).is_ok(), a::word(integer as u32)),
            2 => (true, integer as u64),
            _ => (integer >= 0, integer as u64),
        };
        (fits && core.csr.float_nearest()).then_some(bits)
    }
}

/// To single precision, or to `DOUBLE`.
struct ToFormat<const DOUBLE: bool>;

impl<const DOUBLE: bool> Short for ToFormat<DOUBLE> {
    #[inline(always)]
    fn compute(core: &Core, record: &Record) -> Option<u64> {
        let nearest = core.csr.float_nearest();
        if DOUBLE {
            let value = number::<false>(core, record)?;
            return (nearest && !value.is_nan()).then(|| value.to_bits());
        }
        let value = number::<true>(core, record)?;
        let narrowed = plain_narrowed(value, core.csr.float_plain())?;
        nearest.then(|| boxed(narrowed))
    }
}
