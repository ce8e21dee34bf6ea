//! NEON: widening multiplications by one of four factors.

use super::Store;
use std::arch::aarch64::{
    int32x4_t, vdupq_n_s32, vget_high_s16, vget_low_s8, vget_low_s16, vld1q_s8, vld1q_s32,
    vmlal_laneq_s16, vmovl_high_s8, vmovl_s8, vst1q_s32,
};

/// Columns of the sums that stay in registers.
const COLUMNS: usize = 16;
/// Rows that are multiplied at once.
const BLOCK: usize = 4;

/// Multiplies int8 rows by weights that lie row after row.
///
/// # Panics
/// Unless `dim` is a multiple of 16, the weights are a matrix and `a` and
/// `out` hold the same number of whole rows.
///
/// # Safety
/// The host has NEON.
#[target_feature(enable = "neon")]
pub(super) unsafe fn multiply(dim: usize, a: &[u8], weights: &[u8], out: &mut [i32], store: Store) {
    assert!(
        dim.is_multiple_of(COLUMNS) && weights.len() == dim * dim,
        "a whole matrix of weights"
    );
    assert!(
        a.len() == out.len() && a.len().is_multiple_of(dim),
        "whole rows"
    );
    let mut rows = a.len() / dim;
    let (mut a, mut out) = (a.as_ptr(), out.as_mut_ptr());
    // SAFETY: every step stays within `rows` rows of both slices.
    unsafe {
        while rows >= BLOCK {
            block::<BLOCK>(dim, a, weights, out, store);
            (a, out, rows) = (a.add(BLOCK * dim), out.add(BLOCK * dim), rows - BLOCK);
        }
        while rows > 0 {
            block::<1>(dim, a, weights, out, store);
            (a, out, rows) = (a.add(dim), out.add(dim), rows - 1);
        }
    }
}

/// # Safety
/// As [`multiply`], with `ROWS` rows behind `a` and `out`.
#[target_feature(enable = "neon")]
#[inline]
unsafe fn block<const ROWS: usize>(
    dim: usize,
    a: *const u8,
    weights: &[u8],
    out: *mut i32,
    store: Store,
) {
    for column in (0..dim).step_by(COLUMNS) {
        // SAFETY: `ROWS` rows of `dim` elements lie behind `a` and `out`, `dim`
        // rows in `weights`; a column and a depth have 16 elements behind them.
        unsafe {
            let mut sums = [[vdupq_n_s32(0); 4]; ROWS];
            if store == Store::Add {
                for (row, sums) in sums.iter_mut().enumerate() {
                    for (part, sum) in sums.iter_mut().enumerate() {
                        *sum = vld1q_s32(out.add(row * dim + column + 4 * part));
                    }
                }
            }
            for depth in (0..dim).step_by(8) {
                macro_rules! step {
                    ($factors:ident, $($lane:literal)*) => { $(
                        let from = weights.as_ptr().add((depth + $lane) * dim + column);
                        let bytes = vld1q_s8(from.cast::<i8>());
                        let (low, high) = (vmovl_s8(vget_low_s8(bytes)), vmovl_high_s8(bytes));
                        let parts = [
                            vget_low_s16(low),
                            vget_high_s16(low),
                            vget_low_s16(high),
                            vget_high_s16(high),
                        ];
                        for (sums, factors) in sums.iter_mut().zip(&$factors) {
                            for (sum, part) in sums.iter_mut().zip(parts) {
                                *sum = vmlal_laneq_s16::<$lane>(*sum, part, *factors);
                            }
                        }
                    )* };
                }
                let factors: [_; ROWS] = std::array::from_fn(|row| {
                    let from = a.add(row * dim + depth).cast::<i8>();
                    vmovl_s8(std::arch::aarch64::vld1_s8(from))
                });
                step!(factors, 0 1 2 3 4 5 6 7);
            }
            for (row, sums) in sums.iter().enumerate() {
                for (part, sum) in sums.iter().enumerate() {
                    let sum: int32x4_t = *sum;
                    vst1q_s32(out.add(row * dim + column + 4 * part), sum);
                }
            }
        }
    }
}
