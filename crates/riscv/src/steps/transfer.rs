//! Branches and jumps, and how blocks begin and end.

use super::begin_last;
use crate::memory::Memory;
use crate::predictor::Transfer;
use crate::record::{Below, Core, Ending, Entry, How, Record};

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
    memory: &mut Memory,
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
            return super::fetch_line(core, memory, records, now, below);
        }
    }
    (next.step)(core, memory, &records[1..], now, below)
}

macro_rules! branches {
    ($($name:ident, $upper:ident: |$a:ident, $b:ident| $taken:expr;)*) => {$(
        pub fn $name<const TIMED: bool>(
            core: &mut Core,
            memory: &mut Memory,
            records: &[Record],
            now: u64,
            below: &mut Below<'_>,
        ) -> How {
            let (record, now) = begin_last!(core, memory, records, now, below);
            let $a = core.x[usize::from(record.rs1)];
            let $b = core.x[usize::from(record.rs2)];
            if $taken {
                branch::<TIMED, true>(core, memory, records, now, below)
            } else {
                branch::<TIMED, false>(core, memory, records, now, below)
            }
        }

        /// The same alone in the upper half of a fetch group.
        pub fn $upper(
            core: &mut Core,
            memory: &mut Memory,
            records: &[Record],
            now: u64,
            below: &mut Below<'_>,
        ) -> How {
            const TIMED: bool = true;
            let (record, now) = begin_last!(core, memory, records, now, below);
            let $a = core.x[usize::from(record.rs1)];
            let $b = core.x[usize::from(record.rs2)];
            if $taken {
                unforeseen_branch::<true>(core, memory, records, now, below)
            } else {
                unforeseen_branch::<false>(core, memory, records, now, below)
            }
        }
    )*};
}

branches! {
    beq, upper_beq: |a, b| a == b;
    bne, upper_bne: |a, b| a != b;
    blt, upper_blt: |a, b| (a as i64) < b as i64;
    bge, upper_bge: |a, b| a as i64 >= b as i64;
    bltu, upper_bltu: |a, b| a < b;
    bgeu, upper_bgeu: |a, b| a >= b;
}

/// Ends a block by a branch that issued at `now`.
#[inline(never)]
fn branch<const TIMED: bool, const TAKEN: bool>(
    core: &mut Core,
    memory: &mut Memory,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let (record, ending) = ended!(core, records, now);
    let next = ending.targets[usize::from(TAKEN)];
    if TIMED && !core.pipeline.foreseen_branch(now, &ending, next, TAKEN) {
        return mistaken_branch::<TAKEN>(core, memory, records, now, below);
    }
    let link = record.links()[usize::from(TAKEN)];
    follow_foreseen::<TIMED, TAKEN>(core, memory, next, link, now, below)
}

/// The same for one that was looked up and is not surely predicted right.
#[inline(never)]
fn mistaken_branch<const TAKEN: bool>(
    core: &mut Core,
    memory: &mut Memory,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let (record, ending) = ended!(core, records, now);
    let next = ending.targets[usize::from(TAKEN)];
    if !core.pipeline.mistaken_branch(now, &ending, next, TAKEN) {
        return unforeseen_branch::<TAKEN>(core, memory, records, now, below);
    }
    let link = record.links()[usize::from(TAKEN)];
    follow_at_once::<true, false, true>(core, memory, next, link, now, below)
}

/// The same for one of which nothing is known.
#[inline(never)]
fn unforeseen_branch<const TAKEN: bool>(
    core: &mut Core,
    memory: &mut Memory,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let (record, ending) = ended!(core, records, now);
    let next = ending.targets[usize::from(TAKEN)];
    core.pipeline.branch(now, &ending, next, TAKEN);
    let link = record.links()[usize::from(TAKEN)];
    follow(core, memory, next, link, now, below)
}

/// Goes on with the block at `next`, which starts at `link` if that is not 0.
#[inline(always)]
fn follow(
    core: &mut Core,
    memory: &mut Memory,
    next: u64,
    link: u32,
    now: u64,
    below: &mut Below<'_>,
) -> How {
    if let Some(records) = below.code.get(link as usize..)
        && let Some(first) = records.first()
    {
        core.pc = next;
        return (first.step)(core, memory, records, now, below);
    }
    super::lost(core, now)
}

/// The same behind a branch or jump that the fetch unit foresaw.
#[inline(always)]
fn follow_foreseen<const TIMED: bool, const TAKEN: bool>(
    core: &mut Core,
    memory: &mut Memory,
    next: u64,
    link: u32,
    now: u64,
    below: &mut Below<'_>,
) -> How {
    follow_at_once::<TIMED, TAKEN, false>(core, memory, next, link, now, below)
}

