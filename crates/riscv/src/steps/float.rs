//! Floating-point operations.

use super::begin;
use crate::float::{FloatForm, FusedForm, execute, execute_fused, execute_fused_fast};
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

pub fn fused<const TIMED: bool>(
    core: &mut Core,
    memory: &mut Memory,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let (record, next, now) = begin!(core, memory, records, now, below);
    let a = core.f[usize::from(record.rs1 & 31)];
    let b = core.f[usize::from(record.rs2 & 31)];
    let c = core.f[record.immediate as usize & 31];
    let form = FusedForm::unpack(record.extra);
    let fast = execute_fused_fast(form, a, b, c, core.csr.frm, core.csr.fflags);
    let (true, Some((bits, raised))) = (core.csr.float_on(), fast) else {
        return slow_fused::<TIMED>(core, memory, records, now, below);
    };
    if TIMED
        && !core
            .pipeline
            .float_arithmetic(now, form.double, record.rd & 31)
    {
        return super::refused(core, memory, records, now, below);
    }
    core.csr.raise(raised);
    core.f[usize::from(record.rd & 31)] = bits;
    (next.step)(core, memory, &records[1..], now, below)
}

/// The same for any operands.
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
    let a = core.f[usize::from(record.rs1 & 31)];
    let b = core.f[usize::from(record.rs2 & 31)];
    let c = core.f[record.immediate as usize & 31];
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
    core.f[usize::from(record.rd & 31)] = bits;
    (next.step)(core, memory, &records[1..], now, below)
}

pub fn float<const TIMED: bool>(
    core: &mut Core,
    memory: &mut Memory,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let (record, next, now) = begin!(core, memory, records, now, below);
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
    let a = core.f[usize::from(record.rs1 & 31)];
    let b = core.f[usize::from(record.rs2 & 31)];
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
        core.f[usize::from(record.rd & 31)] = bits;
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
