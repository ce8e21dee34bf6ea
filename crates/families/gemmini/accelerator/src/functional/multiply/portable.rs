//! For every host.

use super::Store;

/// Multiplies int8 rows.
///
/// *Shapes* `a: [rows, dim]`, `weights: [dim, dim]` bytes taken as signed,
/// `out: [rows, dim]`.
pub(super) fn multiply(dim: usize, a: &[u8], weights: &[u8], out: &mut [i32], store: Store) {
    match dim {
        4 => rows(4, a, weights, out, store),
        16 => rows(16, a, weights, out, store),
        32 => rows(32, a, weights, out, store),
        dim => rows(dim, a, weights, out, store),
    }
}

#[inline(always)]
fn rows(dim: usize, a: &[u8], weights: &[u8], out: &mut [i32], store: Store) {
    for (a_row, out_row) in a.chunks_exact(dim).zip(out.chunks_exact_mut(dim)) {
        if store == Store::Overwrite {
            out_row.fill(0);
        }
        for (factor, w_row) in a_row.iter().zip(weights.chunks_exact(dim)) {
            let factor = i16::from(*factor as i8);
            for (sum, weight) in out_row.iter_mut().zip(w_row) {
                // The product of two int8 fits in 16 bits.
                *sum = sum.wrapping_add(i32::from(factor * i16::from(*weight as i8)));
            }
        }
    }
}

/// Adds chains of products of floats.
///
/// *Shapes* `a: [rows, dim]`, `weights: [dim, dim]`, `out: [rows, dim]`.
#[inline(always)]
pub(super) fn multiply_f32(dim: usize, a: &[f32], weights: &[f32], out: &mut [f32]) {
    for (a_row, out_row) in a.chunks_exact(dim).zip(out.chunks_exact_mut(dim)) {
        for (factor, w_row) in a_row.iter().zip(weights.chunks_exact(dim)) {
            for (sum, weight) in out_row.iter_mut().zip(w_row) {
                *sum = factor.mul_add(*weight, *sum);
            }
        }
    }
}
