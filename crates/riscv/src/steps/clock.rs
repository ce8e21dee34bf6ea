//! Records that keep time for a core with a scoreboard: one stands before each instruction, and
//! sees what that is about to read.
//!
//! Before a frequent instruction its step executes that too, which saves the way from step to step.

mod behind;

use super::frequent_steps::{AsRecorded, Behind};
use super::transfer::{self as t, Condition};
use crate::float::FloatForm;
use crate::instruction::{Instruction, Operation};
use crate::predictor::Transfer;
use crate::record::{Below, Core, How, Record, Step};
use crate::scoreboard::{ELEMENTS, NONE, RUN, Sources, VectorIssue, class_of, result_of};
use crate::vector::{CONFIGURES, VectorClass, kind_of};

/// Returns the record that keeps time for `record`, which executes `instruction`.
pub(crate) fn clock_of(instruction: &Instruction, record: &Record) -> Record {
    use Operation as O;
    let sources = sources_of(instruction);
    let bytes = match instruction.operation {
        O::Lb | O::Lbu | O::Sb => 1,
        O::Lh | O::Lhu | O::Flh | O::Sh | O::Fsh => 2,
        O::Lw | O::Lwu | O::Flw | O::Sw | O::Fsw | O::LrW | O::ScW | O::AmoW => 4,
        O::Ld | O::Fld | O::Sd | O::Fsd | O::LrD | O::ScD | O::AmoD => 8,
        _ => 0,
    };
    Record {
        step: step_of(instruction, sources),
        immediate: match instruction.operation {
            O::Vector | O::Jal | O::Jalr => instruction.immediate as u64,
            _ => record.immediate,
        },
        uses: sources.pack(),
        rd: result_of(instruction),
        rs2: match instruction.operation {
            _ if bytes > 0 => bytes,
            _ => instruction.rs2,
        },
        extra: class_of(instruction) as u16,
        ..*record
    }
}

/// Returns the step that keeps time for an instruction which reads these registers.
fn step_of(instruction: &Instruction, sources: Sources) -> Step {
    use Operation as O;
    if let Some(step) = behind::step_with(instruction, sources) {
        return step;
    }
    match instruction.operation {
        O::Lb | O::Lbu | O::Lh | O::Lhu | O::Flh => load::<false, 3, AsRecorded>,
        O::Lw | O::Lwu | O::Flw | O::Ld | O::Fld => load::<false, 3, AsRecorded>,
        O::Sb | O::Sh | O::Fsh | O::Sw | O::Fsw | O::Sd | O::Fsd => store::<false, AsRecorded>,
        O::LrW | O::ScW | O::AmoW | O::LrD | O::ScD | O::AmoD => atomic::<false>,
        O::Beq => branch::<false, t::Beq>,
        O::Bne => branch::<false, t::Bne>,
        O::Blt => branch::<false, t::Blt>,
        O::Bge => branch::<false, t::Bge>,
        O::Bltu => branch::<false, t::Bltu>,
        O::Bgeu => branch::<false, t::Bgeu>,
        O::Jal | O::Jalr => jump::<false>,
        O::Vector => step_of_vector(instruction.immediate as u32),
        _ => plain::<false, 3, AsRecorded>,
    }
}

fn step_of_vector(bits: u32) -> Step {
    if kind_of(bits) == CONFIGURES {
        return plain::<false, 3, AsRecorded>;
    }
    match (VectorClass::of(bits).is_access(), bits >> 26 & 3) {
        (false, _) => vector::<false, NONE>,
        (true, 0) => vector::<false, RUN>,
        (true, _) => vector::<false, ELEMENTS>,
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

/// Takes the first record and the scoreboard and gives the time at which what stands behind may
/// issue. Where it is noted what cycles are spent on, the step `noted` does it all instead.
macro_rules! timed {
    ($core:ident, $records:ident, $now:ident, $below:ident, $noted:expr,
        |$record:ident, $board:ident, $pc:ident| $after:expr) => {{
        let [$record, _, ..] = $records else {
            return super::lost($core, $now);
        };
        let $pc = $core.pc_of($record);
        let Some($board) = $core.scoreboard.as_deref_mut() else {
            return super::lost($core, $now);
        };
        if !NOTES && $board.notes_causes() {
            return instead($noted, $core, $records, $now, $below);
        }
        $after
    }};
}

/// Keeps time by another step, which is kept apart from the usual one.
#[cold]
#[inline(never)]
fn instead(
    step: Step,
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    step(core, records, now, below)
}

/// What reads `READ` registers at most.
fn plain<const NOTES: bool, const READ: usize, B: Behind>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let noted = plain::<true, 3, AsRecorded>;
    let after = timed!(core, records, now, below, noted, |record, board, pc| {
        let (sources, class) = (Sources::unpack(record.uses), record.extra);
        let begun = board.issue::<NOTES, READ>(sources, class, record.rd, now, pc);
        board.behind(begun)
    });
    B::go(core, &records[1..], after, below)
}

fn load<const NOTES: bool, const READ: usize, B: Behind>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let noted = load::<true, 3, AsRecorded>;
    let after = timed!(core, records, now, below, noted, |record, board, pc| {
        let address = core.x[usize::from(record.rs1)].wrapping_add(record.immediate);
        let (sources, class) = (Sources::unpack(record.uses), record.extra);
        let begun = board.issue::<NOTES, READ>(sources, class, record.rd, now, pc);
        board.load::<NOTES>(address, record.rs2.into(), record.rd, begun);
        board.behind(begun)
    });
    B::go(core, &records[1..], after, below)
}

