//! Moves of the convolution loop: bias, input and weights in, results out.

use super::{ConvLoop, steps, tile_of};
use crate::address::{LocalAddress, Tile};
use crate::config::GemminiConfig;
use crate::isa::{Activation, ConfigLd, ConfigSt, Instruction, PoolFields};

impl ConvLoop {
    fn config_ld(channel: u8, stride: i64, block_stride: i64, pixel_repeats: u8) -> Instruction {
        Instruction::ConfigLd(ConfigLd {
            channel,
            shrink: false,
            pixel_repeats,
            block_stride: block_stride as u16,
            scale: 1.0,
            stride: stride as u64,
        })
    }

    /// Visits the output in pieces of up to `wide` channels by as many pixels
    /// of a row as the array has: batch, row, column and channel of each, and
    /// where it lies behind row `first` of the accumulator.
    fn for_outputs<E>(
        &self,
        first: u32,
        wide: i64,
        mut visit: impl FnMut([i64; 4], Tile) -> Result<(), E>,
    ) -> Result<(), E> {
        let p = &self.parameters;
        let dim = i64::from(self.dim);
        let (ocols, ochs): (i64, i64) = (p.ocols.into(), p.pochs.into());
        for batch in 0..i64::from(p.batches) {
            for row in 0..i64::from(p.orows) {
                for col in steps(0, ocols, dim) {
                    for och in steps(0, ochs, wide) {
                        let at = self.output_row(first, batch, row, col, och);
                        let at = LocalAddress::accumulator(at, false, false);
                        let tile = tile_of(at, wide.min(ochs - och), dim.min(ocols - col));
                        visit([batch, row, col, och], tile)?;
                    }
                }
            }
        }
        Ok(())
    }

    pub(super) fn expand_bias<E>(
        &self,
        config: &GemminiConfig,
        emit: &mut impl FnMut(Instruction) -> Result<(), E>,
    ) -> Result<(), E> {
        let p = &self.parameters;
        let block_stride = i64::from(p.batches) * i64::from(p.orows) * i64::from(p.ocols);
        emit(Self::config_ld(2, 0, block_stride, 1))?;
        let wide = i64::from(config.max_block_len_acc()) * i64::from(self.dim);
        self.for_outputs(self.c_row, wide, |[_, _, _, och], tile| {
            let dram = if self.run.no_bias {
                0
            } else {
                p.bias.wrapping_add((och * 4) as u64)
            };
            emit(Instruction::Mvin {
                channel: 2,
                dram,
                tile,
            })
        })
    }

    pub(super) fn expand_input<E>(
        &self,
        config: &GemminiConfig,
        emit: &mut impl FnMut(Instruction) -> Result<(), E>,
    ) -> Result<(), E> {
        let p = &self.parameters;
        let (dim, width) = (i64::from(self.dim), i64::from(config.element_bytes()));
        let image = self.image();
        let swapped = self.run.trans_input_3120;
        let (rows, cols) = (self.downsampled(image.rows), self.downsampled(image.cols));
        // The dimension that lies across a row, and the other one.
        let (across, along) = if swapped {
            (p.batches, p.kchs)
        } else {
            (p.kchs, p.batches)
        };
        let (across, along) = (i64::from(across), i64::from(along));
        let pitch = if swapped {
            i64::from(p.batch_size)
        } else {
            self.in_stride()
        };
        let block_stride = along * rows * cols;
        let down = u32::from(self.run.downsample);
        emit(Self::config_ld(
            0,
            (pitch * width) << down,
            block_stride,
            self.run.max_pixels_per_row,
        ))?;

        let wide = i64::from(config.max_block_len()) * dim;
        let (upad, lpad) = (self.undilated(p.upad), self.undilated(p.lpad));
        let (end_row, end_col) = (
            image.inner_rows + self.undilated(p.dpad),
            image.inner_cols + self.undilated(p.rpad),
        );
        // Batches change slowest and channels fastest, whichever lies across a row.
        let (batch_step, channel_step) = if swapped { (wide, 1) } else { (1, wide) };
        for batch in steps(0, p.batches.into(), batch_step) {
            for row in steps(-upad, end_row, 1 << down) {
                let mut col = -lpad;
                while col < end_col {
                    let pixels = if col < 0 {
                        (-col).min(dim)
                    } else if col >= image.inner_cols {
                        (end_col - col).min(dim)
                    } else {
                        (image.inner_cols - col).min(dim << down)
                    };
                    let padding = !(0..image.inner_rows).contains(&row)
                        || !(0..image.inner_cols).contains(&col);
                    for channel in steps(0, p.kchs.into(), channel_step) {
                        let (first, outer) = if swapped {
                            (batch, channel)
                        } else {
                            (channel, batch)
                        };
                        let plane = if swapped { channel } else { batch };
                        let element = if swapped { batch } else { channel };
                        let pixel =
                            (plane * i64::from(p.in_row_dim) + row) * i64::from(p.in_col_dim) + col;
                        let dram = if padding {
                            0
                        } else {
                            p.input
                                .wrapping_add(((pixel * pitch + element) * width) as u64)
                        };
                        let local = first / dim * block_stride
                            + (outer * rows + self.downsampled(row + upad)) * cols
                            + self.downsampled(col + lpad);
                        let count = self.downsampled(pixels);
                        if count == 0 {
                            continue;
                        }
                        emit(Instruction::Mvin {
                            channel: 0,
                            dram,
                            tile: tile_of(
                                LocalAddress::scratchpad(self.a_row + local as u32),
                                wide.min(across - first),
                                count,
                            ),
                        })?;
                    }
                    col += pixels;
                }
            }
        }
        Ok(())
    }

