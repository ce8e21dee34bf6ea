//! Sums that hand a carry on.

use super::put;
use crate::decode::{CarryOp, Num};
use crate::machine::warp::Warp;

/// Does a link of a chain of sums with the carries of all threads, and returns those that go out.
pub(crate) fn carried(
    warp: &mut Warp,
    (op, num): (CarryOp, Num),
    [d, a, b, c]: [u32; 4],
    carry: u32,
    lanes: u32,
) -> u32 {
    let mut out = 0;
    let mut sum = |lane: usize, [x, y, z]: [u64; 3]| {
        let carry = carry >> lane & 1 == 1;
        let (sum, goes_on) = match op {
            CarryOp::Add => added(num, x, y, carry),
            CarryOp::Sub => {
                let (rest, borrows) = added(num, x, !y, !carry);
                (rest, !borrows)
            }
            CarryOp::MadLow => added(num, x.wrapping_mul(y), z, carry),
            CarryOp::MadHigh => added(num, upper(num, x, y), z, carry),
        };
        out |= u32::from(goes_on) << lane;
        sum
    };
    let registers = [a, b, c];
    if num.bytes() == 8 {
        let of = registers.map(|it| warp.doubles[it as usize]);
        let mut result = [0; 32];
        for (lane, it) in result.iter_mut().enumerate() {
            *it = sum(lane, of.map(|it| it[lane]));
        }
        put(&mut warp.doubles[d as usize], result, lanes);
    } else {
        let of = registers.map(|it| warp.words[it as usize]);
        let mut result = [0; 32];
        for (lane, it) in result.iter_mut().enumerate() {
            *it = sum(lane, of.map(|it| u64::from(it[lane]))) as u32;
        }
        put(&mut warp.words[d as usize], result, lanes);
    }
    out
}

/// Returns the sum of the low bits that `num` has, and whether it goes beyond them.
fn added(num: Num, x: u64, y: u64, carry: bool) -> (u64, bool) {
    let most = u64::MAX >> (64 - 8 * num.bytes());
    let sum = u128::from(x & most) + u128::from(y & most) + u128::from(carry);
    (sum as u64 & most, u128::from(most) < sum)
}

/// Returns the high half of a product.
fn upper(num: Num, x: u64, y: u64) -> u64 {
    match (num.bytes(), num.is_signed()) {
        (8, true) => ((i128::from(x as i64) * i128::from(y as i64)) >> 64) as u64,
        (8, false) => ((u128::from(x) * u128::from(y)) >> 64) as u64,
        (_, true) => ((i64::from(x as i32) * i64::from(y as i32)) >> 32) as u64,
        (_, false) => (x * y) >> 32,
    }
}
