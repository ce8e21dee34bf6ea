//! From decoded instructions to records: which waits are known beforehand.
//!
//! Between a load and an instruction right behind it that needs its value lie
//! always the same cycles, whatever happened before. They stand in the block
//! as a record of their own, and the register need not be watched. It is
//! watched only if somebody further away may come too early.

use crate::config::CoreConfig;
use crate::instruction::{DISCARD, Extensions, Instruction, Operation};
use crate::predictor::counter_address;
use crate::record::{Ending, Entry, Record};
use crate::scoreboard::result_of;
use crate::steps::{
    User, clock_of, enter, fetch_line, fetch_of_clock, look_at_stack, step_in_upper_half, step_of,
    step_of_pair, step_of_two, unlinked, wait_for_load,
};

/// Tells the loads of a block how many records on the branch or jump is that ends it, if
/// that can have been fetched when they are in write-back.
fn note_transfer(records: &mut [Record]) {
    let [before @ .., last] = records else { return };
    if !last.operation.transfers() {
        return;
    }
    for (distance, record) in (1..=u8::MAX).zip(before.iter_mut().rev()) {
        if last.halves - record.halves > Record::FURTHEST_HALVES {
            break;
        }
        if record.operation.is_load() {
            record.rs2 = distance;
        }
    }
}

/// The register that is the stack pointer by convention.
pub(crate) const STACK_POINTER: u8 = 2;

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
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    config: CoreConfig,
    timed: bool,
    pub extensions: Extensions,
    /// A record that keeps time stands before each instruction.
    pub clocked: bool,
    /// A record that looks at the stack pointer stands behind each instruction that sets it.
    pub watches_stack: bool,
    load_latency: u16,
    subword_load_latency: u16,
    float_load_latency: u16,
}

/// The first instruction of a handler issues so many cycles, and those in which
/// the pipeline restarts, after a load whose next instruction raises the
/// exception. Loads with a higher latency are watched, unless the instruction
/// right behind needs their value: the handler could come too early.
const UNWATCHED_LATENCY: u64 = 3;

impl Schedule {
    pub fn new(config: &CoreConfig, timed: bool) -> Self {
        let cycles = |latency: u64| latency.min(u16::MAX.into()) as u16;
        Self {
            config: config.clone(),
            timed,
            extensions: Extensions::default(),
            clocked: false,
            watches_stack: false,
            load_latency: cycles(config.load_latency),
            subword_load_latency: cycles(config.subword_load_latency),
            float_load_latency: cycles(config.float_load_latency),
        }
    }

    /// Returns whether results are all that is wanted.
    pub fn keeps_no_time(&self) -> bool {
        !self.timed && !self.clocked
    }

