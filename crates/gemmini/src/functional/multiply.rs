//! Products of small matrices, as fast as the host can.
//!
//! Integers: `out[i][j] (+)= sum over k of a[i][k] * w[k][j]`, exact in 32 bits.
//! Floats: a chain of fused multiply-adds over ascending k, one rounding each.
//! Each has one portable form, and forms for instruction sets found at run
//! time that give the same results.

/// Which instructions the host has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    /// Nothing beyond what the program was compiled for.
    Portable,
    /// AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    Avx2,
}

impl Host {
    /// Finds out what this machine has.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
            return Self::Avx2;
        }
        Self::Portable
    }
}

/// A square matrix of int8 weights, plain and in pairs of rows.
#[derive(Clone, Debug)]
pub(crate) struct Weights {
    dim: usize,
    /// Row after row.
    plain: Vec<i8>,
    /// For each pair of rows and each column the two weights, widened.
    pairs: Vec<i16>,
}

impl Weights {
    pub fn new(dim: usize) -> Self {
        Self {
            dim,
            plain: vec![0; dim * dim],
            pairs: vec![0; dim * dim],
        }
    }

    pub fn clear(&mut self) {
        self.plain.fill(0);
        self.pairs.fill(0);
    }

    /// Returns the weights for changes; [`pack`](Self::pack) must follow.
    pub fn plain_mut(&mut self) -> &mut [i8] {
        &mut self.plain
    }

    /// Makes the pairs.
    pub fn pack(&mut self) {
        pack_rows(self.dim, &self.plain, &mut self.pairs);
    }

    /// Takes whole rows of bytes, from the first row on, and zeros behind them.
    #[inline]
    pub fn load_rows(&mut self, host: Host, rows: &[u8]) {
        match (host, self.dim) {
            #[cfg(target_arch = "x86_64")]
            (Host::Avx2, 16 | 32 | 64) if rows.len().is_multiple_of(2 * self.dim) => {
                let (packed, zeros) = self.pairs.split_at_mut(rows.len());
                // SAFETY: `Host::detect` found AVX2; both slices hold the same
                // even number of rows of `dim` values.
                unsafe {
                    match self.dim {
                        16 => avx2::pack::<16>(rows, packed),
                        32 => avx2::pack::<32>(rows, packed),
                        _ => avx2::pack::<64>(rows, packed),
                    }
                }
                zeros.fill(0);
            }
            _ => {
                for (to, from) in self.plain.iter_mut().zip(rows) {
                    *to = *from as i8;
                }
                self.plain[rows.len()..].fill(0);
                self.pack();
            }
        }
    }

    /// Makes the plain form, which [`load_rows`](Self::load_rows) may leave
    /// behind, agree with the pairs.
    pub fn unpack(&mut self) {
        let dim = self.dim;
        for (rows, pairs) in self
            .plain
            .chunks_exact_mut(2 * dim)
            .zip(self.pairs.chunks_exact(2 * dim))
        {
            let (even, odd) = rows.split_at_mut(dim);
            for ((pair, even), odd) in pairs.chunks_exact(2).zip(even).zip(odd) {
                (*even, *odd) = (pair[0] as i8, pair[1] as i8);
            }
        }
    }
}

