//! The convolution loop: where its tiles lie and which commands it stands for.

use crate::config::GemminiConfig;
use crate::loop_isa::{ConvParameters, ConvRun};

/// One run of the convolution loop with its place in local memory.
///
/// Source: Gemmini `LoopConv`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConvLoop {
    /// Fields of the starting command.
    pub run: ConvRun,
    /// What the configuration commands have set.
    pub parameters: ConvParameters,
    /// First scratchpad row of the input.
    pub a_row: u32,
    /// First scratchpad row of the weights.
    pub b_row: u32,
    /// First accumulator row of the output.
    pub c_row: u32,
    /// First accumulator row of the bias.
    pub d_row: u32,
    /// Rows and columns of a tile.
    pub dim: u32,
}

impl ConvLoop {
    /// Places a loop: `slot` 0 or 1 alternates from loop to loop, `c_half` and
    /// `d_half` (0 or 1) name the accumulator halves of output and bias.
    #[must_use]
    pub fn place(
        config: &GemminiConfig,
        run: ConvRun,
        parameters: ConvParameters,
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
        let p = &parameters;
        let window = u64::from(p.krows) * u64::from(p.kcols);
        let b_rows = if run.trans_weight_0132 {
            u64::from(u32::from(p.kchs).div_ceil(config.dim)) * window * u64::from(p.pochs)
        } else {
            u64::from(u32::from(p.pochs).div_ceil(config.dim)) * window * u64::from(p.kchs)
        };
        Self {
            run,
            parameters,
            a_row: which(run.a_spad_id) * half,
            b_row: ((which(run.b_spad_id) + 1) * half)
                .saturating_sub(u32::try_from(b_rows).unwrap_or(u32::MAX)),
            c_row: c_half * config.acc_rows() / 2,
            d_row: d_half * config.acc_rows() / 2,
            dim: config.dim,
        }
    }
}