/// The same behind a branch or jump that was `FORESEEN_TAKEN`, behind one that the next
/// block waits for, as it was `MISTAKEN`, or behind a branch that was foreseen not to be
/// taken.
#[inline(always)]
fn follow_at_once<const TIMED: bool, const FORESEEN_TAKEN: bool, const MISTAKEN: bool>(
    core: &mut Core,
    memory: &mut Memory,
    next: u64,
    link: u32,
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let Some(records) = below.code.get(link as usize..) else {
        return super::lost(core, now);
    };
    let [first, second, ..] = records else {
        return super::lost(core, now);
    };
    // What `enter` does: if the fetch unit was right, there is nothing to wait for but
    // the second group.
    let entry = Entry(first.index);
    let plain = TIMED
        && entry.is_in_one_line()
        && core.instructions < core.pause_at
        && now < below.last_cycle
        && core.pipeline.goes_on_to(next);
    if !plain {
        core.pc = next;
        if TIMED && FORESEEN_TAKEN {
            core.pipeline.taken_at(now);
        }
        return (first.step)(core, memory, records, now, below);
    }
    core.instructions += u64::from(first.extra);
    core.start = next;
    let mut now = now;
    if MISTAKEN {
        now = core.pipeline.enter(now, entry.is_split());
    } else if FORESEEN_TAKEN && entry.is_split() {
        core.pipeline.taken_at(now);
        now = core.pipeline.enter(now, true);
    }
    (second.step)(core, memory, &records[1..], now, below)
}

/// Stands at the beginning of all code: leaves for a block whose place is not
/// known yet.
pub fn unlinked(core: &mut Core, _: &mut Memory, _: &[Record], now: u64, _: &mut Below<'_>) -> How {
    core.leave(now, How::Unlinked)
}

/// A direct jump, which is a `CALL` if it writes a link register.
pub fn jal<const TIMED: bool, const CALL: bool>(
    core: &mut Core,
    memory: &mut Memory,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let (_, now) = begin_last!(core, memory, records, now, below);
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
            return unforeseen_jal(core, memory, records, now, below);
        }
    }
    follow_foreseen::<TIMED, true>(core, memory, target, record.links()[1], now, below)
}

/// The same for one alone in the upper half of a fetch group.
pub fn upper_jal(
    core: &mut Core,
    memory: &mut Memory,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    const TIMED: bool = true;
    let (_, now) = begin_last!(core, memory, records, now, below);
    let (record, ending) = ended!(core, records, now);
    let [after, _] = ending.targets;
    core.x[usize::from(record.rd)] = after;
    unforeseen_jal(core, memory, records, now, below)
}

/// The same for one that was not foreseen.
#[inline(never)]
fn unforeseen_jal(
    core: &mut Core,
    memory: &mut Memory,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let (record, ending) = ended!(core, records, now);
    let target = ending.targets[1];
    let transfer = Transfer::direct(record.rd);
    core.pipeline.jump(now, &ending, target, transfer);
    follow(core, memory, target, record.links()[1], now, below)
}

macro_rules! indirect {
    ($($name:ident, $unforeseen:ident: $transfer:expr;)*) => {$(
        pub fn $name<const TIMED: bool>(
            core: &mut Core,
            memory: &mut Memory,
            records: &[Record],
            now: u64,
            below: &mut Below<'_>,
        ) -> How {
            let (_, now) = begin_last!(core, memory, records, now, below);
            let (record, ending) = ended!(core, records, now);
            let base = core.x[usize::from(record.rs1)];
            let target = base.wrapping_add(record.immediate) & !1;
            if TIMED && !core.pipeline.foreseen_any_jump(now, &ending, target, $transfer) {
                return $unforeseen(core, memory, records, now, below);
            }
            link::<TIMED>(core, record, &ending, now, $transfer);
            let place = core.jumps.find(target);
            follow_foreseen::<TIMED, true>(core, memory, target, place, now, below)
        }

        /// The same for one that was not foreseen.
        #[inline(never)]
        fn $unforeseen(
            core: &mut Core,
            memory: &mut Memory,
            records: &[Record],
            now: u64,
            below: &mut Below<'_>,
        ) -> How {
            let (record, ending) = ended!(core, records, now);
            let base = core.x[usize::from(record.rs1)];
            let target = base.wrapping_add(record.immediate) & !1;
            core.pipeline.jump(now, &ending, target, $transfer);
            link::<true>(core, record, &ending, now, $transfer);
            let place = core.jumps.find(target);
            follow(core, memory, target, place, now, below)
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
pub fn go_on(
    core: &mut Core,
    memory: &mut Memory,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let (record, ending) = ended!(core, records, now);
    let next = ending.targets[1];
    follow(core, memory, next, record.links()[1], now, below)
}
