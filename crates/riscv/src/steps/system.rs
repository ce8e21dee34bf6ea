//! Custom and system instructions, and what cannot be executed.

use super::{begin, begin_last};
use crate::coprocessor::{Coprocessor, RoccCommand};
use crate::csr::{Counters, number};
use crate::hart::Exit;
use crate::instruction::DISCARD;
use crate::pipeline::WRITE_BACK;
use crate::record::{Below, Core, How, Record, Surroundings};
use crate::scoreboard::PARTS;
use crate::trap::Trap;

/// Bit of a custom instruction's `Record::extra`: it has a destination register.
const CUSTOM_REPLIES: u16 = 1 << 4;

pub fn custom<const TIMED: bool>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let (record, next, now) = begin!(core, records, now, below);
    match command::<TIMED>(core, record, now, below.coprocessor) {
        Some(taken) if TIMED && taken > now => taken_late(core, records, now, taken, below),
        Some(_) => (next.step)(core, &records[1..], now, below),
        None => core.leave(now, How::Trap),
    }
}

/// Goes on behind a command that was refused at `now` and `taken` later.
#[inline(never)]
fn taken_late(
    core: &mut Core,
    records: &[Record],
    now: u64,
    taken: u64,
    below: &mut Below<'_>,
) -> How {
    let [_, next, ..] = records else {
        return super::lost(core, now);
    };
    core.pipeline.statistics.accelerator_wait_cycles += taken - now;
    super::replayed(core, records, now);
    (next.step)(core, &records[1..], taken, below)
}

/// Gives a command to the accelerator; returns when it has been taken, nothing
/// if it raised an exception. Apart from the step, which goes on by a jump
/// only if nothing of its own lies in memory.
#[inline(never)]
fn command<const TIMED: bool>(
    core: &mut Core,
    record: &Record,
    now: u64,
    coprocessor: &mut dyn Coprocessor,
) -> Option<u64> {
    let pc = core.pc_of(record);
    if !core.csr.accelerator_on() {
        let why = "the accelerator is switched off in mstatus.XS";
        core.refuse(record, now, why);
        return None;
    }
    let cycle = if TIMED { now + WRITE_BACK } else { 0 };
    // Operands that it has not are decoded as register 0.
    let command = RoccCommand {
        custom: (record.extra & 3) as u8,
        funct: record.immediate as u8,
        rs1: core.x[usize::from(record.rs1)],
        rs2: core.x[usize::from(record.rs2)],
        wants_reply: record.extra & CUSTOM_REPLIES != 0,
        pc,
        cycle,
    };
    let reply = match coprocessor.execute(command, &mut core.memory) {
        Ok(reply) => reply,
        Err(fault) => {
            let trap = Trap {
                handled: None,
                fault: Box::new(fault),
            };
            core.raise(trap, record, now);
            return None;
        }
    };
    core.x[usize::from(record.rd)] = reply.value;
    if !TIMED {
        return Some(now);
    }
    let issued = if reply.accepted > cycle {
        reply.accepted - WRITE_BACK
    } else {
        now
    };
    core.pipeline.custom(issued);
    core.pipeline.share_lines(reply.shares_lines);
    if record.extra & CUSTOM_REPLIES != 0 {
        core.pipeline.produce_integer(record.rd, reply.value_ready);
    }
    Some(issued)
}

pub fn fence<const TIMED: bool>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let (record, mut now) = begin_last!(core, records, now, below);
    let issued = now;
    let ask = if TIMED { core.pipeline.fence(now) } else { 0 };
    let pc = core.pc_of(record);
    match below.coprocessor.fence(pc, ask, &mut core.memory) {
        Ok(done) => {
            if TIMED {
                core.pipeline.statistics.fence_wait_cycles += done.max(ask) - now;
                now = done.max(ask);
                core.pipeline.take_probes(below.coprocessor);
                let surroundings = Surroundings::of_fence(record);
                now = core.pipeline.hold_behind_fence(issued, now, surroundings);
                core.pipeline.go_on_behind(pc + 4);
            }
            core.leave(now, How::After)
        }
        Err(fault) => {
            let trap = Trap {
                handled: None,
                fault: Box::new(fault),
            };
            core.raise(trap, record, now)
        }
    }
}

