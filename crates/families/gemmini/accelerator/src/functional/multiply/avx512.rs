//! AVX-512 with VNNI: sums of four products of a byte without and a byte with
//! sign, none of which saturates.
//!
//! A is raised by 128 to be without sign; what the product then has too much,
//! 128 times the sum of a column of weights, is known when they are packed.

use super::Store;
use std::arch::x86_64::{
    __m128i, __m512i, _mm_loadu_si128, _mm512_add_epi32, _mm512_broadcast_i32x4,
    _mm512_castsi128_si512, _mm512_dpbusd_epi32, _mm512_inserti32x4, _mm512_loadu_si512,
    _mm512_permutexvar_epi32, _mm512_set_epi32, _mm512_set1_epi8, _mm512_set4_epi32,
    _mm512_setzero_si512, _mm512_shuffle_epi8, _mm512_shuffle_epi32, _mm512_storeu_si512,
    _mm512_sub_epi32, _mm512_xor_si512,
};

/// Columns of a vector of sums, and bytes of a quarter of a vector.
const COLUMNS: usize = 16;
/// Bytes of a vector of weights: four rows of 16 columns.
const QUAD: usize = 64;

/// Packs `dim` rows of weights: for each 16 columns, each four rows and each
/// column the four weights. `excess` gets 128 times the sum of each column.
///
/// # Panics
/// Unless `dim` is 16, 32 or 64 and the slices hold matrices and a row.
///
/// # Safety
/// The host has AVX-512 F, BW and VNNI.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub(super) unsafe fn pack(dim: usize, rows: &[u8], weights: &mut [i8], excess: &mut [i32]) {
    assert!(
        rows.len() == dim * dim && weights.len() == dim * dim && excess.len() == dim,
        "whole matrices"
    );
    // SAFETY: the slices hold what the constants say.
    unsafe {
        match dim {
            16 => pack_panels::<16>(rows, weights, excess),
            32 => pack_panels::<32>(rows, weights, excess),
            64 => pack_panels::<64>(rows, weights, excess),
            _ => unreachable!("arrays of other sizes do not pack"),
        }
    }
}

/// # Safety
/// As [`pack`]; `rows` and `weights` hold `DIM * DIM` values, `excess` `DIM`.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
#[inline]
unsafe fn pack_panels<const DIM: usize>(rows: &[u8], weights: &mut [i8], excess: &mut [i32]) {
    let (rows, weights, excess) = (rows.as_ptr(), weights.as_mut_ptr(), excess.as_mut_ptr());
    // Four columns of each of the four rows side by side, then four rows of
    // each column.
    let gather = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
    let turn = _mm512_set4_epi32(0x0f0b_0703, 0x0e0a_0602, 0x0d09_0501, 0x0c08_0400);
    let raised = _mm512_set1_epi8(-128);
    for panel in 0..DIM / COLUMNS {
        let mut sums = _mm512_setzero_si512();
        for quad in 0..DIM / 4 {
            // SAFETY: four rows of `DIM` bytes lie at `4 * quad * DIM`, and as
            // many weights.
            unsafe {
                let from = rows.add(4 * quad * DIM + panel * COLUMNS);
                let four = if DIM == COLUMNS {
                    _mm512_loadu_si512(from.cast::<__m512i>())
                } else {
                    let row = |at: usize| _mm_loadu_si128(from.add(at * DIM).cast::<__m128i>());
                    let four = _mm512_castsi128_si512(row(0));
                    let four = _mm512_inserti32x4::<1>(four, row(1));
                    let four = _mm512_inserti32x4::<2>(four, row(2));
                    _mm512_inserti32x4::<3>(four, row(3))
                };
                let four = _mm512_shuffle_epi8(_mm512_permutexvar_epi32(gather, four), turn);
                let to = weights.add((panel * DIM / 4 + quad) * QUAD);
                _mm512_storeu_si512(to.cast::<__m512i>(), four);
                sums = _mm512_dpbusd_epi32(sums, raised, four);
            }
        }
        // SAFETY: `excess` holds `DIM` sums.
        unsafe { _mm512_storeu_si512(excess.add(panel * COLUMNS).cast::<__m512i>(), sums) };
    }
}