#[inline(always)]
fn pack_rows(dim: usize, plain: &[i8], pairs: &mut [i16]) {
    for (rows, out) in plain
        .chunks_exact(2 * dim)
        .zip(pairs.chunks_exact_mut(2 * dim))
    {
        let (even, odd) = rows.split_at(dim);
        for ((pair, even), odd) in out.chunks_exact_mut(2).zip(even).zip(odd) {
            pair[0] = i16::from(*even);
            pair[1] = i16::from(*odd);
        }
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

/// Multiplies the int8 rows in `a` by `weights` into the rows of `out`.
///
/// *Shapes* `a: [rows, dim]` bytes taken as signed, `out: [rows, dim]`.
#[inline]
pub(crate) fn multiply_i8(host: Host, a: &[u8], weights: &Weights, out: &mut [i32], store: Store) {
    let dim = weights.dim;
    assert!(
        a.len() == out.len() && a.len().is_multiple_of(dim),
        "whole rows"
    );
    match host {
        #[cfg(target_arch = "x86_64")]
        Host::Avx2 if matches!(dim, 16 | 32 | 64) => {
            // SAFETY: `Host::detect` found AVX2; the slices hold whole rows.
            unsafe {
                match dim {
                    16 => avx2::multiply::<16>(a, &weights.pairs, out, store),
                    32 => avx2::multiply::<32>(a, &weights.pairs, out, store),
                    _ => avx2::multiply::<64>(a, &weights.pairs, out, store),
                }
            }
        }
        _ => match dim {
            4 => portable_i8(4, a, &weights.plain, out, store),
            16 => portable_i8(16, a, &weights.plain, out, store),
            32 => portable_i8(32, a, &weights.plain, out, store),
            dim => portable_i8(dim, a, &weights.plain, out, store),
        },
    }
}

#[inline(always)]
fn portable_i8(dim: usize, a: &[u8], weights: &[i8], out: &mut [i32], store: Store) {
    for (a_row, out_row) in a.chunks_exact(dim).zip(out.chunks_exact_mut(dim)) {
        if store == Store::Overwrite {
            out_row.fill(0);
        }
        for (factor, w_row) in a_row.iter().zip(weights.chunks_exact(dim)) {
            let factor = i16::from(*factor as i8);
            for (sum, weight) in out_row.iter_mut().zip(w_row) {
                // The product of two int8 fits in 16 bits.
                *sum = sum.wrapping_add(i32::from(factor * i16::from(*weight)));
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::Store;
    use std::arch::x86_64::{
        __m128i, __m256i, _mm_loadu_si128, _mm_unpackhi_epi8, _mm_unpacklo_epi8, _mm256_add_epi32,
        _mm256_cvtepi8_epi16, _mm256_loadu_si256, _mm256_madd_epi16, _mm256_set1_epi32,
        _mm256_setzero_si256, _mm256_storeu_si256,
    };

    const BLOCK: usize = 4;
    const MAX_DIM: usize = 64;

    /// # Safety
    /// The host has AVX2; `DIM` is a multiple of 16; `rows` and `pairs` hold
    /// the same even number of rows of `DIM` values.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn pack<const DIM: usize>(rows: &[u8], pairs: &mut [i16]) {
        let count = rows.len() / (2 * DIM);
        let (rows, pairs) = (rows.as_ptr(), pairs.as_mut_ptr());
        for pair in 0..count {
            for column in 0..DIM / 16 {
                let column = 16 * column;
                // SAFETY: two rows of weights lie at `2 * pair * DIM`, and as
                // many pairs.
                unsafe {
                    let from = rows.add(2 * pair * DIM + column);
                    let even = _mm_loadu_si128(from.cast::<__m128i>());
                    let odd = _mm_loadu_si128(from.add(DIM).cast::<__m128i>());
                    let to = pairs.add(2 * pair * DIM + 2 * column).cast::<__m256i>();
                    let low = _mm256_cvtepi8_epi16(_mm_unpacklo_epi8(even, odd));
                    let high = _mm256_cvtepi8_epi16(_mm_unpackhi_epi8(even, odd));
                    _mm256_storeu_si256(to, low);
                    _mm256_storeu_si256(to.add(1), high);
                }
            }
        }
    }

    /// # Safety
    /// The host has AVX2; `DIM` is 16, 32 or 64; `a` and `out` hold the same
    /// number of whole rows; `pairs` holds `dim * dim` values.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) unsafe fn multiply<const DIM: usize>(
        a: &[u8],
        pairs: &[i16],
        out: &mut [i32],
        store: Store,
    ) {
        let mut rows = a.len() / DIM;
        let (mut a, mut out) = (a.as_ptr(), out.as_mut_ptr());
        // SAFETY: every step stays within `rows` rows of both slices.
        unsafe {
            while rows >= BLOCK {
                block::<DIM, BLOCK>(a, pairs, out, store);
                (a, out, rows) = (a.add(BLOCK * DIM), out.add(BLOCK * DIM), rows - BLOCK);
            }
            while rows > 0 {
                block::<DIM, 1>(a, pairs, out, store);
                (a, out, rows) = (a.add(DIM), out.add(DIM), rows - 1);
            }
        }
    }

    /// # Safety
    /// As [`multiply`], with `ROWS` rows behind `a` and `out`.
    #[target_feature(enable = "avx2")]
    #[inline]
    unsafe fn block<const DIM: usize, const ROWS: usize>(
        a: *const u8,
        pairs: &[i16],
        out: *mut i32,
        store: Store,
    ) {
        let mut wide = [0i16; BLOCK * MAX_DIM];
        let wide = wide.as_mut_ptr();
        // SAFETY: `ROWS * DIM` elements lie behind `a`, `out` and in `wide`;
        // `pairs` holds `DIM / 2` rows of `2 * DIM` values.
        unsafe {
            for at in (0..ROWS * DIM).step_by(16) {
                let bytes = _mm_loadu_si128(a.add(at).cast::<__m128i>());
                _mm256_storeu_si256(wide.add(at).cast::<__m256i>(), _mm256_cvtepi8_epi16(bytes));
            }
            for column in (0..DIM).step_by(16) {
                let mut sums = [[_mm256_setzero_si256(); 2]; ROWS];
                for (row, sums) in sums.iter_mut().enumerate() {
                    if store == Store::Add {
                        let from = out.add(row * DIM + column).cast::<__m256i>();
                        *sums = [_mm256_loadu_si256(from), _mm256_loadu_si256(from.add(1))];
                    }
                }
                for pair in 0..DIM / 2 {
                    let from = pairs
                        .as_ptr()
                        .add(pair * 2 * DIM + 2 * column)
                        .cast::<__m256i>();
                    let weights = [_mm256_loadu_si256(from), _mm256_loadu_si256(from.add(1))];
                    for (row, sums) in sums.iter_mut().enumerate() {
                        let two = wide
                            .add(row * DIM + 2 * pair)
                            .cast::<i32>()
                            .read_unaligned();
                        let two = _mm256_set1_epi32(two);
                        for (sum, weights) in sums.iter_mut().zip(weights) {
                            *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(weights, two));
                        }
                    }
                }
                for (row, sums) in sums.iter().enumerate() {
                    let to = out.add(row * DIM + column).cast::<__m256i>();
                    _mm256_storeu_si256(to, sums[0]);
                    _mm256_storeu_si256(to.add(1), sums[1]);
                }
            }
        }
    }
}

/// Adds to each row of `out` the products of a row of `a` and the weights, by
/// a chain of fused multiply-adds. NaN payloads are left as they come.
///
/// *Shapes* `a: [rows, dim]`, `weights: [dim, dim]`, `out: [rows, dim]`.
#[inline]
pub(crate) fn multiply_f32(host: Host, dim: usize, a: &[f32], weights: &[f32], out: &mut [f32]) {
    match host {
        #[cfg(target_arch = "x86_64")]
        Host::Avx2 => {
            // SAFETY: `Host::detect` found AVX2 and FMA.
            unsafe {
                if dim == 4 {
                    multiply_f32_fma(4, a, weights, out);
                } else {
                    multiply_f32_fma(dim, a, weights, out);
                }
            }
        }
        Host::Portable => chain_f32(dim, a, weights, out),
    }
}

/// # Safety
/// The host has AVX2 and FMA.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
#[inline]
unsafe fn multiply_f32_fma(dim: usize, a: &[f32], weights: &[f32], out: &mut [f32]) {
    chain_f32(dim, a, weights, out);
}

#[inline(always)]
fn chain_f32(dim: usize, a: &[f32], weights: &[f32], out: &mut [f32]) {
    for (a_row, out_row) in a.chunks_exact(dim).zip(out.chunks_exact_mut(dim)) {
        for (factor, w_row) in a_row.iter().zip(weights.chunks_exact(dim)) {
            for (sum, weight) in out_row.iter_mut().zip(w_row) {
                *sum = factor.mul_add(*weight, *sum);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Host, Store, Weights, multiply_f32, multiply_i8};
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

    fn problem() -> impl Strategy<Value = (usize, Vec<u8>, Vec<i8>, Vec<i32>)> {
        (
            prop::sample::select(vec![2usize, 4, 8, 16, 32, 64]),
            1usize..=17,
        )
            .prop_flat_map(|(dim, rows)| {
                (
                    Just(dim),
                    prop::collection::vec(any::<u8>(), rows * dim),
                    prop::collection::vec(any::<i8>(), dim * dim),
                    prop::collection::vec(any::<i32>(), rows * dim),
                )
            })
    }

    proptest! {
        #[test]
        fn every_form_of_the_integer_product_agrees((dim, a, w, before) in problem()) {
            let zeros = vec![0; before.len()];
            let bytes: Vec<u8> = w.iter().map(|weight| *weight as u8).collect();
            for (host, by_rows) in
                [(Host::Portable, true), (Host::detect(), false), (Host::detect(), true)]
            {
                let mut weights = Weights::new(dim);
                if by_rows {
                    weights.load_rows(host, &bytes);
                } else {
                    weights.plain_mut().copy_from_slice(&w);
                    weights.pack();
                }
                let mut out = before.clone();
                multiply_i8(host, &a, &weights, &mut out, Store::Add);
                prop_assert_eq!(&out, &nested_loops(dim, &a, &w, &before));
                multiply_i8(host, &a, &weights, &mut out, Store::Overwrite);
                prop_assert_eq!(&out, &nested_loops(dim, &a, &w, &zeros));
            }
        }

        #[test]
        fn fewer_rows_than_the_array_has_are_followed_by_zeros(
            (dim, _, w, _) in problem(),
            share in 0usize..=64,
        ) {
            let rows = share.min(dim);
            let bytes: Vec<u8> = w.iter().map(|weight| *weight as u8).collect();
            let mut expected = w[..rows * dim].to_vec();
            expected.resize(dim * dim, 0);
            for host in [Host::Portable, Host::detect()] {
                let mut weights = Weights::new(dim);
                weights.load_rows(host, &bytes);
                weights.load_rows(host, &bytes[..rows * dim]);
                weights.unpack();
                prop_assert_eq!(&weights.plain, &expected);
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
            prop_assert_eq!(run(Host::Portable), run(Host::detect()));
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
