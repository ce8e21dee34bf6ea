//! Code translated into straight blocks of predecoded instructions.

use crate::decode::decode;
use crate::fault::{AccessKind, Fault};
use crate::instruction::{DISCARD, Decoded, Instruction, Operation};
use crate::memory::Memory;
use crate::predictor::Transfer;
use crate::record::{Record, Step};
use crate::schedule::{Schedule, Translated};

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
#[repr(align(128))]
pub(crate) struct Block {
    /// Address of the first instruction.
    pub pc: u64,
    /// Address behind the last instruction.
    pub after: u64,
    /// Address of the last instruction.
    pub last: u64,
    /// Where it goes if left by [`How::NotTaken`](crate::record::How::NotTaken),
    /// its end, and by [`How::Taken`](crate::record::How::Taken).
    pub targets: [u64; 2],
    /// What the last instruction is to the predictors, if it is a branch or jump.
    pub transfer: Option<Transfer>,
    /// The step of the first record.
    pub first: Step,
    /// What is executed; the last record ends the block.
    pub records: Box<[Record]>,
    /// Number of instructions.
    pub instructions: u32,
    /// Registers that the first instruction reads or writes.
    pub first_uses: u64,
    /// The cache line of the first instruction, or [`TWO_LINES`].
    pub line: u64,
    /// Cycles by which the fetch unit can be ahead of instructions as dense as
    /// these: the queue holds a number of bytes.
    pub fetch_ahead: u64,
    /// The fetch group, of four bytes, in which the last instruction ends.
    pub last_group: u64,
    /// Fetch groups from the last instruction to a return behind it that would
    /// be fetched on a wrong path; 255 if there is none near.
    pub return_behind: u8,
    /// Whether the first instruction lies in two fetch groups.
    pub split: bool,
    /// Blocks that followed last time, not taken and taken; [`UNKNOWN`] until
    /// then. After an indirect jump another one may have to follow.
    pub links: [u32; 2],
}

/// Stands for a block that is not known.
pub(crate) const UNKNOWN: u32 = u32::MAX;

/// Stands for the line of a block whose first instruction may lie in two.
const TWO_LINES: u64 = u64::MAX - 1;

/// All translated code. Dropped as a whole when code changes.
#[derive(Clone, Debug)]
pub(crate) struct CodeCache {
    pub blocks: Vec<Block>,
    pages: Vec<Option<Box<[u32; SLOTS]>>>,
    schedule: Schedule,
}

impl CodeCache {
    /// Makes an empty cache for code that is executed by `schedule`.
    pub fn new(schedule: Schedule) -> Self {
        Self {
            blocks: Vec::new(),
            pages: Vec::new(),
            schedule,
        }
    }

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
        use Operation as O;
        let mut code = Vec::with_capacity(MAX_BLOCK + 1);
        let mut target = 0;
        let mut at = pc;
        let mut line = pc / LINE_BYTES;
        loop {
            let bits = match fetch(at, memory) {
                Ok(bits) => bits,
                Err(fault) if at == pc => return Err(fault),
                Err(_) => {
                    code.push(continue_at(at, pc));
                    break;
                }
            };
            let Decoded {
                mut instruction,
                length,
            } = decode(bits, at);
            instruction.offset = (at - pc) as u16;
            let last_byte = at + u64::from(length) - 1;
            let starts_line = last_byte / LINE_BYTES != line;
            line = last_byte / LINE_BYTES;
            memory.mark_code(at, length.into());
            if let O::Jal = instruction.operation {
                target = instruction.immediate as u64;
                instruction.immediate = (at + u64::from(length)) as i64;
            }
            code.push(Translated {
                instruction,
                length,
                starts_line,
            });
            at += u64::from(length);
            if instruction.operation.ends_block() {
                break;
            }
            if at >= page_end || code.len() == MAX_BLOCK {
                code.push(continue_at(at, pc));
                break;
            }
        }
        let (first, end) = (code[0], code[code.len() - 1].instruction);
        let continues = end.operation == O::Continue;
        let instructions = code.len() - usize::from(continues);
        let bytes = (at - pc) as u32;
        let two_lines = pc % LINE_BYTES == LINE_BYTES - 2;
        if end.operation != O::Jal {
            target = end.immediate as u64;
        }
        let records = self.schedule.records(&code);
        let block = Block {
            pc,
            after: at,
            last: pc + u64::from(code[instructions.max(1) - 1].instruction.offset),
            targets: [at, target],
            transfer: transfer(&end),
            first: records[0].step,
            records,
            instructions: instructions as u32,
            first_uses: first.instruction.uses,
            line: if two_lines {
                TWO_LINES
            } else {
                pc / LINE_BYTES
            },
            fetch_ahead: (FETCH_QUEUE_BYTES * instructions as u32 / bytes.max(1))
                .saturating_sub(FETCH_RESTART)
                .into(),
            last_group: (at - 2) >> 2,
            return_behind: return_behind(at, memory),
            split: pc & 2 != 0 && first.length == 4,
            links: [UNKNOWN; 2],
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

/// Returns what goes on at `at`, for the block at `pc`.
fn continue_at(at: u64, pc: u64) -> Translated {
    Translated {
        instruction: Instruction {
            operation: Operation::Continue,
            rd: DISCARD,
            rs1: 0,
            rs2: 0,
            offset: (at - pc) as u16,
            extra: 0,
            immediate: at as i64,
            uses: 0,
        },
        length: 0,
        starts_line: false,
    }
}

/// Returns what an instruction is to the predictors.
fn transfer(instruction: &Instruction) -> Option<Transfer> {
    use Operation as O;
    let call = matches!(instruction.rd, 1 | 5);
    Some(match instruction.operation {
        O::Beq | O::Bne | O::Blt | O::Bge | O::Bltu | O::Bgeu => Transfer::Branch,
        O::Jal if call => Transfer::Call,
        O::Jal => Transfer::Jump,
        O::Jalr if call => Transfer::IndirectCall,
        O::Jalr if matches!(instruction.rs1, 1 | 5) => Transfer::Return,
        O::Jalr => Transfer::Indirect,
        _ => return None,
    })
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
