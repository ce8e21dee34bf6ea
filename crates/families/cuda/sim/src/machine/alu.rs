//! Arithmetic on all threads of a warp at once.

use super::math;
use super::warp::{ALL, Warp};
use crate::decode::{Bin, Cmp, Num, Tri, Un};
use crate::half_floats::{
    HALF_NAN, SINGLE_NAN, bf16_from_f32, bf16_from_f64, bf16_to_f32, half_from_f32, half_from_f64,
    half_to_f32,
};

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

/// Cuts to what lies between 0 and 1.
#[inline(always)]
fn saturated(value: f32) -> f32 {
    if value.is_nan() {
        0.0
    } else {
        value.clamp(0.0, 1.0) + 0.0
    }
}

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
fn single(op: Bin, a: f32, b: f32) -> f32 {
    match op {
        Bin::Add => a + b,
        Bin::Sub => a - b,
        Bin::Mul | Bin::MulHi => a * b,
        Bin::Div => a / b,
        Bin::Min => smaller(a, b),
        Bin::Max => larger(a, b),
        Bin::MinNan => or_nan(a, b, smaller),
        Bin::MaxNan => or_nan(a, b, larger),
        // The sign is that of the first, the magnitude that of the second.
        Bin::CopySign => b.copysign(a),
        _ => 0.0,
    }
}

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
        Bin::CopySign => b.copysign(a),
        _ => 0.0,
    }
}

/// How the two kinds of halves are read and written.
pub(crate) struct HalfKind {
    pub(crate) to: fn(u16) -> f32,
    pub(crate) from: fn(f32) -> u16,
    pub(crate) from_double: fn(f64) -> u16,
}

pub(crate) const HALF: HalfKind = HalfKind {
    to: half_to_f32,
    from: half_from_f32,
    from_double: half_from_f64,
};
pub(crate) const BRAIN: HalfKind = HalfKind {
    to: bf16_to_f32,
    from: bf16_from_f32,
    from_double: bf16_from_f64,
};

fn half_kind(num: Num) -> &'static HalfKind {
    match num {
        Num::Bf16 | Num::Bf16x2 => &BRAIN,
        _ => &HALF,
    }
}

fn half(kind: &HalfKind, op: Bin, a: u16, b: u16) -> u16 {
    match op {
        Bin::And => a & b,
        Bin::Or => a | b,
        Bin::Xor => a ^ b,
        op => (kind.from)(single(op, (kind.to)(a), (kind.to)(b))),
    }
}

/// Does something with each half of a register.
fn halves<const N: usize>(is_pair: bool, operands: [u32; N], of: impl Fn([u16; N]) -> u16) -> u32 {
    let low = u32::from(of(operands.map(|it| it as u16)));
    if !is_pair {
        return low;
    }
    low | u32::from(of(operands.map(|it| (it >> 16) as u16))) << 16
}

fn is_pair(num: Num) -> bool {
    matches!(num, Num::F16x2 | Num::Bf16x2)
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
            // What the hardware gives: all ones and the dividend.
            (Bin::Div, false) => a.checked_div(b).unwrap_or(<$unsigned>::MAX),
            (Bin::Div, true) => {
                if sb == 0 {
                    <$unsigned>::MAX
                } else {
                    sa.wrapping_div(sb) as $unsigned
                }
            }
            (Bin::Rem, false) => a.checked_rem(b).unwrap_or(a),
            (Bin::Rem, true) => {
                if sb == 0 {
                    a
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
        (op, Num::F32) => each(|it| {
            let (mut a, mut b) = (x[it], y[it]);
            if flush {
                (a, b) = (flushed(a), flushed(b));
            }
            let mut result = single(op, float(a), float(b));
            if saturate {
                result = saturated(result);
            }
            if flush {
                flushed(bits(result))
            } else {
                bits(result)
            }
        }),
        (op, Num::F16 | Num::F16x2 | Num::Bf16 | Num::Bf16x2) => {
            let kind = half_kind(num);
            each(|it| halves(is_pair(num), [x[it], y[it]], |[a, b]| half(kind, op, a, b)))
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
        Un::Bfind => {
            let x = if is_negative { !x & mask } else { x };
            match x {
                0 => u64::from(u32::MAX),
                x => u64::from(63 - x.leading_zeros()),
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
    let is_count = matches!(op, Un::Popc | Un::Clz | Un::Bfind);
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
        (Un::Neg, Num::F32) if !flush => each(|it| x[it] ^ 0x8000_0000),
        (Un::Abs, Num::F32) if !flush => each(|it| x[it] & 0x7fff_ffff),
        (Un::Neg, Num::F32) => each(|it| flushed(x[it]) ^ 0x8000_0000),
        (Un::Abs, Num::F32) => each(|it| flushed(x[it]) & 0x7fff_ffff),
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
            let mut result = of(x[it]).mul_add(of(y[it]), of(z[it]));
            if saturate {
                result = saturated(result);
            }
            if flush {
                flushed(bits(result))
            } else {
                bits(result)
            }
        }),
        (_, Num::F16 | Num::F16x2 | Num::Bf16 | Num::Bf16x2) => {
            let kind = half_kind(num);
            each(|it| {
                halves(is_pair(num), [x[it], y[it], z[it]], |[a, b, c]| {
                    let product = f64::from((kind.to)(a)) * f64::from((kind.to)(b));
                    let sum = product + f64::from((kind.to)(c));
                    if sum.is_nan() {
                        HALF_NAN
                    } else {
                        (kind.from_double)(sum)
                    }
                })
            })
        }
        (Tri::Mad, Num::U32 | Num::S32) => each(|it| x[it].wrapping_mul(y[it]).wrapping_add(z[it])),
        (Tri::Mad, _) => each(|it| x[it].wrapping_mul(y[it]).wrapping_add(z[it]) & 0xffff),
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
        (Tri::Slct, _) => each(|it| if 0 <= z[it] as i32 { x[it] } else { y[it] }),
    };
    put(&mut warp.words[d as usize], result, lanes);
}

/// Returns `b` with the lowest `length` bits of `a` put in from bit `at` on.
pub(crate) fn inserted(a: u64, b: u64, at: u32, length: u32, width: u32) -> u64 {
    let (at, length) = (at & 0xff, length & 0xff);
    let mut result = b;
    for place in 0..length.min(width.saturating_sub(at)) {
        let bit = a >> place & 1;
        result = result & !(1 << (at + place)) | bit << (at + place);
    }
    result
}

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
