//! The matrix loop: where its tiles lie and which commands it stands for.

use crate::config::GemminiConfig;
use crate::loop_isa::{MatmulParameters, MatmulRun};

/// One run of the matrix loop with its place in local memory.
///
/// Source: Gemmini `LoopMatmul`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatmulLoop {
    /// Fields of the starting command.
    pub run: MatmulRun,
    /// What the configuration commands have set.
    pub parameters: MatmulParameters,
    /// First scratchpad row of A.
    pub a_row: u32,
    /// First scratchpad row of B.
    pub b_row: u32,
    /// First accumulator row of C.
    pub c_row: u32,
    /// First accumulator row of D.
    pub d_row: u32,
    /// Rows and columns of a tile.
    pub dim: u32,
}

impl MatmulLoop {
    /// Places a loop: `slot` 0 or 1 alternates from loop to loop, `c_half` and
    /// `d_half` (0 or 1) name the accumulator halves of C and D.
    #[must_use]
    pub fn place(
        config: &GemminiConfig,
        run: MatmulRun,
        parameters: MatmulParameters,
        slot: u32,
        c_half: u32,
        d_half: u32,
    ) -> Self {
        let half = config.spad_rows() / 2;
        let which = |id: u8| {
            if id == 0 {
                slot
            } else {
                (u32::from(id) - 1) & 1
            }
        };
        let [_, j, k] = parameters.bounds.map(u32::from);
        let b_rows = k.saturating_mul(j).saturating_mul(config.dim);
        Self {
            run,
            parameters,
            a_row: which(run.a_spad_id) * half,
            b_row: ((which(run.b_spad_id) + 1) * half).saturating_sub(b_rows),
            c_row: c_half * config.acc_rows() / 2,
            d_row: d_half * config.acc_rows() / 2,
            dim: config.dim,
        }
    }

    /// Returns the scratchpad row of tile (i, k) of A.
    #[must_use]
    pub fn a_tile(&self, i: u32, k: u32) -> u32 {
        let [bound_i, _, bound_k] = self.parameters.bounds.map(u32::from);
        let tile = if self.run.a_transpose {
            k * bound_i + i
        } else {
            i * bound_k + k
        };
        self.a_row + tile * self.dim
    }

    /// Returns the scratchpad row of tile (k, j) of B.
    #[must_use]
    pub fn b_tile(&self, k: u32, j: u32) -> u32 {
        let [_, bound_j, bound_k] = self.parameters.bounds.map(u32::from);
        let tile = if self.run.b_transpose {
            j * bound_k + k
        } else {
            k * bound_j + j
        };
        self.b_row + tile * self.dim
    }

    /// Returns the accumulator row of tile (i, j) of C.
    #[must_use]
    pub fn c_tile(&self, i: u32, j: u32) -> u32 {
        self.c_row + (i * u32::from(self.parameters.bounds[1]) + j) * self.dim
    }

    /// Returns the accumulator row of tile (i, j) of D.
    #[must_use]
    pub fn d_tile(&self, i: u32, j: u32) -> u32 {
        self.d_row + (i * u32::from(self.parameters.bounds[1]) + j) * self.dim
    }
}
