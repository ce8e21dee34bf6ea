//! Floating-point operations.

mod divide;
mod short;

pub(super) use divide::{divide_double, divide_single, root_double, root_single};
pub(super) use short::step_of_short;

use super::{begin, begin_dependent};
use crate::float::{
    BOX, FloatForm, FusedForm, exact_fused_double, execute, execute_fused, execute_half,
    execute_half_fused, is_exact_fused_single, is_exact_product_double, is_exact_product_single,
    is_exact_sum_double, is_exact_sum_single, plain_fused_single, plain_product_double,
    plain_product_single, plain_sum_double, plain_sum_single, rounded_fused_double,
};
use crate::record::{Below, Core, How, Record};

/// Leaves the block if the floating-point unit is off.
macro_rules! demand_unit {
    ($core:ident, $record:ident, $now:ident) => {
        if !$core.csr.float_on() {
            return unit_is_off($core, $record, $now);
        }
    };
}

#[cold]
#[inline(never)]
pub(super) fn unit_is_off(core: &mut Core, record: &Record, now: u64) -> How {
    let why = "the floating-point unit is switched off in mstatus.FS";
    core.refuse(record, now, why)
}

/// Executes a fused multiply-add of single precision that is rounded to nearest even, and
/// `NEGATES` the product or the addend or not.
#[inline(always)]
pub fn fused_single<const TIMED: bool, const NEGATES: bool>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let (record, next, now) = begin_dependent!(core, records, now, below);
    let (are_single, [a, b, c]) = single_operands::<NEGATES>(core, record);
    let plain = plain_fused_single(a, b, c);
    let (true, true, Some(result)) = (core.csr.float_plain(), are_single, plain) else {
        return fused_single_exact::<TIMED>(core, records, now, below);
    };
    if TIMED && !core.pipeline.float_arithmetic(now, false, record.rd & 31) {
        return super::refused(core, records, now, below);
    }
    core.f[usize::from(record.rd)] = boxed(result);
    (next.step)(core, &records[1..], now, below)
}

/// Executes one that negates nothing where its flags are told at once and no time is kept; returns
/// whether that has been done.
#[inline(always)]
pub fn fuse_single_quickly(core: &mut Core, record: &Record) -> bool {
    let (are_single, [a, b, c]) = single_operands::<false>(core, record);
    let plain = plain_fused_single(a, b, c);
    let (true, true, Some(result)) = (core.csr.float_plain(), are_single, plain) else {
        return false;
    };
    core.f[usize::from(record.rd)] = boxed(result);
    true
}

/// The same for one that issues at `now` and whose result may raise no flag.
#[inline(never)]
fn fused_single_exact<const TIMED: bool>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let [record, next, ..] = records else {
        return super::lost(core, now);
    };
    let (are_single, [a, b, c]) = single_operands::<true>(core, record);
    let exact = plain_fused_single(a, b, c).filter(|sum| is_exact_fused_single(a, b, c, *sum));
    let (true, true, Some(result)) = (core.csr.float_nearest(), are_single, exact) else {
        return slow_fused::<TIMED>(core, records, now, below);
    };
    if TIMED && !core.pipeline.float_arithmetic(now, false, record.rd & 31) {
        return super::refused(core, records, now, below);
    }
    core.f[usize::from(record.rd)] = boxed(result);
    (next.step)(core, &records[1..], now, below)
}

/// Returns the operands of a fused multiply-add of single precision, which may be one that
/// `NEGATES`, and whether the registers hold such.
#[inline(always)]
fn single_operands<const NEGATES: bool>(core: &Core, record: &Record) -> (bool, [f32; 3]) {
    let form = if NEGATES { record.extra } else { 0 };
    let (product_sign, addend_sign) = FusedForm::single_signs(form);
    let [a, b, c] = fused_registers(core, record);
    let operands = [single(a ^ product_sign), single(b), single(c ^ addend_sign)];
    (a & b & c >= BOX, operands)
}

#[inline(always)]
fn fused_registers(core: &Core, record: &Record) -> [u64; 3] {
    [record.rs1, record.rs2, record.immediate as u8].map(|number| core.f[usize::from(number)])
}

/// Executes a fused multiply-add of double precision that is rounded to nearest even, and
/// `NEGATES` the product or the addend or not.
#[inline(always)]
pub fn fused_double<const TIMED: bool, const NEGATES: bool>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let (record, next, now) = begin_dependent!(core, records, now, below);
    if !core.csr.float_plain() {
        return fused_double_exact::<TIMED>(core, records, now, below);
    }
    let [a, b, c] = double_operands::<NEGATES>(core, record);
    let Some(result) = rounded_fused_double(a, b, c) else {
        return slow_fused::<TIMED>(core, records, now, below);
    };
    if TIMED && !core.pipeline.float_arithmetic(now, true, record.rd & 31) {
        return super::refused(core, records, now, below);
    }
    core.f[usize::from(record.rd)] = result.to_bits();
    (next.step)(core, &records[1..], now, below)
}

