//! How far results are from right ones.

use autocomp_trainium_sim::Array;

/// Largest difference of two results by the largest value; infinite for other shapes and for
/// what is not a number.
pub(crate) fn difference(found: &[Array], right: &[Array]) -> f32 {
    if found.len() != right.len() {
        return f32::INFINITY;
    }
    let mut worst = 0.0f32;
    for (found, right) in found.iter().zip(right) {
        if found.shape != right.shape {
            return f32::INFINITY;
        }
        let top = right.data.iter().fold(1e-6f32, |top, it| top.max(it.abs()));
        for (f, r) in found.data.iter().zip(&right.data) {
            let off = (f - r).abs() / top;
            worst = if off.is_nan() {
                f32::INFINITY
            } else {
                worst.max(off)
            };
        }
    }
    worst
}
