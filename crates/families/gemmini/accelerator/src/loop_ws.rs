//! The matrix loop: where its tiles lie and which commands it stands for.

use crate::address::{LocalAddress, NormCommand, Tile};
use crate::config::GemminiConfig;
use crate::isa::{ConfigNorm, Instruction};
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
    /// First accumulator row of C and D.
    pub c_row: u32,
    /// Rows and columns of a tile.
    pub dim: u32,
}

impl MatmulLoop {
    /// Places a loop: `slot` 0 or 1 alternates from loop to loop,
    /// `acc_half` (0 or 1) names the half of the accumulator.
    #[must_use]
    pub fn place(
        config: &GemminiConfig,
        run: MatmulRun,
        parameters: MatmulParameters,
        slot: u32,
        acc_half: u32,
    ) -> Self {
        let half = config.spad_rows() / 2;
        let [_, j, k] = parameters.bounds.map(u32::from);
        let b_rows = k.saturating_mul(j).saturating_mul(config.dim);
        Self {
            run,
            parameters,
            a_row: half_of(run.a_spad_id, slot) * half,
            b_row: ((half_of(run.b_spad_id, slot) + 1) * half).saturating_sub(b_rows),
            // The sum of two operands takes the half of its slot.
            c_row: if run.is_resadd { slot } else { acc_half } * config.acc_rows() / 2,
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

    /// Returns the accumulator row of tile (i, j) of C or D.
    #[must_use]
    pub fn c_tile(&self, i: u32, j: u32) -> u32 {
        self.c_row + (i * u32::from(self.parameters.bounds[1]) + j) * self.dim
    }

    /// Returns the rows or columns of tile `at` along I (0), J (1) or K (2).
    #[must_use]
    pub fn tile_size(&self, dimension: usize, at: u32) -> u32 {
        let last = at + 1 >= u32::from(self.parameters.bounds[dimension]);
        self.dim
            - if last {
                u32::from(self.parameters.pads[dimension])
            } else {
                0
            }
    }

    /// Returns the columns of `blocks` tiles from `at` along a dimension.
    #[must_use]
    pub fn span(&self, dimension: usize, at: u32, blocks: u32) -> u32 {
        (blocks - 1) * self.dim + self.tile_size(dimension, at + blocks - 1)
    }

    /// Returns the DRAM address of a tile of A (0), B (1), D (2) or C (3),
    /// whose elements have `width` bytes. Offsets have 32 bits.
    #[must_use]
    pub fn dram_tile(&self, operand: usize, row: u32, col: u32, width: u32) -> u64 {
        let elements = u64::from(row)
            .wrapping_mul(self.parameters.strides[operand])
            .wrapping_add(u64::from(col));
        let offset = elements.wrapping_mul(u64::from(self.dim * width));
        self.parameters.dram[operand].wrapping_add(offset & 0xffff_ffff)
    }

    /// Returns the bytes from the first to the last one in DRAM that moves of A (0),
    /// B (1), D (2) or C (3) reach whose rows are `row_stride` apart; nothing if
    /// they are too many for the 32 bits of an offset.
    pub(crate) fn reach(
        &self,
        config: &GemminiConfig,
        operand: usize,
        row_stride: u64,
    ) -> Option<usize> {
        let [i, j, k] = self.parameters.bounds.map(u64::from);
        let (rows, cols) = match (operand, self.run) {
            (0 | 1, run) if run.is_resadd => (i, j),
            (0, run) if run.a_transpose => (k, i),
            (0, _) => (i, k),
            (1, run) if run.b_transpose => (j, k),
            (1, _) => (k, j),
            _ => (i, j),
        };
        let wide = match operand {
            2 => !self.run.low_d,
            3 => self.run.full_c,
            _ => false,
        };
        let width = if wide {
            config.acc_element_bytes()
        } else {
            config.element_bytes()
        };
        let tile_bytes = u64::from(self.dim * width);
        let last_tile = rows
            .checked_sub(1)?
            .checked_mul(self.parameters.strides[operand])?
            .checked_add(cols)?
            .checked_mul(tile_bytes)?;
        let last_row = u64::from(self.dim - 1).checked_mul(row_stride)?;
        let bytes = last_tile.checked_add(last_row)?;
        (bytes <= u64::from(u32::MAX)).then_some(bytes as usize)
    }

    /// Checks that everything fits.
    ///
    /// # Errors
    /// Rule and message of what does not.
    pub fn check(&self, config: &GemminiConfig) -> Result<(), (&'static str, String)> {
        let [i, j, k] = self.parameters.bounds.map(u64::from);
        let dim = u64::from(self.dim);
        if i == 0 || j == 0 || (k == 0 && !self.run.is_resadd) {
            return Err((
                "loop-ws-bounds",
                format!("bounds {i} x {j} x {k} tiles (I x J x K): each must be at least 1"),
            ));
        }
        if let Some(pad) = self
            .parameters
            .pads
            .iter()
            .find(|pad| u64::from(**pad) >= dim)
        {
            return Err((
                "loop-ws-pads",
                format!("a pad of {pad}; it must be less than the {dim} of a tile"),
            ));
        }
        if self.run.activation > LAST_ACTIVATION {
            return Err((
                "loop-ws-activation",
                format!(
                    "activation {}; there are 0 (none) to {LAST_ACTIVATION}",
                    self.run.activation
                ),
            ));
        }
        let half = u64::from(config.acc_rows() / 2);
        if i * j * dim > half {
            return Err((
                "loop-ws-accumulator",
                format!(
                    "{i} x {j} tiles of C take {} accumulator rows; a loop has {half}",
                    i * j * dim
                ),
            ));
        }
        if self.run.is_resadd {
            return Ok(());
        }
        let half = u64::from(config.spad_rows() / 2);
        let (a, b) = (i * k * dim, k * j * dim);
        let same = self.a_row / (config.spad_rows() / 2) == self.b_row / (config.spad_rows() / 2)
            || b > half;
        if a > half || b > half || (same && a + b > half) {
            return Err((
                "loop-ws-scratchpad",
                format!("A takes {a} and B {b} scratchpad rows; half of the scratchpad has {half}"),
            ));
        }
        Ok(())
    }

    /// Hands the commands that the loop stands for to `emit`, phase by phase.
    /// [`check`](Self::check) must have passed.
    ///
    /// The loop unit interleaves the phases; the results are the same.
    ///
    /// # Errors
    /// The first error of `emit`.
    pub fn expand<E>(
        &self,
        config: &GemminiConfig,
        emit: &mut impl FnMut(Instruction) -> Result<(), E>,
    ) -> Result<(), E> {
        let [i_tiles, j_tiles, k_tiles] = self.parameters.bounds.map(u32::from);
        let [a, b, d, c] = self.parameters.dram.map(|address| address != 0);
        let (width, acc_width) = (config.element_bytes(), config.acc_element_bytes());
        let wide = config.max_block_len();
        let acc = |row, accumulate| LocalAddress::accumulator(row, accumulate, false);

        if self.run.is_resadd {
            for (operand, present) in [(0, a), (1, b)] {
                for (j, blocks) in blocks(j_tiles, wide).filter(|_| present) {
                    for i in 0..i_tiles {
                        emit(Instruction::Mvin {
                            channel: operand,
                            dram: self.dram_tile(operand.into(), i, j, width),
                            tile: tile(
                                acc(self.c_tile(i, j), operand == 1),
                                self.span(1, j, blocks),
                                self.tile_size(0, i),
                            ),
                        })?;
                    }
                }
            }
            return if c {
                self.expand_stores(config, emit)
            } else {
                Ok(())
            };
        }

        let (d_width, d_wide) = if self.run.low_d {
            (width, wide)
        } else {
            (acc_width, config.max_block_len_acc())
        };
        for (j, blocks) in blocks(j_tiles, d_wide).filter(|_| d) {
            for i in 0..i_tiles {
                emit(Instruction::Mvin {
                    channel: 2,
                    dram: self.dram_tile(2, i, j, d_width),
                    tile: tile(
                        acc(self.c_tile(i, j), false),
                        self.span(1, j, blocks),
                        self.tile_size(0, i),
                    ),
                })?;
            }
        }
        if a {
            self.expand_a(config, emit)?;
        }
        if b {
            self.expand_b(config, emit)?;
        }
        let none = tile(LocalAddress::none(), self.dim, self.dim);
        for k in 0..k_tiles {
            for j in 0..j_tiles {
                for i in 0..i_tiles {
                    let (rows, cols, inner) = (
                        self.tile_size(0, i),
                        self.tile_size(1, j),
                        self.tile_size(2, k),
                    );
                    let weights = tile(LocalAddress::scratchpad(self.b_tile(k, j)), cols, inner);
                    let stationary = if i == 0 {
                        weights
                    } else {
                        Tile {
                            address: LocalAddress::none(),
                            ..weights
                        }
                    };
                    let result = acc(self.c_tile(i, j), self.run.accumulate || k > 0);
                    emit(Instruction::Preload {
                        stationary,
                        dest: tile(result, cols, rows),
                    })?;
                    let operand = tile(LocalAddress::scratchpad(self.a_tile(i, k)), inner, rows);
                    emit(Instruction::Compute {
                        preloaded: i == 0,
                        a: operand,
                        bd: none,
                    })?;
                }
            }
        }
        if c {
            self.expand_stores(config, emit)
        } else {
            Ok(())
        }
    }

    fn expand_a<E>(
        &self,
        config: &GemminiConfig,
        emit: &mut impl FnMut(Instruction) -> Result<(), E>,
    ) -> Result<(), E> {
        let [i_tiles, _, k_tiles] = self.parameters.bounds.map(u32::from);
        // The wide dimension is the one that is contiguous in DRAM.
        let (across, down, across_tiles, down_tiles) = if self.run.a_transpose {
            (0, 2, i_tiles, k_tiles)
        } else {
            (2, 0, k_tiles, i_tiles)
        };
        for (col, blocks) in blocks(across_tiles, config.max_block_len()) {
            for row in 0..down_tiles {
                let local = if self.run.a_transpose {
                    self.a_tile(col, row)
                } else {
                    self.a_tile(row, col)
                };
                emit(Instruction::Mvin {
                    channel: 0,
                    dram: self.dram_tile(0, row, col, config.element_bytes()),
                    tile: tile(
                        LocalAddress::scratchpad(local),
                        self.span(across, col, blocks),
                        self.tile_size(down, row),
                    ),
                })?;
            }
        }
        Ok(())
    }

    fn expand_b<E>(
        &self,
        config: &GemminiConfig,
        emit: &mut impl FnMut(Instruction) -> Result<(), E>,
    ) -> Result<(), E> {
        let [_, j_tiles, k_tiles] = self.parameters.bounds.map(u32::from);
        let (across, down, across_tiles, down_tiles) = if self.run.b_transpose {
            (2, 1, k_tiles, j_tiles)
        } else {
            (1, 2, j_tiles, k_tiles)
        };
        for row in 0..down_tiles {
            for (col, blocks) in blocks(across_tiles, config.max_block_len()) {
                let local = if self.run.b_transpose {
                    self.b_tile(col, row)
                } else {
                    self.b_tile(row, col)
                };
                emit(Instruction::Mvin {
                    channel: 1,
                    dram: self.dram_tile(1, row, col, config.element_bytes()),
                    tile: tile(
                        LocalAddress::scratchpad(local),
                        self.span(across, col, blocks),
                        self.tile_size(down, row),
                    ),
                })?;
            }
        }
        Ok(())
    }

    fn expand_stores<E>(
        &self,
        config: &GemminiConfig,
        emit: &mut impl FnMut(Instruction) -> Result<(), E>,
    ) -> Result<(), E> {
        let [i_tiles, j_tiles, _] = self.parameters.bounds.map(u32::from);
        let (width, wide) = if self.run.full_c {
            (config.acc_element_bytes(), 1)
        } else {
            (config.element_bytes(), config.max_block_len())
        };
        if let Some(passes) = norm_passes(self.run.activation) {
            return self.expand_norm_stores(width, wide, passes, emit);
        }
        for (j, blocks) in blocks(j_tiles, wide) {
            for i in 0..i_tiles {
                emit(Instruction::Mvout {
                    dram: self.dram_tile(3, i, j, width),
                    tile: tile(
                        LocalAddress::accumulator(self.c_tile(i, j), false, self.run.full_c),
                        self.span(1, j, blocks),
                        self.tile_size(0, i),
                    ),
                })?;
            }
        }
        Ok(())
    }

    /// Layer norm and softmax go over each row three times; two rows use the
    /// two sets of statistics in turn.
    fn expand_norm_stores<E>(
        &self,
        width: u32,
        wide: u32,
        passes: [[NormCommand; 2]; 3],
        emit: &mut impl FnMut(Instruction) -> Result<(), E>,
    ) -> Result<(), E> {
        let [i_tiles, j_tiles, _] = self.parameters.bounds.map(u32::from);
        for i in 0..i_tiles {
            let rows = self.tile_size(0, i);
            for pair in (0..rows).step_by(2) {
                for [open, last] in passes {
                    for row in pair..rows.min(pair + 2) {
                        emit(Instruction::ConfigNorm(ConfigNorm {
                            stats_id: (row - pair) as u8,
                            act_msb: false,
                            stats_id_only: true,
                            q_const_is_inverse: false,
                            q_const: 0,
                            qb: 0,
                            qc: 0,
                        }))?;
                        for (j, blocks) in blocks(j_tiles, wide) {
                            let command = if j + blocks == j_tiles { last } else { open };
                            let address = LocalAddress::accumulator(
                                self.c_tile(i, j) + row,
                                false,
                                self.run.full_c,
                            );
                            let stride = self.parameters.strides[3].wrapping_mul(u64::from(width));
                            emit(Instruction::Mvout {
                                dram: self
                                    .dram_tile(3, i, j, width)
                                    .wrapping_add(u64::from(row).wrapping_mul(stride)),
                                tile: tile(address.with_norm(command), self.span(1, j, blocks), 1),
                            })?;
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// The greatest number of an activation: softmax.
const LAST_ACTIVATION: u8 = 4;

/// Returns what a store activation does in its three passes: to blocks that
/// are not the last of a row, and to the last.
fn norm_passes(activation: u8) -> Option<[[NormCommand; 2]; 3]> {
    match activation {
        2 => Some([
            [NormCommand::Sum, NormCommand::Mean],
            [NormCommand::Variance, NormCommand::InvStdDev],
            [NormCommand::Reset; 2],
        ]),
        4 => Some([
            [NormCommand::Max; 2],
            [NormCommand::SumExp, NormCommand::InvSumExp],
            [NormCommand::Reset; 2],
        ]),
        _ => None,
    }
}

/// Cuts `tiles` tiles into groups of at most `wide`: first tile, number.
pub(crate) fn blocks(tiles: u32, wide: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..tiles)
        .step_by(wide as usize)
        .map(move |first| (first, wide.min(tiles - first)))
}

/// Returns the half of the scratchpad (0 or 1) that an operand of a loop lies in:
/// the one its field names, or that of the loop's slot.
pub(crate) fn half_of(id: u8, slot: u32) -> u32 {
    match id {
        0 => slot,
        id => (u32::from(id) - 1) & 1,
    }
}

pub(crate) fn tile(address: LocalAddress, cols: u32, rows: u32) -> Tile {
    Tile {
        address,
        cols: cols as u16,
        rows: rows as u16,
    }
}
