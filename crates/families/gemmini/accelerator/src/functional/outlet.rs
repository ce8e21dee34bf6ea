//! From elements in local memory to rows of bytes in DRAM.

use super::Functional;
use super::arithmetic::{canonical, clamp_i8, relu_f32, to_i8};
use super::instruction_set::Host;
#[cfg(target_arch = "x86_64")]
use super::instruction_set::InstructionSet;
use crate::address::Tile;
use crate::config::Elements;
use crate::isa::Activation;

/// How elements are changed on their way out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Outlet {
    /// Scratchpad bytes as they are.
    Bytes,
    /// Accumulator words as they are.
    Words,
    /// Accumulator words through activation and scale.
    Scaled,
}

/// From accumulator words to int8.
#[derive(Clone, Copy, Debug)]
pub struct Narrowing {
    /// Words below are this.
    pub floor: i32,
    /// Factor.
    pub scale: f32,
}

impl Narrowing {
    #[inline(always)]
    fn narrow(self, words: &[i32], out: &mut [u8]) {
        if self.scale == 1.0 {
            for (out, word) in out.iter_mut().zip(words) {
                *out = clamp_i8((*word).max(self.floor)) as u8;
            }
        } else {
            for (out, word) in out.iter_mut().zip(words) {
                *out = to_i8((*word).max(self.floor) as f32 * self.scale) as u8;
            }
        }
    }

    /// Narrows rows of `cols` words, in blocks of `dim` columns and rows.
    #[inline(always)]
    fn narrow_tile(self, dim: usize, cols: usize, words: &[i32], out: &mut [u8]) {
        for (row, out) in out.chunks_exact_mut(cols).enumerate() {
            for (block, out) in out.chunks_mut(dim).enumerate() {
                let words = &words[(block * dim + row) * dim..][..out.len()];
                // A number of elements that the compiler knows makes a
                // difference, and this one is by far the most common.
                if let (Ok(out), Ok(words)) = (
                    <&mut [u8; 16]>::try_from(&mut *out),
                    <&[i32; 16]>::try_from(words),
                ) {
                    self.narrow(words, out);
                } else {
                    self.narrow(words, out);
                }
            }
        }
    }

    /// As [`narrow_tile`](Self::narrow_tile), with the instructions that the host has.
    pub fn narrow_on(self, host: Host, dim: usize, cols: usize, words: &[i32], out: &mut [u8]) {
        match host.set() {
            // SAFETY: a `Host` of this set proves the instructions.
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 => unsafe { self.narrow_avx2(dim, cols, words, out) },
            // SAFETY: a `Host` of this set proves the instructions.
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512 => unsafe { self.narrow_avx512(dim, cols, words, out) },
            _ => self.narrow_tile(dim, cols, words, out),
        }
    }

    /// # Safety
    /// The host has AVX2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn narrow_avx2(self, dim: usize, cols: usize, words: &[i32], out: &mut [u8]) {
        self.narrow_tile(dim, cols, words, out);
    }

    /// # Safety
    /// The host has AVX-512 F and BW.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn narrow_avx512(self, dim: usize, cols: usize, words: &[i32], out: &mut [u8]) {
        self.narrow_tile(dim, cols, words, out);
    }
}

impl Functional {
    /// Puts `rows` rows of all blocks into `buffer`, one behind the other, and
    /// returns them; the rows must exist.
    pub(super) fn put_out_tile<'a>(
        &self,
        outlet: Outlet,
        tile: Tile,
        rows: u32,
        buffer: &'a mut Vec<u8>,
    ) -> &'a [u8] {
        let (dim, cols) = (self.config.dim as usize, usize::from(tile.cols));
        let narrows = outlet == Outlet::Scaled
            && self.config.elements == Elements::Int8
            && self.special_activation().is_none();
        if narrows {
            let bytes = rows as usize * cols;
            if buffer.len() < bytes {
                buffer.resize(bytes, 0);
            }
            let (words, out) = (
                &self.local.words[tile.address.row() as usize * dim..],
                &mut buffer[..bytes],
            );
            self.narrowing().narrow_on(self.host, dim, cols, words, out);
            return &buffer[..bytes];
        }
        buffer.clear();
        for row in 0..rows {
            self.put_out(outlet, tile, row, buffer);
        }
        buffer
    }

    fn narrowing(&self) -> Narrowing {
        let store = &self.configured.store;
        Narrowing {
            floor: if store.activation == Activation::Relu {
                0
            } else {
                i32::MIN
            },
            scale: store.scale,
        }
    }

    /// Appends one row of all blocks to `buffer` as it leaves.
    fn put_out(&self, outlet: Outlet, tile: Tile, row: u32, buffer: &mut Vec<u8>) {
        let dim = self.config.dim as usize;
        let mut left = usize::from(tile.cols);
        let mut at = tile.address.row() + row;
        while left > 0 {
            let cols = left.min(dim);
            self.put_out_block(outlet, at, cols, buffer);
            left -= cols;
            at += dim as u32;
        }
    }

    #[inline]
    pub(super) fn put_out_block(
        &self,
        outlet: Outlet,
        row: u32,
        cols: usize,
        buffer: &mut Vec<u8>,
    ) {
        match outlet {
            Outlet::Bytes => {
                let bytes = cols * self.config.element_bytes() as usize;
                buffer.extend_from_slice(&self.local.spad_row(row)[..bytes]);
            }
            Outlet::Words => {
                for word in &self.local.acc_row(row)[..cols] {
                    buffer.extend_from_slice(&word.to_le_bytes());
                }
            }
            Outlet::Scaled => self.put_out_scaled(&self.local.acc_row(row)[..cols], buffer),
        }
    }

    fn put_out_scaled(&self, words: &[i32], buffer: &mut Vec<u8>) {
        let store = &self.configured.store;
        let scale = store.scale;
        let relu = store.activation == Activation::Relu;
        if self.config.elements == Elements::Float32 {
            for word in words {
                let value = f32::from_bits(*word as u32);
                let value = if relu { relu_f32(value) } else { value };
                buffer.extend_from_slice(&canonical(value * scale).to_le_bytes());
            }
            return;
        }
        if let Some(special) = self.special_activation() {
            buffer.extend(
                words
                    .iter()
                    .map(|word| to_i8(self.activate(special, *word) * scale) as u8),
            );
            return;
        }
        let mut row = [0; 64];
        let out = &mut row[..words.len()];
        self.narrowing().narrow(words, out);
        buffer.extend_from_slice(out);
    }
}
