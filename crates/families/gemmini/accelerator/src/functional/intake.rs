//! From rows of bytes in DRAM to elements in local memory.

use super::Functional;
use super::arithmetic::{canonical, to_i8};
use super::race::DramRows;
use super::staging::add_float_bits;
use crate::address::Tile;

/// How the elements of one load command are taken in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Intake {
    /// Operand-width bytes as they are.
    Copy,
    /// int8 times a factor.
    ScaleI8(f32),
    /// Floats times a factor.
    ScaleF32(f32),
    /// Accumulator words, int32.
    WordsI32,
    /// int8 times a factor, widened.
    WidenI8(f32),
    /// Accumulator words, floats times a factor.
    WordsF32(f32),
}

/// Where the elements of one load command go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    /// First row, rows and columns of all blocks.
    pub tile: Tile,
    /// Local rows from one block of `dim` columns to the next.
    pub block_stride: u32,
    /// Times each pixel is repeated, at least 1.
    pub repeats: u32,
}

impl Functional {
    /// Takes rows in that lie in `span`, from its first byte on.
    #[inline]
    pub(super) fn take_span(
        &mut self,
        intake: Intake,
        target: Target,
        span: &[u8],
        rows: DramRows,
    ) {
        if intake == Intake::Copy && target.repeats == 1 {
            match self.local.row_bytes {
                16 => self.copy_span::<16>(target, span, rows),
                32 => self.copy_span::<32>(target, span, rows),
                64 => self.copy_span::<64>(target, span, rows),
                _ => self.copy_span::<8>(target, span, rows),
            }
            return;
        }
        for row in 0..rows.count {
            let from = (u64::from(row) * rows.stride) as usize;
            self.take_in(intake, target, row, &span[from..from + rows.len]);
        }
    }

    /// Copies rows into blocks of rows that are a multiple of `PIECE` bytes
    /// long.
    #[inline]
    fn copy_span<const PIECE: usize>(&mut self, target: Target, span: &[u8], rows: DramRows) {
        let width = self.local.row_bytes;
        let first = target.tile.address.row() as usize;
        let step = target.block_stride as usize * width;
        for row in 0..rows.count as usize {
            let from = row * rows.stride as usize;
            let source = &span[from..from + rows.len];
            let mut at = (first + row) * width;
            if width == PIECE {
                let (pieces, rest) = source.as_chunks::<PIECE>();
                for piece in pieces {
                    self.local.bytes[at..at + PIECE].copy_from_slice(piece);
                    at += step;
                }
                if !rest.is_empty() {
                    self.local.bytes[at..][..rest.len()].copy_from_slice(rest);
                }
            } else {
                for block in source.chunks(width) {
                    self.local.bytes[at..][..block.len()].copy_from_slice(block);
                    at += step;
                }
            }
        }
    }

    /// Takes rows of `bytes` zeros in.
    pub(super) fn take_zeros(&mut self, intake: Intake, target: Target, bytes: usize) {
        let Target { tile, .. } = target;
        let dim = self.config.dim as usize;
        let (rows, cols) = (u32::from(tile.rows), usize::from(tile.cols));
        let plain = intake == Intake::WordsI32 && !tile.address.accumulates();
        if plain && cols.is_multiple_of(dim) {
            let mut first = tile.address.row() as usize;
            for _ in 0..cols / dim {
                self.local.words[first * dim..(first + rows as usize) * dim].fill(0);
                first += target.block_stride as usize;
            }
            return;
        }
        let mut zeros = std::mem::take(&mut self.row_buffer);
        zeros.clear();
        zeros.resize(bytes, 0);
        for row in 0..rows {
            self.take_in(intake, target, row, &zeros);
        }
        self.row_buffer = zeros;
    }

    /// Takes one row of elements into local memory.
    pub(super) fn take_in(&mut self, intake: Intake, target: Target, row: u32, source: &[u8]) {
        let Target {
            tile,
            block_stride,
            repeats,
        } = target;
        let dim = self.config.dim as usize;
        let adds = tile.address.accumulates();
        let first = tile.address.row() + row;
        let element = match intake {
            Intake::Copy | Intake::ScaleF32(_) => self.local.row_bytes / dim,
            Intake::ScaleI8(_) | Intake::WidenI8(_) => 1,
            Intake::WordsI32 | Intake::WordsF32(_) => 4,
        };
        for (block, source) in source.chunks(dim * element).enumerate() {
            let row = (first + block as u32 * block_stride) as usize;
            let words = || row * dim..row * dim + source.len() / element;
            match intake {
                Intake::Copy => {
                    let to = &mut self.local.bytes[row * self.local.row_bytes..][..source.len()];
                    to.copy_from_slice(source);
                }
                Intake::ScaleI8(scale) => {
                    let to = &mut self.local.bytes[row * self.local.row_bytes..][..source.len()];
                    for (to, from) in to.iter_mut().zip(source) {
                        *to = to_i8(f32::from(*from as i8) * scale) as u8;
                    }
                }
                Intake::ScaleF32(scale) => {
                    let to = &mut self.local.bytes[row * self.local.row_bytes..][..source.len()];
                    for (to, from) in to.chunks_exact_mut(4).zip(source.chunks_exact(4)) {
                        to.copy_from_slice(&canonical(read_float(from) * scale).to_le_bytes());
                    }
                }
                Intake::WordsI32 => {
                    for (to, from) in self.local.words[words()]
                        .iter_mut()
                        .zip(source.chunks_exact(4))
                    {
                        let value = i32::from_le_bytes(from.try_into().expect("four bytes"));
                        *to = if adds { to.wrapping_add(value) } else { value };
                    }
                }
                Intake::WidenI8(scale) => {
                    for (to, from) in self.local.words[words()].iter_mut().zip(source) {
                        let value = i32::from(to_i8(f32::from(*from as i8) * scale));
                        *to = if adds { to.wrapping_add(value) } else { value };
                    }
                }
                Intake::WordsF32(scale) => {
                    for (to, from) in self.local.words[words()]
                        .iter_mut()
                        .zip(source.chunks_exact(4))
                    {
                        let value = read_float(from);
                        let value = if scale == 1.0 {
                            value
                        } else {
                            canonical(value * scale)
                        };
                        let value = value.to_bits() as i32;
                        *to = if adds {
                            add_float_bits(*to, value)
                        } else {
                            value
                        };
                    }
                }
            }
        }
        if repeats > 1 {
            self.repeat_row(first, source.len(), repeats);
        }
    }

    /// Writes a row again, each time one row further up and behind the
    /// columns before, down to the start of its half of the scratchpad.
    fn repeat_row(&mut self, row: u32, bytes: usize, repeats: u32) {
        let width = self.local.row_bytes;
        let floor = self.half_start(row);
        for repeat in 1..repeats {
            let Some(to) = row.checked_sub(repeat).filter(|to| *to >= floor) else {
                break;
            };
            let from = row as usize * width;
            self.local.bytes.copy_within(
                from..from + bytes,
                to as usize * width + repeat as usize * bytes,
            );
        }
    }

    pub(super) fn half_start(&self, row: u32) -> u32 {
        let half = self.config.spad_rows() / 2;
        if row >= half { half } else { 0 }
    }
}

fn read_float(bytes: &[u8]) -> f32 {
    f32::from_le_bytes(bytes.try_into().expect("four bytes"))
}
