//! Translated instructions: what the interpreter's hot path reads and calls.

pub(crate) mod ending;
mod state;

use crate::coprocessor::Coprocessor;
use crate::instruction::Operation;

pub(crate) use ending::{Buffered, Buffering, Ending, LinkBehind};
pub(crate) use state::{Core, How, Jumps};

/// Executes the first of these records, the last instruction having issued in
/// the cycle given, and then goes on to the next one by a call in tail
/// position, until one leaves the block.
///
/// A function for each operation keeps everything in registers, and gives the
/// host's branch predictor one indirect jump per operation instead of one for
/// all. Where a compiler makes real calls of these jumps, they nest as deep as
/// a block is long.
pub(crate) type Step = for<'a> fn(&mut Core, &[Record], u64, &mut Below<'a>) -> How;

/// What is below the core while it runs.
pub(crate) struct Below<'a> {
    /// All translated code.
    pub code: &'a [Record],
    /// Cycle from which on no block may begin.
    pub last_cycle: u64,
    /// Behind two references, so that what a [`Step`] is given fits the
    /// registers in which functions are given arguments.
    pub coprocessor: &'a mut dyn Coprocessor,
}

/// One translated instruction, or something to be done between two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    /// Executes it.
    pub step: Step,
    /// As in `Instruction::immediate`; where a block begins its address, and
    /// where it ends directly the [links](Self::links).
    pub immediate: u64,
    /// Registers to be waited for, as in `Instruction::uses`.
    pub uses: u64,
    /// Destination register.
    pub rd: u8,
    /// First source register.
    pub rs1: u8,
    /// Second source register; of a load, which has none, the number of records to the
    /// branch or jump that it may be refused ahead of, 0 if there is none.
    pub rs2: u8,
    /// Number of instructions of the block before this one.
    pub index: u8,
    /// Distance from the start of the block in halfwords.
    pub halves: u8,
    /// What the instruction does, for steps that serve several operations.
    pub operation: Operation,
    /// As in `Instruction::extra`; for loads their latency, for what stands
    /// between two instructions the cycles waited.
    pub extra: u16,
}

impl Record {
    /// What begins so many halfwords further on has not been fetched when an instruction
    /// is in write-back.
    pub const FURTHEST_HALVES: u8 = 16;

    /// Returns whether this is the instruction before that of `record`, and nothing has to
    /// be done between.
    pub fn is_right_before(&self, record: &Self) -> bool {
        self.operation != Operation::Continue && self.index + 1 == record.index
    }

    /// Returns where the blocks that follow a branch or direct jump begin, not taken
    /// and taken.
    #[inline(always)]
    pub fn links(&self) -> [Link; 2] {
        [self.immediate as u32, (self.immediate >> 32) as u32].map(Link)
    }

    /// Sets one of the links.
    pub fn set_link(&mut self, taken: bool, link: Link) {
        let mut links = self.links();
        links[usize::from(taken)] = link;
        self.immediate = u64::from(links[0].0) | u64::from(links[1].0) << 32;
    }
}

/// Where a block begins in all code: 0 if that is not known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link(u32);

impl Link {
    const NEAR: u32 = 1 << 31;

    /// To what begins at `place`. It is `near` if its first instruction lies in one
    /// fetch group, and surely in the line from which the one before came.
    #[inline(always)]
    pub fn to(place: u32, near: bool) -> Self {
        Self(place | if near { Self::NEAR } else { 0 })
    }

    #[inline(always)]
    pub fn place(self) -> usize {
        (self.0 & !Self::NEAR) as usize
    }

    #[inline(always)]
    pub fn is_near(self) -> bool {
        self.0 & Self::NEAR != 0
    }
}

/// What the first record of a block tells about its first instruction, as its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry(pub u8);

impl Entry {
    /// Says whether it lies in two fetch groups, and whether it could lie in two lines.
    pub fn of(split: bool, crosses: bool) -> Self {
        Self(u8::from(split) | u8::from(crosses) << 1)
    }

    /// Returns whether it surely lies in one line.
    #[inline(always)]
    pub fn is_in_one_line(self) -> bool {
        self.0 < 2
    }

    /// Returns whether it lies in one fetch group.
    pub fn is_whole(self) -> bool {
        self.0 == 0
    }

    /// Returns whether it lies in two fetch groups.
    #[inline(always)]
    pub fn is_split(self) -> bool {
        self.0 & 1 != 0
    }
}

/// Accesses to memory next to a fence, by the number of instructions from it; 0 if
/// there is none as near as that matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Surroundings {
    pub before: u8,
    pub behind: u8,
}

impl Surroundings {
    /// Further away an access is out of the pipeline.
    pub const FURTHEST: u8 = 3;

    /// Returns this as [`Record::extra`] of a fence.
    pub fn pack(self) -> u16 {
        u16::from_le_bytes([self.before, self.behind])
    }

    pub fn of_fence(record: &Record) -> Self {
        let [before, behind] = record.extra.to_le_bytes();
        Self { before, behind }
    }
}
