//! What is behind the last instruction of a block, and where the next one comes from.

#![allow(missing_docs, reason = "public for the suite alone, see `inside`")]

use super::Record;
use crate::instruction::Operation;
use crate::steps::unlinked;
use std::hint::select_unpredictable;

/// What the record behind the last instruction of a block tells about it.
#[derive(Clone, Copy, Debug)]
pub struct Ending {
    /// The address behind it, and its target if that is known.
    pub targets: [u64; 2],
    /// Cycles by which the fetch unit can be ahead of instructions as dense as
    /// those of the block: the queue holds a number of bytes. Told by the last
    /// instruction's own record.
    pub fetch_ahead: u64,
    /// What its address adds to the number of a counter of the predictor.
    pub counter_address: u16,
    /// The call or return behind it, and [`UPPER`].
    marks: u8,
    /// What becomes of [`Buffering`] if it goes on behind it, and if it goes to its
    /// target: the lower byte if the first instruction of the block does not come
    /// from the instruction buffer, the upper one if it does.
    buffering: [u16; 2],
}

/// Bit of [`Ending::marks`].
const UPPER: u8 = 1 << 5;

impl Ending {
    /// Makes what is told about a block that ends in a branch or jump, unless
    /// more is said.
    pub fn new(targets: [u64; 2], fetch_ahead: u64, counter_address: u16) -> Self {
        Self {
            targets,
            fetch_ahead,
            counter_address,
            marks: 0,
            buffering: [0; 2],
        }
    }

    /// Says that a call or return behind the last instruction would be fetched on
    /// a wrong path, or that there is none.
    #[must_use]
    pub fn with_link_behind(mut self, link: Option<LinkBehind>) -> Self {
        self.marks |= match link {
            None => 0,
            Some(LinkBehind::Call(groups)) => 1 << 6 | groups & 31,
            Some(LinkBehind::Return(groups)) => 2 << 6 | groups & 31,
        };
        self
    }

    /// Says whether the block is one instruction that fills the upper half of a
    /// fetch group.
    #[must_use]
    pub fn with_upper(mut self, upper: bool) -> Self {
        self.marks |= if upper { UPPER } else { 0 };
        self
    }

    /// Says when the last instruction is decoded from the instruction buffer.
    #[must_use]
    pub fn with_buffered(mut self, buffered: Buffered) -> Self {
        let [after, target] = self.targets;
        for (taken, address) in [(false, after), (true, target)] {
            let next = [false, true].map(|first| {
                let last = match buffered {
                    Buffered::Never => false,
                    Buffered::Always => true,
                    Buffered::AsFirst => first,
                };
                Buffering::behind(last, taken, address).0
            });
            self.buffering[usize::from(taken)] = u16::from_le_bytes(next);
        }
        self
    }

    /// Returns the call or return behind the last instruction that would be fetched
    /// on a wrong path.
    pub fn link_behind(&self) -> Option<LinkBehind> {
        let groups = self.marks & 31;
        match self.marks >> 6 {
            1 => Some(LinkBehind::Call(groups)),
            2 => Some(LinkBehind::Return(groups)),
            _ => None,
        }
    }

    /// Returns whether there is one.
    #[inline(always)]
    pub fn has_link_behind(&self) -> bool {
        self.marks >> 6 != 0
    }

    /// Returns whether the block is one instruction that fills the upper half of a
    /// fetch group.
    #[inline(always)]
    pub fn is_upper(&self) -> bool {
        self.marks & UPPER != 0
    }

    /// The same where that is known.
    #[inline(always)]
    #[must_use]
    pub fn in_upper_half(mut self, upper: bool) -> Self {
        self.marks = self.marks & !UPPER | if upper { UPPER } else { 0 };
        self
    }

    /// Returns what becomes of `before` behind the block, if it goes to its target or
    /// where that is not known.
    #[inline(always)]
    pub fn buffering(&self, before: Buffering, taken: bool) -> Buffering {
        let [other, first] = self.buffering[usize::from(taken)].to_le_bytes();
        let is_first = before.0 & Buffering::NEXT != 0;
        Buffering(select_unpredictable(is_first, first, other))
    }

    /// Reads the record of the last instruction of a block and the one behind it.
    #[inline(always)]
    pub(crate) fn of(last: &Record, ending: &Record) -> Self {
        Self {
            targets: [ending.uses, ending.immediate],
            fetch_ahead: last.extra.into(),
            counter_address: ending.extra,
            marks: ending.rd,
            buffering: [
                u16::from_le_bytes([ending.index, ending.halves]),
                u16::from_le_bytes([ending.rs1, ending.rs2]),
            ],
        }
    }

    /// Returns the record that says this.
    pub(crate) fn record(&self) -> Record {
        let [index, halves] = self.buffering[0].to_le_bytes();
        let [rs1, rs2] = self.buffering[1].to_le_bytes();
        Record {
            step: unlinked,
            immediate: self.targets[1],
            uses: self.targets[0],
            rd: self.marks,
            rs1,
            rs2,
            index,
            halves,
            operation: Operation::Continue,
            extra: self.counter_address,
        }
    }
}

/// What comes from the instruction buffer where one block follows another: the first
/// instruction of the next one, and the branch or jump before it if it was taken.
#[derive(Clone, Copy, Debug)]
pub struct Buffering(pub u8);

impl Buffering {
    /// Nothing does.
    pub const NONE: Self = Self(0);
    /// No branch or jump was before.
    pub const START: Self = Self(Self::TAKEN);
    /// The next instruction: the distance of the bytes in [`Ending::buffering`].
    const NEXT: u8 = 8;
    const TAKEN: u8 = 32;

    /// Behind an instruction of which this is known, on the way to `address`.
    #[inline(always)]
    pub fn behind(last: bool, taken: bool, address: u64) -> Self {
        let in_upper_half = address & 2 != 0;
        let next = if taken {
            last && in_upper_half
        } else {
            last || in_upper_half
        };
        let next = if next { Self::NEXT } else { 0 };
        Self(next | if last && taken { Self::TAKEN } else { 0 })
    }

    /// Returns 1 if the branch or jump before was taken and came from there,
    /// otherwise 0.
    #[inline(always)]
    pub fn taken(self) -> u64 {
        u64::from(self.0 & Self::TAKEN != 0)
    }
}

/// A call or return behind the end of a block, by the number of fetch groups
/// between: less than 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkBehind {
    Call(u8),
    Return(u8),
}

/// Whether an instruction of two bytes is decoded from the instruction buffer, which
/// holds what is left of the fetch group before: half a group that follows can enter
/// it in the same cycle then.
///
/// *Source*: Rocket Chip, `IBuf`.
#[derive(Clone, Copy, Debug)]
pub enum Buffered {
    Never,
    Always,
    /// If the first instruction of the block is.
    AsFirst,
}
