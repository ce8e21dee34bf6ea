//! Records that keep time for a core with a scoreboard: one stands before each instruction, and
//! sees what that is about to read.

use crate::float::FloatForm;
use crate::instruction::{Instruction, Operation};
use crate::predictor::Transfer;
use crate::record::{Below, Core, How, Record, Step};
use crate::scoreboard::{Sources, VectorIssue, class_of, result_of};
use crate::vector::{CONFIGURES, kind_of};

/// Returns the record that keeps time for `record`, which executes `instruction`.
pub(crate) fn clock_of(instruction: &Instruction, record: &Record) -> Record {
    use Operation as O;
    let configures = kind_of(instruction.immediate as u32) == CONFIGURES;
    let (step, bytes): (Step, u8) = match instruction.operation {
        O::Lb | O::Lbu => (load, 1),
        O::Lh | O::Lhu | O::Flh => (load, 2),
        O::Lw | O::Lwu | O::Flw => (load, 4),
        O::Ld | O::Fld => (load, 8),
        O::Sb => (store, 1),
        O::Sh | O::Fsh => (store, 2),
        O::Sw | O::Fsw => (store, 4),
        O::Sd | O::Fsd => (store, 8),
        O::LrW | O::ScW | O::AmoW => (atomic, 4),
        O::LrD | O::ScD | O::AmoD => (atomic, 8),
        O::Beq | O::Bne | O::Blt | O::Bge | O::Bltu | O::Bgeu => (branch, 0),
        O::Jal | O::Jalr => (jump, 0),
        O::Vector if !configures => (vector, 0),
        _ => (plain, 0),
    };
    Record {
        step,
        immediate: match instruction.operation {
            O::Vector | O::Jal | O::Jalr => instruction.immediate as u64,
            _ => record.immediate,
        },
        uses: sources_of(instruction).pack(),
        rd: result_of(instruction),
        rs2: match instruction.operation {
            _ if bytes > 0 => bytes,
            _ => instruction.rs2,
        },
        extra: class_of(instruction) as u16,
        ..*record
    }
}

/// Returns the registers that an instruction reads, numbered as in `Instruction::uses`: one in each
/// byte, of which the last ones are 0.
fn sources_of(instruction: &Instruction) -> Sources {
    let mut bits = bits_of_sources(instruction);
    let mut sources = Sources::default();
    for source in &mut sources.0 {
        // None are 64 zeros.
        *source = bits.trailing_zeros() as u8 & 63;
        bits &= bits.wrapping_sub(1);
    }
    sources
}

/// Returns the registers that an instruction reads, as in `Instruction::uses`: three at most.
fn bits_of_sources(instruction: &Instruction) -> u64 {
    use Operation as O;
    let Instruction {
        operation,
        rs1,
        rs2,
        extra,
        immediate,
        ..
    } = *instruction;
    let result = result_of(instruction);
    // The floating-point unit is none that is waited for.
    let uses = instruction.uses & !1;
    let is_float = result >= 32;
    let reads_same_file = match operation {
        O::Flh | O::Flw | O::Fld => false,
        O::Float | O::Half => FloatForm::unpack(extra).reads_float() == is_float,
        O::Vector => !is_float && immediate >> 12 & 7 == 7,
        _ => true,
    };
    let mut sources = vec![rs1, rs2];
    if matches!(operation, O::Fused | O::HalfFused) {
        sources.push(immediate as u8);
    }
    if reads_same_file && sources.contains(&(result & 31)) {
        uses
    } else {
        uses & !(1 << (result & 63))
    }
}

/// Takes the records apart, and the scoreboard out of the core.
macro_rules! timed {
    ($core:ident, $records:ident, $now:ident, |$record:ident, $board:ident, $pc:ident| $behind:expr, $below:ident) => {{
        let [$record, next, ..] = $records else {
            return super::lost($core, $now);
        };
        let $pc = $core.pc_of($record);
        let Some($board) = $core.scoreboard.as_deref_mut() else {
            return super::lost($core, $now);
        };
        let behind = $behind;
        (next.step)($core, &$records[1..], behind, $below)
    }};
}

