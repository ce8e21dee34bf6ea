//! Operations of two operands.

use super::halves::{half, half_kind, halves, is_pair};
use super::{bits, bits64, each, flushed, flushed_of, put, saturated};
use crate::decode::{Bin, Num};
use crate::machine::warp::Warp;

#[inline(always)]
fn smaller(a: f32, b: f32) -> f32 {
    if a == 0.0 && b == 0.0 {
        return f32::from_bits(a.to_bits() | b.to_bits());
    }
    if b.is_nan() || a < b { a } else { b }
}

#[inline(always)]
fn larger(a: f32, b: f32) -> f32 {
    if a == 0.0 && b == 0.0 {
        return f32::from_bits(a.to_bits() & b.to_bits());
    }
    if b.is_nan() || b < a { a } else { b }
}

/// The largest divisor of `div.approx`, 2^126: above it, all quotients are 0.
const LARGEST_DIVISOR: f32 = f32::from_bits(0x7e80_0000);

/// Returns one of two floats, NaN if either is.
#[inline(always)]
fn or_nan(a: f32, b: f32, of: impl Fn(f32, f32) -> f32) -> f32 {
    if a.is_nan() || b.is_nan() {
        f32::NAN
    } else {
        of(a, b)
    }
}

#[inline(always)]
pub(super) fn single(op: Bin, a: f32, b: f32) -> f32 {
    match op {
        Bin::Add => a + b,
        Bin::Sub => a - b,
        Bin::Mul | Bin::MulHi => a * b,
        Bin::Div => a / b,
        // The reciprocal would be subnormal, and is 0.
        Bin::DivByReciprocal if b.is_finite() && LARGEST_DIVISOR < b.abs() => {
            a * 0.0_f32.copysign(b)
        }
        Bin::DivByReciprocal => a / b,
        Bin::Min => smaller(a, b),
        Bin::Max => larger(a, b),
        Bin::MinNan => or_nan(a, b, smaller),
        Bin::MaxNan => or_nan(a, b, larger),
        _ => 0.0,
    }
}

#[inline]
fn double(op: Bin, a: f64, b: f64) -> f64 {
    match op {
        Bin::Add => a + b,
        Bin::Sub => a - b,
        Bin::Mul | Bin::MulHi => a * b,
        Bin::Div => a / b,
        Bin::Min | Bin::MinNan => {
            if a == 0.0 && b == 0.0 {
                f64::from_bits(a.to_bits() | b.to_bits())
            } else if b.is_nan() || a < b {
                a
            } else {
                b
            }
        }
        Bin::Max | Bin::MaxNan => {
            if a == 0.0 && b == 0.0 {
                f64::from_bits(a.to_bits() & b.to_bits())
            } else if b.is_nan() || b < a {
                a
            } else {
                b
            }
        }
        _ => 0.0,
    }
}

macro_rules! integers {
    ($op:expr, $a:expr, $b:expr, $unsigned:ty, $signed:ty, $wide:ty, $signed_wide:ty, $is_signed:expr) => {{
        let (a, b) = ($a as $unsigned, $b as $unsigned);
        let (sa, sb) = (a as $signed, b as $signed);
        match ($op, $is_signed) {
            (Bin::Add, _) => a.wrapping_add(b),
            (Bin::Sub, _) => a.wrapping_sub(b),
            (Bin::Mul, _) => a.wrapping_mul(b),
            (Bin::MulHi, false) => ((a as $wide * b as $wide) >> <$unsigned>::BITS) as $unsigned,
            (Bin::MulHi, true) => {
                ((sa as $signed_wide * sb as $signed_wide) >> <$unsigned>::BITS) as $unsigned
            }
            // What an H200 gives for a division by zero: all ones, also as the remainder.
            (Bin::Div, false) => a.checked_div(b).unwrap_or(<$unsigned>::MAX),
            (Bin::Div, true) => {
                if sb == 0 {
                    <$unsigned>::MAX
                } else {
                    sa.wrapping_div(sb) as $unsigned
                }
            }
            (Bin::Rem, false) => a.checked_rem(b).unwrap_or(<$unsigned>::MAX),
            (Bin::Rem, true) => {
                if sb == 0 {
                    <$unsigned>::MAX
                } else {
                    sa.wrapping_rem(sb) as $unsigned
                }
            }
            (Bin::Min | Bin::MinNan, false) => a.min(b),
            (Bin::Min | Bin::MinNan, true) => sa.min(sb) as $unsigned,
            (Bin::Max | Bin::MaxNan, false) => a.max(b),
            (Bin::Max | Bin::MaxNan, true) => sa.max(sb) as $unsigned,
            (Bin::And, _) => a & b,
            (Bin::Or, _) => a | b,
            (Bin::Xor, _) => a ^ b,
            _ => 0,
        }
    }};
}
pub(super) use integers;

fn shifted(op: Bin, num: Num, value: u64, by: u32) -> u64 {
    let width = num.bytes() * 8;
    let mask = if width == 64 {
        u64::MAX
    } else {
        (1 << width) - 1
    };
    match op {
        Bin::Shl if width <= by => 0,
        Bin::Shl => value << by & mask,
        _ if num.is_signed() => {
            let up = 64 - width;
            (((value << up) as i64 >> up) >> by.min(width - 1)) as u64 & mask
        }
        _ if width <= by => 0,
        _ => (value & mask) >> by,
    }
}

