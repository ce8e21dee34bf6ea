//! Integer instructions: arithmetic, logic, shifts, comparisons, products, quotients, and those
//! that make elements wider or narrower.

use super::unit::{Executed, Fields, Operand, Refusal, VectorUnit, ensure};
use super::width::{by_widened, by_width, signed, unsigned};

pub(super) const UNKNOWN: Refusal = Refusal::Illegal("no vector instruction has this encoding");

/// Computes elements from those of the same width, whose bytes are `N`.
macro_rules! same {
    ($unit:ident, $fields:ident, $operand:ident, |$a:pat_param, $b:pat_param, $d:pat_param| $value:expr) => {
        by_width!($unit, N => $unit.each::<N, N, N>($fields, $operand, |$a, $b, $d| $value))
    };
}

/// Computes a mask from elements, whose bytes are `N`.
macro_rules! masks {
    ($unit:ident, $fields:ident, $operand:ident, $carry:expr, |$a:pat_param, $b:pat_param, $c:pat_param| $value:expr) => {
        by_width!($unit, N => $unit.each_mask::<N>($fields, $operand, $carry, |$a, $b, $c| $value))
    };
}

pub(super) use same;

impl VectorUnit {
    /// Checks the registers of an instruction on elements of one width.
    pub(super) fn same_width(&self, fields: Fields, operand: Operand) -> Executed {
        let group = self.group();
        self.destination(fields, group)?;
        self.aligned(fields.vs2(), group)?;
        match operand {
            Operand::Vector(vs1) => self.aligned(vs1, group),
            Operand::Scalar(_) => Ok(()),
        }
    }

    /// Checks the registers of an instruction that makes a mask.
    pub(super) fn to_mask(&self, fields: Fields, operand: Operand) -> Executed {
        let group = self.group();
        self.wider(fields.vd(), 0, fields.vs2(), group)?;
        match operand {
            Operand::Vector(vs1) => self.wider(fields.vd(), 0, vs1, group),
            Operand::Scalar(_) => Ok(()),
        }
    }

    /// Executes `vadd` and its like, with a vector, a scalar or an immediate as operand.
    pub(super) fn simple(&mut self, fields: Fields, operand: Operand) -> Executed {
        match fields.funct6() {
            0x10 | 0x12 => return self.with_carry(fields, operand),
            0x11 | 0x13 => return self.carry_out(fields, operand),
            0x18..=0x1f => return self.compare(fields, operand),
            0x2c | 0x2d => return self.shift_narrowing(fields, operand),
            _ => {}
        }
        self.same_width(fields, operand)?;
        match fields.funct6() {
            0x00 => same!(self, fields, operand, |a, b, _| a.wrapping_add(b)),
            0x02 => same!(self, fields, operand, |a, b, _| a.wrapping_sub(b)),
            0x03 => same!(self, fields, operand, |a, b, _| b.wrapping_sub(a)),
            0x04 => same!(self, fields, operand, |a, b, _| a.min(unsigned::<N>(b))),
            0x05 => same!(
                self,
                fields,
                operand,
                |a, b, _| signed::<N>(a).min(signed::<N>(b)) as u64
            ),
            0x06 => same!(self, fields, operand, |a, b, _| a.max(unsigned::<N>(b))),
            0x07 => same!(
                self,
                fields,
                operand,
                |a, b, _| signed::<N>(a).max(signed::<N>(b)) as u64
            ),
            0x09 => same!(self, fields, operand, |a, b, _| a & b),
            0x0a => same!(self, fields, operand, |a, b, _| a | b),
            0x0b => same!(self, fields, operand, |a, b, _| a ^ b),
            0x17 if fields.is_unmasked() => {
                ensure(fields.vs2() == 0, "a move names a second source")?;
                same!(self, fields, operand, |_, b, _| b);
            }
            0x17 => self.merge(fields, operand),
            0x25 => same!(self, fields, operand, |a, b, _| a << (b as usize % (8 * N))),
            0x28 => same!(self, fields, operand, |a, b, _| a >> (b as usize % (8 * N))),
            0x29 => {
                same!(
                    self,
                    fields,
                    operand,
                    |a, b, _| (signed::<N>(a) >> (b as usize % (8 * N))) as u64
                );
            }
            _ => return Err(UNKNOWN),
        }
        Ok(())
    }

    /// Takes the operand where the mask is set, else the first source.
    pub(super) fn merge(&mut self, fields: Fields, operand: Operand) {
        by_width!(self, N => self.each_by_mask::<N>(fields, operand, |a, b, is_taken| {
            if is_taken { b } else { a }
        }));
    }

    /// Adds or subtracts with the carry that the mask holds.
    fn with_carry(&mut self, fields: Fields, operand: Operand) -> Executed {
        ensure(!fields.is_unmasked(), "a carry comes from `v0`")?;
        self.same_width(fields, operand)?;
        let subtracts = fields.funct6() == 0x12;
        by_width!(self, N => self.each_by_mask::<N>(fields, operand, |a, b, carry| {
            if subtracts {
                a.wrapping_sub(b).wrapping_sub(carry.into())
            } else {
                a.wrapping_add(b).wrapping_add(carry.into())
            }
        }));
        Ok(())
    }

