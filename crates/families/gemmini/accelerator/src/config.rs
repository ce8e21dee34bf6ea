//! What a Gemmini instance is made of, as plain data.
//!
//! Everything that decides *results* or *legality* is here. Queue depths,
//! latencies and the memory system decide only cycles and belong to
//! [`crate::timing::TimingConfig`].

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Element types of scratchpad and accumulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Elements {
    /// Signed 8-bit operands, 32-bit accumulation.
    Int8,
    /// IEEE binary32 operands and accumulation.
    Float32,
}

/// Which dataflows the array was built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dataflows {
    /// Weight stationary only.
    WeightStationary,
    /// Output stationary only.
    OutputStationary,
    /// Chosen at run time by `config_ex`.
    Both,
}

/// Layout of the operand fields of the convolution loop's commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoopConvLayout {
    /// One size for rows and columns, no strides: netlists up to early 2023.
    Square,
    /// Separate row and column sizes and explicit strides: later netlists.
    Rectangular,
}

/// Optional parts of the accelerator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each flag is one independent build option of the generator"
)]
pub struct Features {
    /// Multiplication by a factor while moving into operand-width rows.
    pub mvin_scale: bool,
    /// The same while moving accumulator-width elements.
    pub mvin_acc_scale: bool,
    /// Max pooling in the store path.
    pub max_pool: bool,
    /// Activations other than `ReLU` in the store path, and `ReLU` itself.
    pub nonlinear_activations: bool,
    /// Transposed and rotated operands of the convolution loop.
    pub training_convs: bool,
    /// Depthwise mode of the convolution loop.
    pub dw_convs: bool,
    /// Pixel repetition while moving in.
    pub first_layer: bool,
    /// Layer norm and softmax units.
    pub normalizations: bool,
    /// The convolution loop.
    pub loop_conv: bool,
    /// Accumulator rows can be stored scaled down to operand width.
    pub acc_read_small_width: bool,
    /// Accumulator rows can be stored at full width.
    pub acc_read_full_width: bool,
    /// The array can read operands from the accumulator.
    pub ex_read_from_acc: bool,
    /// The array can write results to the scratchpad.
    pub ex_write_to_spad: bool,
}

/// One Gemmini instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GemminiConfig {
    /// Rows and columns of the array, 2 to 64, a power of two.
    pub dim: u32,
    /// Element types.
    pub elements: Elements,
    /// Width of the partial sums in the array, 17 to 32 bits (integer only).
    pub mesh_out_bits: u32,
    /// Dataflows.
    pub dataflows: Dataflows,
    /// Scratchpad capacity in KiB.
    pub spad_kib: u32,
    /// Scratchpad banks.
    pub spad_banks: u32,
    /// Accumulator capacity in KiB.
    pub acc_kib: u32,
    /// Accumulator banks.
    pub acc_banks: u32,
    /// Largest DMA request in bytes; decides how wide one move may be.
    pub dma_max_bytes: u32,
    /// Event counters.
    pub counters: u32,
    /// Fields of the convolution loop's commands.
    pub loop_conv_layout: LoopConvLayout,
    /// Optional parts.
    pub features: Features,
}

/// A configuration that no hardware could have.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{key} = {value}: {requirement}")]
pub struct ConfigError {
    /// The key at fault.
    pub key: &'static str,
    /// Its value.
    pub value: u64,
    /// What it has to be.
    pub requirement: &'static str,
}

impl GemminiConfig {
    /// Returns the bytes of one operand element.
    #[must_use]
    pub fn element_bytes(&self) -> u32 {
        match self.elements {
            Elements::Int8 => 1,
            Elements::Float32 => 4,
        }
    }

    /// Returns the bytes of one accumulator element (4 for both types).
    #[must_use]
    pub fn acc_element_bytes(&self) -> u32 {
        4
    }

    /// Returns the bytes of one scratchpad row.
    #[must_use]
    pub fn spad_row_bytes(&self) -> u32 {
        self.dim * self.element_bytes()
    }

    /// Returns the bytes of one accumulator row.
    #[must_use]
    pub fn acc_row_bytes(&self) -> u32 {
        self.dim * self.acc_element_bytes()
    }

    /// Returns the number of scratchpad rows.
    #[must_use]
    pub fn spad_rows(&self) -> u32 {
        // Rows are a power of two bytes long, and this is asked for often.
        (self.spad_kib * 1024) >> self.spad_row_bytes().ilog2()
    }

    /// Returns the number of rows of one scratchpad bank.
    #[must_use]
    pub fn spad_bank_rows(&self) -> u32 {
        self.spad_rows() / self.spad_banks
    }

    /// Returns the number of accumulator rows.
    #[must_use]
    pub fn acc_rows(&self) -> u32 {
        (self.acc_kib * 1024) >> self.acc_row_bytes().ilog2()
    }

    /// Returns the number of rows of one accumulator bank.
    #[must_use]
    pub fn acc_bank_rows(&self) -> u32 {
        self.acc_rows() / self.acc_banks
    }

    /// Returns how many blocks of `dim` operand columns one move may span.
    #[must_use]
    pub fn max_block_len(&self) -> u32 {
        (self.dma_max_bytes / self.spad_row_bytes()).max(1)
    }

    /// Returns how many blocks of `dim` accumulator-width columns one move may
    /// span.
    #[must_use]
    pub fn max_block_len_acc(&self) -> u32 {
        (self.dma_max_bytes / self.acc_row_bytes()).max(1)
    }

    /// Returns the width in bits of the row field of a local address.
    #[must_use]
    pub fn row_bits(&self) -> u32 {
        let rows = self.spad_rows().max(self.acc_rows());
        u32::BITS - rows.saturating_sub(1).leading_zeros()
    }

    /// Checks that every figure is one that hardware could have.
    ///
    /// # Errors
    /// The first [`ConfigError`] found.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let require = |met: bool, key, value: u32, requirement| {
            if met {
                Ok(())
            } else {
                Err(ConfigError {
                    key,
                    value: value.into(),
                    requirement,
                })
            }
        };
        require(
            self.dim.is_power_of_two() && (2..=64).contains(&self.dim),
            "dim",
            self.dim,
            "must be a power of two from 2 to 64",
        )?;
        require(
            (17..=32).contains(&self.mesh_out_bits),
            "mesh_out_bits",
            self.mesh_out_bits,
            "must be 17 to 32",
        )?;
        for (key, kib) in [("spad_kib", self.spad_kib), ("acc_kib", self.acc_kib)] {
            require(
                (1..=16 * 1024).contains(&kib),
                key,
                kib,
                "must be 1 to 16384",
            )?;
        }
        for (key, banks, rows) in [
            ("spad_banks", self.spad_banks, self.spad_rows()),
            ("acc_banks", self.acc_banks, self.acc_rows()),
        ] {
            require(
                banks.is_power_of_two()
                    && banks <= 64
                    && rows.is_multiple_of(banks)
                    && rows / banks >= self.dim,
                key,
                banks,
                "must be a power of two up to 64 that leaves at least `dim` rows in every bank",
            )?;
        }
        require(
            self.row_bits() <= 25,
            "spad_kib",
            self.spad_kib,
            "must leave row indices of at most 25 bits",
        )?;
        require(
            self.dma_max_bytes.is_power_of_two() && (16..=256).contains(&self.dma_max_bytes),
            "dma_max_bytes",
            self.dma_max_bytes,
            "must be a power of two from 16 to 256",
        )?;
        require(
            (1..=8).contains(&self.counters),
            "counters",
            self.counters,
            "must be 1 to 8",
        )
    }
}
