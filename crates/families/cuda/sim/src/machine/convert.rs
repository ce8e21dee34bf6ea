//! Conversions between types.

use super::alu::{bits, flushed, put};
use super::warp::Warp;
use crate::decode::{Num, Reg, Rounding};
use crate::half_floats::{
    bf16_from_f32, bf16_from_f64, bf16_to_f32, half_from_f32, half_from_f64, half_to_f32,
};

/// How a conversion is done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conversion {
    pub(crate) to: Num,
    pub(crate) from: Num,
    pub(crate) rounding: Rounding,
    pub(crate) to_integral: bool,
    pub(crate) saturate: bool,
    pub(crate) relu: bool,
    pub(crate) flush: bool,
}

fn range(num: Num) -> (i128, i128) {
    let width = num.bytes() * 8;
    match num.is_signed() {
        true => (-(1_i128 << (width - 1)), (1_i128 << (width - 1)) - 1),
        false => (0, (1_i128 << width) - 1),
    }
}

fn whole(value: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::Nearest => value.round_ties_even(),
        Rounding::NearestAway => value.round(),
        Rounding::Zero => value.trunc(),
        Rounding::Down => value.floor(),
        Rounding::Up => value.ceil(),
    }
}

/// Returns the float nearest to an integer in the direction of `rounding`.
fn single_from(value: i128, rounding: Rounding) -> f32 {
    let nearest = value as f32;
    let back = nearest as i128;
    let step = |up: bool| {
        let bits = nearest.to_bits();
        f32::from_bits(if up == (0.0 <= nearest) {
            bits + 1
        } else {
            bits - 1
        })
    };
    match rounding {
        Rounding::Zero if value.unsigned_abs() < back.unsigned_abs() => step(value < 0),
        Rounding::Down if value < back => step(false),
        Rounding::Up if back < value => step(true),
        _ => nearest,
    }
}

fn narrowed(value: f64, rounding: Rounding) -> f32 {
    let nearest = value as f32;
    f32::from_bits(directed(nearest.to_bits(), nearest.into(), value, rounding))
}

/// Returns the bits of the half or bfloat16 next to a value in the direction of `rounding`.
fn half_from(to: Num, value: f64, rounding: Rounding) -> u16 {
    let (nearest, back) = match to {
        Num::Bf16 | Num::Bf16x2 => {
            let nearest = bf16_from_f64(value);
            (nearest, bf16_to_f32(nearest))
        }
        _ => {
            let nearest = half_from_f64(value);
            (nearest, half_to_f32(nearest))
        }
    };
    directed(nearest.into(), back.into(), value, rounding) as u16
}

/// Returns the bits of the float next to a value in the direction of `rounding`; `nearest` are the
/// bits of the nearest float, `back` is its value.
fn directed(nearest: u32, back: f64, value: f64, rounding: Rounding) -> u32 {
    if back.is_nan() || back == value {
        return nearest;
    }
    let is_too_far = value.abs() < back.abs();
    let outwards = match rounding {
        Rounding::Nearest | Rounding::NearestAway => return nearest,
        Rounding::Zero => false,
        Rounding::Down => value < 0.0,
        Rounding::Up => 0.0 < value,
    };
    // The bits behind the sign count up with the magnitude.
    match (outwards, is_too_far) {
        (true, false) => nearest + 1,
        (false, true) => nearest - 1,
        _ => nearest,
    }
}

/// Returns the bits of one value after the conversion.
fn converted(how: Conversion, source: u64) -> u64 {
    let Conversion {
        to, from, rounding, ..
    } = how;
    if !from.is_float() {
        let width = from.bytes() * 8;
        let up = 64 - width;
        let value = match from.is_signed() {
            true => i128::from((source << up) as i64 >> up),
            false => i128::from(source << up >> up),
        };
        return match to {
            Num::F64 => (value as f64).to_bits(),
            Num::F32 => single_from(value, rounding).to_bits().into(),
            Num::F16 | Num::Bf16 => half_from(to, value as f64, rounding).into(),
            to => {
                let (low, high) = range(to);
                let value = if how.saturate {
                    value.clamp(low, high)
                } else {
                    value
                };
                value as u64
            }
        };
    }
    let value = match from {
        Num::F64 => f64::from_bits(source),
        Num::F16 => half_to_f32(source as u16).into(),
        Num::Bf16 => bf16_to_f32(source as u16).into(),
        _ => {
            let source = source as u32;
            f64::from(f32::from_bits(if how.flush {
                flushed(source)
            } else {
                source
            }))
        }
    };
    if to.is_float() {
        let mut value = if how.to_integral {
            whole(value, rounding)
        } else {
            value
        };
        if how.saturate {
            value = if value.is_nan() {
                0.0
            } else {
                value.clamp(0.0, 1.0) + 0.0
            };
        }
        if how.relu && value <= 0.0 {
            value = 0.0;
        }
        let direction = match how.to_integral {
            true => Rounding::Nearest,
            false => rounding,
        };
        return match to {
            Num::F64 if value.is_nan() => 0x7fff_ffff_ffff_ffff,
            Num::F64 => value.to_bits(),
            Num::F16 | Num::Bf16 => half_from(to, value, direction).into(),
            _ => {
                let result = bits(narrowed(value, direction));
                (if how.flush { flushed(result) } else { result }).into()
            }
        };
    }
    // To an integer: what does not fit becomes the nearest that does.
    let (low, high) = range(to);
    if value.is_nan() {
        return match (from, to) {
            (_, Num::S64 | Num::U64) => 1 << 63,
            (Num::F64, to) => 1 << (8 * to.bytes() - 1),
            _ => 0,
        };
    }
    let value = whole(value, rounding);
    if value <= low as f64 {
        return low as u64;
    }
    if high as f64 <= value {
        return high as u64;
    }
    value as i128 as u64
}