    pub(super) fn expand_weights<E>(
        &self,
        config: &GemminiConfig,
        emit: &mut impl FnMut(Instruction) -> Result<(), E>,
    ) -> Result<(), E> {
        let p = &self.parameters;
        let (dim, width) = (i64::from(self.dim), i64::from(config.element_bytes()));
        let (krows, kcols): (i64, i64) = (p.krows.into(), p.kcols.into());
        let (kchs, ochs): (i64, i64) = (p.kchs.into(), p.pochs.into());
        let (kernel_dim, in_ch, out_ch): (i64, i64, i64) = (
            p.kernel_dim.into(),
            p.in_channels.into(),
            p.out_channels.into(),
        );
        let swapped = self.run.trans_weight_0132;
        let pitch = if self.run.dw {
            1
        } else if self.run.trans_weight_1203 {
            kernel_dim * kernel_dim * out_ch
        } else if swapped {
            in_ch
        } else {
            self.weight_stride()
        };
        let (across, along) = if swapped { (kchs, ochs) } else { (ochs, kchs) };
        let block_stride = krows * kcols * along;
        emit(Self::config_ld(1, pitch * width, block_stride, 1))?;
        let wide = i64::from(config.max_block_len()) * dim;
        // Output channels change slowest and input channels fastest, whichever lie
        // across a row.
        let (och_step, kch_step) = if swapped { (dim, wide) } else { (wide, dim) };
        for och in steps(0, ochs, och_step) {
            for krow in 0..krows {
                for kcol in 0..kcols {
                    for kch in steps(0, kchs, kch_step) {
                        let (first, second) = if swapped { (kch, och) } else { (och, kch) };
                        let element = if self.run.dw {
                            krow * kernel_dim + kcol
                        } else if self.run.trans_weight_1203 {
                            ((kch * kernel_dim + krow) * kernel_dim + kcol) * out_ch + och
                        } else if swapped {
                            ((krow * kernel_dim + kcol) * out_ch + och) * in_ch + kch
                        } else {
                            ((krow * kernel_dim + kcol) * in_ch + kch) * self.weight_stride() + och
                        };
                        emit(Instruction::Mvin {
                            channel: 1,
                            dram: p.weights.wrapping_add((element * width) as u64),
                            tile: tile_of(
                                LocalAddress::scratchpad(self.weight_row(krow, kcol, kch, och)),
                                wide.min(across - first),
                                dim.min(along - second),
                            ),
                        })?;
                    }
                }
            }
        }
        Ok(())
    }

    pub(super) fn expand_stores<E>(
        &self,
        config: &GemminiConfig,
        emit: &mut impl FnMut(Instruction) -> Result<(), E>,
    ) -> Result<(), E> {
        let p = &self.parameters;
        let width = i64::from(config.element_bytes());
        self.for_outputs(
            self.c_row,
            self.dim.into(),
            |[batch, row, col, och], tile| {
                let element = if self.run.trans_output_1203 {
                    let pixel = row * i64::from(p.out_col_dim) + col;
                    (pixel * i64::from(p.batch_size) + batch) * i64::from(p.out_channels) + och
                } else {
                    let row = batch * i64::from(p.out_row_dim) + row;
                    (row * i64::from(p.out_col_dim) + col) * self.out_stride() + och
                };
                emit(Instruction::Mvout {
                    dram: p.output.wrapping_add((element * width) as u64),
                    tile,
                })
            },
        )
    }

    pub(super) fn expand_pooled_stores<E>(
        &self,
        config: &GemminiConfig,
        emit: &mut impl FnMut(Instruction) -> Result<(), E>,
    ) -> Result<(), E> {
        let p = &self.parameters;
        let (dim, width) = (i64::from(self.dim), i64::from(config.element_bytes()));
        let setting = ConfigSt {
            activation: Activation::from_bits(self.run.activation.into()),
            stride: (self.out_stride() * width) as u32,
            scale: None,
            pool: PoolFields {
                stride: p.pool_stride as u8 & 3,
                size: p.pool_size as u8 & 3,
                upad: p.pupad as u8 & 3,
                lpad: p.plpad as u8 & 3,
                out_dim: p.pool_out_col_dim as u8,
                porows: p.porows as u8,
                pocols: p.pocols as u8,
                orows: p.orows as u8,
                ocols: p.ocols as u8,
            },
        };
        emit(Instruction::ConfigSt(setting))?;
        let plane = i64::from(p.pool_out_row_dim) * i64::from(p.pool_out_col_dim);
        for batch in 0..i64::from(p.batches) {
            for och in steps(0, p.pochs.into(), dim) {
                let element = batch * plane * self.out_stride() + och;
                let at = self.output_row(self.c_row, batch, 0, 0, och);
                emit(Instruction::Mvout {
                    dram: p.output.wrapping_add((element * width) as u64),
                    tile: tile_of(
                        LocalAddress::accumulator(at, false, false),
                        dim.min(i64::from(p.pochs) - och),
                        dim,
                    ),
                })?;
            }
        }
        emit(Instruction::ConfigSt(ConfigSt {
            pool: PoolFields::default(),
            ..setting
        }))
    }
}