/// As [`fuse_single_quickly`] of double precision.
#[inline(always)]
pub fn fuse_double_quickly(core: &mut Core, record: &Record) -> bool {
    let [a, b, c] = double_operands::<false>(core, record);
    let plain = rounded_fused_double(a, b, c).filter(|_| core.csr.float_plain());
    if let Some(result) = plain {
        core.f[usize::from(record.rd)] = result.to_bits();
    }
    plain.is_some()
}

/// The same for one that issues at `now` and whose result may raise no flag.
#[inline(never)]
fn fused_double_exact<const TIMED: bool>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let [record, next, ..] = records else {
        return super::lost(core, now);
    };
    let [a, b, c] = double_operands::<true>(core, record);
    let exact = exact_fused_double(a, b, c);
    let (true, Some(result)) = (core.csr.float_nearest(), exact) else {
        return slow_fused::<TIMED>(core, records, now, below);
    };
    if TIMED && !core.pipeline.float_arithmetic(now, true, record.rd & 31) {
        return super::refused(core, records, now, below);
    }
    core.f[usize::from(record.rd)] = result.to_bits();
    (next.step)(core, &records[1..], now, below)
}

/// Returns the operands of a fused multiply-add of double precision, which may be one that
/// `NEGATES`.
#[inline(always)]
fn double_operands<const NEGATES: bool>(core: &Core, record: &Record) -> [f64; 3] {
    let form = if NEGATES { record.extra } else { 0 };
    let (product_sign, addend_sign) = FusedForm::double_signs(form);
    let [a, b, c] = fused_registers(core, record);
    [double(a ^ product_sign), double(b), double(c ^ addend_sign)]
}

/// Executes any fused multiply-add.
pub fn fused<const TIMED: bool>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let (_, _, now) = begin!(core, records, now, below);
    slow_fused::<TIMED>(core, records, now, below)
}

/// The same for one that issues at `now`.
#[inline(never)]
fn slow_fused<const TIMED: bool>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let [record, next, ..] = records else {
        return super::lost(core, now);
    };
    demand_unit!(core, record, now);
    let [a, b, c] = fused_registers(core, record);
    let form = FusedForm::unpack(record.extra);
    let (frm, flags) = (core.csr.frm, core.csr.fflags);
    let Some((bits, raised)) = execute_fused(form, a, b, c, frm, flags) else {
        return rounding_is_reserved(core, record, now);
    };
    if TIMED
        && !core
            .pipeline
            .float_arithmetic(now, form.double, record.rd & 31)
    {
        return super::refused(core, records, now, below);
    }
    core.csr.raise(raised);
    core.f[usize::from(record.rd)] = bits;
    (next.step)(core, &records[1..], now, below)
}

/// What is rounded to nearest even and frequent: the operation on two numbers, whether a
/// result is plain, and whether such a one is exact.
macro_rules! plain {
    ($($name:ident, $exactly:ident: $double:literal, $number:ident, $boxed:expr,
        |$a:ident, $b:ident| $plain:expr, |$result:ident| $exact:expr;)*) => {$(
        pub fn $name<const TIMED: bool>(
            core: &mut Core,
            records: &[Record],
            now: u64,
            below: &mut Below<'_>,
        ) -> How {
            let (record, next, now) = begin_dependent!(core, records, now, below);
            let a = core.f[usize::from(record.rs1)];
            let b = core.f[usize::from(record.rs2)];
            let are_right = $double || a & b >= BOX;
            let ($a, $b) = ($number(a), $number(b));
            let (true, true, Some(result)) = (core.csr.float_plain(), are_right, $plain) else {
                return $exactly::<TIMED>(core, records, now, below);
            };
            if TIMED && !core.pipeline.float_arithmetic(now, $double, record.rd & 31) {
                return super::refused(core, records, now, below);
            }
            core.f[usize::from(record.rd)] = $boxed(result);
            (next.step)(core, &records[1..], now, below)
        }

        /// The same for one that issues at `now` and whose result may raise no flag.
        #[inline(never)]
        fn $exactly<const TIMED: bool>(
            core: &mut Core,
            records: &[Record],
            now: u64,
            below: &mut Below<'_>,
        ) -> How {
            let [record, next, ..] = records else {
                return super::lost(core, now);
            };
            let a = core.f[usize::from(record.rs1)];
            let b = core.f[usize::from(record.rs2)];
            let are_right = $double || a & b >= BOX;
            let ($a, $b) = ($number(a), $number(b));
            let exact = $plain.filter(|&$result| $exact);
            let (true, true, Some(result)) = (core.csr.float_nearest(), are_right, exact) else {
                return slow_float::<TIMED>(core, records, now, below);
            };
            if TIMED && !core.pipeline.float_arithmetic(now, $double, record.rd & 31) {
                return super::refused(core, records, now, below);
            }
            core.f[usize::from(record.rd)] = $boxed(result);
            (next.step)(core, &records[1..], now, below)
        }
    )*};
}