    /// Makes a mask of the carries of additions or the borrows of subtractions.
    fn carry_out(&mut self, fields: Fields, operand: Operand) -> Executed {
        self.to_mask(fields, operand)?;
        if fields.funct6() == 0x11 {
            masks!(self, fields, operand, true, |a, b, carry| {
                let sum = u128::from(a) + u128::from(unsigned::<N>(b)) + u128::from(carry);
                sum >> (8 * N) != 0
            });
        } else {
            masks!(self, fields, operand, true, |a, b, borrow| {
                u128::from(a) < u128::from(unsigned::<N>(b)) + u128::from(borrow)
            });
        }
        Ok(())
    }

    fn compare(&mut self, fields: Fields, operand: Operand) -> Executed {
        self.to_mask(fields, operand)?;
        let is_vector = matches!(operand, Operand::Vector(_));
        let is_immediate = fields.funct3() == 3;
        match fields.funct6() {
            0x18 => masks!(self, fields, operand, false, |a, b, _| a
                == unsigned::<N>(b)),
            0x19 => masks!(self, fields, operand, false, |a, b, _| a
                != unsigned::<N>(b)),
            0x1a if !is_immediate => {
                masks!(self, fields, operand, false, |a, b, _| a < unsigned::<N>(b));
            }
            0x1b if !is_immediate => {
                masks!(self, fields, operand, false, |a, b, _| signed::<N>(a)
                    < signed::<N>(b));
            }
            0x1c => masks!(self, fields, operand, false, |a, b, _| a
                <= unsigned::<N>(b)),
            0x1d => {
                masks!(self, fields, operand, false, |a, b, _| signed::<N>(a)
                    <= signed::<N>(b));
            }
            0x1e if !is_vector => {
                masks!(self, fields, operand, false, |a, b, _| a > unsigned::<N>(b));
            }
            0x1f if !is_vector => {
                masks!(self, fields, operand, false, |a, b, _| signed::<N>(a)
                    > signed::<N>(b));
            }
            _ => return Err(UNKNOWN),
        }
        Ok(())
    }

    /// Checks the registers of an instruction whose first source is twice as wide as the rest.
    pub(super) fn to_narrow(&self, fields: Fields, operand: Operand) -> Executed {
        self.widens()?;
        let group = self.group();
        self.destination(fields, group)?;
        self.wider(fields.vd(), group, fields.vs2(), group + 1)?;
        match operand {
            Operand::Vector(vs1) => self.aligned(vs1, group),
            Operand::Scalar(_) => Ok(()),
        }
    }

    /// Checks the registers of an instruction whose result is twice as wide as its sources, of
    /// which the first may be as wide as the result.
    pub(super) fn to_wide(
        &self,
        fields: Fields,
        operand: Operand,
        is_first_wide: bool,
    ) -> Executed {
        self.widens()?;
        let (vd, group) = (fields.vd(), self.group());
        self.destination(fields, group + 1)?;
        if is_first_wide {
            self.aligned(fields.vs2(), group + 1)?;
        } else {
            self.narrower(vd, group + 1, fields.vs2(), group)?;
        }
        match operand {
            Operand::Vector(vs1) => self.narrower(vd, group + 1, vs1, group),
            Operand::Scalar(_) => Ok(()),
        }
    }

    fn shift_narrowing(&mut self, fields: Fields, operand: Operand) -> Executed {
        self.to_narrow(fields, operand)?;
        if fields.funct6() == 0x2c {
            by_widened!(self, N, W => self.each::<N, W, N>(fields, operand, |a, b, _| {
                a >> (b as usize % (8 * W))
            }));
        } else {
            by_widened!(self, N, W => self.each::<N, W, N>(fields, operand, |a, b, _| {
                (signed::<W>(a) >> (b as usize % (8 * W))) as u64
            }));
        }
        Ok(())
    }

    /// Executes products, quotients, and what adds products up.
    pub(super) fn multiply(&mut self, fields: Fields, operand: Operand) -> Executed {
        if fields.funct6() >= 0x30 {
            return self.widen(fields, operand);
        }
        self.same_width(fields, operand)?;
        match fields.funct6() {
            0x20 => {
                same!(self, fields, operand, |a, b, _| {
                    a.checked_div(unsigned::<N>(b)).unwrap_or(u64::MAX)
                });
            }
            0x21 => {
                same!(self, fields, operand, |a, b, _| match signed::<N>(b) {
                    0 => u64::MAX,
                    b => signed::<N>(a).wrapping_div(b) as u64,
                });
            }
            0x22 => {
                same!(self, fields, operand, |a, b, _| {
                    a.checked_rem(unsigned::<N>(b)).unwrap_or(a)
                });
            }
            0x23 => {
                same!(self, fields, operand, |a, b, _| match signed::<N>(b) {
                    0 => a,
                    b => signed::<N>(a).wrapping_rem(b) as u64,
                });
            }
            0x24 => {
                same!(self, fields, operand, |a, b, _| {
                    let product = u128::from(a) * u128::from(unsigned::<N>(b));
                    (product >> (8 * N)) as u64
                });
            }
            0x25 => same!(self, fields, operand, |a, b, _| a.wrapping_mul(b)),
            0x26 => {
                same!(self, fields, operand, |a, b, _| {
                    let product = i128::from(signed::<N>(a)) * i128::from(unsigned::<N>(b));
                    (product >> (8 * N)) as u64
                });
            }
            0x27 => {
                same!(self, fields, operand, |a, b, _| {
                    let product = i128::from(signed::<N>(a)) * i128::from(signed::<N>(b));
                    (product >> (8 * N)) as u64
                });
            }
            0x29 => same!(self, fields, operand, |a, b, d| d
                .wrapping_mul(b)
                .wrapping_add(a)),
            0x2b => same!(self, fields, operand, |a, b, d| a
                .wrapping_sub(d.wrapping_mul(b))),
            0x2d => same!(self, fields, operand, |a, b, d| a
                .wrapping_mul(b)
                .wrapping_add(d)),
            0x2f => same!(self, fields, operand, |a, b, d| d
                .wrapping_sub(a.wrapping_mul(b))),
            _ => return Err(UNKNOWN),
        }
        Ok(())
    }

