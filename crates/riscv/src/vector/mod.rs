//! The vector unit: RISC-V "V" 1.0 for registers of 128 to 1024 bits, with half-precision
//! numbers if wanted (Zvfh). Results only; what they cost is for others.
//!
//! *Source*: RISC-V "V" vector extension, version 1.0. Where it leaves a choice: sums are added
//! up in the order of the elements, `vl` is the smaller of what was asked for and what fits,
//! elements need alignment where the machine says so, stores and sums in any order are made from
//! the last element on, and `vl` shares the last two parts evenly, where agnostic elements are
//! poisoned, and reserved overlaps of registers are illegal.

mod access;
mod class;
mod elements;
mod estimate;
mod fixed_point;
mod float;
mod integer;
mod mask;
mod permutation;
mod plain;
mod reduction;
mod registers;
mod runs;
mod unit;
mod usual;
mod vtype;
mod width;

pub(crate) use access::VectorMemory;
pub use class::VectorClass;
pub use unit::{Agnostic, FILLING, FirstLoads, VectorUnit};
pub(crate) use unit::{Executed, Refusal};
pub(crate) use usual::Usual;

use crate::csr::ControlRegisters;
use crate::instruction::DISCARD;
use integer::UNKNOWN;
use unit::{Fields, Operand, ensure};
use width::{by_width, signed};

/// What a vector instruction does: it configures the unit, loads or stores, or computes.
pub(crate) const CONFIGURES: u8 = 0;
pub(crate) const ACCESSES: u8 = 1;
pub(crate) const OPERATES: u8 = 2;

/// Returns which of them an instruction with one of the opcodes of vectors does.
pub(crate) fn kind_of(bits: u32) -> u8 {
    let fields = Fields(bits);
    match (fields.get(6, 0), fields.funct3()) {
        (0x57, 7) => CONFIGURES,
        (0x57, _) => OPERATES,
        _ => ACCESSES,
    }
}

const NO_CONFIGURATION: &str = "`vtype` is illegal: no `vsetvli` has configured the unit";

/// The scalar registers that instructions name.
pub(crate) struct Scalars<'a> {
    pub x: &'a mut [u64; 256],
    pub f: &'a mut [u64; 256],
    pub csr: &'a mut ControlRegisters,
}

impl Scalars<'_> {
    fn set(&mut self, register: usize, value: u64) {
        let register = if register == 0 {
            usize::from(DISCARD)
        } else {
            register
        };
        self.x[register] = value;
    }
}

impl VectorUnit {
    /// Executes an instruction with one of the opcodes of vectors, which is of this kind.
    ///
    /// # Errors
    /// It is illegal, or an access raised an exception; elements before the one at fault have
    /// been loaded or stored then, and `vstart` says where to go on.
    #[inline(always)]
    pub(crate) fn execute<const KIND: u8>(
        &mut self,
        bits: u32,
        scalars: &mut Scalars<'_>,
        memory: &mut impl VectorMemory,
    ) -> Executed {
        let fields = Fields(bits);
        match KIND {
            ACCESSES => self.access(fields, &scalars.x[..], memory)?,
            CONFIGURES => {
                let vl = self.configure(fields, &scalars.x[..]).ok_or(UNKNOWN)?;
                scalars.set(fields.vd(), vl);
            }
            _ => {
                ensure(self.vtype.is_legal(), NO_CONFIGURATION)?;
                self.operate(fields, scalars)?;
            }
        }
        self.vstart = 0;
        Ok(())
    }