    /// Returns what a branch whose last halfword lies there adds to the number
    /// of a counter of the predictor.
    pub fn counter_address(&self, last_half: u64) -> u16 {
        counter_address(&self.config, last_half)
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
        let begin = records.len();
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
            index: Entry::of(split, pc & 63 == 62).0,
            halves: 0,
            operation: Operation::Continue,
            extra: instructions as u16,
        });
        // Where the record of an instruction ends.
        let mut behind = None;
        for (idx, translated) in code.iter().enumerate() {
            let record = self.record(idx, translated);
            // The first instruction's line is fetched when the block is entered.
            if self.timed && translated.starts_line && idx > 0 {
                records.push(Record {
                    step: fetch_line,
                    immediate: (pc + 2 * u64::from(record.halves) + 2) >> 6,
                    ..record
                });
            }
            let wait = idx.checked_sub(1).map_or(0, |idx| self.wait(code, idx));
            if wait > 0 {
                records.push(Record {
                    step: wait_for_load,
                    extra: wait,
                    ..record
                });
            }
            if self.clocked && translated.length > 0 {
                if translated.starts_line || idx == 0 {
                    records.push(Record {
                        step: fetch_of_clock,
                        ..record
                    });
                }
                records.push(clock_of(&translated.instruction, &record));
            }
            let user = self.user(code, idx);
            if self.timed
                && let Some(before) = records.last_mut()
                && before.is_right_before(&record)
                && let Some(step) = step_of_pair(before, &record, user, false)
            {
                before.step = step;
            }
            if self.keeps_no_time()
                && behind == Some(records.len())
                && let Some(before) = records.last_mut()
                && let Some(step) = step_of_two(before, &record)
            {
                before.step = step;
            }
            records.push(Record {
                step: step_of(&translated.instruction, self.timed, user),
                ..record
            });
            behind = Some(records.len());
            let is_last = idx + 1 == code.len();
            if self.watches_stack && !is_last && result_of(&translated.instruction) == STACK_POINTER
            {
                records.push(Record {
                    step: look_at_stack,
                    ..record
                });
            }
        }
        if let Some(last) = records.last_mut() {
            if self.timed && ending.is_upper() {
                last.step = step_in_upper_half(last.operation).unwrap_or(last.step);
            }
            if last.operation.transfers() {
                last.extra = ending.fetch_ahead as u16;
            }
        }
        note_transfer(&mut records[begin..]);
        records.push(ending.record());
    }

    /// Returns the record of an instruction, but for its step.
    fn record(&self, idx: usize, translated: &Translated) -> Record {
        use Operation as O;
        let instruction = &translated.instruction;
        let (immediate, extra) = match instruction.operation {
            // The links: none is known.
            O::Beq | O::Bne | O::Blt | O::Bge | O::Bltu | O::Bgeu | O::Jal | O::Continue => (0, 0),
            operation => (
                instruction.immediate,
                self.latency(operation).unwrap_or(instruction.extra),
            ),
        };
        Record {
            step: unlinked,
            immediate: immediate as u64,
            uses: instruction.uses,
            rd: instruction.rd,
            rs1: instruction.rs1,
            rs2: if instruction.operation.is_load() {
                0
            } else {
                instruction.rs2
            },
            index: idx as u8,
            halves: (instruction.offset / 2) as u8,
            operation: instruction.operation,
            extra,
        }
    }

    /// Returns the latency of a load.
    fn latency(&self, operation: Operation) -> Option<u16> {
        use Operation as O;
        match operation {
            O::Lw | O::Ld | O::Lwu => Some(self.load_latency),
            O::Lb | O::Lh | O::Lbu | O::Lhu => Some(self.subword_load_latency),
            O::Flh | O::Flw | O::Fld => Some(self.float_load_latency),
            _ => None,
        }
    }

    /// Returns how many cycles the instruction behind the one at `idx` waits
    /// for what that loads, as long as this is known.
    fn wait(&self, code: &[Translated], idx: usize) -> u16 {
        let instruction = &code[idx].instruction;
        let (Some(latency), Some(next)) = (self.latency(instruction.operation), code.get(idx + 1))
        else {
            return 0;
        };
        // A line that may have to be fetched takes its time meanwhile.
        if !self.timed || next.starts_line || !next.needs(code[idx].loads()) {
            return 0;
        }
        latency.saturating_sub(1)
    }

    /// Returns who needs what the instruction at `idx` loads, if it is a load.
    fn user(&self, code: &[Translated], idx: usize) -> User {
        let instruction = &code[idx].instruction;
        let Some(latency) = self.latency(instruction.operation) else {
            return User::Any;
        };
        if !self.timed || code[idx].loads() == 0 || latency <= 1 {
            return User::Nobody;
        }
        if self.wait(code, idx) > 0 {
            return User::Next;
        }
        let early = u64::from(latency) > UNWATCHED_LATENCY + self.config.flush_penalty
            || self.is_needed_early(code, idx, latency);
        if early { User::Any } else { User::Nobody }
    }

    /// Returns whether somebody may come too early for what the instruction at `idx`
    /// loads, which takes longer than a cycle, in the block or right behind it.
    fn is_needed_early(&self, code: &[Translated], idx: usize, latency: u16) -> bool {
        for distance in 1..usize::from(latency) {
            match code.get(idx + distance) {
                Some(other) if other.instruction.operation == Operation::Continue => return true,
                None => return true,
                Some(other) if other.needs(code[idx].loads()) => {
                    // It comes too early, if it does not wait as long for another load.
                    let waits = usize::from(self.wait(code, idx + distance - 1));
                    return distance + waits < usize::from(latency);
                }
                Some(_) => {}
            }
        }
        false
    }
}

impl Translated {
    /// Returns the register that a load writes, as in `Instruction::uses`; 0 if
    /// it is `x0`.
    fn loads(&self) -> u64 {
        let Instruction { operation, rd, .. } = self.instruction;
        match operation {
            Operation::Flh | Operation::Flw | Operation::Fld => 1 << (32 + (rd & 31)),
            _ if rd == DISCARD => 0,
            _ => 1 << (rd & 31),
        }
    }

    /// Returns whether the instruction reads or writes one of these registers.
    fn needs(&self, registers: u64) -> bool {
        self.instruction.uses & registers != 0
    }
}
