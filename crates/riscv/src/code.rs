//! Code translated into straight blocks of predecoded instructions.

use crate::decode::decode;
use crate::fault::{AccessKind, Fault};
use crate::instruction::{DISCARD, Instruction, Operation, STARTS_LINE};
use crate::memory::Memory;

const PAGE_BYTES: u64 = 4096;
const SLOTS: usize = 2048;
const MAX_BLOCK: usize = 64;
const LINE_BYTES: u64 = 64;
/// The fetch queue holds five groups of four bytes.
const FETCH_QUEUE_BYTES: u32 = 20;
/// Cycles from a free place in the queue until a group arrives there.
const FETCH_RESTART: u32 = 3;
/// How far behind a branch a return is looked for, in bytes.
const WRONG_PATH_BYTES: u64 = 24;

/// A run of instructions that is entered at its start only.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// Address of the first instruction.
    pub pc: u64,
    /// Address behind the last instruction.
    pub after: u64,
    /// What is executed; the last record ends the block.
    pub records: Box<[Instruction]>,
    /// Number of instructions: less than records if the last one is
    /// [`Operation::Continue`].
    pub instructions: u32,
    /// The cache line of the first instruction, or [`TWO_LINES`].
    pub line: u64,
    /// Cycles by which the fetch unit can be ahead of instructions as dense as
    /// these: the queue holds a number of bytes.
    pub fetch_ahead: u8,
    /// Fetch groups from the last instruction to a return behind it that would
    /// be fetched on a wrong path; 255 if there is none near.
    pub return_behind: u8,
    /// Whether the first instruction lies in two fetch groups.
    pub split: bool,
    /// Blocks that followed last time, not taken and taken; any number until
    /// then, so their address must be checked.
    pub links: [u32; 2],
}

impl Block {
    /// Returns the number of instructions among the last `records` records.
    pub fn instructions_behind(&self, records: usize) -> u64 {
        let before = self.records.len() - records;
        (self.instructions as usize).saturating_sub(before) as u64
    }
}

/// Stands for the line of a block whose first instruction may lie in two.
const TWO_LINES: u64 = u64::MAX - 1;

/// All translated code. Dropped as a whole when code changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct CodeCache {
    pub blocks: Vec<Block>,
    pages: Vec<Option<Box<[u32; SLOTS]>>>,
}

impl CodeCache {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.blocks.clear();
        self.pages.clear();
    }

    /// Returns the index of the block at `pc`, if it has been translated.
    #[inline(always)]
    pub fn find(&self, base: u64, pc: u64) -> Option<usize> {
        let offset = pc.wrapping_sub(base);
        let page = self.pages.get((offset / PAGE_BYTES) as usize)?.as_ref()?;
        let block = page[(offset as usize >> 1) & (SLOTS - 1)];
        if block == 0 {
            None
        } else {
            Some(block as usize - 1)
        }
    }

    /// Translates the block at `pc` and returns its index.
    ///
    /// # Errors
    /// A fault if the first instruction cannot be fetched. A later one that
    /// cannot ends the block and faults when it is reached.
    pub fn translate(&mut self, pc: u64, memory: &mut Memory) -> Result<usize, Fault> {
        let page_end = (pc & !(PAGE_BYTES - 1)).wrapping_add(PAGE_BYTES);
        let mut records = Vec::with_capacity(MAX_BLOCK + 1);
        let mut at = pc;
        let mut line = pc / LINE_BYTES;
        let mut first_length = 0;
        loop {
            let bits = match fetch(at, memory) {
                Ok(bits) => bits,
                Err(fault) if at == pc => return Err(fault),
                Err(_) => {
                    records.push(continue_at(at, pc));
                    break;
                }
            };
            let decoded = decode(bits, at);
            let mut instruction = decoded.instruction;
            if at == pc {
                first_length = decoded.length;
            }
            instruction.offset = (at - pc) as u16;
            let last_byte = at + u64::from(decoded.length) - 1;
            if last_byte / LINE_BYTES != line {
                line = last_byte / LINE_BYTES;
                instruction.uses |= STARTS_LINE;
            }
            memory.mark_code(at, decoded.length.into());
            records.push(instruction);
            at += u64::from(decoded.length);
            if instruction.operation.ends_block() {
                break;
            }
            if at >= page_end || records.len() == MAX_BLOCK {
                records.push(continue_at(at, pc));
                break;
            }
        }
        let continues = records.last().map(|last| last.operation) == Some(Operation::Continue);
        let instructions = (records.len() - usize::from(continues)) as u32;
        let bytes = (at - pc) as u32;
        let two_lines = pc % LINE_BYTES == LINE_BYTES - 2;
        let block = Block {
            pc,
            after: at,
            records: records.into(),
            instructions,
            line: if two_lines {
                TWO_LINES
            } else {
                pc / LINE_BYTES
            },
            fetch_ahead: (FETCH_QUEUE_BYTES * instructions / bytes.max(1))
                .saturating_sub(FETCH_RESTART) as u8,
            return_behind: return_behind(at, memory),
            split: pc & 2 != 0 && first_length == 4,
            links: [0; 2],
        };
        self.blocks.push(block);
        let offset = pc - memory.base();
        let page_idx = (offset / PAGE_BYTES) as usize;
        if self.pages.len() <= page_idx {
            self.pages.resize(page_idx + 1, None);
        }
        let page = self.pages[page_idx].get_or_insert_with(|| Box::new([0; SLOTS]));
        page[(offset as usize >> 1) & (SLOTS - 1)] = self.blocks.len() as u32;
        Ok(self.blocks.len() - 1)
    }
}

/// Returns a record that goes on at `at`, for the block at `pc`.
fn continue_at(at: u64, pc: u64) -> Instruction {
    Instruction {
        operation: Operation::Continue,
        rd: DISCARD,
        rs1: 0,
        rs2: 0,
        offset: (at - pc) as u16,
        extra: 0,
        immediate: at as i64,
        uses: 0,
    }
}

/// Returns the bytes at `pc`: 16 or 32 bits, as the instruction is long.
fn fetch(pc: u64, memory: &mut Memory) -> Result<u32, Fault> {
    let low = half(pc, pc, memory)?;
    if low & 3 != 3 {
        return Ok(low);
    }
    Ok(low | half(pc.wrapping_add(2), pc, memory)? << 16)
}

fn half(address: u64, pc: u64, memory: &mut Memory) -> Result<u32, Fault> {
    let bytes = memory.read(address, 2, AccessKind::Fetch, pc)?;
    Ok(u32::from(bytes[0]) | u32::from(bytes[1]) << 8)
}

/// Returns the fetch groups between the instruction that ends at `after` and a
/// return that follows without another jump, 255 if there is none.
fn return_behind(after: u64, memory: &mut Memory) -> u8 {
    let mut at = after;
    while at < after + WRONG_PATH_BYTES {
        let Ok(bits) = fetch(at, memory) else { break };
        let decoded = decode(bits, at);
        at += u64::from(decoded.length);
        match decoded.instruction.operation {
            Operation::Jalr if matches!(decoded.instruction.rs1, 1 | 5) => {
                return (((at - 2) >> 2) - ((after - 2) >> 2)) as u8;
            }
            Operation::Jal | Operation::Jalr | Operation::Illegal | Operation::Mret => break,
            _ => {}
        }
    }
    u8::MAX
}
