//! Operations of three operands, and products that are wider than their factors.

use super::binary::integers;
use super::halves::{half_kind, halves, is_pair};
use super::{bits, bits64, each, flushed, flushed_of, put, saturated};
use crate::decode::{Bin, Num, Tri};
use crate::half_floats::HALF_NAN;
use crate::machine::warp::Warp;

fn permuted(a: u32, b: u32, select: u32) -> u32 {
    let bytes = u64::from(b) << 32 | u64::from(a);
    let mut result = 0;
    for idx in 0..4 {
        let choice = select >> (4 * idx) & 0xf;
        let mut byte = (bytes >> (8 * (choice & 7))) as u32 & 0xff;
        if choice & 8 != 0 {
            byte = if byte & 0x80 != 0 { 0xff } else { 0 };
        }
        result |= byte << (8 * idx);
    }
    result
}

fn field(num: Num, value: u64, at: u32, length: u32) -> u64 {
    let width = num.bytes() * 8;
    let (at, length) = (at & 0xff, length & 0xff);
    let bit = |place: u32| value >> place.min(width - 1) & 1;
    let sign = match num.is_signed() && length != 0 {
        false => 0,
        true => bit(at.saturating_add(length - 1).min(width - 1)),
    };
    let mut result = 0;
    for place in 0..width {
        let from = at + place;
        let taken = if place < length && from < width {
            value >> from & 1
        } else {
            sign
        };
        result |= taken << place;
    }
    result
}

#[inline(always)]
fn table(lut: u8, a: u32, b: u32, c: u32) -> u32 {
    let mut result = 0;
    for row in 0..8 {
        if lut >> row & 1 != 0 {
            let a = if row & 4 != 0 { a } else { !a };
            let b = if row & 2 != 0 { b } else { !b };
            let c = if row & 1 != 0 { c } else { !c };
            result |= a & b & c;
        }
    }
    result
}

fn products_of_bytes(a: u32, b: u32, c: u32, signed: (bool, bool)) -> u32 {
    let part = |word: u32, idx: u32, signed: bool| {
        let byte = (word >> (8 * idx)) as u8;
        if signed {
            i32::from(byte as i8)
        } else {
            i32::from(byte)
        }
    };
    let sum = (0..4)
        .map(|idx| part(a, idx, signed.0) * part(b, idx, signed.1))
        .sum::<i32>();
    c.wrapping_add(sum as u32)
}

fn products_of_halves(a: u32, b: u32, c: u32, signed: (bool, bool), upper: bool) -> u32 {
    let part = |word: u32, at: u32, bits: u32, signed: bool| {
        let up = 32 - bits;
        let word = word >> at << up;
        if signed {
            i64::from(word as i32 >> up)
        } else {
            i64::from(word >> up)
        }
    };
    let from = if upper { 16 } else { 0 };
    let sum = (0..2)
        .map(|idx| part(a, 16 * idx, 16, signed.0) * part(b, from + 8 * idx, 8, signed.1))
        .sum::<i64>();
    c.wrapping_add(sum as u32)
}

/// Returns the product of the lowest 24 bits of two words, of which 48 bits hold.
fn product_of_24_bits(num: Num, a: u32, b: u32) -> i64 {
    let factor = |word: u32| match num.is_signed() {
        true => i64::from((word << 8) as i32 >> 8),
        false => i64::from(word & 0xff_ffff),
    };
    factor(a) * factor(b)
}

/// Returns a sum that is rounded to fewer bits as the exact one would be: where anything is left
/// of it, its last bit is set (round to odd).
fn sum_to_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if !sum.is_finite() {
        return sum;
    }
    // What rounding has taken away, exactly.
    let of_b = sum - a;
    let rest = (a - (sum - of_b)) + (b - of_b);
    if rest == 0.0 {
        return sum;
    }
    let is_too_far = (rest < 0.0) == (0.0 < sum);
    f64::from_bits((sum.to_bits() - u64::from(is_too_far)) | 1)
}

