//! Two instructions in one step: a frequent one of one cycle and what follows it.
//!
//! Saves the way from step to step, and from register to register: what the first one
//! computes and the second one reads is at hand. The second one has its own record and
//! step too, at which what has to wait for its operands goes on.

use super::User;
use super::access::{self as m, Load};
use super::integer::{self as i, Arithmetic};
use super::transfer::{self as t, Condition};
use crate::instruction::Operation;
use crate::predictor::Transfer;
use crate::record::{Below, Core, How, Record, Step};

/// Which operand of the second instruction is what the first one computes, if any.
const NEITHER: u8 = 0;
const FIRST: u8 = 1;
const SECOND: u8 = 2;

/// Returns the timed step of the instruction `first` if it can be one with what follows
/// it at once, which is `second`: if that is a load, `user` is who needs what it brings;
/// if it is a branch, it may be `doubted`.
pub(crate) fn step_of_pair(
    first: &Record,
    second: &Record,
    user: User,
    doubted: bool,
) -> Option<Step> {
    use Operation as O;
    if second.operation.is_load() {
        return match first.operation {
            O::Addi => step_before_load::<i::Addi>(first, second, user),
            O::Add => step_before_load::<i::Add>(first, second, user),
            _ => None,
        };
    }
    match first.operation {
        O::Addi => step_before::<i::Addi>(first, second, doubted),
        O::Add => step_before::<i::Add>(first, second, doubted),
        O::Sub => step_before::<i::Sub>(first, second, doubted),
        O::Slli => step_before::<i::Slli>(first, second, doubted),
        O::Srli => step_before::<i::Srli>(first, second, doubted),
        O::Andi => step_before::<i::Andi>(first, second, doubted),
        O::And => step_before::<i::And>(first, second, doubted),
        O::Or => step_before::<i::Or>(first, second, doubted),
        O::Xor => step_before::<i::Xor>(first, second, doubted),
        O::Addiw => step_before::<i::Addiw>(first, second, doubted),
        O::Addw => step_before::<i::Addw>(first, second, doubted),
        O::Constant => step_before::<i::Constant>(first, second, doubted),
        O::Slliw => step_before::<i::Slliw>(first, second, doubted),
        O::Srliw => step_before::<i::Srliw>(first, second, doubted),
        _ => None,
    }
}

fn step_before<A: Arithmetic>(first: &Record, second: &Record, doubted: bool) -> Option<Step> {
    if second.operation == Operation::Jal {
        let is_call = Transfer::direct(second.rd) == Transfer::Call;
        return Some(if is_call {
            and_jump::<A, true>
        } else {
            and_jump::<A, false>
        });
    }
    match [second.rs1, second.rs2].map(|register| register == first.rd) {
        [true, false] => step_linked::<A, FIRST>(second.operation, doubted),
        [false, true] => step_linked::<A, SECOND>(second.operation, doubted),
        _ => step_linked::<A, NEITHER>(second.operation, doubted),
    }
}

fn step_before_load<A: Arithmetic>(first: &Record, second: &Record, user: User) -> Option<Step> {
    let operation = second.operation;
    match (first.rd == second.rs1, user) {
        (false, User::Nobody) => step_with_load::<A, NEITHER, { m::NOBODY }>(operation),
        (false, User::Any) => step_with_load::<A, NEITHER, { m::ANY }>(operation),
        (false, User::Next) => step_with_load::<A, NEITHER, { m::NEXT }>(operation),
        (true, User::Nobody) => step_with_load::<A, FIRST, { m::NOBODY }>(operation),
        (true, User::Any) => step_with_load::<A, FIRST, { m::ANY }>(operation),
        (true, User::Next) => step_with_load::<A, FIRST, { m::NEXT }>(operation),
    }
}

fn step_with_load<A: Arithmetic, const LINK: u8, const USER: u8>(
    second: Operation,
) -> Option<Step> {
    use Operation as O;
    Some(match second {
        O::Lb => and_load::<A, m::Lb, LINK, USER>,
        O::Lw => and_load::<A, m::Lw, LINK, USER>,
        O::Ld => and_load::<A, m::Ld, LINK, USER>,
        O::Lbu => and_load::<A, m::Lbu, LINK, USER>,
        O::Flw => and_load::<A, m::Flw, LINK, USER>,
        _ => return None,
    })
}

