//! Arithmetic of single precision on several elements at once, on the host's unit, where the flags
//! can be told from the results.
#![allow(
    clippy::needless_range_loop,
    reason = "each step is one loop over the same elements of several arrays"
)]

use super::host::{HALFWAY, LOST, is_plain_single, sum_error_double, sum_error_single};

/// Results of elements that are computed at once.
///
/// They are made step by step for all elements, and what is told of them is put together from
/// numbers of one width: compilers make vectors of that.
#[derive(Clone, Copy)]
pub(crate) struct Plains<const N: usize> {
    pub numbers: [f32; N],
    /// Whether none can have raised another flag than the inexact one, as far as that is soon
    /// seen.
    pub is_plain: bool,
    /// Whether one has been rounded, if that is noted.
    pub is_inexact: bool,
}

/// Returns the `a` * `b` + `c`.
#[inline(always)]
pub(crate) fn fused<const NOTES: bool, const N: usize>(
    a: [f32; N],
    b: [f32; N],
    c: [f32; N],
) -> Plains<N> {
    // As in `plain_fused_single`.
    let (mut products, mut addends, mut sums) = ([0.0; N], [0.0; N], [0.0; N]);
    let (mut numbers, mut doubts) = ([0.0; N], [0; N]);
    for lane in 0..N {
        products[lane] = f64::from(a[lane]) * f64::from(b[lane]);
    }
    for lane in 0..N {
        addends[lane] = f64::from(c[lane]);
    }
    for lane in 0..N {
        sums[lane] = products[lane] + addends[lane];
    }
    for lane in 0..N {
        numbers[lane] = sums[lane] as f32;
    }
    for lane in 0..N {
        // All of these bits stand in the lower half.
        let is_halfway = sums[lane].to_bits() as u32 & LOST as u32 == HALFWAY as u32;
        doubts[lane] = u32::from(is_halfway | !is_plain_single(numbers[lane]));
    }
    Plains {
        numbers,
        is_plain: are_zero(doubts) || {
            let mut all = doubts.iter().zip(&sums);
            all.all(|(doubt, sum)| *doubt == 0 || *sum == 0.0)
        },
        is_inexact: NOTES && {
            let mut errors = [0; N];
            for lane in 0..N {
                let error = sum_error_double(products[lane], addends[lane], sums[lane]);
                let lost = f64::from(numbers[lane]) - sums[lane];
                errors[lane] = error.abs().to_bits() | lost.abs().to_bits();
            }
            errors.iter().fold(0, |all, one| all | one) != 0
        },
    }
}

/// Returns the `a` + `b`.
#[inline(always)]
pub(crate) fn sums<const NOTES: bool, const N: usize>(a: [f32; N], b: [f32; N]) -> Plains<N> {
    let (mut numbers, mut doubts) = ([0.0; N], [0; N]);
    for lane in 0..N {
        numbers[lane] = a[lane] + b[lane];
    }
    for lane in 0..N {
        doubts[lane] = u32::from(!is_plain_single(numbers[lane]));
    }
    Plains {
        numbers,
        is_plain: are_zero(doubts) || {
            let mut all = doubts.iter().zip(&numbers);
            all.all(|(doubt, number)| *doubt == 0 || *number == 0.0)
        },
        is_inexact: NOTES && {
            let mut errors = [0; N];
            for lane in 0..N {
                let error = sum_error_single(a[lane], b[lane], numbers[lane]);
                errors[lane] = error.abs().to_bits();
            }
            !are_zero(errors)
        },
    }
}

/// Returns the `a` * `b`.
#[inline(always)]
pub(crate) fn products<const NOTES: bool, const N: usize>(a: [f32; N], b: [f32; N]) -> Plains<N> {
    let (mut numbers, mut doubts) = ([0.0; N], [0; N]);
    for lane in 0..N {
        numbers[lane] = a[lane] * b[lane];
    }
    for lane in 0..N {
        doubts[lane] = u32::from(!is_plain_single(numbers[lane]));
    }
    Plains {
        numbers,
        is_plain: are_zero(doubts) || {
            // Zero is exact only where a factor is.
            let is_exact = |lane: usize| numbers[lane] == 0.0 && (a[lane] == 0.0 || b[lane] == 0.0);
            (0..N).all(|lane| doubts[lane] == 0 || is_exact(lane))
        },
        is_inexact: NOTES && {
            let mut errors = [0; N];
            for lane in 0..N {
                let exact = f64::from(a[lane]) * f64::from(b[lane]);
                errors[lane] = (exact - f64::from(numbers[lane])).abs().to_bits();
            }
            errors.iter().fold(0, |all, one| all | one) != 0
        },
    }
}

/// Returns whether all are zero.
#[inline(always)]
fn are_zero<const N: usize>(numbers: [u32; N]) -> bool {
    numbers.iter().fold(0, |all, one| all | one) == 0
}
