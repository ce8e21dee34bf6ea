//! Floats of 16 bits, one or two in a register.

use super::binary::single;
use super::saturated;
use crate::decode::{Bin, Num};
use crate::half_floats::{
    bf16_from_f32, bf16_from_f64, bf16_to_f32, half_from_f32, half_from_f64, half_to_f32,
};

/// How the two kinds of halves are read and written.
pub(super) struct HalfKind {
    pub(super) to: fn(u16) -> f32,
    pub(super) from: fn(f32) -> u16,
    pub(super) from_double: fn(f64) -> u16,
}

const HALF: HalfKind = HalfKind {
    to: half_to_f32,
    from: half_from_f32,
    from_double: half_from_f64,
};
const BRAIN: HalfKind = HalfKind {
    to: bf16_to_f32,
    from: bf16_from_f32,
    from_double: bf16_from_f64,
};

#[inline]
pub(super) fn half_kind(num: Num) -> &'static HalfKind {
    match num {
        Num::Bf16 | Num::Bf16x2 => &BRAIN,
        _ => &HALF,
    }
}

#[inline]
pub(super) fn half(kind: &HalfKind, (op, saturate): (Bin, bool), a: u16, b: u16) -> u16 {
    match op {
        Bin::And => a & b,
        Bin::Or => a | b,
        Bin::Xor => a ^ b,
        op => {
            let result = single(op, (kind.to)(a), (kind.to)(b));
            (kind.from)(if saturate { saturated(result) } else { result })
        }
    }
}

/// Does something with each half of a register.
#[inline]
pub(super) fn halves<const N: usize>(
    is_pair: bool,
    operands: [u32; N],
    of: impl Fn([u16; N]) -> u16,
) -> u32 {
    let low = u32::from(of(operands.map(|it| it as u16)));
    if !is_pair {
        return low;
    }
    low | u32::from(of(operands.map(|it| (it >> 16) as u16))) << 16
}

#[inline]
pub(super) fn is_pair(num: Num) -> bool {
    matches!(num, Num::F16x2 | Num::Bf16x2)
}