fn step_linked<A: Arithmetic, const LINK: u8>(second: Operation, doubted: bool) -> Option<Step> {
    use Operation as O;
    Some(match (second, doubted) {
        (O::Addi, _) => both::<A, i::Addi, LINK>,
        (O::Add, _) => both::<A, i::Add, LINK>,
        (O::Sub, _) => both::<A, i::Sub, LINK>,
        (O::Slli, _) => both::<A, i::Slli, LINK>,
        (O::Srli, _) => both::<A, i::Srli, LINK>,
        (O::Andi, _) => both::<A, i::Andi, LINK>,
        (O::And, _) => both::<A, i::And, LINK>,
        (O::Or, _) => both::<A, i::Or, LINK>,
        (O::Xor, _) => both::<A, i::Xor, LINK>,
        (O::Addiw, _) => both::<A, i::Addiw, LINK>,
        (O::Addw, _) => both::<A, i::Addw, LINK>,
        (O::Constant, _) => both::<A, i::Constant, LINK>,
        (O::Slliw, _) => both::<A, i::Slliw, LINK>,
        (O::Srliw, _) => both::<A, i::Srliw, LINK>,
        (O::Beq, false) => and_branch::<A, t::Beq, LINK, false>,
        (O::Beq, true) => and_branch::<A, t::Beq, LINK, true>,
        (O::Bne, false) => and_branch::<A, t::Bne, LINK, false>,
        (O::Bne, true) => and_branch::<A, t::Bne, LINK, true>,
        (O::Blt, false) => and_branch::<A, t::Blt, LINK, false>,
        (O::Blt, true) => and_branch::<A, t::Blt, LINK, true>,
        (O::Bge, false) => and_branch::<A, t::Bge, LINK, false>,
        (O::Bge, true) => and_branch::<A, t::Bge, LINK, true>,
        (O::Bltu, false) => and_branch::<A, t::Bltu, LINK, false>,
        (O::Bltu, true) => and_branch::<A, t::Bltu, LINK, true>,
        (O::Bgeu, false) => and_branch::<A, t::Bgeu, LINK, false>,
        (O::Bgeu, true) => and_branch::<A, t::Bgeu, LINK, true>,
        _ => return None,
    })
}

/// Returns the operands of the second instruction; the first one computed `result`.
#[inline(always)]
fn operands<const LINK: u8>(core: &Core, second: &Record, result: u64) -> [u64; 2] {
    let register = |number: u8| core.x[usize::from(number)];
    match LINK {
        FIRST => [result, register(second.rs2)],
        SECOND => [register(second.rs1), result],
        _ => [register(second.rs1), register(second.rs2)],
    }
}

/// Begins a pair in a step of two: executes the first instruction, unless one of them has
/// to wait. Names the second one, the records from it on, what the
/// first one computed, and what stands behind the pair.
macro_rules! begin_pair {
    (
        let ($second:ident, $rest:ident, $result:ident, $behind:pat) =
            $first:ident($core:ident, $records:ident, $now:ident, $below:ident)
    ) => {
        let [first, $second, $behind, ..] = $records else {
            return super::lost($core, $now);
        };
        if (first.uses | $second.uses) & $core.pipeline.pending != 0 {
            return waiting::<$first>($core, $records, $now, $below);
        }
        let $result = $first::execute($core, first);
        let $rest = &$records[1..];
    };
}

/// Begins a pair of which at least one instruction has to wait: waits for the first one,
/// or executes it and waits for the second one.
#[inline(never)]
fn waiting<A: Arithmetic>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let [first, ..] = records else {
        return super::lost(core, now);
    };
    if first.uses & core.pipeline.pending != 0 {
        return super::stalled(core, records, now, below);
    }
    A::execute(core, first);
    super::stalled(core, &records[1..], now + 1, below)
}

/// Executes two operations of one cycle.
fn both<A: Arithmetic, B: Arithmetic, const LINK: u8>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    begin_pair!(let (second, rest, result, next) = A(core, records, now, below));
    let [a, b] = operands::<LINK>(core, second, result);
    core.x[usize::from(second.rd)] = B::of(a, b, second.immediate);
    (next.step)(core, &rest[1..], now + 2, below)
}

/// Executes an operation of one cycle and the branch behind it, which is `UNSURE` if it is
/// often predicted wrongly.
fn and_branch<A: Arithmetic, C: Condition, const LINK: u8, const UNSURE: bool>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    begin_pair!(let (second, rest, result, _) = A(core, records, now, below));
    let [a, b] = operands::<LINK>(core, second, result);
    t::go_by::<true, UNSURE>(core, C::holds(a, b), rest, now + 2, below)
}

/// Executes an operation of one cycle and the load behind it; `USER` is who needs what
/// that brings.
fn and_load<A: Arithmetic, L: Load, const LINK: u8, const USER: u8>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    begin_pair!(let (second, rest, result, _) = A(core, records, now, below));
    let [base, _] = operands::<LINK>(core, second, result);
    L::load::<true, USER>(core, rest, now + 2, below, base)
}

/// Executes an operation of one cycle and the direct jump behind it, which is a `CALL` if
/// it writes a link register.
fn and_jump<A: Arithmetic, const CALL: bool>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let [first, ..] = records else {
        return super::lost(core, now);
    };
    if first.uses & core.pipeline.pending != 0 {
        return super::stalled(core, records, now, below);
    }
    A::execute(core, first);
    t::jal::<true, CALL>(core, &records[1..], now + 1, below)
}
