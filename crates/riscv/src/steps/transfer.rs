//! Branches and jumps, and how blocks begin and end.

use super::begin_last;
use crate::predictor::Transfer;
use crate::record::{Below, Core, Ending, Entry, How, Link, Record};

/// The last instruction of a block and what the record behind it tells.
macro_rules! ended {
    ($core:ident, $records:ident, $now:ident) => {{
        let [record, ending, ..] = $records else {
            return crate::steps::lost($core, $now);
        };
        (record, Ending::of(record, ending))
    }};
}

/// Begins a block: its first record.
pub fn enter<const TIMED: bool>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let [record, next, ..] = records else {
        return super::lost(core, now);
    };
    let pc = record.immediate;
    if core.instructions >= core.pause_at || TIMED && now >= below.last_cycle {
        core.pc = pc;
        return core.leave(now, How::Pause);
    }
    core.instructions += u64::from(record.extra);
    core.start = pc;
    let mut now = now;
    if TIMED {
        now = core.pipeline.enter(now, Entry(record.index).is_split());
        if !core.pipeline.is_on_line(pc) {
            return super::fetch_first_line(core, records, now, below);
        }
    }
    (next.step)(core, &records[1..], now, below)
}

/// What a branch asks.
pub(super) trait Condition {
    /// Returns whether it is taken, by the registers it reads.
    fn holds(a: u64, b: u64) -> bool;
}

macro_rules! branches {
    ($($name:ident, $upper:ident, $condition:ident: |$a:ident, $b:ident| $taken:expr;)*) => {$(
        pub(super) struct $condition;

        impl Condition for $condition {
            #[inline(always)]
            fn holds($a: u64, $b: u64) -> bool {
                $taken
            }
        }

        /// `UNSURE` if it is often predicted wrongly.
        #[inline(always)]
        pub fn $name<const TIMED: bool, const UNSURE: bool>(
            core: &mut Core,
            records: &[Record],
            now: u64,
            below: &mut Below<'_>,
        ) -> How {
            let (record, now) = begin_last!(core, records, now, below);
            let a = core.x[usize::from(record.rs1)];
            let b = core.x[usize::from(record.rs2)];
            go_by::<TIMED, UNSURE>(core, $condition::holds(a, b), records, now, below)
        }

        /// The same alone in the upper half of a fetch group.
        pub fn $upper(
            core: &mut Core,
            records: &[Record],
            now: u64,
            below: &mut Below<'_>,
        ) -> How {
            const TIMED: bool = true;
            let (record, now) = begin_last!(core, records, now, below);
            let a = core.x[usize::from(record.rs1)];
            let b = core.x[usize::from(record.rs2)];
            if $condition::holds(a, b) {
                unforeseen_branch::<true, true>(core, records, now, below)
            } else {
                unforeseen_branch::<false, true>(core, records, now, below)
            }
        }
    )*};
}

branches! {
    beq, upper_beq, Beq: |a, b| a == b;
    bne, upper_bne, Bne: |a, b| a != b;
    blt, upper_blt, Blt: |a, b| (a as i64) < b as i64;
    bge, upper_bge, Bge: |a, b| a as i64 >= b as i64;
    bltu, upper_bltu, Bltu: |a, b| a < b;
    bgeu, upper_bgeu, Bgeu: |a, b| a >= b;
}

/// Ends a block by a branch that issued at `now` and is `taken` or not.
#[inline(always)]
pub(super) fn go_by<const TIMED: bool, const UNSURE: bool>(
    core: &mut Core,
    taken: bool,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    match (taken, UNSURE) {
        (true, true) => unsure_branch::<true>(core, records, now, below),
        (false, true) => unsure_branch::<false>(core, records, now, below),
        (true, false) => branch::<TIMED, true>(core, records, now, below),
        (false, false) => branch::<TIMED, false>(core, records, now, below),
    }
}

/// Ends a block by a branch that issued at `now`.
#[inline(never)]
fn branch<const TIMED: bool, const TAKEN: bool>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let (record, ending) = ended!(core, records, now);
    let next = ending.targets[usize::from(TAKEN)];
    if TIMED && !core.pipeline.foreseen_branch(now, &ending, next, TAKEN) {
        return mistaken_branch::<TAKEN>(core, records, now, below);
    }
    let link = record.links()[usize::from(TAKEN)];
    follow_foreseen::<TIMED, TAKEN>(core, next, link, now, below)
}

