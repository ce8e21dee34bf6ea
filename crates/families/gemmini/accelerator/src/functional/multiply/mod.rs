//! Products of small matrices, as fast as the host can.
//!
//! Integers: `out[i][j] (+)= sum over k of a[i][k] * w[k][j]`, exact in 32 bits.
//! Floats: a chain of fused multiply-adds over ascending k, one rounding each.
//! Each has one portable form, and forms for instruction sets found at run
//! time that give the same results; they are in a file for each set.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;

use super::instruction_set::{Host, InstructionSet};

/// Weights as the host's multiplication reads them.
#[derive(Clone, Debug)]
enum Packed {
    /// Row after row, as they are.
    Rows,
    /// The same, for NEON.
    #[cfg(target_arch = "aarch64")]
    NeonRows,
    /// For each pair of rows and each column the two weights, widened.
    #[cfg(target_arch = "x86_64")]
    Pairs(Vec<i16>),
    /// For each 16 columns, each four rows and each column the four weights;
    /// and what a product with all of A raised by 128 has too much.
    #[cfg(target_arch = "x86_64")]
    Quads { weights: Vec<i8>, excess: Vec<i32> },
}

impl Packed {
    /// Returns whether the multiplication reads this instead of plain rows.
    fn is_copy(&self) -> bool {
        match self {
            Self::Rows => false,
            #[cfg(target_arch = "aarch64")]
            Self::NeonRows => false,
            #[cfg(target_arch = "x86_64")]
            Self::Pairs(_) | Self::Quads { .. } => true,
        }
    }
}

/// A square matrix of int8 weights.
#[derive(Clone, Debug)]
pub struct Weights {
    dim: usize,
    /// Row after row; out of date after [`load_rows`](Self::load_rows) unless
    /// it is what the multiplication reads.
    plain: Vec<u8>,
    packed: Packed,
}

impl Weights {
    /// Makes zeros.
    pub fn new(dim: usize, host: Host) -> Self {
        let packed = match (host.set(), dim) {
            #[cfg(target_arch = "x86_64")]
            (InstructionSet::Avx2, 16 | 32 | 64) => Packed::Pairs(vec![0; dim * dim]),
            #[cfg(target_arch = "x86_64")]
            (InstructionSet::Avx512, 16 | 32 | 64) => Packed::Quads {
                weights: vec![0; dim * dim],
                excess: vec![0; dim],
            },
            #[cfg(target_arch = "aarch64")]
            (InstructionSet::Neon, 16 | 32 | 64) => Packed::NeonRows,
            _ => Packed::Rows,
        };
        Self {
            dim,
            plain: vec![0; dim * dim],
            packed,
        }
    }

    /// Makes all of them zero.
    pub fn clear(&mut self) {
        self.plain.fill(0);
        match &mut self.packed {
            Packed::Rows => {}
            #[cfg(target_arch = "aarch64")]
            Packed::NeonRows => {}
            #[cfg(target_arch = "x86_64")]
            Packed::Pairs(pairs) => pairs.fill(0),
            #[cfg(target_arch = "x86_64")]
            Packed::Quads { weights, excess } => {
                weights.fill(0);
                excess.fill(0);
            }
        }
    }

    /// Takes what `write` makes of a matrix of zeros, given row after row as
    /// bytes.
    pub fn load_with(&mut self, write: impl FnOnce(&mut [u8])) {
        self.plain.fill(0);
        write(&mut self.plain);
        pack(self.dim, &self.plain, &mut self.packed);
    }

    /// Takes whole rows of bytes, from the first row on, and zeros behind them.
    #[inline]
    pub fn load_rows(&mut self, rows: &[u8]) {
        if self.packed.is_copy() && rows.len() == self.plain.len() {
            pack(self.dim, rows, &mut self.packed);
        } else {
            let (plain, zeros) = self.plain.split_at_mut(rows.len());
            plain.copy_from_slice(rows);
            zeros.fill(0);
            pack(self.dim, &self.plain, &mut self.packed);
        }
    }

    /// Multiplies the int8 rows in `a` by the weights into the rows of `out`.
    ///
    /// *Shapes* `a: [rows, dim]` bytes taken as signed, `out: [rows, dim]`.
    #[inline]
    pub fn multiply(&self, a: &[u8], out: &mut [i32], store: Store) {
        let dim = self.dim;
        assert!(
            a.len() == out.len() && a.len().is_multiple_of(dim),
            "whole rows"
        );
        match &self.packed {
            Packed::Rows => portable::multiply(dim, a, &self.plain, out, store),
            // SAFETY: `new` only asks for this form if the host has NEON.
            #[cfg(target_arch = "aarch64")]
            Packed::NeonRows => unsafe { neon::multiply(dim, a, &self.plain, out, store) },
            // SAFETY: `new` makes pairs only if the host has AVX2.
            #[cfg(target_arch = "x86_64")]
            Packed::Pairs(pairs) => unsafe { avx2::multiply(dim, a, pairs, out, store) },
            // SAFETY: `new` makes quads only if the host has AVX-512.
            #[cfg(target_arch = "x86_64")]
            Packed::Quads { weights, excess } => unsafe {
                avx512::multiply(dim, a, weights, excess, out, store);
            },
        }
    }
}

/// Packs `dim` x `dim` bytes, row after row.
#[inline]
#[cfg_attr(
    not(target_arch = "x86_64"),
    expect(unused_variables, reason = "only x86-64 packs")
)]
fn pack(dim: usize, rows: &[u8], packed: &mut Packed) {
    match packed {
        Packed::Rows => {}
        #[cfg(target_arch = "aarch64")]
        Packed::NeonRows => {}
        // SAFETY: `Weights::new` makes pairs only if the host has AVX2.
        #[cfg(target_arch = "x86_64")]
        Packed::Pairs(pairs) => unsafe { avx2::pack(dim, rows, pairs) },
        // SAFETY: `Weights::new` makes quads only if the host has AVX-512.
        #[cfg(target_arch = "x86_64")]
        Packed::Quads { weights, excess } => unsafe {
            avx512::pack(dim, rows, weights, excess);
        },
    }
}

/// Whether products replace what is in the destination or add to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// Replace.
    Overwrite,
    /// Add, wrapping.
    Add,
}

/// Adds to each row of `out` the products of a row of `a` and the weights, by
/// a chain of fused multiply-adds. NaN payloads are left as they come.
///
/// *Shapes* `a: [rows, dim]`, `weights: [dim, dim]`, `out: [rows, dim]`.
#[inline]
pub fn multiply_f32(host: Host, dim: usize, a: &[f32], weights: &[f32], out: &mut [f32]) {
    match host.set() {
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx2 | InstructionSet::Avx512 => {
            // SAFETY: a `Host` of either set proves AVX2 and FMA.
            unsafe { avx2::multiply_f32(dim, a, weights, out) }
        }
        _ => portable::multiply_f32(dim, a, weights, out),
    }
}