plain! {
    add_single, exactly_add_single: false, single, boxed,
        |a, b| plain_sum_single(a + b), |sum| is_exact_sum_single(a, b, sum);
    subtract_single, exactly_subtract_single: false, single, boxed,
        |a, b| plain_sum_single(a - b), |sum| is_exact_sum_single(a, -b, sum);
    multiply_single, exactly_multiply_single: false, single, boxed,
        |a, b| plain_product_single(a, b), |product| is_exact_product_single(a, b, product);
    add_double, exactly_add_double: true, double, f64::to_bits,
        |a, b| plain_sum_double(a + b), |sum| is_exact_sum_double(a, b, sum);
    subtract_double, exactly_subtract_double: true, double, f64::to_bits,
        |a, b| plain_sum_double(a - b), |sum| is_exact_sum_double(a, -b, sum);
    multiply_double, exactly_multiply_double: true, double, f64::to_bits,
        |a, b| plain_product_double(a, b), |product| is_exact_product_double(a, b, product);
}

#[inline(always)]
fn single(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

#[inline(always)]
fn double(bits: u64) -> f64 {
    f64::from_bits(bits)
}

#[inline(always)]
fn boxed(value: f32) -> u64 {
    u64::from(value.to_bits()) | BOX
}

pub fn float<const TIMED: bool>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let (_, _, now) = begin!(core, records, now, below);
    slow_float::<TIMED>(core, records, now, below)
}

/// The same for one that issues at `now`.
#[inline(never)]
fn slow_float<const TIMED: bool>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let [record, next, ..] = records else {
        return super::lost(core, now);
    };
    demand_unit!(core, record, now);
    match operate::<TIMED>(core, record, now) {
        Operated::Done => (next.step)(core, &records[1..], now, below),
        Operated::Refused => super::refused(core, records, now, below),
        Operated::Reserved => rounding_is_reserved(core, record, now),
    }
}

/// What came of an operation.
enum Operated {
    Done,
    /// It has to issue again.
    Refused,
    /// The rounding mode is reserved.
    Reserved,
}

/// Executes an operation that issues at `now`. Apart from the step, which goes on by
/// a jump only if nothing of its own lies in memory.
#[inline(never)]
fn operate<const TIMED: bool>(core: &mut Core, record: &Record, now: u64) -> Operated {
    let a = core.f[usize::from(record.rs1)];
    let b = core.f[usize::from(record.rs2)];
    let integer = core.x[usize::from(record.rs1)];
    let (frm, flags) = (core.csr.frm, core.csr.fflags);
    let form = FloatForm::unpack(record.extra);
    let Some((bits, raised)) = execute(form, a, b, integer, frm, flags) else {
        return Operated::Reserved;
    };
    if TIMED && !core.pipeline.float(now, form, record.rd & 31, a, b) {
        return Operated::Refused;
    }
    core.csr.raise(raised);
    if form.writes_float() {
        core.f[usize::from(record.rd)] = bits;
    } else {
        core.x[usize::from(record.rd)] = bits;
    }
    Operated::Done
}

/// An operation on half-precision numbers.
pub fn half<const TIMED: bool>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let (record, next, now) = begin!(core, records, now, below);
    demand_unit!(core, record, now);
    let [a, b] = [record.rs1, record.rs2].map(|number| core.f[usize::from(number)]);
    let integer = core.x[usize::from(record.rs1)];
    let form = FloatForm::unpack(record.extra);
    let Some((bits, raised)) = execute_half(form, a, b, integer, core.csr.frm) else {
        return rounding_is_reserved(core, record, now);
    };
    core.csr.raise(raised);
    if form.writes_float() {
        core.f[usize::from(record.rd)] = bits;
    } else {
        core.x[usize::from(record.rd)] = bits;
    }
    (next.step)(core, &records[1..], now, below)
}

/// A fused multiply-add of half-precision numbers.
pub fn half_fused<const TIMED: bool>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let (record, next, now) = begin!(core, records, now, below);
    demand_unit!(core, record, now);
    let operands = fused_registers(core, record);
    let form = FusedForm::unpack(record.extra);
    let Some((bits, raised)) = execute_half_fused(form, operands, core.csr.frm) else {
        return rounding_is_reserved(core, record, now);
    };
    core.csr.raise(raised);
    core.f[usize::from(record.rd)] = bits;
    (next.step)(core, &records[1..], now, below)
}

#[cold]
#[inline(never)]
fn rounding_is_reserved(core: &mut Core, record: &Record, now: u64) -> How {
    let why = format!("rounding mode {} in frm is reserved", core.csr.frm);
    core.refuse(record, now, &why)
}
