//! Registers that operands become.

use super::{Address, Decoder, LOCAL_WINDOW, Meaning, Num, Reading, Reg, SHARED_WINDOW, SPECIAL};
use crate::ptx::{Operand, PtxError, Space};

impl Decoder<'_> {
    pub(super) fn word_constant(&mut self, bits: u32) -> u32 {
        *self.word_constants.entry(bits).or_insert_with(|| {
            self.words += 1;
            self.words - 1
        })
    }

    pub(super) fn double_constant(&mut self, bits: u64) -> u32 {
        *self.double_constants.entry(bits).or_insert_with(|| {
            self.doubles += 1;
            self.doubles - 1
        })
    }

    /// Returns the register that `name` means.
    fn register(&self, reading: &Reading<'_>, name: &str) -> Result<Reg, PtxError> {
        match self.names.get(name) {
            Some(Meaning::Register(register)) => Ok(*register),
            _ => Err(reading.error(format!("`{name}` is no register"))),
        }
    }

    /// Returns the register of up to 32 bits, or the constant, that `operand` means to `num`.
    pub(super) fn word_of(
        &mut self,
        reading: &Reading<'_>,
        operand: &Operand,
        num: Num,
    ) -> Result<u32, PtxError> {
        let bits = match operand {
            Operand::Name(name) if name == "WARP_SZ" => 32,
            Operand::Name(name) => match self.names.get(name.as_str()) {
                Some(Meaning::Register(Reg::Word(register))) => return Ok(*register),
                Some(Meaning::Variable(Space::Shared | Space::Local, at)) => *at as u32,
                _ => {
                    return Err(reading.error(format!("`{name}` is no register of up to 32 bits")));
                }
            },
            Operand::Address {
                base: Some(name),
                offset,
            } => match self.names.get(name.as_str()) {
                Some(Meaning::Variable(Space::Shared | Space::Local, at)) => {
                    at.wrapping_add(*offset as u64) as u32
                }
                _ => return Err(reading.error("an operand that cannot be read")),
            },
            Operand::Integer(value) => match num {
                Num::U8 | Num::S8 => *value as u32 & 0xff,
                Num::U16 | Num::S16 => *value as u32 & 0xffff,
                Num::F32 => (*value as i64 as f32).to_bits(),
                _ => *value as u32,
            },
            Operand::Single(bits) => *bits,
            Operand::Double(bits) if num == Num::F32 => (f64::from_bits(*bits) as f32).to_bits(),
            _ => return Err(reading.error("an operand that cannot be read")),
        };
        Ok(self.word_constant(bits))
    }

    /// Returns the register of 64 bits, or the constant, that `operand` means to `num`.
    fn double_of(
        &mut self,
        reading: &Reading<'_>,
        operand: &Operand,
        num: Num,
    ) -> Result<u32, PtxError> {
        let bits = match operand {
            Operand::Name(name) => match self.names.get(name.as_str()) {
                Some(Meaning::Register(Reg::Double(register))) => return Ok(*register),
                // Arguments lie in a space of their own, by their offsets.
                Some(Meaning::Variable(_, at) | Meaning::Argument(at)) => *at,
                _ => return Err(reading.error(format!("`{name}` is no register of 64 bits"))),
            },
            Operand::Address {
                base: Some(name),
                offset,
            } => match self.names.get(name.as_str()) {
                Some(Meaning::Variable(_, at)) => at.wrapping_add(*offset as u64),
                _ => return Err(reading.error("an operand that cannot be read")),
            },
            Operand::Integer(value) if num == Num::F64 => (*value as i64 as f64).to_bits(),
            Operand::Integer(value) => *value,
            Operand::Single(bits) => f64::from(f32::from_bits(*bits)).to_bits(),
            Operand::Double(bits) => *bits,
            _ => return Err(reading.error("an operand that cannot be read")),
        };
        Ok(self.double_constant(bits))
    }

    /// Returns the register or constant that holds `operand`, in the file of `num`.
    pub(super) fn source(
        &mut self,
        reading: &Reading<'_>,
        number: usize,
        num: Num,
    ) -> Result<u32, PtxError> {
        let operand = reading.operand(number)?;
        match num.bytes() {
            8 => self.double_of(reading, operand, num),
            _ => self.word_of(reading, operand, num),
        }
    }

    /// The same for an operand that is as wide as its register, of `num` if it is a constant.
    pub(super) fn any_source(
        &mut self,
        reading: &Reading<'_>,
        operand: &Operand,
        num: Num,
    ) -> Result<Reg, PtxError> {
        if let Operand::Name(name) = operand
            && let Some(Meaning::Register(register)) = self.names.get(name.as_str())
        {
            return Ok(*register);
        }
        Ok(match num.bytes() {
            8 => Reg::Double(self.double_of(reading, operand, num)?),
            _ => Reg::Word(self.word_of(reading, operand, num)?),
        })
    }

    /// Returns the register that a result goes to, in the file of `num`.
    pub(super) fn destination(
        &mut self,
        reading: &Reading<'_>,
        number: usize,
        num: Num,
    ) -> Result<u32, PtxError> {
        match (
            self.any_destination(reading, reading.operand(number)?)?,
            num.bytes(),
        ) {
            (Reg::Double(register), 8) | (Reg::Word(register), 1..=4) => Ok(register),
            _ => Err(reading.error("the result does not fit its register")),
        }
    }

    pub(super) fn any_destination(
        &mut self,
        reading: &Reading<'_>,
        operand: &Operand,
    ) -> Result<Reg, PtxError> {
        match operand {
            Operand::Name(name) if name == "_" => {
                self.words += 1;
                Ok(Reg::Word(self.words - 1))
            }
            Operand::Name(name) => {
                let register = self.register(reading, name)?;
                let specials = self.first_special..self.first_special + SPECIAL.len() as u32;
                match register {
                    Reg::Word(it) if specials.contains(&it) => {
                        Err(reading.error(format!("`{name}` cannot be written")))
                    }
                    _ => Ok(register),
                }
            }
            _ => Err(reading.error("the result must go to a register")),
        }
    }

    /// Returns a predicate that is read, and whether it is turned.
    pub(super) fn predicate_source(
        &mut self,
        reading: &Reading<'_>,
        number: usize,
    ) -> Result<(u32, bool), PtxError> {
        let (name, not) = match reading.operand(number)? {
            Operand::Name(name) => (name, false),
            Operand::Not(name) => (name, true),
            Operand::Integer(value) => {
                // A constant truth: a predicate that nobody writes is false.
                self.predicates += 1;
                return Ok((self.predicates - 1, *value != 0));
            }
            _ => return Err(reading.error("a predicate was expected")),
        };
        match self.register(reading, name)? {
            Reg::Predicate(register) => Ok((register, not)),
            _ => Err(reading.error(format!("`{name}` is no predicate"))),
        }
    }

    pub(super) fn predicate_destination(
        &mut self,
        reading: &Reading<'_>,
        operand: &Operand,
    ) -> Result<u32, PtxError> {
        match operand {
            Operand::Name(name) if name == "_" => {
                self.predicates += 1;
                Ok(self.predicates - 1)
            }
            Operand::Name(name) => match self.register(reading, name)? {
                Reg::Predicate(register) => Ok(register),
                _ => Err(reading.error(format!("`{name}` is no predicate"))),
            },
            _ => Err(reading.error("a predicate was expected")),
        }
    }

    /// Returns the registers in braces, or the one that stands without.
    pub(super) fn parts(operand: &Operand) -> &[Operand] {
        match operand {
            Operand::Vector(parts) => parts,
            other => std::slice::from_ref(other),
        }
    }

    pub(super) fn words_of(
        &mut self,
        reading: &Reading<'_>,
        number: usize,
        is_result: bool,
    ) -> Result<Box<[u32]>, PtxError> {
        let parts = Self::parts(reading.operand(number)?);
        let registers = parts.iter().map(|part| {
            if !is_result {
                return self.word_of(reading, part, Num::U32);
            }
            match self.any_destination(reading, part)? {
                Reg::Word(register) => Ok(register),
                _ => Err(reading.error("registers of 32 bits were expected")),
            }
        });
        registers.collect()
    }

    pub(super) fn address(
        &mut self,
        reading: &Reading<'_>,
        operand: &Operand,
        space: Space,
    ) -> Result<Address, PtxError> {
        let Operand::Address { base, offset } = operand else {
            return Err(reading.error("an address was expected"));
        };
        let offset = *offset;
        let Some(name) = base else {
            return Ok(Address { base: None, offset });
        };
        match self.names.get(name.as_str()) {
            Some(Meaning::Register(Reg::Predicate(_))) | None => {
                Err(reading.error(format!("`{name}` is no address")))
            }
            Some(Meaning::Register(register)) => Ok(Address {
                base: Some(*register),
                offset,
            }),
            Some(Meaning::Variable(of, at)) => {
                let window = match (space, of) {
                    (Space::Generic, Space::Shared) => SHARED_WINDOW,
                    (Space::Generic, Space::Local) => LOCAL_WINDOW,
                    _ => 0,
                };
                Ok(Address {
                    base: None,
                    offset: offset.wrapping_add((at + window) as i64),
                })
            }
            Some(Meaning::Argument(at)) => Ok(Address {
                base: None,
                offset: offset.wrapping_add(*at as i64),
            }),
        }
    }
}