    /// Executes what gives elements twice as wide.
    fn widen(&mut self, fields: Fields, operand: Operand) -> Executed {
        let funct6 = fields.funct6();
        let is_scalar = matches!(operand, Operand::Scalar(_));
        self.to_wide(fields, operand, (0x34..=0x37).contains(&funct6))?;
        macro_rules! wide {
            (|$a:pat_param, $b:pat_param, $d:pat_param| $value:expr) => {
                by_widened!(self, N, W => {
                    self.each::<W, N, N>(fields, operand, |$a, $b, $d| $value)
                })
            };
        }
        macro_rules! onto_wide {
            (|$a:pat_param, $b:pat_param| $value:expr) => {
                by_widened!(self, N, W => {
                    self.each::<W, W, N>(fields, operand, |$a, $b, _| $value)
                })
            };
        }
        macro_rules! s {
            ($value:expr) => {
                signed::<N>($value) as u64
            };
        }
        macro_rules! u {
            ($value:expr) => {
                unsigned::<N>($value)
            };
        }
        match funct6 {
            0x30 => wide!(|a, b, _| u!(a).wrapping_add(u!(b))),
            0x31 => wide!(|a, b, _| s!(a).wrapping_add(s!(b))),
            0x32 => wide!(|a, b, _| u!(a).wrapping_sub(u!(b))),
            0x33 => wide!(|a, b, _| s!(a).wrapping_sub(s!(b))),
            0x34 => onto_wide!(|a, b| a.wrapping_add(u!(b))),
            0x35 => onto_wide!(|a, b| a.wrapping_add(s!(b))),
            0x36 => onto_wide!(|a, b| a.wrapping_sub(u!(b))),
            0x37 => onto_wide!(|a, b| a.wrapping_sub(s!(b))),
            0x38 => wide!(|a, b, _| u!(a).wrapping_mul(u!(b))),
            0x3a => wide!(|a, b, _| s!(a).wrapping_mul(u!(b))),
            0x3b => wide!(|a, b, _| s!(a).wrapping_mul(s!(b))),
            0x3c => wide!(|a, b, d| u!(a).wrapping_mul(u!(b)).wrapping_add(d)),
            0x3d => wide!(|a, b, d| s!(a).wrapping_mul(s!(b)).wrapping_add(d)),
            0x3e if is_scalar => wide!(|a, b, d| s!(a).wrapping_mul(u!(b)).wrapping_add(d)),
            0x3f => wide!(|a, b, d| u!(a).wrapping_mul(s!(b)).wrapping_add(d)),
            _ => return Err(UNKNOWN),
        }
        Ok(())
    }

    /// Makes elements of those that are a half, a quarter or an eighth as wide.
    pub(super) fn extend(&mut self, fields: Fields) -> Executed {
        let (shift, is_signed) = match fields.vs1() {
            which @ 2..=7 => (3 - (which / 2 - 1), which % 2 == 1),
            _ => return Err(UNKNOWN),
        };
        let shift = shift as i32;
        let (group, bytes) = (self.group(), self.element_bytes());
        ensure(
            bytes >> shift != 0 && group - shift >= -3,
            "elements would be narrower than 8 bits, or the group too small",
        )?;
        self.destination(fields, group)?;
        self.narrower(fields.vd(), group, fields.vs2(), group - shift)?;
        let operand = Operand::Scalar(0);
        macro_rules! extend {
            ($d:literal, $a:literal) => {
                self.each::<$d, $a, 1>(fields, operand, |a, _, _| {
                    if is_signed { signed::<$a>(a) as u64 } else { a }
                })
            };
        }
        match (bytes, bytes >> shift) {
            (2, 1) => extend!(2, 1),
            (4, 2) => extend!(4, 2),
            (4, 1) => extend!(4, 1),
            (8, 4) => extend!(8, 4),
            (8, 2) => extend!(8, 2),
            _ => extend!(8, 1),
        }
        Ok(())
    }
}
