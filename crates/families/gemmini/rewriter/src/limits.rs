//! Sizes of the target that the rewriter must respect.

use crate::kernel::Memory;

/// Sizes of a Gemmini-like accelerator, given by the target's data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HardwareLimits {
    /// Rows and columns of the array; rows and columns of a tile.
    pub dim: i64,
    /// Banks of the scratchpad.
    pub scratchpad_banks: i64,
    /// Rows of one scratchpad bank.
    pub scratchpad_bank_rows: i64,
    /// Banks of the accumulator.
    pub accumulator_banks: i64,
    /// Rows of one accumulator bank.
    pub accumulator_bank_rows: i64,
    /// Tiles that one move of input-width elements may cover side by side.
    pub move_tiles: i64,
    /// Commands that a rewritten kernel's text may hold; keeps code readable
    /// and inside the instruction cache.
    pub command_limit: usize,
}

impl HardwareLimits {
    /// Returns the limits of the default int8 configuration with a 16x16 array.
    ///
    /// *Source*: Gemmini's default configuration (256 KB scratchpad, 64 KB accumulator).
    #[must_use]
    pub fn gemmini_int8_16() -> Self {
        Self {
            dim: 16,
            scratchpad_banks: 4,
            scratchpad_bank_rows: 4096,
            accumulator_banks: 2,
            accumulator_bank_rows: 512,
            move_tiles: 4,
            command_limit: 400,
        }
    }

    /// Returns the number of rows of a memory.
    #[must_use]
    pub fn rows(&self, memory: Memory) -> i64 {
        match memory {
            Memory::Scratchpad => self.scratchpad_banks * self.scratchpad_bank_rows,
            Memory::Accumulator => self.accumulator_banks * self.accumulator_bank_rows,
        }
    }

    /// Returns the rows of one bank of a memory.
    #[must_use]
    pub fn bank_rows(&self, memory: Memory) -> i64 {
        match memory {
            Memory::Scratchpad => self.scratchpad_bank_rows,
            Memory::Accumulator => self.accumulator_bank_rows,
        }
    }
}
