//! From decoded instructions to records: which waits are known beforehand.
//!
//! Between a load and an instruction right behind it that needs its value lie
//! always the same cycles, whatever happened before. They stand in the block
//! as a record of their own, and the register need not be watched. It is
//! watched only if somebody further away may come too early.

use crate::config::CoreConfig;
use crate::instruction::{DISCARD, Instruction, Operation};
use crate::record::{Ending, Record};
use crate::steps::{enter, fetch_line, step_of, wait_for_load};

/// One decoded instruction of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Translated {
    pub instruction: Instruction,
    /// 2 or 4.
    pub length: u8,
    /// Whether the block goes on in another cache line here.
    pub starts_line: bool,
}

/// What translation knows of the core.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    timed: bool,
    load_latency: u16,
    subword_load_latency: u16,
    float_load_latency: u16,
}

/// Loads with a higher latency are watched, unless the next instruction needs
/// their value: an exception in between could bring somebody too early.
const UNWATCHED_LATENCY: u16 = 3;

impl Schedule {
    pub fn new(config: &CoreConfig, timed: bool) -> Self {
        let cycles = |latency: u64| latency.min(u16::MAX.into()) as u16;
        Self {
            timed,
            load_latency: cycles(config.load_latency),
            subword_load_latency: cycles(config.subword_load_latency),
            float_load_latency: cycles(config.float_load_latency),
        }
    }

    /// Adds the records of a block of so many instructions at `pc`.
    pub fn add(
        &self,
        pc: u64,
        code: &[Translated],
        instructions: usize,
        ending: &Ending,
        records: &mut Vec<Record>,
    ) {
        let first = code.first();
        let split = first.is_some_and(|first| pc & 2 != 0 && first.length == 4);
        records.push(Record {
            step: if self.timed {
                enter::<true>
            } else {
                enter::<false>
            },
            immediate: pc,
            uses: first.map_or(0, |first| first.instruction.uses),
            rd: DISCARD,
            rs1: 0,
            rs2: 0,
            index: split.into(),
            halves: 0,
            operation: Operation::Continue,
            extra: instructions as u16,
        });
        // Cycles to be waited for what the instruction before loads.
        let mut wait = 0;
        for (idx, translated) in code.iter().enumerate() {
            let behind = &code[idx + 1..];
            let (record, watched, stall) = self.record(idx, translated, behind);
            // The first instruction's line is fetched when the block is entered.
            if self.timed && translated.starts_line && idx > 0 {
                records.push(Record {
                    step: fetch_line,
                    ..record
                });
            }
            if wait > 0 {
                records.push(Record {
                    step: wait_for_load,
                    extra: wait,
                    ..record
                });
            }
            records.push(Record {
                step: step_of(translated.instruction.operation, self.timed, watched),
                ..record
            });
            wait = stall;
        }
        records.push(ending.record());
    }

    /// Returns the record of an instruction, whether what it loads has to be
    /// watched, and how many cycles the next one has to wait for it.
    fn record(
        &self,
        idx: usize,
        translated: &Translated,
        behind: &[Translated],
    ) -> (Record, bool, u16) {
        use Operation as O;
        let instruction = &translated.instruction;
        let mut record = Record {
            step: wait_for_load,
            immediate: instruction.immediate as u64,
            uses: instruction.uses,
            rd: instruction.rd,
            rs1: instruction.rs1,
            rs2: instruction.rs2,
            index: idx as u8,
            halves: (instruction.offset / 2) as u8,
            operation: instruction.operation,
            extra: instruction.extra,
        };
        let latency = match instruction.operation {
            O::Lw | O::Ld | O::Lwu => self.load_latency,
            O::Lb | O::Lh | O::Lbu | O::Lhu => self.subword_load_latency,
            O::Flw | O::Fld => {
                record.extra = self.float_load_latency;
                return (record, true, 0);
            }
            O::Beq | O::Bne | O::Blt | O::Bge | O::Bltu | O::Bgeu | O::Jal | O::Continue => {
                // The links: none is known.
                record.immediate = 0;
                return (record, true, 0);
            }
            _ => return (record, true, 0),
        };
        record.extra = latency;
        let (watched, stall) = if self.timed && instruction.rd != DISCARD {
            wait_behind(instruction.rd, latency, behind)
        } else {
            (false, 0)
        };
        (record, watched, stall)
    }
}

/// Returns whether the register that a load writes has to be watched, and how
/// many cycles the next instruction has to wait for it.
fn wait_behind(register: u8, latency: u16, behind: &[Translated]) -> (bool, u16) {
    let needs = |translated: &Translated| translated.instruction.uses >> register & 1 == 1;
    match behind.first() {
        Some(next) if needs(next) && !next.starts_line => (false, latency.saturating_sub(1)),
        _ => {
            // Those that could issue before the value is there.
            let early = usize::from(latency.saturating_sub(1));
            let known = latency <= UNWATCHED_LATENCY
                && behind.len() >= early
                && behind[..early].iter().all(|translated| {
                    !needs(translated) && translated.instruction.operation != Operation::Continue
                });
            (!known, 0)
        }
    }
}
