//! Fixed-point instructions: saturating and averaging sums, rounded products and shifts, and
//! narrowing clips.

use super::integer::{UNKNOWN, same};
use super::unit::{Executed, Fields, Operand, VectorUnit};
use super::width::{by_widened, by_width, signed, unsigned};
use std::cell::Cell;
use std::ops::{Add, BitAnd, Shl, Shr, Sub};

/// Shifts right and rounds as `vxrm` says: half up, half to even, down, or to odd.
#[inline(always)]
fn rounded(value: i128, shift: usize, vxrm: u8) -> i128 {
    // Most numbers leave room for what is computed here.
    match i64::try_from(value) {
        Ok(value) if shift < 62 => i128::from(rounded_number(value, shift, vxrm)),
        _ => rounded_number(value, shift, vxrm),
    }
}

#[inline(always)]
fn rounded_number<T>(value: T, shift: usize, vxrm: u8) -> T
where
    T: Copy + PartialOrd + From<bool>,
    T: Shl<usize, Output = T> + Shr<usize, Output = T>,
    T: BitAnd<Output = T> + Add<Output = T> + Sub<Output = T>,
{
    if shift == 0 {
        return value;
    }
    let [zero, one] = [false, true].map(T::from);
    let dropped = value & ((one << shift) - one);
    let half = one << (shift - 1);
    let is_odd = value >> shift & one == one;
    let up = match vxrm {
        0 => dropped >= half,
        1 => dropped > half || dropped == half && is_odd,
        2 => false,
        _ => dropped != zero && !is_odd,
    };
    (value >> shift) + T::from(up)
}

/// Limits a value to those of `N` bytes with a sign, or without, and notes whether it had to.
fn clipped<const N: usize>(value: i128, is_signed: bool, saturated: &Cell<bool>) -> u64 {
    let (least, most) = if is_signed {
        (-(1i128 << (8 * N - 1)), (1i128 << (8 * N - 1)) - 1)
    } else {
        (0, (1i128 << (8 * N)) - 1)
    };
    if value < least || most < value {
        saturated.set(true);
    }
    value.clamp(least, most) as u64
}

/// The same for a value that has room in 64 bits, for `N` of 4 at most.
#[inline(always)]
fn clipped_number<const N: usize>(value: i64, is_signed: bool, saturated: &Cell<bool>) -> u64 {
    let (least, most) = if is_signed {
        (-(1 << (8 * N - 1)), (1 << (8 * N - 1)) - 1)
    } else {
        (0, (1 << (8 * N)) - 1)
    };
    let clipped = value.clamp(least, most);
    saturated.set(saturated.get() | (clipped != value));
    clipped as u64
}

impl VectorUnit {
    /// Executes the fixed-point instructions with numbers among those of `vadd` and its like.
    pub(super) fn fixed_point(&mut self, fields: Fields, operand: Operand) -> Executed {
        let saturated = Cell::new(false);
        let vxrm = self.vxrm;
        if fields.funct6() >= 0x2e {
            self.to_narrow(fields, operand)?;
            let is_signed = fields.funct6() == 0x2f;
            by_widened!(self, N, W => self.each::<N, W, N>(fields, operand, |a, b, _| {
                let shift = b as usize % (8 * W);
                if W < 8 {
                    let value = if is_signed { signed::<W>(a) } else { a as i64 };
                    let value = rounded_number(value, shift, vxrm);
                    return clipped_number::<N>(value, is_signed, &saturated);
                }
                let value = if is_signed { signed::<W>(a).into() } else { i128::from(a) };
                clipped::<N>(rounded(value, shift, vxrm), is_signed, &saturated)
            }));
        } else {
            self.same_width(fields, operand)?;
            macro_rules! s {
                ($value:expr) => {
                    i128::from(signed::<N>($value))
                };
            }
            macro_rules! u {
                ($value:expr) => {
                    i128::from(unsigned::<N>($value))
                };
            }
            match fields.funct6() {
                0x20 => same!(self, fields, operand, |a, b, _| clipped::<N>(
                    u!(a) + u!(b),
                    false,
                    &saturated
                )),
                0x21 => same!(self, fields, operand, |a, b, _| clipped::<N>(
                    s!(a) + s!(b),
                    true,
                    &saturated
                )),
                0x22 => same!(self, fields, operand, |a, b, _| clipped::<N>(
                    u!(a) - u!(b),
                    false,
                    &saturated
                )),
                0x23 => same!(self, fields, operand, |a, b, _| clipped::<N>(
                    s!(a) - s!(b),
                    true,
                    &saturated
                )),
                0x27 => {
                    same!(self, fields, operand, |a, b, _| {
                        clipped::<N>(rounded(s!(a) * s!(b), 8 * N - 1, vxrm), true, &saturated)
                    });
                }
                0x2a => {
                    same!(self, fields, operand, |a, b, _| {
                        rounded(u!(a), b as usize % (8 * N), vxrm) as u64
                    });
                }
                0x2b => {
                    same!(self, fields, operand, |a, b, _| {
                        rounded(s!(a), b as usize % (8 * N), vxrm) as u64
                    });
                }
                _ => return Err(UNKNOWN),
            }
        }
        self.vxsat |= saturated.get();
        Ok(())
    }

    /// Executes averaging sums and differences.
    pub(super) fn average(&mut self, fields: Fields, operand: Operand) -> Executed {
        self.same_width(fields, operand)?;
        let vxrm = self.vxrm;
        let (is_signed, subtracts) = (fields.funct6() & 1 == 1, fields.funct6() & 2 == 2);
        same!(self, fields, operand, |a, b, _| {
            let value = |bits| {
                if is_signed {
                    i128::from(signed::<N>(bits))
                } else {
                    i128::from(unsigned::<N>(bits))
                }
            };
            let sum = if subtracts {
                value(a) - value(b)
            } else {
                value(a) + value(b)
            };
            rounded(sum, 1, vxrm) as u64
        });
        Ok(())
    }
}
