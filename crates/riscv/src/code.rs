//! Code translated into straight blocks of predecoded instructions.

use crate::decode::decode;
use crate::fault::{AccessKind, Fault};
use crate::instruction::{DISCARD, Instruction, Operation, STARTS_LINE};
use crate::memory::Memory;

const PAGE_BYTES: u64 = 4096;
const SLOTS: usize = 2048;
const MAX_BLOCK: usize = 64;
const LINE_BYTES: u64 = 64;

/// A run of instructions that is entered at its start only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    /// Address of the first instruction.
    pub pc: u64,
    /// Index of the first record.
    pub first: u32,
    /// Number of records, with the last one ending the block.
    pub records: u32,
    /// Number of instructions: less than `records` if the last one is
    /// [`Operation::Continue`].
    pub instructions: u32,
    /// Bytes that the instructions take.
    pub bytes: u32,
}

/// All translated code. Dropped as a whole when code changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct CodeCache {
    pub records: Vec<Instruction>,
    pub blocks: Vec<Block>,
    pages: Vec<Option<Box<[u32; SLOTS]>>>,
}

impl CodeCache {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.records.clear();
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
        let first = self.records.len();
        let mut at = pc;
        let mut line = u64::MAX;
        loop {
            let bits = match fetch(at, memory) {
                Ok(bits) => bits,
                Err(fault) if at == pc => return Err(fault),
                Err(_) => {
                    self.push_continue(at, pc);
                    break;
                }
            };
            let decoded = decode(bits, at);
            let mut instruction = decoded.instruction;
            instruction.offset = (at - pc) as u16;
            let last_byte = at + u64::from(decoded.length) - 1;
            if last_byte / LINE_BYTES != line {
                line = last_byte / LINE_BYTES;
                instruction.uses |= STARTS_LINE;
            }
            memory.mark_code(at, decoded.length.into());
            self.records.push(instruction);
            at += u64::from(decoded.length);
            if instruction.operation.ends_block() {
                break;
            }
            if at >= page_end || self.records.len() - first == MAX_BLOCK {
                self.push_continue(at, pc);
                break;
            }
        }
        let records = (self.records.len() - first) as u32;
        let continues = self.records[self.records.len() - 1].operation == Operation::Continue;
        let block = Block {
            pc,
            first: first as u32,
            records,
            instructions: records - u32::from(continues),
            bytes: (at - pc) as u32,
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

    fn push_continue(&mut self, at: u64, pc: u64) {
        self.records.push(Instruction {
            operation: Operation::Continue,
            rd: DISCARD,
            rs1: 0,
            rs2: 0,
            offset: (at - pc) as u16,
            extra: 0,
            immediate: at as i64,
            uses: 0,
        });
    }
}

/// Returns the bytes at `pc`: 16 or 32 bits, as the instruction is long.
fn fetch(pc: u64, memory: &mut Memory) -> Result<u32, Fault> {
    let low = half(pc, memory)?;
    if low & 3 != 3 {
        return Ok(low);
    }
    Ok(low | half(pc.wrapping_add(2), memory)? << 16)
}

fn half(pc: u64, memory: &mut Memory) -> Result<u32, Fault> {
    let bytes = memory.read(pc, 2, AccessKind::Fetch, pc)?;
    Ok(u32::from(bytes[0]) | u32::from(bytes[1]) << 8)
}