/// The same for one that was looked up and is not surely predicted right.
#[inline(never)]
fn mistaken_branch<const TAKEN: bool>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let (record, ending) = ended!(core, records, now);
    let next = ending.targets[usize::from(TAKEN)];
    if !core.pipeline.mistaken_branch(now, &ending, next, TAKEN) {
        return unforeseen_branch::<TAKEN, false>(core, records, now, below);
    }
    let last_half = ending.targets[0] - 2;
    if core.doubts.are_raised(last_half, core.instructions) {
        core.pc = next;
        return core.leave(now, How::Doubted);
    }
    let link = record.links()[usize::from(TAKEN)];
    follow(core, next, link, now, below)
}

/// The same for one that is often predicted wrongly: what hangs on that the host could
/// not foresee either.
#[inline(never)]
fn unsure_branch<const TAKEN: bool>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let (record, ending) = ended!(core, records, now);
    let next = ending.targets[usize::from(TAKEN)];
    if !core.pipeline.weigh_branch(now, &ending, next, TAKEN) {
        return branch::<true, TAKEN>(core, records, now, below);
    }
    let link = record.links()[usize::from(TAKEN)];
    let Some(records) = below.code.get(link.place()..) else {
        return super::lost(core, now);
    };
    let [first, second, ..] = records else {
        return super::lost(core, now);
    };
    if !begins_at_once(core, first, next, link, now, below) {
        core.pc = next;
        if TAKEN {
            core.pipeline.taken_at(now);
        }
        return (first.step)(core, records, now, below);
    }
    let split = !link.is_near() && Entry(first.index).is_split();
    if TAKEN && split {
        // What is said there holds behind a wrong prediction too: that takes longer.
        core.pipeline.taken_at(now);
    }
    let now = core.pipeline.enter_unsure(now, split);
    (second.step)(core, &records[1..], now, below)
}

/// The same for one of which nothing is known but whether it stands alone in the `UPPER`
/// half of a fetch group.
#[inline(never)]
fn unforeseen_branch<const TAKEN: bool, const UPPER: bool>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let (record, ending) = ended!(core, records, now);
    let next = ending.targets[usize::from(TAKEN)];
    let ending = ending.in_upper_half(UPPER);
    core.pipeline.branch(now, &ending, next, TAKEN);
    let link = record.links()[usize::from(TAKEN)];
    follow(core, next, link, now, below)
}

/// Goes on with the block at `next`, which starts at `link` if that is known, behind a
/// branch or jump that the fetch unit foresaw.
#[inline(always)]
fn follow_foreseen<const TIMED: bool, const TAKEN: bool>(
    core: &mut Core,
    next: u64,
    link: Link,
    now: u64,
    below: &mut Below<'_>,
) -> How {
    follow_at_once::<TIMED, TAKEN, false>(core, next, link, now, below)
}

/// The same where the block may have to wait until it has been fetched.
#[inline(always)]
fn follow(core: &mut Core, next: u64, link: Link, now: u64, below: &mut Below<'_>) -> How {
    follow_at_once::<true, false, true>(core, next, link, now, below)
}

/// The same behind a branch or jump that was `FORESEEN_TAKEN`, behind anything that the
/// next block may wait for, as it was `UNFORESEEN`, or behind a branch that was foreseen
/// not to be taken.
#[inline(always)]
fn follow_at_once<const TIMED: bool, const FORESEEN_TAKEN: bool, const UNFORESEEN: bool>(
    core: &mut Core,
    next: u64,
    link: Link,
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let Some(records) = below.code.get(link.place()..) else {
        return super::lost(core, now);
    };
    let [first, second, ..] = records else {
        return super::lost(core, now);
    };
    if !TIMED || !begins_at_once(core, first, next, link, now, below) {
        core.pc = next;
        if TIMED && FORESEEN_TAKEN {
            core.pipeline.taken_at(now);
        }
        return (first.step)(core, records, now, below);
    }
    // If the fetch unit was right, there is nothing to wait for but the second group.
    let split = !link.is_near() && Entry(first.index).is_split();
    let mut now = now;
    if UNFORESEEN {
        now = core.pipeline.enter(now, split);
    } else if FORESEEN_TAKEN && split {
        core.pipeline.taken_at(now);
        now = core.pipeline.enter(now, true);
    }
    (second.step)(core, &records[1..], now, below)
}

/// Does what `enter` does but for its waiting, if the first record of a block says that
/// it is no more; returns whether it is.
#[inline(always)]
fn begins_at_once(
    core: &mut Core,
    first: &Record,
    next: u64,
    link: Link,
    now: u64,
    below: &Below<'_>,
) -> bool {
    let plain = core.instructions < core.pause_at
        && now < below.last_cycle
        && (link.is_near()
            || Entry(first.index).is_in_one_line() && core.pipeline.goes_on_to(next));
    if plain {
        core.instructions += u64::from(first.extra);
        core.start = next;
    }
    plain
}

/// Stands at the beginning of all code: leaves for a block whose place is not
/// known yet.
pub fn unlinked(core: &mut Core, _: &[Record], now: u64, _: &mut Below<'_>) -> How {
    core.leave(now, How::Unlinked)
}