/// Converts for all threads.
#[inline(always)]
pub(crate) fn convert(warp: &mut Warp, how: Conversion, d: Reg, a: Reg, lanes: u32) {
    let plain = !how.saturate
        && !how.relu
        && !how.flush
        && !how.to_integral
        && how.rounding == Rounding::Nearest;
    if let (Reg::Word(d), Reg::Word(a), true) = (d, a, plain) {
        let x = warp.words[a as usize];
        let mut result = [0; 32];
        let is_known = match (how.to, how.from) {
            (Num::F32, Num::F16) => {
                for (to, from) in result.iter_mut().zip(x) {
                    *to = bits(half_to_f32(from as u16));
                }
                true
            }
            (Num::F16, Num::F32) => {
                for (to, from) in result.iter_mut().zip(x) {
                    *to = half_from_f32(f32::from_bits(from)).into();
                }
                true
            }
            (Num::F32, Num::S32) => {
                for (to, from) in result.iter_mut().zip(x) {
                    *to = (from as i32 as f32).to_bits();
                }
                true
            }
            (Num::F32, Num::U32) => {
                for (to, from) in result.iter_mut().zip(x) {
                    *to = (from as f32).to_bits();
                }
                true
            }
            _ => false,
        };
        if is_known {
            put(&mut warp.words[d as usize], result, lanes);
            return;
        }
    }
    let mut sources = [0_u64; 32];
    match a {
        Reg::Word(a) => {
            for (to, from) in sources.iter_mut().zip(warp.words[a as usize]) {
                *to = from.into();
            }
        }
        Reg::Double(a) => sources = warp.doubles[a as usize],
        Reg::Predicate(_) => {}
    }
    let is_widening = !how.to.is_float() && !how.from.is_float() && !how.saturate;
    let mut result = [0_u64; 32];
    if is_widening {
        let up = 64 - how.from.bytes() * 8;
        if how.from.is_signed() {
            for (to, from) in result.iter_mut().zip(sources) {
                *to = ((from << up) as i64 >> up) as u64;
            }
        } else {
            for (to, from) in result.iter_mut().zip(sources) {
                *to = from << up >> up;
            }
        }
    } else {
        for (to, from) in result.iter_mut().zip(sources) {
            *to = converted(how, from);
        }
    }
    // A register that is wider than its type holds the value with its sign.
    let up = 64 - how.to.bytes() * 8;
    if how.to.is_signed() {
        for it in &mut result {
            *it = ((*it << up) as i64 >> up) as u64;
        }
    } else {
        for it in &mut result {
            *it = *it << up >> up;
        }
    }
    match d {
        Reg::Word(d) => {
            let narrow = result.map(|it| match how.to.bytes() {
                2 if !how.to.is_signed() => it as u32 & 0xffff,
                _ => it as u32,
            });
            put(&mut warp.words[d as usize], narrow, lanes);
        }
        Reg::Double(d) => put(&mut warp.doubles[d as usize], result, lanes),
        Reg::Predicate(_) => {}
    }
}

/// Puts two floats into one register as halves.
pub(crate) fn convert_pair(
    warp: &mut Warp,
    (to, rounding, relu): (Num, Rounding, bool),
    (d, a, b): (u32, u32, u32),
    lanes: u32,
) {
    let (x, y) = (warp.words[a as usize], warp.words[b as usize]);
    let mut result = [0; 32];
    for (lane, it) in result.iter_mut().enumerate() {
        let half = |bits: u32| {
            let value = f32::from_bits(bits);
            let value = if relu && value <= 0.0 { 0.0 } else { value };
            match (to, rounding) {
                (Num::Bf16x2, Rounding::Nearest) => bf16_from_f32(value),
                (_, Rounding::Nearest) => half_from_f32(value),
                _ => half_from(to, value.into(), rounding),
            }
        };
        *it = u32::from(half(x[lane])) << 16 | u32::from(half(y[lane]));
    }
    put(&mut warp.words[d as usize], result, lanes);
}
