//! Floating-point operations.

use super::{begin, begin_dependent};
use crate::float::{
    BOX, FloatForm, FusedForm, execute, execute_fused, plain_fused_single, plain_product_double,
    plain_product_single, plain_sum_double, plain_sum_single,
};
use crate::memory::Memory;
use crate::record::{Below, Core, How, Record};
use crate::trap::Trap;

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
    core.raise(Trap::illegal(core.pc_of(record), 0, why), record, now)
}

/// Executes a fused multiply-add of single precision that is rounded to nearest even.
pub fn fused_single<const TIMED: bool>(
    core: &mut Core,
    memory: &mut Memory,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let (record, next, now) = begin_dependent!(core, memory, records, now, below);
    let a = core.f[usize::from(record.rs1)];
    let b = core.f[usize::from(record.rs2)];
    let c = core.f[usize::from(record.immediate as u8)];
    let are_single = a & b & c >= BOX;
    let (product_sign, addend_sign) = FusedForm::single_signs(record.extra);
    let plain = plain_fused_single(single(a ^ product_sign), single(b), single(c ^ addend_sign));
    let (true, true, Some(result)) = (core.csr.float_plain(), are_single, plain) else {
        return slow_fused::<TIMED>(core, memory, records, now, below);
    };
    if TIMED && !core.pipeline.float_arithmetic(now, false, record.rd & 31) {
        return super::refused(core, memory, records, now, below);
    }
    core.f[usize::from(record.rd)] = boxed(result);
    (next.step)(core, memory, &records[1..], now, below)
}

/// Executes any fused multiply-add.
pub fn fused<const TIMED: bool>(
    core: &mut Core,
    memory: &mut Memory,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let (_, _, now) = begin!(core, memory, records, now, below);
    slow_fused::<TIMED>(core, memory, records, now, below)
}

/// The same for one that issues at `now`.
#[inline(never)]
fn slow_fused<const TIMED: bool>(
    core: &mut Core,
    memory: &mut Memory,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let [record, next, ..] = records else {
        return super::lost(core, now);
    };
    demand_unit!(core, record, now);
    let a = core.f[usize::from(record.rs1)];
    let b = core.f[usize::from(record.rs2)];
    let c = core.f[usize::from(record.immediate as u8)];
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
        return super::refused(core, memory, records, now, below);
    }
    core.csr.raise(raised);
    core.f[usize::from(record.rd)] = bits;
    (next.step)(core, memory, &records[1..], now, below)
}

/// What is rounded to nearest even and frequent.
macro_rules! plain {
    ($($name:ident: $double:literal, |$a:ident, $b:ident| $result:expr;)*) => {$(
        pub fn $name<const TIMED: bool>(
            core: &mut Core,
            memory: &mut Memory,
            records: &[Record],
            now: u64,
            below: &mut Below<'_>,
        ) -> How {
            let (record, next, now) = begin_dependent!(core, memory, records, now, below);
            let a = core.f[usize::from(record.rs1)];
            let b = core.f[usize::from(record.rs2)];
            let are_right = $double || a & b >= BOX;
            let ($a, $b) = (a, b);
            let plain = $result;
            let (true, true, Some(bits)) = (core.csr.float_plain(), are_right, plain) else {
                return slow_float::<TIMED>(core, memory, records, now, below);
            };
            if TIMED && !core.pipeline.float_arithmetic(now, $double, record.rd & 31) {
                return super::refused(core, memory, records, now, below);
            }
            core.f[usize::from(record.rd)] = bits;
            (next.step)(core, memory, &records[1..], now, below)
        }
    )*};
}

plain! {
    add_single: false, |a, b| plain_sum_single(single(a) + single(b)).map(boxed);
    subtract_single: false, |a, b| plain_sum_single(single(a) - single(b)).map(boxed);
    multiply_single: false, |a, b| plain_product_single(single(a), single(b)).map(boxed);
    add_double: true, |a, b| plain_sum_double(double(a) + double(b)).map(f64::to_bits);
    subtract_double: true, |a, b| plain_sum_double(double(a) - double(b)).map(f64::to_bits);
    multiply_double: true, |a, b| plain_product_double(double(a), double(b)).map(f64::to_bits);
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
    memory: &mut Memory,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let (_, _, now) = begin!(core, memory, records, now, below);
    slow_float::<TIMED>(core, memory, records, now, below)
}

/// The same for one that issues at `now`.
#[inline(never)]
fn slow_float<const TIMED: bool>(
    core: &mut Core,
    memory: &mut Memory,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let [record, next, ..] = records else {
        return super::lost(core, now);
    };
    demand_unit!(core, record, now);
    match operate::<TIMED>(core, record, now) {
        Operated::Done => (next.step)(core, memory, &records[1..], now, below),
        Operated::Refused => super::refused(core, memory, records, now, below),
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

#[cold]
#[inline(never)]
fn rounding_is_reserved(core: &mut Core, record: &Record, now: u64) -> How {
    let why = format!("rounding mode {} in frm is reserved", core.csr.frm);
    core.raise(Trap::illegal(core.pc_of(record), 0, &why), record, now)
}
