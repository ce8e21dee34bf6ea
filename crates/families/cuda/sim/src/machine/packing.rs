//! Registers made of several narrower ones, and taken apart again.

use super::alu::put;
use super::warp::Warp;
use crate::decode::Reg;

pub(super) fn pack(warp: &mut Warp, d: Reg, parts: &[u32], bits: u32, lanes: u32) {
    let mask = if bits == 64 {
        u64::MAX
    } else {
        (1 << bits) - 1
    };
    let mut result = [0_u64; 32];
    for (part, idx) in parts.iter().zip(0..) {
        let word = warp.words[*part as usize];
        for lane in 0..32 {
            result[lane] |= (u64::from(word[lane]) & mask) << (idx * bits);
        }
    }
    match d {
        Reg::Word(d) => put(
            &mut warp.words[d as usize],
            result.map(|it| it as u32),
            lanes,
        ),
        Reg::Double(d) => put(&mut warp.doubles[d as usize], result, lanes),
        Reg::Predicate(_) => {}
    }
}

pub(super) fn unpack(warp: &mut Warp, parts: &[Option<u32>], a: Reg, bits: u32, lanes: u32) {
    let mask = if bits == 64 {
        u64::MAX
    } else {
        (1 << bits) - 1
    };
    let whole = match a {
        Reg::Word(a) => warp.words[a as usize].map(u64::from),
        Reg::Double(a) => warp.doubles[a as usize],
        Reg::Predicate(_) => [0; 32],
    };
    for (part, idx) in parts.iter().zip(0..) {
        if let Some(part) = part {
            let result = whole.map(|it| (it >> (idx * bits) & mask) as u32);
            put(&mut warp.words[*part as usize], result, lanes);
        }
    }
}
