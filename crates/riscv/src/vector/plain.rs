//! Arithmetic on whole vectors of binary32 numbers where rounding to the nearest makes it what the
//! host's unit does, several elements at once.

use super::unit::{Fields, Operand, VectorUnit};
use crate::float::host::{Plain, plain_fused, plain_product, plain_sum};

/// Elements computed at once.
const LANES: usize = 4;

/// How far elements have been computed.
#[derive(Clone, Copy)]
pub(super) struct Computed {
    /// Elements, from the first on.
    pub count: usize,
    /// Whether one of them had to be rounded.
    pub is_inexact: bool,
}

impl VectorUnit {
    /// Computes elements of an instruction without a mask, from the first on, up to one that may
    /// raise another flag than the inexact one. That one is told only if it `matters`.
    pub(super) fn compute_plain(
        &mut self,
        fields: Fields,
        operand: Operand,
        matters: bool,
    ) -> Computed {
        match matters {
            true => self.compute_noting::<true>(fields, operand),
            false => self.compute_noting::<false>(fields, operand),
        }
    }

    fn compute_noting<const NOTES: bool>(&mut self, fields: Fields, operand: Operand) -> Computed {
        let funct6 = fields.funct6();
        // What changes the sign of the product and of the addend, see `fused`.
        let sign = |is_set: bool| u32::from(is_set) << 31;
        let product = sign(funct6 & 1 == 1);
        let addend = sign(matches!(funct6 & 3, 1 | 2));
        match funct6 {
            0x00 => self.all_plain(fields, operand, |a, b, _| plain_sum::<NOTES>(a, b)),
            0x02 => self.all_plain(fields, operand, |a, b, _| plain_sum::<NOTES>(a, -b)),
            0x24 => self.all_plain(fields, operand, |a, b, _| plain_product::<NOTES>(a, b)),
            0x28..=0x2b => self.all_plain(fields, operand, |a, b, d| {
                plain_fused::<NOTES>(flipped(d, product), b, flipped(a, addend))
            }),
            0x2c..=0x2f => self.all_plain(fields, operand, |a, b, d| {
                plain_fused::<NOTES>(flipped(a, product), b, flipped(d, addend))
            }),
            _ => Computed {
                count: 0,
                is_inexact: false,
            },
        }
    }

    #[inline(always)]
    fn all_plain(
        &mut self,
        fields: Fields,
        operand: Operand,
        compute: impl Fn(f32, f32, f32) -> Plain,
    ) -> Computed {
        let mut computed = Computed {
            count: 0,
            is_inexact: false,
        };
        while computed.count + LANES <= self.vl
            && self.next_plain::<LANES>(fields, operand, &compute, &mut computed)
        {}
        while computed.count < self.vl
            && self.next_plain::<1>(fields, operand, &compute, &mut computed)
        {}
        if computed.count == self.vl {
            self.finish_tail::<4>(fields.vd(), self.group());
        }
        computed
    }

    /// Computes `N` elements more; returns whether no other flag can have been raised. Nothing has
    /// changed otherwise.
    #[inline(always)]
    fn next_plain<const N: usize>(
        &mut self,
        fields: Fields,
        operand: Operand,
        compute: &impl Fn(f32, f32, f32) -> Plain,
        computed: &mut Computed,
    ) -> bool {
        let a = self.numbers::<N>(fields.vs2(), computed.count);
        let d = self.numbers::<N>(fields.vd(), computed.count);
        let b = match operand {
            Operand::Scalar(value) => [f32::from_bits(value as u32); N],
            Operand::Vector(vs1) => self.numbers::<N>(vs1, computed.count),
        };
        let results: [Plain; N] = std::array::from_fn(|lane| compute(a[lane], b[lane], d[lane]));
        let are_plain = results.iter().fold(true, |all, one| all & one.is_plain);
        if are_plain {
            let at = fields.vd() * self.register_bytes + 4 * computed.count;
            let places = self.registers[at..at + 4 * N].as_chunks_mut().0;
            for (place, result) in places.iter_mut().zip(&results) {
                *place = result.number.to_le_bytes();
            }
            computed.count += N;
            computed.is_inexact |= results.iter().fold(false, |any, one| any | one.is_inexact);
        }
        are_plain
    }

    /// Returns elements of a group from the one with this index on.
    #[inline(always)]
    fn numbers<const N: usize>(&self, register: usize, idx: usize) -> [f32; N] {
        let at = register * self.register_bytes + 4 * idx;
        let elements = self.registers[at..at + 4 * N].as_chunks().0;
        std::array::from_fn(|lane| f32::from_le_bytes(elements[lane]))
    }
}

#[inline(always)]
fn flipped(number: f32, sign: u32) -> f32 {
    f32::from_bits(number.to_bits() ^ sign)
}