pub fn csr<const TIMED: bool>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let (record, mut now) = begin_last!(core, records, now, below);
    let csr = record.immediate as u16;
    if TIMED && number::FLOAT.contains(&csr) {
        now = core.pipeline.wait_for_flags(now);
    }
    let counters = Counters {
        cycle: match (&core.scoreboard, TIMED && !core.hides_time) {
            (Some(_), _) if !core.hides_time => now / PARTS,
            (None, true) => now,
            _ => core.counted_instructions(),
        },
        instret: core.counted_instructions(),
    };
    core.counters_read |= number::COUNTERS.contains(&csr);
    let operand = if record.extra & 4 == 0 {
        core.x[usize::from(record.rs1)]
    } else {
        record.rs1.into()
    };
    let kind = record.extra & 3;
    let writes = kind == 1 || record.rs1 != 0;
    let mut unit = core.vector.as_deref_mut().filter(|_| core.csr.vectors_on());
    let of_vectors = unit.as_mut().and_then(|unit| unit.read_control(csr));
    let old = of_vectors.or_else(|| core.csr.read(csr, counters));
    let restart = match (old, writes) {
        (None, _) => None,
        (Some(_), false) => Some(false),
        (Some(old), true) => {
            let value = match kind {
                1 => operand,
                2 => old | operand,
                _ => old & !operand,
            };
            match unit.filter(|_| of_vectors.is_some()) {
                Some(unit) => unit.write_control(csr, value).then_some(true),
                None => core.csr.write(csr, value, counters),
            }
        }
    };
    let (Some(old), Some(restart)) = (old, restart) else {
        let why = format!("control register {csr:#x} does not exist or is read-only");
        return core.refuse(record, now, &why);
    };
    core.x[usize::from(record.rd)] = old;
    if TIMED && record.rd != DISCARD {
        let ready = now + core.pipeline.config.csr_latency;
        core.pipeline.produce(record.rd.into(), ready);
    }
    let how = if core.stop_on_scratch && writes && csr == number::MSCRATCH {
        core.exit = Some(Exit::Scratch(core.csr.mscratch));
        How::StopAfter
    } else if restart {
        How::Restart
    } else {
        if TIMED {
            core.pipeline.go_on_behind(core.pc_of(record) + 4);
        }
        How::After
    };
    core.leave(now, how)
}

pub fn fence_i<const TIMED: bool>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let (_, now) = begin_last!(core, records, now, below);
    core.leave(now, How::Restart)
}

pub fn wfi<const TIMED: bool>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let (_, now) = begin_last!(core, records, now, below);
    core.leave(now, How::After)
}

pub fn mret<const TIMED: bool>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let (_, now) = begin_last!(core, records, now, below);
    core.pc = core.csr.leave_trap();
    core.leave(now, How::Elsewhere)
}

macro_rules! exceptions {
    ($($name:ident: |$pc:ident, $record:ident| $trap:expr;)*) => {$(
        pub fn $name<const TIMED: bool>(
            core: &mut Core,
            records: &[Record],
            now: u64,
            below: &mut Below<'_>,
        ) -> How {
            let ($record, now) = begin_last!(core, records, now, below);
            let $pc = core.pc_of($record);
            core.raise($trap, $record, now)
        }
    )*};
}

exceptions! {
    ecall: |pc, _record| Trap::environment_call(pc);
    ebreak: |pc, _record| Trap::breakpoint(pc);
    illegal: |pc, record| {
        let bits = record.immediate;
        Trap::illegal(pc, bits, &format!("{bits:#010x} is no RV64GC instruction"))
    };
}
