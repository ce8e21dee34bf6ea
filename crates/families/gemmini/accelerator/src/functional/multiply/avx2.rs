//! AVX2: sums of two products of 16-bit numbers.

use super::{Store, portable};
use std::arch::x86_64::{
    __m128i, __m256i, _mm_loadu_si128, _mm_unpackhi_epi8, _mm_unpacklo_epi8, _mm256_add_epi32,
    _mm256_cvtepi8_epi16, _mm256_loadu_si256, _mm256_madd_epi16, _mm256_set1_epi32,
    _mm256_setzero_si256, _mm256_storeu_si256,
};

/// Rows that are multiplied at once.
const BLOCK: usize = 4;
const MAX_DIM: usize = 64;

/// Packs `dim` rows of weights: for each pair of rows and each column the two
/// weights.
///
/// # Panics
/// Unless `dim` is 16, 32 or 64 and both slices hold matrices.
///
/// # Safety
/// The host has AVX2.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn pack(dim: usize, rows: &[u8], pairs: &mut [i16]) {
    assert!(
        rows.len() == dim * dim && pairs.len() == dim * dim,
        "whole matrices"
    );
    // SAFETY: the slices hold what the constants say.
    unsafe {
        match dim {
            16 => pack_rows::<16>(rows, pairs),
            32 => pack_rows::<32>(rows, pairs),
            64 => pack_rows::<64>(rows, pairs),
            _ => unreachable!("arrays of other sizes do not pack"),
        }
    }
}

/// # Safety
/// As [`pack`]; both slices hold `DIM * DIM` values.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn pack_rows<const DIM: usize>(rows: &[u8], pairs: &mut [i16]) {
    let (rows, pairs) = (rows.as_ptr(), pairs.as_mut_ptr());
    for pair in 0..DIM / 2 {
        for column in (0..DIM).step_by(16) {
            // SAFETY: two rows of weights lie at `2 * pair * DIM`, and as many
            // pairs.
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

/// Multiplies int8 rows by packed weights.
///
/// # Panics
/// Unless `dim` is 16, 32 or 64, the weights are a matrix and `a` and `out`
/// hold the same number of whole rows.
///
/// # Safety
/// The host has AVX2.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn multiply(dim: usize, a: &[u8], pairs: &[i16], out: &mut [i32], store: Store) {
    assert!(pairs.len() == dim * dim, "a whole matrix of weights");
    assert!(
        a.len() == out.len() && a.len().is_multiple_of(dim),
        "whole rows"
    );
    // SAFETY: the slices hold what the constants say.
    unsafe {
        match dim {
            16 => blocks::<16>(a, pairs, out, store),
            32 => blocks::<32>(a, pairs, out, store),
            64 => blocks::<64>(a, pairs, out, store),
            _ => unreachable!("arrays of other sizes do not pack"),
        }
    }
}

/// # Safety
/// As [`multiply`], with `DIM` columns.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn blocks<const DIM: usize>(a: &[u8], pairs: &[i16], out: &mut [i32], store: Store) {
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

/// Adds chains of products of floats.
///
/// # Safety
/// The host has AVX2 and FMA.
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn multiply_f32(dim: usize, a: &[f32], weights: &[f32], out: &mut [f32]) {
    match dim {
        4 => portable::multiply_f32(4, a, weights, out),
        dim => portable::multiply_f32(dim, a, weights, out),
    }
}
