//! Comparisons, a bit for each thread.

use super::flushed;
use super::halves::half_kind;
use crate::decode::{Cmp, Num, Property};
use crate::machine::warp::Warp;
use std::num::FpCategory;

#[inline(always)]
fn mask_of(of: impl Fn(usize) -> bool) -> u32 {
    let mut mask = 0;
    for lane in 0..32 {
        mask |= u32::from(of(lane)) << lane;
    }
    mask
}

#[inline(always)]
fn float_holds<T: PartialOrd>(cmp: Cmp, a: T, b: T, unordered: bool) -> bool {
    match cmp {
        Cmp::Eq => a == b,
        Cmp::Ne => a != b && !unordered,
        Cmp::Lt => a < b,
        Cmp::Le => a <= b,
        Cmp::Gt => b < a,
        Cmp::Ge => b <= a,
        Cmp::Equ => a == b || unordered,
        Cmp::Neu => a != b || unordered,
        Cmp::Ltu => a < b || unordered,
        Cmp::Leu => a <= b || unordered,
        Cmp::Gtu => b < a || unordered,
        Cmp::Geu => b <= a || unordered,
        Cmp::Num => !unordered,
        Cmp::Nan => unordered,
    }
}

#[inline(always)]
fn holds<T: Ord>(cmp: Cmp, a: &T, b: &T) -> bool {
    match cmp {
        Cmp::Eq | Cmp::Equ => a == b,
        Cmp::Ne | Cmp::Neu => a != b,
        Cmp::Lt | Cmp::Ltu => a < b,
        Cmp::Le | Cmp::Leu => a <= b,
        Cmp::Gt | Cmp::Gtu => a > b,
        Cmp::Ge | Cmp::Geu => a >= b,
        Cmp::Num => true,
        Cmp::Nan => false,
    }
}

/// Tests the floats of all threads and returns a bit for each.
pub(crate) fn test(warp: &Warp, property: Property, num: Num, a: u32) -> u32 {
    let holds = |class: FpCategory| match property {
        Property::Finite => !matches!(class, FpCategory::Nan | FpCategory::Infinite),
        Property::Infinite => class == FpCategory::Infinite,
        Property::Number => class != FpCategory::Nan,
        Property::NotANumber => class == FpCategory::Nan,
        Property::Normal => matches!(class, FpCategory::Normal | FpCategory::Zero),
        Property::Subnormal => class == FpCategory::Subnormal,
    };
    match num {
        Num::F64 => mask_of(|it| holds(f64::from_bits(warp.doubles[a as usize][it]).classify())),
        _ => mask_of(|it| holds(f32::from_bits(warp.words[a as usize][it]).classify())),
    }
}

/// Compares for all threads and returns a bit for each.
#[inline(always)]
pub(crate) fn compare(warp: &Warp, cmp: Cmp, num: Num, a: u32, b: u32, flush: bool) -> u32 {
    if num.bytes() == 8 {
        let (x, y) = (&warp.doubles[a as usize], &warp.doubles[b as usize]);
        return match num {
            Num::F64 => mask_of(|it| {
                let (a, b) = (f64::from_bits(x[it]), f64::from_bits(y[it]));
                float_holds(cmp, a, b, a.is_nan() || b.is_nan())
            }),
            Num::S64 => mask_of(|it| holds(cmp, &(x[it] as i64), &(y[it] as i64))),
            _ => mask_of(|it| holds(cmp, &x[it], &y[it])),
        };
    }
    let (x, y) = (&warp.words[a as usize], &warp.words[b as usize]);
    match num {
        Num::F32 => mask_of(|it| {
            let of = |bits: u32| f32::from_bits(if flush { flushed(bits) } else { bits });
            let (a, b) = (of(x[it]), of(y[it]));
            float_holds(cmp, a, b, a.is_nan() || b.is_nan())
        }),
        Num::F16 | Num::F16x2 | Num::Bf16 | Num::Bf16x2 => {
            let kind = half_kind(num);
            mask_of(|it| {
                let (a, b) = ((kind.to)(x[it] as u16), (kind.to)(y[it] as u16));
                float_holds(cmp, a, b, a.is_nan() || b.is_nan())
            })
        }
        Num::S32 => mask_of(|it| holds(cmp, &(x[it] as i32), &(y[it] as i32))),
        Num::S16 => mask_of(|it| holds(cmp, &(x[it] as i16), &(y[it] as i16))),
        Num::U16 => mask_of(|it| holds(cmp, &(x[it] as u16), &(y[it] as u16))),
        Num::S8 => mask_of(|it| holds(cmp, &(x[it] as i8), &(y[it] as i8))),
        Num::U8 => mask_of(|it| holds(cmp, &(x[it] as u8), &(y[it] as u8))),
        _ => mask_of(|it| holds(cmp, &x[it], &y[it])),
    }
}