    fn operate(&mut self, fields: Fields, scalars: &mut Scalars<'_>) -> Executed {
        let vector = Operand::Vector(fields.vs1());
        let scalar = scalars.x[fields.vs1()];
        let immediate = fields.immediate();
        match fields.funct3() {
            0 => match fields.funct6() {
                0x03 | 0x0f | 0x1e | 0x1f => Err(UNKNOWN),
                0x0c => self.gather(fields, vector),
                0x0e => self.gather_by_halfwords(fields),
                0x30 | 0x31 => self.reduce_widening(fields),
                0x20..=0x23 | 0x27 | 0x2a | 0x2b | 0x2e | 0x2f => self.fixed_point(fields, vector),
                _ => self.simple(fields, vector),
            },
            3 => match fields.funct6() {
                0x02 | 0x04..=0x07 | 0x12 | 0x13 | 0x22 | 0x23 => Err(UNKNOWN),
                // These immediates have no sign.
                0x0c => self.gather(fields, Operand::Scalar(fields.vs1() as u64)),
                0x0e => self.slide_up(fields, fields.vs1() as u64),
                0x0f => self.slide_down(fields, fields.vs1() as u64),
                0x27 => self.move_registers(fields),
                0x20 | 0x21 => self.fixed_point(fields, Operand::Scalar(immediate)),
                0x2a | 0x2b | 0x2e | 0x2f => {
                    self.fixed_point(fields, Operand::Scalar(fields.vs1() as u64))
                }
                0x25 | 0x28 | 0x29 | 0x2c | 0x2d => {
                    self.simple(fields, Operand::Scalar(fields.vs1() as u64))
                }
                _ => self.simple(fields, Operand::Scalar(immediate)),
            },
            4 => match fields.funct6() {
                0x0c => self.gather(fields, Operand::Scalar(scalar)),
                0x0e => self.slide_up(fields, scalar),
                0x0f => self.slide_down(fields, scalar),
                0x20..=0x23 | 0x27 | 0x2a | 0x2b | 0x2e | 0x2f => {
                    self.fixed_point(fields, Operand::Scalar(scalar))
                }
                _ => self.simple(fields, Operand::Scalar(scalar)),
            },
            2 => match fields.funct6() {
                0x00..=0x07 => self.reduce_integers(fields),
                0x08..=0x0b => self.average(fields, vector),
                0x10 => self.move_to_scalar(fields, scalars),
                0x12 => self.extend(fields),
                0x14 => self.scan_mask(fields),
                0x17 => self.compress(fields),
                0x18..=0x1f => self.combine_masks(fields),
                _ => self.multiply(fields, vector),
            },
            6 => match fields.funct6() {
                0x08..=0x0b => self.average(fields, Operand::Scalar(scalar)),
                0x0e => self.slide_in_below(fields, scalar),
                0x0f => self.slide_in_above(fields, scalar),
                0x10 => self.set_first(fields, scalar),
                _ => self.multiply(fields, Operand::Scalar(scalar)),
            },
            funct3 => self.operate_on_floats(fields, funct3 == 5, scalars),
        }
    }

    fn operate_on_floats(
        &mut self,
        fields: Fields,
        is_scalar: bool,
        scalars: &mut Scalars<'_>,
    ) -> Executed {
        ensure(
            scalars.csr.float_on(),
            "the floating-point unit is switched off in mstatus.FS",
        )?;
        let operand = if is_scalar {
            Operand::Scalar(self.unboxed(scalars.f[fields.vs1()])?)
        } else {
            Operand::Vector(fields.vs1())
        };
        match (fields.funct6(), operand) {
            (0x0e, Operand::Scalar(scalar)) => self.slide_in_below(fields, scalar),
            (0x0f, Operand::Scalar(scalar)) => self.slide_in_above(fields, scalar),
            (0x10, Operand::Scalar(scalar)) => self.set_first(fields, scalar),
            (0x10, Operand::Vector(0)) => {
                ensure(fields.is_unmasked(), "this instruction has no masked form")?;
                scalars.f[fields.vd()] = self.first_boxed(fields)?;
                Ok(())
            }
            _ => {
                let (frm, flags) = (scalars.csr.frm, scalars.csr.fflags);
                let flags = self.float(fields, operand, frm, flags)?;
                scalars.csr.raise(flags);
                Ok(())
            }
        }
    }

    /// Executes `vmv.x.s`, `vcpop` and `vfirst`.
    fn move_to_scalar(&mut self, fields: Fields, scalars: &mut Scalars<'_>) -> Executed {
        let value = match fields.vs1() {
            0 => {
                ensure(fields.is_unmasked(), "this instruction has no masked form")?;
                let value = self.element(fields.vs2(), self.element_bytes(), 0);
                by_width!(self, N => signed::<N>(value) as u64)
            }
            0x10 | 0x11 => self.count(fields)?,
            _ => return Err(UNKNOWN),
        };
        scalars.set(fields.vd(), value);
        Ok(())
    }
}
