//! Sizes of the target that the rewriter must respect.

use crate::kernel::Memory;
use autocomp_gemmini::timing::TimingConfig;
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
    /// What its queues and the memory behind it cost.
    pub costs: MachineCosts,
    /// The accelerator itself.
    pub accelerator: GemminiConfig,
}

/// Sizes of the machine by which changes and schedules are ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MachineCosts {
    /// Commands between the core and the reservation station.
    pub front_end_commands: usize,
    /// Reservation-station entries for loads, stores and the array.
    pub entries: [usize; 3],
    /// Bytes that the L2 holds.
    pub l2_bytes: i64,
    /// Bytes that come from behind the L2 in a cycle.
    pub behind_l2: i64,
}

impl MachineCosts {
    /// Returns those of a machine.
    #[must_use]
    pub fn of(timing: &TimingConfig) -> Self {
        let TimingConfig {
            frontend,
            station,
            memory,
            ..
        } = timing;
        let entries = [
            station.load_entries,
            station.store_entries,
            station.execute_entries,
        ];
        Self {
            front_end_commands: (frontend.queues * frontend.queue_entries) as usize,
            entries: entries.map(|entries| entries as usize),
            l2_bytes: i64::from(memory.l2_kib) * 1024,
            behind_l2: memory.outer_bytes_per_cycle.into(),
        }
    }
}

/// Commands that a kernel's text may hold.
const COMMAND_LIMIT: usize = 400;

impl HardwareLimits {
    /// Returns the limits of the default int8 configuration with a 16x16 array, for what is
    /// rewritten without a target.
    ///
    /// *Source*: Gemmini's default configuration (256 KB scratchpad, 64 KB accumulator, an L2
    /// of 512 KB).
    #[must_use]
    pub fn gemmini_int8_16() -> Self {
        let costs = MachineCosts {
            front_end_commands: 10,
            entries: [8, 4, 16],
            l2_bytes: 512 * 1024,
            behind_l2: 8,
        };
        let accelerator = GemminiConfig {
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
        };
        Self::of(&accelerator, costs)
    }

    /// Returns the limits of an accelerator in a machine.
    #[must_use]
    pub fn of(accelerator: &GemminiConfig, costs: MachineCosts) -> Self {
        Self {
            dim: accelerator.dim.into(),
            scratchpad_banks: accelerator.spad_banks.into(),
            scratchpad_bank_rows: accelerator.spad_bank_rows().into(),
            accumulator_banks: accelerator.acc_banks.into(),
            accumulator_bank_rows: accelerator.acc_bank_rows().into(),
            move_tiles: accelerator.max_block_len().into(),
            command_limit: COMMAND_LIMIT,
            costs,
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