/// Does an operation of two operands.
#[inline(always)]
pub(crate) fn binary(
    warp: &mut Warp,
    (op, num): (Bin, Num),
    (d, a, b): (u32, u32, u32),
    (saturate, flush): (bool, bool),
    lanes: u32,
) {
    if num.bytes() == 8 {
        let x = warp.doubles[a as usize];
        let result = if matches!(op, Bin::Shl | Bin::Shr) {
            let by = warp.words[b as usize];
            match (op, num) {
                (Bin::Shl, _) => each(|it| if by[it] < 64 { x[it] << by[it] } else { 0 }),
                _ => each(|it| shifted(op, num, x[it], by[it])),
            }
        } else {
            let y = warp.doubles[b as usize];
            match (op, num) {
                (Bin::CopySign, _) => each(|it| x[it] & 1 << 63 | y[it] & !(1 << 63)),
                (op, Num::F64) => {
                    each(|it| bits64(double(op, f64::from_bits(x[it]), f64::from_bits(y[it]))))
                }
                (Bin::Add, _) => each(|it| x[it].wrapping_add(y[it])),
                (Bin::Sub, _) => each(|it| x[it].wrapping_sub(y[it])),
                (Bin::And, _) => each(|it| x[it] & y[it]),
                (Bin::Or, _) => each(|it| x[it] | y[it]),
                (op, num) => {
                    each(|it| integers!(op, x[it], y[it], u64, i64, u128, i128, num.is_signed()))
                }
            }
        };
        put(&mut warp.doubles[d as usize], result, lanes);
        return;
    }
    let x = warp.words[a as usize];
    let y = warp.words[b as usize];
    let float = |bits: u32| f32::from_bits(bits);
    let result = match (op, num) {
        (Bin::Add, Num::F32) if !flush && !saturate => each(|it| bits(float(x[it]) + float(y[it]))),
        (Bin::Sub, Num::F32) if !flush && !saturate => each(|it| bits(float(x[it]) - float(y[it]))),
        (Bin::Mul, Num::F32) if !flush && !saturate => each(|it| bits(float(x[it]) * float(y[it]))),
        (Bin::Div, Num::F32) if !flush && !saturate => each(|it| bits(float(x[it]) / float(y[it]))),
        (Bin::Min, Num::F32) if !flush => each(|it| bits(smaller(float(x[it]), float(y[it])))),
        (Bin::Max, Num::F32) if !flush => each(|it| bits(larger(float(x[it]), float(y[it])))),
        // The sign is that of the first, the magnitude that of the second, also of a NaN.
        (Bin::CopySign, _) => each(|it| x[it] & 0x8000_0000 | y[it] & 0x7fff_ffff),
        (op, Num::F32) => each(|it| {
            let (mut a, mut b) = (x[it], y[it]);
            if flush {
                (a, b) = (flushed(a), flushed(b));
            }
            let mut result = single(op, float(a), float(b));
            if saturate {
                result = saturated(result);
            }
            if flush && op == Bin::Mul {
                flushed_of(f64::from(float(a)) * f64::from(float(b)), result)
            } else if flush {
                flushed(bits(result))
            } else {
                bits(result)
            }
        }),
        (op, Num::F16 | Num::F16x2 | Num::Bf16 | Num::Bf16x2) => {
            let kind = half_kind(num);
            each(|it| {
                halves(is_pair(num), [x[it], y[it]], |[a, b]| {
                    half(kind, (op, saturate), a, b)
                })
            })
        }
        (Bin::Add, Num::S32) if saturate => {
            each(|it| (x[it] as i32).saturating_add(y[it] as i32) as u32)
        }
        (Bin::Sub, Num::S32) if saturate => {
            each(|it| (x[it] as i32).saturating_sub(y[it] as i32) as u32)
        }
        (Bin::Add, Num::U32 | Num::S32) => each(|it| x[it].wrapping_add(y[it])),
        (Bin::Sub, Num::U32 | Num::S32) => each(|it| x[it].wrapping_sub(y[it])),
        (Bin::Mul, Num::U32 | Num::S32) => each(|it| x[it].wrapping_mul(y[it])),
        (Bin::And, _) => each(|it| x[it] & y[it]),
        (Bin::Or, _) => each(|it| x[it] | y[it]),
        (Bin::Xor, _) => each(|it| x[it] ^ y[it]),
        (Bin::Shl, Num::U32 | Num::S32) => each(|it| if y[it] < 32 { x[it] << y[it] } else { 0 }),
        (Bin::Shr, Num::U32) => each(|it| if y[it] < 32 { x[it] >> y[it] } else { 0 }),
        (Bin::Shr, Num::S32) => each(|it| ((x[it] as i32) >> y[it].min(31)) as u32),
        (Bin::Shl | Bin::Shr, num) => each(|it| shifted(op, num, x[it].into(), y[it]) as u32),
        (op, num) if num.bytes() == 4 => {
            each(|it| integers!(op, x[it], y[it], u32, i32, u64, i64, num.is_signed()))
        }
        (op, num) if num.bytes() == 2 => each(|it| {
            u32::from(integers!(
                op,
                x[it],
                y[it],
                u16,
                i16,
                u32,
                i32,
                num.is_signed()
            ))
        }),
        (op, num) => each(|it| {
            u32::from(integers!(
                op,
                x[it],
                y[it],
                u8,
                i8,
                u16,
                i16,
                num.is_signed()
            ))
        }),
    };
    put(&mut warp.words[d as usize], result, lanes);
}
