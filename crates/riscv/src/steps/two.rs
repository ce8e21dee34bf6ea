//! Two instructions in one step where no time is kept: a frequent one and what stands right behind
//! it, which has its own record and step too.
//!
//! Besides the way from step to step this saves jumps that the host has to foresee: of a run of
//! loads it would have to count how many there are.

use super::access::{self as m, Load};
use super::float::{fuse_double_quickly, fuse_single_quickly};
use super::frequent_steps::{self as k, Behind};
use super::integer::{self as i, Arithmetic};
use crate::float::FusedForm;
use crate::instruction::Operation;
use crate::record::{Below, Core, How, Record, Step};

/// The first instruction.
trait First {
    /// Executes it where nothing has to be looked at; returns whether that has been done.
    fn execute(core: &mut Core, record: &Record) -> bool;
}

struct Computes<A>(A);

impl<A: Arithmetic> First for Computes<A> {
    #[inline(always)]
    fn execute(core: &mut Core, record: &Record) -> bool {
        A::execute(core, record);
        true
    }
}

struct Loads<L>(L);

impl<L: Load> First for Loads<L> {
    #[inline(always)]
    fn execute(core: &mut Core, record: &Record) -> bool {
        L::load_quickly(core, record)
    }
}

struct FusesSingle;

impl First for FusesSingle {
    #[inline(always)]
    fn execute(core: &mut Core, record: &Record) -> bool {
        fuse_single_quickly(core, record)
    }
}

struct FusesDouble;

impl First for FusesDouble {
    #[inline(always)]
    fn execute(core: &mut Core, record: &Record) -> bool {
        fuse_double_quickly(core, record)
    }
}

/// Executes the first instruction by `F`, or by `ALONE` and by what that goes on with, and then the
/// second one by `S`.
fn two<F: First, ALONE: Behind, S: Behind>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let [first, _, ..] = records else {
        return super::lost(core, now);
    };
    if !F::execute(core, first) {
        return ALONE::go(core, records, now, below);
    }
    S::go(core, &records[1..], now, below)
}

/// Returns the step of the instruction `first` if it can be one with what follows it at once, which
/// is `second`.
pub(crate) fn step_of_two(first: &Record, second: &Record) -> Option<Step> {
    use Operation as O;
    if first.operation == second.operation {
        match first.operation {
            O::Fused if first.extra == second.extra => {
                return step_of_fused(FusedForm::unpack(first.extra));
            }
            operation if operation.is_load() => return step_of_loads(operation),
            _ => {}
        }
    }
    match first.operation {
        O::Addi => step_behind::<i::Addi, k::Addi>(second.operation),
        O::Add => step_behind::<i::Add, k::Add>(second.operation),
        O::Sub => step_behind::<i::Sub, k::Sub>(second.operation),
        O::Slli => step_behind::<i::Slli, k::Slli>(second.operation),
        O::Srli => step_behind::<i::Srli, k::Srli>(second.operation),
        O::Andi => step_behind::<i::Andi, k::Andi>(second.operation),
        O::And => step_behind::<i::And, k::And>(second.operation),
        O::Or => step_behind::<i::Or, k::Or>(second.operation),
        O::Xor => step_behind::<i::Xor, k::Xor>(second.operation),
        O::Addiw => step_behind::<i::Addiw, k::Addiw>(second.operation),
        O::Addw => step_behind::<i::Addw, k::Addw>(second.operation),
        O::Constant => step_behind::<i::Constant, k::Constant>(second.operation),
        _ => None,
    }
}

fn step_of_fused(form: FusedForm) -> Option<Step> {
    let negates = form.negate_product || form.negate_addend;
    match form.double {
        _ if negates || !form.is_nearest_even() => None,
        false => Some(two::<FusesSingle, k::FusedSingle, k::FusedSingle>),
        true => Some(two::<FusesDouble, k::FusedDouble, k::FusedDouble>),
    }
}

fn step_of_loads(operation: Operation) -> Option<Step> {
    use Operation as O;
    Some(match operation {
        O::Lb => two::<Loads<m::Lb>, k::Lb, k::Lb>,
        O::Lh => two::<Loads<m::Lh>, k::Lh, k::Lh>,
        O::Lw => two::<Loads<m::Lw>, k::Lw, k::Lw>,
        O::Ld => two::<Loads<m::Ld>, k::Ld, k::Ld>,
        O::Lbu => two::<Loads<m::Lbu>, k::Lbu, k::Lbu>,
        O::Lhu => two::<Loads<m::Lhu>, k::Lhu, k::Lhu>,
        O::Lwu => two::<Loads<m::Lwu>, k::Lwu, k::Lwu>,
        O::Flw => two::<Loads<m::Flw>, k::Flw, k::Flw>,
        O::Fld => two::<Loads<m::Fld>, k::Fld, k::Fld>,
        _ => return None,
    })
}

fn step_behind<A: Arithmetic, ALONE: Behind>(second: Operation) -> Option<Step> {
    use Operation as O;
    Some(match second {
        O::Addi => two::<Computes<A>, ALONE, k::Addi>,
        O::Add => two::<Computes<A>, ALONE, k::Add>,
        O::Sub => two::<Computes<A>, ALONE, k::Sub>,
        O::Slli => two::<Computes<A>, ALONE, k::Slli>,
        O::Srli => two::<Computes<A>, ALONE, k::Srli>,
        O::Andi => two::<Computes<A>, ALONE, k::Andi>,
        O::And => two::<Computes<A>, ALONE, k::And>,
        O::Or => two::<Computes<A>, ALONE, k::Or>,
        O::Xor => two::<Computes<A>, ALONE, k::Xor>,
        O::Addiw => two::<Computes<A>, ALONE, k::Addiw>,
        O::Addw => two::<Computes<A>, ALONE, k::Addw>,
        O::Constant => two::<Computes<A>, ALONE, k::Constant>,
        O::Lb => two::<Computes<A>, ALONE, k::Lb>,
        O::Lw => two::<Computes<A>, ALONE, k::Lw>,
        O::Ld => two::<Computes<A>, ALONE, k::Ld>,
        O::Lbu => two::<Computes<A>, ALONE, k::Lbu>,
        O::Flw => two::<Computes<A>, ALONE, k::Flw>,
        _ => return None,
    })
}
