//! Code translated into straight blocks of predecoded instructions.

use crate::config::CoreConfig;
use crate::decode::{decode, illegal};
use crate::fault::Fault;
use crate::instruction::{DISCARD, Decoded, Extensions, Instruction, Operation};
use crate::memory::Memory;
use crate::predictor::Transfer;
use crate::record::{Buffered, Ending, Entry, Link, LinkBehind, Record, Surroundings};
use crate::schedule::{Schedule, Translated};
use crate::steps::{User, step_of_branch, step_of_pair};

const PAGE_BYTES: u64 = 4096;
const SLOTS: usize = 2048;
const MAX_BLOCK: usize = 64;
const LINE_BYTES: u64 = 64;
/// The fetch queue holds five groups of four bytes.
const FETCH_QUEUE_BYTES: u32 = 20;
/// Cycles from a free place in the queue until a group arrives there.
const FETCH_RESTART: u32 = 3;
/// How far behind a branch a call or return is looked for, in bytes.
const WRONG_PATH_BYTES: u64 = 24;

/// A run of instructions that is entered at its start only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    /// Where it begins in all code.
    pub place: u32,
    /// Where the record of its last instruction stands, or the one that goes on.
    pub end: u32,
    /// Address of the last instruction.
    pub last: u64,
    /// Number of instructions.
    pub instructions: u32,
    /// The address behind it, and where it goes else if it does so directly.
    pub targets: [u64; 2],
}

/// All translated code. Dropped as a whole when code changes.
#[derive(Clone, Debug)]
pub(crate) struct CodeCache {
    /// All records; the first one is where links lead that are not known.
    pub records: Vec<Record>,
    blocks: Vec<Block>,
    pages: Vec<Option<Box<[u32; SLOTS]>>>,
    /// Where the blocks begin whose branches are doubted.
    doubted: Vec<u64>,
    schedule: Schedule,
}

impl CodeCache {
    /// Makes an empty cache for code that is executed by `schedule`.
    pub fn new(schedule: Schedule) -> Self {
        let mut code = Self {
            records: Vec::new(),
            blocks: Vec::new(),
            pages: Vec::new(),
            doubted: Vec::new(),
            schedule,
        };
        code.clear();
        code
    }

    /// Takes instructions of these extensions for what they are from now on.
    pub fn extend(&mut self, extensions: Extensions) {
        self.schedule.extensions = extensions;
        self.clear();
    }

    /// Puts a record that looks at the stack pointer behind each instruction that sets it, unless
    /// time is kept.
    pub fn watch_stack(&mut self) {
        self.schedule.watches_stack = self.schedule.keeps_no_time();
        self.clear();
    }

    /// Puts a record that keeps time before each instruction from now on.
    pub fn keep_time(&mut self, config: &CoreConfig) {
        let extensions = self.schedule.extensions;
        self.schedule = Schedule::new(config, false);
        self.schedule.clocked = true;
        self.schedule.extensions = extensions;
        self.clear();
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        let nowhere = Ending::new([0; 2], 0, 0);
        self.records.clear();
        self.records.push(Record {
            // Nothing is entered there.
            index: u8::MAX,
            ..nowhere.record()
        });
        self.blocks.clear();
        self.pages.clear();
        self.doubted.clear();
    }

    /// Returns the block at `pc`, if it has been translated.
    pub fn find(&self, base: u64, pc: u64) -> Option<Block> {
        let offset = pc.wrapping_sub(base);
        let page = self.pages.get((offset / PAGE_BYTES) as usize)?.as_ref()?;
        let block = page[(offset as usize >> 1) & (SLOTS - 1)];
        self.blocks.get((block as usize).checked_sub(1)?).copied()
    }

    /// Remembers where the block at `pc` begins for the one that went there.
    pub fn link(&mut self, from: Block, pc: u64, place: u32) {
        let Some(first) = self.records.get(place as usize) else {
            return;
        };
        // Of what begins in the last halfword of a line it is not known whether the
        // next line is needed too.
        let same_line =
            from.last & 63 != 62 && (from.targets[0] - 2) / LINE_BYTES == pc / LINE_BYTES;
        let link = Link::to(place, same_line && Entry(first.index).is_whole());
        let Some(end) = self.records.get_mut(from.end as usize) else {
            return;
        };
        if end.operation != Operation::Jalr {
            for (taken, target) in [false, true].into_iter().zip(from.targets) {
                if target == pc {
                    end.set_link(taken, link);
                }
            }
        }
    }

    /// Gives the branch at the end of the block at `pc` the step that suits one that is
    /// often predicted wrongly.
    pub fn doubt(&mut self, base: u64, pc: u64) {
        self.set_branch_step(base, pc, true);
        self.doubted.push(pc);
    }

    /// Gives all branches the steps that suit those that are mostly foreseen.
    pub fn doubt_none(&mut self, base: u64) {
        for pc in std::mem::take(&mut self.doubted) {
            self.set_branch_step(base, pc, false);
        }
    }

    fn set_branch_step(&mut self, base: u64, pc: u64, doubted: bool) {
        let Some(block) = self.find(base, pc) else {
            return;
        };
        let end = block.end as usize;
        let Some([before, last]) = self.records.get_mut(end - 1..=end) else {
            return;
        };
        if let Some(step) = step_of_branch(last.operation, doubted) {
            last.step = step;
        }
        if before.is_right_before(last)
            && let Some(step) = step_of_pair(before, last, User::Any, doubted)
        {
            before.step = step;
        }
    }