/// Does an operation of three operands.
#[inline(always)]
pub(crate) fn ternary(
    warp: &mut Warp,
    (op, num): (Tri, Num),
    (d, a, b, c): (u32, u32, u32, u32),
    (saturate, flush): (bool, bool),
    lanes: u32,
) {
    let float = |bits: u32| f32::from_bits(bits);
    if num.bytes() == 8 {
        let x = warp.doubles[a as usize];
        if op == Tri::Bfe {
            let (y, z) = (warp.words[b as usize], warp.words[c as usize]);
            let result = each(|it| field(num, x[it], y[it], z[it]));
            put(&mut warp.doubles[d as usize], result, lanes);
            return;
        }
        let (y, z) = (warp.doubles[b as usize], warp.doubles[c as usize]);
        let result = match (op, num) {
            (_, Num::F64) => each(|it| {
                bits64(f64::from_bits(x[it]).mul_add(f64::from_bits(y[it]), f64::from_bits(z[it])))
            }),
            (Tri::MadHi, num) => each(|it| {
                integers!(
                    Bin::MulHi,
                    x[it],
                    y[it],
                    u64,
                    i64,
                    u128,
                    i128,
                    num.is_signed()
                )
                .wrapping_add(z[it])
            }),
            _ => each(|it| x[it].wrapping_mul(y[it]).wrapping_add(z[it])),
        };
        put(&mut warp.doubles[d as usize], result, lanes);
        return;
    }
    let (x, y, z) = (
        warp.words[a as usize],
        warp.words[b as usize],
        warp.words[c as usize],
    );
    let result = match (op, num) {
        (Tri::Mad, Num::F32) if !saturate && !flush => {
            each(|it| bits(float(x[it]).mul_add(float(y[it]), float(z[it]))))
        }
        (Tri::Mad, Num::F32) => each(|it| {
            let of = |bits: u32| float(if flush { flushed(bits) } else { bits });
            let (a, b, c) = (of(x[it]), of(y[it]), of(z[it]));
            let mut result = a.mul_add(b, c);
            if saturate {
                result = saturated(result);
            }
            if flush {
                flushed_of(sum_to_odd(f64::from(a) * f64::from(b), c.into()), result)
            } else {
                bits(result)
            }
        }),
        (_, Num::F16 | Num::F16x2 | Num::Bf16 | Num::Bf16x2) => {
            let kind = half_kind(num);
            each(|it| {
                halves(is_pair(num), [x[it], y[it], z[it]], |[a, b, c]| {
                    let product = f64::from((kind.to)(a)) * f64::from((kind.to)(b));
                    let sum = sum_to_odd(product, f64::from((kind.to)(c)));
                    match sum {
                        sum if saturate && (sum.is_nan() || sum <= 0.0) => 0,
                        sum if saturate => (kind.from_double)(sum.min(1.0)),
                        sum if op == Tri::MadRelu && sum <= 0.0 => 0,
                        sum if sum.is_nan() => HALF_NAN,
                        sum => (kind.from_double)(sum),
                    }
                })
            })
        }
        (Tri::Mad, Num::U32 | Num::S32) => each(|it| x[it].wrapping_mul(y[it]).wrapping_add(z[it])),
        (Tri::Mad | Tri::MadRelu, _) => {
            each(|it| x[it].wrapping_mul(y[it]).wrapping_add(z[it]) & 0xffff)
        }
        (Tri::MadHi, Num::S32) if saturate => each(|it| {
            let product = (i64::from(x[it] as i32) * i64::from(y[it] as i32)) >> 32;
            (product as i32).saturating_add(z[it] as i32) as u32
        }),
        (Tri::Mad24 | Tri::Mad24Hi, num) => each(|it| {
            let product = product_of_24_bits(num, x[it], y[it]);
            match (op, saturate) {
                (Tri::Mad24, _) => (product as u32).wrapping_add(z[it]),
                (_, false) => ((product >> 16) as u32).wrapping_add(z[it]),
                (_, true) => ((product >> 16) as i32).saturating_add(z[it] as i32) as u32,
            }
        }),
        (Tri::MadHi, num) => each(|it| {
            integers!(
                Bin::MulHi,
                x[it],
                y[it],
                u32,
                i32,
                u64,
                i64,
                num.is_signed()
            )
            .wrapping_add(z[it])
        }),
        (Tri::Lop3(lut), _) => each(|it| table(lut, x[it], y[it], z[it])),
        (Tri::Prmt, _) => each(|it| permuted(x[it], y[it], z[it])),
        (Tri::PrmtBy(of), _) => each(|it| permuted(x[it], y[it], of[z[it] as usize & 3].into())),
        (Tri::ShfLeft | Tri::ShfLeftWrap, _) => each(|it| {
            let by = if op == Tri::ShfLeft {
                z[it].min(32)
            } else {
                z[it] & 31
            };
            let both = u64::from(y[it]) << 32 | u64::from(x[it]);
            (both << by >> 32) as u32
        }),
        (Tri::ShfRight | Tri::ShfRightWrap, _) => each(|it| {
            let by = if op == Tri::ShfRight {
                z[it].min(32)
            } else {
                z[it] & 31
            };
            let both = u64::from(y[it]) << 32 | u64::from(x[it]);
            (both >> by) as u32
        }),
        (Tri::Bfe, num) => each(|it| field(num, x[it].into(), y[it], z[it]) as u32),
        (Tri::Sad, Num::S32) => {
            each(|it| (x[it] as i32).abs_diff(y[it] as i32).wrapping_add(z[it]))
        }
        (Tri::Sad, _) => each(|it| x[it].abs_diff(y[it]).wrapping_add(z[it])),
        (Tri::Dp4a(sa, sb), _) => each(|it| products_of_bytes(x[it], y[it], z[it], (sa, sb))),
        (Tri::Dp2a(sa, sb, upper), _) => {
            each(|it| products_of_halves(x[it], y[it], z[it], (sa, sb), upper))
        }
        (Tri::Slct, _) => each(|it| if 0 <= z[it] as i32 { x[it] } else { y[it] }),
    };
    put(&mut warp.words[d as usize], result, lanes);
}

