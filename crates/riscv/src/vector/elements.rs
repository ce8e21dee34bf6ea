//! The loops over elements that instructions are made of.

use super::unit::{Agnostic, Fields, Operand, VectorUnit};
use std::cell::Cell;

impl VectorUnit {
    /// Computes elements of `D` bytes from those of `A` bytes at `vs2`, the operand's of `B` and
    /// their old values.
    #[inline(always)]
    pub(super) fn each<const D: usize, const A: usize, const B: usize>(
        &mut self,
        fields: Fields,
        operand: Operand,
        compute: impl Fn(u64, u64, u64) -> u64,
    ) {
        if !self.has_body() {
            return;
        }
        if fields.is_unmasked() {
            self.all::<D, A, B>(fields, operand, compute);
        } else {
            self.active::<D, A, B>(fields, operand, compute);
        }
        let wider = (D.ilog2() as i32) - (self.element_bytes().ilog2() as i32);
        self.finish_tail::<D>(fields.vd(), self.group() + wider);
    }

    /// The same for the body of an instruction without a mask.
    #[inline(always)]
    fn all<const D: usize, const A: usize, const B: usize>(
        &mut self,
        fields: Fields,
        operand: Operand,
        compute: impl Fn(u64, u64, u64) -> u64,
    ) {
        let register_bytes = self.register_bytes;
        let [vd, vs2] = [fields.vd(), fields.vs2()].map(|register| register * register_bytes);
        let (from, to) = (self.vstart, self.vl);
        // Groups may be the same, or overlap where that changes nothing.
        let registers = Cell::from_mut(&mut self.registers[..]).as_slice_of_cells();
        let d = elements::<D>(registers, vd, from, to);
        let both = d.iter().zip(elements::<A>(registers, vs2, from, to));
        match operand {
            Operand::Vector(vs1) => {
                let b = elements::<B>(registers, vs1 * register_bytes, from, to);
                for ((d, a), b) in both.zip(b) {
                    put(d, compute(get(a), get(b), get(d)));
                }
            }
            Operand::Scalar(b) => {
                for (d, a) in both {
                    put(d, compute(get(a), b, get(d)));
                }
            }
        }
    }

    /// The same for the active elements of an instruction with a mask.
    #[inline(always)]
    fn active<const D: usize, const A: usize, const B: usize>(
        &mut self,
        fields: Fields,
        operand: Operand,
        compute: impl Fn(u64, u64, u64) -> u64,
    ) {
        let (d, a) = (
            fields.vd() * self.register_bytes,
            fields.vs2() * self.register_bytes,
        );
        let fills = self.agnostic == Agnostic::Ones && self.vtype.mask_agnostic();
        for idx in self.vstart..self.vl {
            if !self.mask(0, idx) {
                if fills {
                    self.fill_bytes(d + idx * D, d + (idx + 1) * D);
                }
                continue;
            }
            let y = match operand {
                Operand::Vector(vs1) => self.read::<B>(vs1 * self.register_bytes + idx * B),
                Operand::Scalar(value) => value,
            };
            let x = self.read::<A>(a + idx * A);
            let value = compute(x, y, self.read::<D>(d + idx * D));
            self.write::<D>(d + idx * D, value);
        }
    }

    /// Computes all elements of `N` bytes from those at `vs2`, the operand's, and the mask, which
    /// chooses or carries instead of leaving elements out. The destination is not the mask.
    #[inline(always)]
    pub(super) fn each_by_mask<const N: usize>(
        &mut self,
        fields: Fields,
        operand: Operand,
        compute: impl Fn(u64, u64, bool) -> u64,
    ) {
        if !self.has_body() {
            return;
        }
        for idx in self.vstart..self.vl {
            let of = |register: usize| self.read::<N>(register * self.register_bytes + idx * N);
            let y = match operand {
                Operand::Vector(vs1) => of(vs1),
                Operand::Scalar(value) => value,
            };
            let value = compute(of(fields.vs2()), y, self.mask(0, idx));
            self.write::<N>(fields.vd() * self.register_bytes + idx * N, value);
        }
        self.finish_tail::<N>(fields.vd(), self.group());
    }

    /// Computes elements of a mask register from those of `N` bytes at `vs2`, the operand's, and
    /// the mask itself (`vmadc`) or whether they are active.
    #[inline(always)]
    pub(super) fn each_mask<const N: usize>(
        &mut self,
        fields: Fields,
        operand: Operand,
        takes_carry: bool,
        compute: impl Fn(u64, u64, bool) -> bool,
    ) {
        if !self.has_body() {
            return;
        }
        let a = fields.vs2() * self.register_bytes;
        let fills = self.agnostic == Agnostic::Ones && self.vtype.mask_agnostic();
        let place = fields.vd() * self.register_bytes;
        for first in (self.vstart / 8 * 8..self.vl).step_by(8) {
            // Written when all of what it may lie in has been read.
            let mut byte = self.registers[place + first / 8];
            for idx in first.max(self.vstart)..(first + 8).min(self.vl) {
                let is_active = self.is_active(fields, idx);
                let value = if takes_carry || is_active {
                    let y = match operand {
                        Operand::Vector(vs1) => self.read::<N>(vs1 * self.register_bytes + idx * N),
                        Operand::Scalar(value) => value,
                    };
                    let carry = takes_carry && !fields.is_unmasked() && is_active;
                    compute(self.read::<N>(a + idx * N), y, carry)
                } else if fills {
                    self.filled_mask(fields.vd(), idx)
                } else {
                    continue;
                };
                byte = byte & !(1 << (idx % 8)) | u8::from(value) << (idx % 8);
            }
            self.registers[place + first / 8] = byte;
        }
        self.finish_mask(fields.vd());
    }
}

/// Returns the elements of `N` bytes of a group that begins at a byte of all registers.
#[inline(always)]
fn elements<const N: usize>(
    registers: &[Cell<u8>],
    group: usize,
    from: usize,
    to: usize,
) -> &[[Cell<u8>; N]] {
    let body = registers.get(group + N * from..group + N * to);
    body.unwrap_or_default().as_chunks().0
}

/// Returns an element as a number.
#[inline(always)]
fn get<const N: usize>(element: &[Cell<u8>; N]) -> u64 {
    let bytes = element.iter().rev();
    bytes.fold(0, |value, byte| value << 8 | u64::from(byte.get()))
}

/// Sets an element.
#[inline(always)]
fn put<const N: usize>(element: &[Cell<u8>; N], value: u64) {
    for (byte, value) in element.iter().zip(value.to_le_bytes()) {
        byte.set(value);
    }
}