    /// Translates the block at `pc`.
    ///
    /// # Errors
    /// A fault if the first instruction cannot be fetched. A later one that
    /// cannot ends the block and faults when it is reached.
    pub fn translate(&mut self, pc: u64, memory: &mut Memory) -> Result<Block, Fault> {
        let page_end = (pc & !(PAGE_BYTES - 1)).wrapping_add(PAGE_BYTES);
        use Operation as O;
        let mut code = Vec::with_capacity(MAX_BLOCK + 1);
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
            if !self.schedule.extensions.have(instruction.operation) {
                instruction = illegal(bits);
            }
            instruction.offset = (at - pc) as u16;
            if instruction.operation == O::Fence {
                let behind = at + u64::from(length);
                instruction.extra = Surroundings::of(&code, behind, memory).pack();
            }
            let last_byte = at + u64::from(length) - 1;
            let starts_line = last_byte / LINE_BYTES != line;
            line = last_byte / LINE_BYTES;
            memory.mark_code(at, length.into());
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
        let end = code[code.len() - 1].instruction;
        let continues = end.operation == O::Continue;
        let instructions = code.len() - usize::from(continues);
        let bytes = (at - pc) as u32;
        let targets = [at, end.immediate as u64];
        let last = code[instructions.max(1) - 1];
        let in_upper_half = at & 2 == 0 && last.length == 2;
        let fetch_ahead = (FETCH_QUEUE_BYTES * instructions as u32 / bytes.max(1))
            .saturating_sub(FETCH_RESTART)
            .into();
        let ending = Ending::new(targets, fetch_ahead, self.schedule.counter_address(at - 2))
            .with_link_behind(link_behind(at, memory))
            .with_upper(in_upper_half && instructions == 1)
            .with_buffered(buffered(pc, &code[..instructions]));
        let place = self.records.len() as u32;
        self.schedule
            .add(pc, &code, instructions, &ending, &mut self.records);
        let block = Block {
            place,
            // Behind it stands what tells about it.
            end: self.records.len() as u32 - 2,
            last: pc + u64::from(last.instruction.offset),
            instructions: instructions as u32,
            targets,
        };
        self.blocks.push(block);
        let offset = pc - memory.base();
        let page_idx = (offset / PAGE_BYTES) as usize;
        if self.pages.len() <= page_idx {
            self.pages.resize(page_idx + 1, None);
        }
        let page = self.pages[page_idx].get_or_insert_with(|| Box::new([0; SLOTS]));
        page[(offset as usize >> 1) & (SLOTS - 1)] = self.blocks.len() as u32;
        Ok(block)
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

/// Returns the bytes at `pc`: 16 or 32 bits, as the instruction is long.
fn fetch(pc: u64, memory: &mut Memory) -> Result<u32, Fault> {
    let low = u32::from(memory.fetch(pc, pc)?);
    if low & 3 != 3 {
        return Ok(low);
    }
    Ok(low | u32::from(memory.fetch(pc.wrapping_add(2), pc)?) << 16)
}

/// Returns when the last of these instructions, which begin at `pc`, comes from the
/// instruction buffer if nothing behind it is fetched.
fn buffered(pc: u64, code: &[Translated]) -> Buffered {
    let [before @ .., last] = code else {
        return Buffered::Never;
    };
    if last.length != 2 {
        return Buffered::Never;
    }
    let is_upper = (pc + u64::from(last.instruction.offset)) & 2 != 0;
    match before {
        [] => Buffered::AsFirst,
        // What is left of the group.
        _ if is_upper => Buffered::Always,
        // A group of one instruction follows what came from the buffer itself.
        [first] if first.length == 2 => Buffered::AsFirst,
        [.., previous] if previous.length == 2 => Buffered::Always,
        _ => Buffered::Never,
    }
}

/// Returns by how many instructions the first one from `at` on that accesses memory
/// follows the one before, if that is told by a few that follow each other.
fn access_behind(at: u64, memory: &mut Memory) -> u8 {
    let mut at = at;
    for distance in 1..=Surroundings::FURTHEST {
        let Ok(bits) = fetch(at, memory) else { break };
        let Decoded {
            instruction,
            length,
        } = decode(bits, at);
        if instruction.operation.accesses_memory() {
            return distance;
        }
        if instruction.operation.ends_block() {
            break;
        }
        at += u64::from(length);
    }
    0
}

impl Surroundings {
    /// Returns those of a fence behind `code` and before what lies at `behind`.
    fn of(code: &[Translated], behind: u64, memory: &mut Memory) -> Self {
        let is_access = |code: &Translated| code.instruction.operation.accesses_memory();
        let last = code.iter().rev().position(is_access);
        let before = last.map_or(usize::MAX, |last| last + 1);
        Self {
            before: if before <= usize::from(Self::FURTHEST) {
                before as u8
            } else {
                0
            },
            behind: access_behind(behind, memory),
        }
    }
}

/// Returns the call or return that follows the instruction that ends at `after`
/// without another jump, if there is one near.
fn link_behind(after: u64, memory: &mut Memory) -> Option<LinkBehind> {
    let mut at = after;
    while at < after + WRONG_PATH_BYTES {
        let decoded = decode(fetch(at, memory).ok()?, at);
        at += u64::from(decoded.length);
        let groups = ((at - 2) >> 2) - ((after - 2) >> 2);
        let Instruction {
            operation, rd, rs1, ..
        } = decoded.instruction;
        match (operation, Transfer::of(operation, rd, rs1)) {
            (_, Some(Transfer::Call | Transfer::IndirectCall)) => {
                return Some(LinkBehind::Call(groups as u8));
            }
            (_, Some(Transfer::Return)) => return Some(LinkBehind::Return(groups as u8)),
            (_, Some(Transfer::Jump | Transfer::Indirect))
            | (Operation::Illegal | Operation::Mret, _) => break,
            _ => {}
        }
    }
    None
}
