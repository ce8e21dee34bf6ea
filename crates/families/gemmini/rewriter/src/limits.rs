//! Sizes of the target that the rewriter must respect.

use crate::kernel::Memory;
use autocomp_gemmini::{Dataflows, Elements, Features, GemminiConfig, LoopConvLayout};

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
    /// The accelerator itself.
    pub accelerator: GemminiConfig,
}

/// Commands that a kernel's text may hold.
const COMMAND_LIMIT: usize = 400;

impl HardwareLimits {
    /// Returns the limits of the default int8 configuration with a 16x16 array.
    ///
    /// *Source*: Gemmini's default configuration (256 KB scratchpad, 64 KB accumulator).
    #[must_use]
    pub fn gemmini_int8_16() -> Self {
        Self::of(&GemminiConfig {
            dim: 16,
            elements: Elements::Int8,
            mesh_out_bits: 20,
            dataflows: Dataflows::Both,
            spad_kib: 256,
            spad_banks: 4,
            acc_kib: 64,
            acc_banks: 2,
            dma_max_bytes: 64,
            counters: 8,
            loop_conv_layout: LoopConvLayout::Rectangular,
            features: Features {
                mvin_scale: true,
                mvin_acc_scale: false,
                max_pool: true,
                nonlinear_activations: true,
                training_convs: true,
                dw_convs: true,
                first_layer: true,
                normalizations: false,
                loop_conv: true,
                acc_read_small_width: true,
                acc_read_full_width: true,
                ex_read_from_acc: true,
                ex_write_to_spad: true,
            },
        })
    }

    /// Returns the limits of an accelerator.
    #[must_use]
    pub fn of(accelerator: &GemminiConfig) -> Self {
        Self {
            dim: accelerator.dim.into(),
            scratchpad_banks: accelerator.spad_banks.into(),
            scratchpad_bank_rows: accelerator.spad_bank_rows().into(),
            accumulator_banks: accelerator.acc_banks.into(),
            accumulator_bank_rows: accelerator.acc_bank_rows().into(),
            move_tiles: accelerator.max_block_len().into(),
            command_limit: COMMAND_LIMIT,
            accelerator: accelerator.clone(),
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