/// Puts bits of `a` into `b`: registers of the result, of both, of the place and of the length.
pub(crate) fn insert(warp: &mut Warp, is_double: bool, [d, a, b, c, e]: [u32; 5], lanes: u32) {
    let (at, length) = (warp.words[c as usize], warp.words[e as usize]);
    if is_double {
        let (x, y) = (warp.doubles[a as usize], warp.doubles[b as usize]);
        let result = each(|it| inserted(x[it], y[it], at[it], length[it], 64));
        put(&mut warp.doubles[d as usize], result, lanes);
    } else {
        let (x, y) = (warp.words[a as usize], warp.words[b as usize]);
        let result = each(|it| inserted(x[it].into(), y[it].into(), at[it], length[it], 32) as u32);
        put(&mut warp.words[d as usize], result, lanes);
    }
}

/// Returns `b` with the lowest `length` bits of `a` put in from bit `at` on.
fn inserted(a: u64, b: u64, at: u32, length: u32, width: u32) -> u64 {
    let (at, length) = (at & 0xff, length & 0xff);
    let mut result = b;
    for place in 0..length.min(width.saturating_sub(at)) {
        let bit = a >> place & 1;
        result = result & !(1 << (at + place)) | bit << (at + place);
    }
    result
}

pub(crate) fn wide(
    warp: &mut Warp,
    num: Num,
    (d, a, b, c): (u32, u32, u32, Option<u32>),
    lanes: u32,
) {
    let (x, y) = (warp.words[a as usize], warp.words[b as usize]);
    match num {
        Num::U16 | Num::S16 => {
            let z = c.map_or([0; 32], |c| warp.words[c as usize]);
            let result = std::array::from_fn(|it| {
                let product = match num {
                    Num::S16 => (i32::from(x[it] as i16) * i32::from(y[it] as i16)) as u32,
                    _ => (x[it] & 0xffff).wrapping_mul(y[it] & 0xffff),
                };
                product.wrapping_add(z[it])
            });
            put(&mut warp.words[d as usize], result, lanes);
        }
        _ => {
            let z = c.map_or([0; 32], |c| warp.doubles[c as usize]);
            let mut result = [0_u64; 32];
            if num == Num::S32 {
                for it in 0..32 {
                    let product = i64::from(x[it] as i32) * i64::from(y[it] as i32);
                    result[it] = (product as u64).wrapping_add(z[it]);
                }
            } else {
                for it in 0..32 {
                    result[it] = (u64::from(x[it]) * u64::from(y[it])).wrapping_add(z[it]);
                }
            }
            put(&mut warp.doubles[d as usize], result, lanes);
        }
    }
}