fn plain(core: &mut Core, records: &[Record], now: u64, below: &mut Below<'_>) -> How {
    timed!(
        core,
        records,
        now,
        |record, board, pc| {
            let begun = board.issue(
                Sources::unpack(record.uses),
                record.extra,
                record.rd,
                now,
                pc,
            );
            board.behind(begun)
        },
        below
    )
}

fn load(core: &mut Core, records: &[Record], now: u64, below: &mut Below<'_>) -> How {
    timed!(
        core,
        records,
        now,
        |record, board, pc| {
            let address = core.x[usize::from(record.rs1)].wrapping_add(record.immediate);
            let begun = board.issue(
                Sources::unpack(record.uses),
                record.extra,
                record.rd,
                now,
                pc,
            );
            board.load(address, record.rs2.into(), record.rd, begun);
            board.behind(begun)
        },
        below
    )
}

fn store(core: &mut Core, records: &[Record], now: u64, below: &mut Below<'_>) -> How {
    timed!(
        core,
        records,
        now,
        |record, board, pc| {
            let address = core.x[usize::from(record.rs1)].wrapping_add(record.immediate);
            let begun = board.issue(Sources::unpack(record.uses), record.extra, 0, now, pc);
            board.store(address, record.rs2.into(), begun, pc)
        },
        below
    )
}

fn atomic(core: &mut Core, records: &[Record], now: u64, below: &mut Below<'_>) -> How {
    timed!(
        core,
        records,
        now,
        |record, board, pc| {
            let address = core.x[usize::from(record.rs1)];
            let begun = board.issue(
                Sources::unpack(record.uses),
                record.extra,
                record.rd,
                now,
                pc,
            );
            board.load(address, record.rs2.into(), record.rd, begun);
            board.store(address, record.rs2.into(), begun, pc)
        },
        below
    )
}

fn branch(core: &mut Core, records: &[Record], now: u64, below: &mut Below<'_>) -> How {
    timed!(
        core,
        records,
        now,
        |record, board, pc| {
            use Operation as O;
            let a = core.x[usize::from(record.rs1)];
            let b = core.x[usize::from(record.rs2)];
            let taken = match record.operation {
                O::Beq => a == b,
                O::Bne => a != b,
                O::Blt => (a as i64) < b as i64,
                O::Bge => a as i64 >= b as i64,
                O::Bltu => a < b,
                _ => a >= b,
            };
            let begun = board.issue(Sources::unpack(record.uses), record.extra, 0, now, pc);
            board.branch(taken, begun, pc)
        },
        below
    )
}

fn jump(core: &mut Core, records: &[Record], now: u64, below: &mut Below<'_>) -> How {
    timed!(
        core,
        records,
        now,
        |record, board, pc| {
            // The register that takes results for `x0` is no link.
            let kind = Transfer::of(record.operation, record.rd, record.rs1);
            let target = match record.operation {
                Operation::Jalr => {
                    core.x[usize::from(record.rs1)].wrapping_add(record.immediate) & !1
                }
                _ => record.immediate,
            };
            let begun = board.issue(
                Sources::unpack(record.uses),
                record.extra,
                record.rd,
                now,
                pc,
            );
            board.jump(kind.unwrap_or(Transfer::Jump), target, begun, pc)
        },
        below
    )
}

#[inline(never)]
fn vector(core: &mut Core, records: &[Record], now: u64, below: &mut Below<'_>) -> How {
    timed!(
        core,
        records,
        now,
        |record, board, pc| {
            let issue = VectorIssue {
                bits: record.immediate as u32,
                base: core.x[usize::from(record.rs1)],
                stride: core.x[usize::from(record.rs2)],
                pc,
            };
            // Without a unit the instruction is illegal.
            match core.vector.as_deref() {
                Some(unit) => {
                    board.vector(Sources::unpack(record.uses), issue, record.rd, unit, now)
                }
                None => now,
            }
        },
        below
    )
}

/// Waits until the line of the instruction of the first record has been fetched.
pub(crate) fn fetch(core: &mut Core, records: &[Record], now: u64, below: &mut Below<'_>) -> How {
    timed!(
        core,
        records,
        now,
        |record, board, pc| board.fetch(pc, now),
        below
    )
}
