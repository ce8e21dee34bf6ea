//! Arithmetic on whole vectors of binary32 numbers where rounding to the nearest and flags that
//! are up already make it what the host's unit does.

use super::unit::{Fields, Operand, VectorUnit};
use crate::float::{plain_fused_single, plain_product_single, plain_sum_single};

/// Bytes of the largest group, and of most.
const MOST: usize = 8 * 1024 / 8;
const USUAL: usize = 128;

impl VectorUnit {
    /// Computes all elements of an instruction without a mask if no flag but the inexact one can
    /// have been raised; returns whether that is so. Nothing has changed otherwise.
    pub(super) fn compute_plain(&mut self, fields: Fields, operand: Operand) -> bool {
        let funct6 = fields.funct6();
        // What changes the sign of the product and of the addend, see `fused`.
        let sign = |is_set: bool| u32::from(is_set) << 31;
        let product = sign(funct6 & 1 == 1);
        let addend = sign(matches!(funct6 & 3, 1 | 2));
        match funct6 {
            0x00 => self.all_plain(fields, operand, |a, b, _| plain_sum_single(a + b)),
            0x02 => self.all_plain(fields, operand, |a, b, _| plain_sum_single(a - b)),
            0x24 => self.all_plain(fields, operand, |a, b, _| plain_product_single(a, b)),
            0x28..=0x2b => self.all_plain(fields, operand, |a, b, d| {
                plain_fused_single(flipped(d, product), b, flipped(a, addend))
            }),
            0x2c..=0x2f => self.all_plain(fields, operand, |a, b, d| {
                plain_fused_single(flipped(a, product), b, flipped(d, addend))
            }),
            _ => false,
        }
    }

    #[inline(always)]
    fn all_plain(
        &mut self,
        fields: Fields,
        operand: Operand,
        compute: impl Fn(f32, f32, f32) -> Option<f32>,
    ) -> bool {
        match 4 * self.vl <= USUAL {
            true => self.all_plain_within::<USUAL>(fields, operand, compute),
            false => self.all_plain_within::<MOST>(fields, operand, compute),
        }
    }

    /// The same for groups of at most so many bytes, as few as possible of which have to be cleared.
    #[inline(always)]
    fn all_plain_within<const BYTES: usize>(
        &mut self,
        fields: Fields,
        operand: Operand,
        compute: impl Fn(f32, f32, f32) -> Option<f32>,
    ) -> bool {
        let bytes = 4 * self.vl;
        let of = |register: usize| {
            let begin = register * self.register_bytes;
            self.registers.get(begin..begin + bytes).unwrap_or_default()
        };
        let (a, d) = (of(fields.vs2()), of(fields.vd()));
        let mut results = [0; BYTES];
        let mut are_plain = a.len() == bytes && d.len() == bytes && bytes <= results.len();
        let operands = a.chunks_exact(4).zip(d.chunks_exact(4));
        let places = results.chunks_exact_mut(4);
        match operand {
            Operand::Scalar(value) => {
                let b = f32::from_bits(value as u32);
                for ((a, d), place) in operands.zip(places) {
                    let result = compute(number(a), b, number(d));
                    are_plain &= result.is_some();
                    place.copy_from_slice(&result.unwrap_or(0.0).to_le_bytes());
                }
            }
            Operand::Vector(vs1) => {
                let b = of(vs1);
                are_plain &= b.len() == bytes;
                for (((a, d), b), place) in operands.zip(b.chunks_exact(4)).zip(places) {
                    let result = compute(number(a), number(b), number(d));
                    are_plain &= result.is_some();
                    place.copy_from_slice(&result.unwrap_or(0.0).to_le_bytes());
                }
            }
        }
        if are_plain {
            let begin = fields.vd() * self.register_bytes;
            self.registers[begin..begin + bytes].copy_from_slice(&results[..bytes]);
            self.finish_tail::<4>(fields.vd(), self.group());
        }
        are_plain
    }
}

#[inline(always)]
fn number(bytes: &[u8]) -> f32 {
    match bytes {
        [a, b, c, d] => f32::from_le_bytes([*a, *b, *c, *d]),
        _ => 0.0,
    }
}

#[inline(always)]
fn flipped(number: f32, sign: u32) -> f32 {
    f32::from_bits(number.to_bits() ^ sign)
}