fn store<const NOTES: bool, B: Behind>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let noted = store::<true, AsRecorded>;
    let after = timed!(core, records, now, below, noted, |record, board, pc| {
        let address = core.x[usize::from(record.rs1)].wrapping_add(record.immediate);
        let (sources, class) = (Sources::unpack(record.uses), record.extra);
        let begun = board.issue::<NOTES, 3>(sources, class, 0, now, pc);
        board.store::<NOTES>(address, record.rs2.into(), begun, pc)
    });
    B::go(core, &records[1..], after, below)
}

fn atomic<const NOTES: bool>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let noted = atomic::<true>;
    let after = timed!(core, records, now, below, noted, |record, board, pc| {
        let address = core.x[usize::from(record.rs1)];
        let (sources, class) = (Sources::unpack(record.uses), record.extra);
        let begun = board.issue::<NOTES, 3>(sources, class, record.rd, now, pc);
        board.load::<NOTES>(address, record.rs2.into(), record.rd, begun);
        board.store::<NOTES>(address, record.rs2.into(), begun, pc)
    });
    AsRecorded::go(core, &records[1..], after, below)
}

fn branch<const NOTES: bool, C: Condition>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let [record, ..] = records else {
        return super::lost(core, now);
    };
    let [a, b] = [record.rs1, record.rs2].map(|number| core.x[usize::from(number)]);
    let taken = C::holds(a, b);
    let noted = branch::<true, C>;
    let after = timed!(core, records, now, below, noted, |record, board, pc| {
        let (sources, class) = (Sources::unpack(record.uses), record.extra);
        let begun = board.issue::<NOTES, 3>(sources, class, 0, now, pc);
        board.branch::<NOTES>(taken, begun, pc)
    });
    t::go_by::<false, false>(core, taken, &records[1..], after, below)
}

fn jump<const NOTES: bool>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let noted = jump::<true>;
    let after = timed!(core, records, now, below, noted, |record, board, pc| {
        // The register that takes results for `x0` is no link.
        let kind = Transfer::of(record.operation, record.rd, record.rs1);
        let target = match record.operation {
            Operation::Jalr => core.x[usize::from(record.rs1)].wrapping_add(record.immediate) & !1,
            _ => record.immediate,
        };
        let (sources, class) = (Sources::unpack(record.uses), record.extra);
        let begun = board.issue::<NOTES, 3>(sources, class, record.rd, now, pc);
        board.jump::<NOTES>(kind.unwrap_or(Transfer::Jump), target, begun, pc)
    });
    AsRecorded::go(core, &records[1..], after, below)
}

fn vector<const NOTES: bool, const ACCESS: u8>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let noted = vector::<true, ACCESS>;
    let after = timed!(core, records, now, below, noted, |record, board, pc| {
        let issue = VectorIssue {
            bits: record.immediate as u32,
            base: core.x[usize::from(record.rs1)],
            stride: core.x[usize::from(record.rs2)],
            pc,
        };
        let sources = Sources::unpack(record.uses);
        // Without a unit the instruction is illegal.
        match core.vector.as_deref() {
            Some(unit) => board.vector::<NOTES, ACCESS>(sources, issue, record.rd, unit, now),
            None => now,
        }
    });
    AsRecorded::go(core, &records[1..], after, below)
}

/// Waits until the line of the instruction of the first record has been fetched.
pub(crate) fn fetch(core: &mut Core, records: &[Record], now: u64, below: &mut Below<'_>) -> How {
    fetch_line::<false>(core, records, now, below)
}

fn fetch_line<const NOTES: bool>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let noted = fetch_line::<true>;
    let after = timed!(core, records, now, below, noted, |record, board, pc| {
        board.fetch::<NOTES>(pc, now)
    });
    AsRecorded::go(core, &records[1..], after, below)
}
