//! Arithmetic on all threads of a warp at once.

mod binary;
mod carries;
mod comparison;
mod halves;
mod ternary;
mod unary;

pub(crate) use binary::binary;
pub(crate) use carries::carried;
pub(crate) use comparison::{compare, test};
pub(crate) use ternary::{insert, ternary, wide};
pub(crate) use unary::unary;

use super::warp::ALL;
use crate::half_floats::SINGLE_NAN;

/// Writes a result for some threads.
#[inline(always)]
pub(crate) fn put<T: Copy>(into: &mut [T; 32], result: [T; 32], lanes: u32) {
    if lanes == ALL {
        *into = result;
        return;
    }
    for lane in 0..32 {
        if lanes >> lane & 1 != 0 {
            into[lane] = result[lane];
        }
    }
}

#[inline(always)]
fn each<T: Copy + Default>(of: impl Fn(usize) -> T) -> [T; 32] {
    let mut result = [T::default(); 32];
    for (lane, it) in result.iter_mut().enumerate() {
        *it = of(lane);
    }
    result
}

/// Returns the bits of a float, all kinds of NaN being one.
#[inline(always)]
pub(crate) fn bits(value: f32) -> u32 {
    if value.is_nan() {
        SINGLE_NAN
    } else {
        value.to_bits()
    }
}

#[inline(always)]
fn bits64(value: f64) -> u64 {
    if value.is_nan() {
        0x7fff_ffff_ffff_ffff
    } else {
        value.to_bits()
    }
}

/// Replaces a subnormal by a zero of its sign.
#[inline(always)]
pub(crate) fn flushed(bits: u32) -> u32 {
    if bits & 0x7f80_0000 == 0 {
        bits & 0x8000_0000
    } else {
        bits
    }
}

/// Replaces a result by a zero where `exact`, of which it is the nearest float, is subnormal: what
/// is rounded up to the least normal number is one, too.
#[inline(always)]
fn flushed_of(exact: f64, result: f32) -> u32 {
    if exact.abs() < f64::from(f32::MIN_POSITIVE) && result.abs() <= f32::MIN_POSITIVE {
        bits(result) & 0x8000_0000
    } else {
        flushed(bits(result))
    }
}

/// Cuts to what lies between 0 and 1.
#[inline(always)]
fn saturated(value: f32) -> f32 {
    if value.is_nan() {
        0.0
    } else {
        value.clamp(0.0, 1.0) + 0.0
    }
}
