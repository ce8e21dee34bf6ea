//! Atomic operations.

use super::access::{Failed, How, addresses};
use super::alu;
use super::block::Block;
use super::observer::Witness;
use super::shadow::Kind;
use super::warp::Warp;
use crate::decode::{Address, AtomicOp, Num, Reach};
use crate::half_floats::{bf16_from_f32, bf16_to_f32, half_from_f32, half_to_f32};
use crate::ptx::Space;

impl<O: Witness> Block<'_, O> {
    /// Does an atomic operation for all threads of `lanes`, one after the other.
    pub(super) fn atomic(
        &mut self,
        warp: &mut Warp,
        (op, num, space): (AtomicOp, Num, Space),
        releases: Option<Reach>,
        (d, b, c): (Option<u32>, u32, Option<u32>),
        address: Address,
        lanes: u32,
    ) -> Result<(), Failed> {
        let addresses = addresses(warp, address);
        let bytes = num.bytes();
        let how = How {
            space,
            bytes,
            write: true,
            kind: Kind::Strong,
        };
        self.tell_of(warp, how, &addresses, lanes, (true, false, true));
        if let Some(reach) = releases {
            self.fence(warp, lanes, reach == Reach::Device);
        }
        self.let_others_come();
        let value = |warp: &Warp, register: u32, lane: usize| match bytes {
            8 => warp.doubles[register as usize][lane],
            _ => u64::from(warp.words[register as usize][lane]),
        };
        for place in 0..32 {
            let lane = self.turns.number(place, 32);
            if lanes >> lane & 1 == 0 {
                continue;
            }
            let address = addresses[lane as usize];
            self.show(how, address);
            let read = How {
                write: false,
                ..how
            };
            let old = self.read_one(warp, lane, read, address)?;
            let operand = value(warp, b, lane as usize);
            let swapped = c.map_or(0, |c| value(warp, c, lane as usize));
            let new = updated(op, num, old, operand, swapped);
            self.write_one(warp, lane, how, address, new)?;
            if let Some(d) = d {
                match bytes {
                    8 => warp.doubles[d as usize][lane as usize] = old,
                    _ => warp.words[d as usize][lane as usize] = old as u32,
                }
            }
        }
        Ok(())
    }
}

/// Returns what a place holds after an atomic operation.
fn updated(op: AtomicOp, num: Num, old: u64, operand: u64, swapped: u64) -> u64 {
    let float = |bits: u64| f32::from_bits(bits as u32);
    let pair = |to: fn(u16) -> f32, from: fn(f32) -> u16| {
        let half = |shift: u32| {
            let part = |it: u64| to((it >> shift) as u16);
            u64::from(from(part(old) + part(operand))) << shift
        };
        half(0) | half(16)
    };
    match (op, num) {
        (AtomicOp::Add, Num::F32) => alu::bits(float(old) + float(operand)).into(),
        (AtomicOp::Add, Num::F64) => (f64::from_bits(old) + f64::from_bits(operand)).to_bits(),
        (AtomicOp::Add, Num::F16x2) => pair(half_to_f32, half_from_f32),
        (AtomicOp::Add, Num::Bf16x2) => pair(bf16_to_f32, bf16_from_f32),
        (AtomicOp::Add, Num::F16) => {
            half_from_f32(half_to_f32(old as u16) + half_to_f32(operand as u16)).into()
        }
        (AtomicOp::Add, Num::Bf16) => {
            bf16_from_f32(bf16_to_f32(old as u16) + bf16_to_f32(operand as u16)).into()
        }
        (AtomicOp::Add, _) => old.wrapping_add(operand),
        (AtomicOp::And, _) => old & operand,
        (AtomicOp::Or, _) => old | operand,
        (AtomicOp::Xor, _) => old ^ operand,
        (AtomicOp::Exch, _) => operand,
        (AtomicOp::Cas, num) => {
            let mask = if num.bytes() == 8 {
                u64::MAX
            } else {
                (1 << (8 * num.bytes())) - 1
            };
            if old & mask == operand & mask {
                swapped
            } else {
                old
            }
        }
        (AtomicOp::Inc, _) => {
            if operand as u32 <= old as u32 {
                0
            } else {
                old + 1
            }
        }
        (AtomicOp::Dec, _) => {
            if old as u32 == 0 || (operand as u32) < old as u32 {
                operand
            } else {
                old - 1
            }
        }
        (AtomicOp::Min, Num::S32) => (old as i32).min(operand as i32) as u32 as u64,
        (AtomicOp::Max, Num::S32) => (old as i32).max(operand as i32) as u32 as u64,
        (AtomicOp::Min, Num::S64) => (old as i64).min(operand as i64) as u64,
        (AtomicOp::Max, Num::S64) => (old as i64).max(operand as i64) as u64,
        (AtomicOp::Min, _) => old.min(operand),
        (AtomicOp::Max, _) => old.max(operand),
    }
}