/// Multiplies int8 rows by packed weights.
///
/// # Panics
/// Unless `dim` is 16, 32 or 64, the weights are a matrix and `a` and `out`
/// hold the same number of whole rows.
///
/// # Safety
/// The host has AVX-512 F, BW and VNNI.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub(super) unsafe fn multiply(
    dim: usize,
    a: &[u8],
    weights: &[i8],
    excess: &[i32],
    out: &mut [i32],
    store: Store,
) {
    assert!(
        weights.len() == dim * dim && excess.len() == dim,
        "a whole matrix of weights"
    );
    assert!(
        a.len() == out.len() && a.len().is_multiple_of(dim),
        "whole rows"
    );
    // SAFETY: the slices hold what the constants say.
    unsafe {
        match dim {
            16 => panels::<16, 4, 1>(a, weights, excess, out, store),
            32 => panels::<32, 8, 2>(a, weights, excess, out, store),
            64 => panels::<64, 16, 1>(a, weights, excess, out, store),
            _ => unreachable!("arrays of other sizes do not pack"),
        }
    }
}

/// Multiplies by `PANELS` times 16 columns at a time, whose `QUADS` times four
/// rows of weights stay in registers.
///
/// # Safety
/// As [`multiply`]; `DIM` is four times `QUADS` and a multiple of 16 times
/// `PANELS`.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
#[inline]
unsafe fn panels<const DIM: usize, const QUADS: usize, const PANELS: usize>(
    a: &[u8],
    weights: &[i8],
    excess: &[i32],
    out: &mut [i32],
    store: Store,
) {
    let rows = a.len() / DIM;
    let (a, weights, excess) = (a.as_ptr(), weights.as_ptr(), excess.as_ptr());
    let out = out.as_mut_ptr();
    let sign = _mm512_set1_epi8(-128);
    for first in (0..DIM / COLUMNS).step_by(PANELS) {
        // SAFETY: `DIM / 16` panels of `QUADS` vectors of weights and as many
        // vectors of `excess` exist; rows of `a` and `out` are `DIM` long.
        unsafe {
            let mut kept = [[_mm512_setzero_si512(); QUADS]; PANELS];
            let mut start = [_mm512_setzero_si512(); PANELS];
            for (panel, (kept, start)) in kept.iter_mut().zip(&mut start).enumerate() {
                let panel = first + panel;
                for (quad, kept) in kept.iter_mut().enumerate() {
                    let from = weights.add((panel * QUADS + quad) * QUAD);
                    *kept = _mm512_loadu_si512(from.cast::<__m512i>());
                }
                let excess = _mm512_loadu_si512(excess.add(panel * COLUMNS).cast::<__m512i>());
                *start = _mm512_sub_epi32(_mm512_setzero_si512(), excess);
            }
            for row in 0..rows {
                let to = out.add(row * DIM + first * COLUMNS);
                let mut sums = start;
                if store == Store::Add {
                    for (panel, sum) in sums.iter_mut().enumerate() {
                        let before = to.add(panel * COLUMNS).cast::<__m512i>();
                        *sum = _mm512_add_epi32(*sum, _mm512_loadu_si512(before));
                    }
                }
                for part in 0..QUADS / 4 {
                    let from = a.add(row * DIM + part * COLUMNS).cast::<__m128i>();
                    let bytes = _mm512_broadcast_i32x4(_mm_loadu_si128(from));
                    let bytes = _mm512_xor_si512(bytes, sign);
                    let fours = [
                        _mm512_shuffle_epi32::<0x00>(bytes),
                        _mm512_shuffle_epi32::<0x55>(bytes),
                        _mm512_shuffle_epi32::<0xaa>(bytes),
                        _mm512_shuffle_epi32::<0xff>(bytes),
                    ];
                    for (at, four) in fours.into_iter().enumerate() {
                        for (sum, kept) in sums.iter_mut().zip(&kept) {
                            *sum = _mm512_dpbusd_epi32(*sum, four, kept[4 * part + at]);
                        }
                    }
                }
                for (panel, sum) in sums.iter().enumerate() {
                    _mm512_storeu_si512(to.add(panel * COLUMNS).cast::<__m512i>(), *sum);
                }
            }
        }
    }
}
