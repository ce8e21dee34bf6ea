//! Which branches the fetch unit predicts wrongly so often that the host does too.
//!
//! A matter of the interpreter's speed alone: such a branch gets a step in which no jump
//! of the host hangs on the prediction, which is slower for all others.

#![allow(
    missing_docs,
    clippy::new_without_default,
    reason = "public for the suite alone, see `inside`"
)]

/// Branches told apart, by the lowest bits of their addresses.
const SLOTS: usize = 256;

/// Mistakes follow each other within so many instructions where they are frequent.
pub const NEAR: u64 = 64;

/// So many of them raise doubts.
const MANY: u8 = 16;

/// Doubts are looked at again after so many instructions, and are over if no more than
/// one in [`NEAR`] was a branch predicted wrongly.
pub const WINDOW: u64 = 4096;

/// When branches were predicted wrongly.
#[derive(Clone, Debug)]
pub struct Doubts {
    /// By slot the count of instructions at the last mistake.
    last: [u64; SLOTS],
    /// Mistakes that were each near the one before.
    runs: [u8; SLOTS],
    /// Counts of instructions and mistakes when the window began.
    began: [u64; 2],
}

impl Doubts {
    pub fn new() -> Self {
        Self {
            last: [0; SLOTS],
            runs: [0; SLOTS],
            began: [0; 2],
        }
    }

    /// Notes that the branch that ends at `last_half` was predicted wrongly; returns
    /// whether it is one to be doubted from now on.
    #[inline(always)]
    pub fn are_raised(&mut self, last_half: u64, instructions: u64) -> bool {
        let slot = (last_half >> 1) as usize % SLOTS;
        let near = instructions.wrapping_sub(self.last[slot]) < NEAR;
        let run = if near {
            self.runs[slot].wrapping_add(1)
        } else {
            0
        };
        self.last[slot] = instructions;
        self.runs[slot] = run;
        run == MANY
    }

    /// Returns whether no branch need be doubted any longer, by the counts of
    /// instructions and of all mistakes.
    pub fn are_over(&mut self, instructions: u64, mistakes: u64) -> bool {
        let [began, mistakes_then] = self.began;
        let passed = instructions.wrapping_sub(began);
        if passed < WINDOW {
            return false;
        }
        self.began = [instructions, mistakes];
        mistakes.wrapping_sub(mistakes_then) <= passed / NEAR
    }
}
