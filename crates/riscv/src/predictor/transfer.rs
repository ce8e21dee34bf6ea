//! Branches and jumps as the fetch unit sees them, and how well it did.

#![allow(missing_docs, reason = "public for the suite alone, see `inside`")]

use crate::instruction::Operation;

/// What a control transfer is to the predictors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    Branch,
    Jump,
    /// A jump that writes a link register.
    Call,
    /// An indirect jump that is no return.
    Indirect,
    IndirectCall,
    Return,
}

impl Transfer {
    /// Returns what an instruction is that writes register `rd` and reads `rs1`, if it
    /// is a branch or jump.
    pub fn of(operation: Operation, rd: u8, rs1: u8) -> Option<Self> {
        match operation {
            Operation::Jal => Some(Self::direct(rd)),
            Operation::Jalr if is_link(rd) => Some(Self::IndirectCall),
            Operation::Jalr if is_link(rs1) => Some(Self::Return),
            Operation::Jalr => Some(Self::Indirect),
            _ => operation.transfers().then_some(Self::Branch),
        }
    }

    /// Returns what a direct jump is that writes register `rd`.
    pub fn direct(rd: u8) -> Self {
        if is_link(rd) { Self::Call } else { Self::Jump }
    }
}

/// Returns whether a register is one that calls write and returns read.
fn is_link(register: u8) -> bool {
    matches!(register, 1 | 5)
}

/// How well the fetch unit did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prediction {
    /// Right direction and target when fetched.
    Right,
    /// Right, but only after the bytes were seen: a bubble in the fetch unit.
    Late,
    Wrong,
}

/// One executed control transfer, as the fetch unit sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Executed {
    /// Address of its last halfword; the group of four bytes there decides.
    pub last_half: u64,
    /// What that adds to the number of a counter ([`counter_address`]).
    pub counter_address: u16,
    /// Address of the next instruction.
    pub after: u64,
    /// Where it goes if taken.
    pub target: u64,
    pub taken: bool,
    pub transfer: Transfer,
    /// Cycle in which its fetch group was delivered.
    pub fetched: u64,
    /// Whether it stands alone in the upper half of its group, as far as this
    /// block goes: fetching may have begun there, and a branch of the block
    /// before may lie in the lower half.
    pub upper: bool,
    /// Where fetching began, or the last branch that was not taken.
    pub began: u64,
    /// Whether the queue was so empty that a bubble was likely to show.
    pub queue_short: bool,
}

impl Executed {
    /// Returns whether fetching began in the upper half of the group: the target
    /// buffer, which knows whole groups, is then not hit.
    pub(super) fn is_entered_late(&self) -> bool {
        self.upper && self.began == self.last_half
    }

    /// Returns whether the last branch lies in the lower half of the same group,
    /// and both came from one lookup.
    pub(super) fn follows_branch(&self) -> bool {
        self.upper && self.began == self.last_half.wrapping_sub(2)
    }
}
