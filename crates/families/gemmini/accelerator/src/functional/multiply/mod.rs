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
pub(crate) struct Weights {
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
pub(crate) enum Store {
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
pub(crate) fn multiply_f32(host: Host, dim: usize, a: &[f32], weights: &[f32], out: &mut [f32]) {
    match host.set() {
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx2 | InstructionSet::Avx512 => {
            // SAFETY: a `Host` of either set proves AVX2 and FMA.
            unsafe { avx2::multiply_f32(dim, a, weights, out) }
        }
        _ => portable::multiply_f32(dim, a, weights, out),
    }
}

#[cfg(test)]
mod tests {
    use super::{Host, InstructionSet, Store, Weights, multiply_f32};
    use proptest::prelude::*;

    fn nested_loops(dim: usize, a: &[u8], w: &[i8], before: &[i32]) -> Vec<i32> {
        let mut out = before.to_vec();
        for i in 0..a.len() / dim {
            for j in 0..dim {
                for k in 0..dim {
                    let product = i32::from(a[i * dim + k] as i8) * i32::from(w[k * dim + j]);
                    out[i * dim + j] = out[i * dim + j].wrapping_add(product);
                }
            }
        }
        out
    }

    fn hosts() -> impl Iterator<Item = Host> {
        InstructionSet::available()
            .into_iter()
            .filter_map(Host::with)
    }

    /// Matrices of which some hold nothing but extremes.
    fn problem() -> impl Strategy<Value = (usize, Vec<u8>, Vec<i8>, Vec<i32>)> {
        (
            prop::sample::select(vec![2usize, 4, 8, 16, 32, 64]),
            1usize..=17,
        )
            .prop_flat_map(|(dim, rows)| {
                let extreme = || prop::sample::select(vec![i8::MIN, i8::MAX]);
                let byte = || {
                    prop_oneof![
                        prop::collection::vec(any::<i8>(), dim * dim),
                        prop::collection::vec(extreme(), dim * dim),
                        Just(vec![i8::MIN; dim * dim]),
                    ]
                };
                let a = move |bytes: Vec<i8>| {
                    let cycle = bytes.iter().cycle().take(rows * dim);
                    cycle.map(|byte| *byte as u8).collect::<Vec<_>>()
                };
                (
                    Just(dim),
                    byte().prop_map(a),
                    byte(),
                    prop::collection::vec(any::<i32>(), rows * dim),
                )
            })
    }

    proptest! {
        #[test]
        fn every_form_of_the_integer_product_agrees(
            (dim, a, w, before) in problem(),
            share in 0usize..=64,
        ) {
            let mut zeros_behind = w.clone();
            zeros_behind[share.min(dim) * dim..].fill(0);
            let bytes: Vec<u8> = w.iter().map(|weight| *weight as u8).collect();
            let none = vec![0; before.len()];
            for host in hosts() {
                let mut weights = Weights::new(dim, host);
                let check = |weights: &Weights, w: &[i8]| {
                    for (store, start) in [(Store::Add, &before), (Store::Overwrite, &none)] {
                        let mut out = before.clone();
                        weights.multiply(&a, &mut out, store);
                        prop_assert_eq!(&out, &nested_loops(dim, &a, w, start), "{:?}", host);
                    }
                    Ok(())
                };
                weights.load_rows(&bytes);
                check(&weights, &w)?;
                weights.load_rows(&bytes[..share.min(dim) * dim]);
                check(&weights, &zeros_behind)?;
                weights.load_with(|plain| plain.copy_from_slice(&bytes));
                check(&weights, &w)?;
                weights.clear();
                check(&weights, &vec![0; dim * dim])?;
            }
        }

        #[test]
        fn every_form_of_the_float_chain_agrees(
            a in prop::collection::vec(-1e3f32..1e3, 16),
            w in prop::collection::vec(-1e3f32..1e3, 16),
            start in prop::collection::vec(-1e3f32..1e3, 16),
        ) {
            let run = |host| {
                let mut out = start.clone();
                multiply_f32(host, 4, &a, &w, &mut out);
                out.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
            };
            let mut hosts = hosts();
            let portable = run(hosts.next().expect("there is always the portable one"));
            for host in hosts {
                prop_assert_eq!(&portable, &run(host));
            }
        }
    }

    #[test]
    fn float_products_are_fused_and_in_order() {
        // 1 + 2^-24 * ... cancels differently if a product is rounded first.
        let tiny = 1.0 + f32::EPSILON;
        let a = [tiny, -1.0, 0.0, 0.0];
        let mut w = [0.0; 16];
        w[0] = tiny;
        w[4] = 1.0 + 2.0 * f32::EPSILON;
        let mut out = [0.0; 4];
        multiply_f32(Host::detect(), 4, &a, &w, &mut out);
        let first = (f64::from(tiny) * f64::from(tiny)) as f32;
        assert_eq!(
            out[0],
            first - w[4],
            "the first product is rounded when it enters the chain"
        );
        let mut out = [-(1.0 + 2.0 * f32::EPSILON), 0.0, 0.0, 0.0];
        multiply_f32(Host::detect(), 4, &[tiny, 0.0, 0.0, 0.0], &w, &mut out);
        assert_eq!(
            out[0],
            f32::EPSILON * f32::EPSILON,
            "the last bits survive the cancellation"
        );
    }
}