/// A direct jump, which is a `CALL` if it writes a link register.
pub fn jal<const TIMED: bool, const CALL: bool>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let (_, now) = begin_last!(core, records, now, below);
    let (record, ending) = ended!(core, records, now);
    let [after, target] = ending.targets;
    core.x[usize::from(record.rd)] = after;
    if TIMED {
        let pipeline = &mut core.pipeline;
        let foreseen = if CALL {
            pipeline.foreseen_any_jump(now, &ending, target, Transfer::Call)
        } else {
            pipeline.foreseen_jump(now, &ending, target)
        };
        if !foreseen {
            return unforeseen_jal::<CALL, false>(core, records, now, below);
        }
    }
    follow_foreseen::<TIMED, true>(core, target, record.links()[1], now, below)
}

/// The same for one alone in the upper half of a fetch group.
pub fn upper_jal(core: &mut Core, records: &[Record], now: u64, below: &mut Below<'_>) -> How {
    const TIMED: bool = true;
    let (_, now) = begin_last!(core, records, now, below);
    let (record, ending) = ended!(core, records, now);
    let [after, _] = ending.targets;
    core.x[usize::from(record.rd)] = after;
    match Transfer::direct(record.rd) {
        Transfer::Call => unforeseen_jal::<true, true>(core, records, now, below),
        _ => unforeseen_jal::<false, true>(core, records, now, below),
    }
}

/// The same for one that was not foreseen and stands alone in the `UPPER` half of a fetch
/// group or not.
#[inline(never)]
fn unforeseen_jal<const CALL: bool, const UPPER: bool>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let (record, ending) = ended!(core, records, now);
    let ending = ending.in_upper_half(UPPER);
    let target = ending.targets[1];
    let transfer = if CALL { Transfer::Call } else { Transfer::Jump };
    core.pipeline.jump(now, &ending, target, transfer);
    follow(core, target, record.links()[1], now, below)
}

macro_rules! indirect {
    ($($name:ident, $unforeseen:ident: $transfer:expr;)*) => {$(
        pub fn $name<const TIMED: bool>(
            core: &mut Core,
            records: &[Record],
            now: u64,
            below: &mut Below<'_>,
        ) -> How {
            let (_, now) = begin_last!(core, records, now, below);
            let (record, ending) = ended!(core, records, now);
            let base = core.x[usize::from(record.rs1)];
            let target = base.wrapping_add(record.immediate) & !1;
            if TIMED && ending.is_upper() {
                return $unforeseen::<true>(core, records, now, below);
            }
            if TIMED && !core.pipeline.foreseen_any_jump(now, &ending, target, $transfer) {
                return $unforeseen::<false>(core, records, now, below);
            }
            link::<TIMED>(core, record, &ending, now, $transfer);
            let place = Link::to(core.jumps.find(target), false);
            follow_foreseen::<TIMED, true>(core, target, place, now, below)
        }

        /// The same for one that was not foreseen and stands alone in the `UPPER` half of
        /// a fetch group or not.
        #[inline(never)]
        fn $unforeseen<const UPPER: bool>(
            core: &mut Core,
            records: &[Record],
            now: u64,
            below: &mut Below<'_>,
        ) -> How {
            let (record, ending) = ended!(core, records, now);
            let ending = ending.in_upper_half(UPPER);
            let base = core.x[usize::from(record.rs1)];
            let target = base.wrapping_add(record.immediate) & !1;
            core.pipeline.jump(now, &ending, target, $transfer);
            link::<true>(core, record, &ending, now, $transfer);
            let place = Link::to(core.jumps.find(target), false);
            follow(core, target, place, now, below)
        }
    )*};
}

indirect! {
    jump_indirect, unforeseen_indirect: Transfer::Indirect;
    call_indirect, unforeseen_indirect_call: Transfer::IndirectCall;
    return_indirect, unforeseen_return: Transfer::Return;
}

/// Writes where an indirect jump that issued at `now` came from.
#[inline(always)]
fn link<const TIMED: bool>(
    core: &mut Core,
    record: &Record,
    ending: &Ending,
    now: u64,
    transfer: Transfer,
) {
    core.x[usize::from(record.rd)] = ending.targets[0];
    if TIMED && transfer == Transfer::IndirectCall {
        let ready = now + core.pipeline.config.indirect_link_latency;
        core.pipeline.produce(record.rd.into(), ready);
    }
}

/// Goes on in the block behind this one, which is no instruction.
pub fn go_on<const TIMED: bool>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let (record, ending) = ended!(core, records, now);
    let next = ending.targets[1];
    follow_at_once::<TIMED, false, true>(core, next, record.links()[1], now, below)
}
