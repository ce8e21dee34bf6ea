//! Operations of one operand.

use super::halves::{half_kind, halves, is_pair};
use super::{bits, bits64, each, flushed, put};
use crate::decode::{Num, Un};
use crate::half_floats::HALF_NAN;
use crate::machine::math;
use crate::machine::warp::Warp;

fn special(op: Un, x: f64) -> f64 {
    match op {
        Un::Sqrt => x.sqrt(),
        Un::Rsqrt => 1.0 / x.sqrt(),
        Un::Rcp => 1.0 / x,
        Un::Ex2 => math::exp2(x),
        Un::Lg2 => math::log2(x),
        Un::Sin => math::sin_cos(x).0,
        Un::Cos => math::sin_cos(x).1,
        Un::Tanh => math::tanh(x),
        _ => 0.0,
    }
}

fn of_integer(op: Un, num: Num, x: u64) -> u64 {
    let width = num.bytes() * 8;
    let mask = if width == 64 {
        u64::MAX
    } else {
        (1 << width) - 1
    };
    let x = x & mask;
    let is_negative = num.is_signed() && x >> (width - 1) & 1 != 0;
    match op {
        Un::Neg => x.wrapping_neg() & mask,
        Un::Not => !x & mask,
        Un::Cnot => u64::from(x == 0),
        Un::Abs if is_negative => x.wrapping_neg() & mask,
        Un::Abs => x,
        Un::Popc => x.count_ones().into(),
        Un::Clz => (x.leading_zeros() - (64 - width)).into(),
        Un::Brev => x.reverse_bits() >> (64 - width),
        Un::Bfind | Un::BfindShift => {
            let x = if is_negative { !x & mask } else { x };
            match (op, x) {
                (_, 0) => u64::from(u32::MAX),
                (Un::Bfind, x) => u64::from(63 - x.leading_zeros()),
                (_, x) => u64::from(x.leading_zeros() - (64 - width)),
            }
        }
        _ => 0,
    }
}

/// Does an operation of one operand.
#[inline(always)]
pub(crate) fn unary(
    warp: &mut Warp,
    (op, num): (Un, Num),
    (d, a): (u32, u32),
    flush: bool,
    lanes: u32,
) {
    let is_count = matches!(op, Un::Popc | Un::Clz | Un::Bfind | Un::BfindShift);
    if num.bytes() == 8 {
        let x = warp.doubles[a as usize];
        if is_count {
            let result = each(|it| of_integer(op, num, x[it]) as u32);
            put(&mut warp.words[d as usize], result, lanes);
            return;
        }
        let result = match (op, num) {
            (Un::Neg, Num::F64) => each(|it| x[it] ^ 1 << 63),
            (Un::Abs, Num::F64) => each(|it| x[it] & !(1 << 63)),
            (op, Num::F64) => each(|it| bits64(special(op, f64::from_bits(x[it])))),
            (op, num) => each(|it| of_integer(op, num, x[it])),
        };
        put(&mut warp.doubles[d as usize], result, lanes);
        return;
    }
    let x = warp.words[a as usize];
    let float = |bits: u32| f32::from_bits(bits);
    let result = match (op, num) {
        // An addition on an H200, which has one NaN.
        (Un::Neg, Num::F32) if !flush => each(|it| bits(-float(x[it]))),
        (Un::Abs, Num::F32) if !flush => each(|it| bits(float(x[it]).abs())),
        (Un::Neg, Num::F32) => each(|it| bits(-float(flushed(x[it])))),
        (Un::Abs, Num::F32) => each(|it| bits(float(flushed(x[it])).abs())),
        // These know no subnormal numbers on an H200.
        (Un::Sin | Un::Cos, Num::F32) => {
            each(|it| bits(special(op, float(flushed(x[it])).into()) as f32))
        }
        (Un::Sqrt, Num::F32) if !flush => each(|it| bits(float(x[it]).sqrt())),
        (Un::Rcp, Num::F32) if !flush => each(|it| bits(1.0 / float(x[it]))),
        (op, Num::F32) => each(|it| {
            let a = if flush { flushed(x[it]) } else { x[it] };
            let result = bits(special(op, float(a).into()) as f32);
            if flush { flushed(result) } else { result }
        }),
        (op, Num::F16 | Num::F16x2 | Num::Bf16 | Num::Bf16x2) => {
            let kind = half_kind(num);
            each(|it| {
                halves(is_pair(num), [x[it]], |[a]| match op {
                    Un::Neg | Un::Abs if (kind.to)(a).is_nan() => HALF_NAN,
                    Un::Neg => a ^ 0x8000,
                    Un::Abs => a & 0x7fff,
                    op => (kind.from_double)(special(op, (kind.to)(a).into())),
                })
            })
        }
        (op, num) => each(|it| of_integer(op, num, x[it].into()) as u32),
    };
    put(&mut warp.words[d as usize], result, lanes);
}
