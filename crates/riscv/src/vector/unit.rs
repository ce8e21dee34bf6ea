//! State of the vector unit.

use super::vtype::{GroupMask, VectorType};
use crate::trap::Trap;

/// What agnostic elements hold after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agnostic {
    /// What they held before, as on most hardware.
    Undisturbed,
    /// All ones, or what was set in their place, so that a program that relies on what they held
    /// goes wrong.
    Ones,
}

/// Bytes after which what agnostic elements are filled with is repeated.
pub const FILLING: usize = 32;

/// How much loads that end at the first fault load where there is none, and what they leave behind
/// that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FirstLoads {
    /// All that was asked for.
    #[default]
    Whole,
    /// Half of it; the other elements are written over with anything.
    Half,
    /// Half of it; the other elements hold what they would have been loaded with.
    HalfBehindWhole,
}

/// Why an instruction was not executed.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// It is illegal, for this reason.
    Illegal(&'static str),
    /// An access to memory raised an exception.
    Trap(Trap),
}

pub(crate) type Executed = Result<(), Refusal>;

/// Returns a refusal unless the condition holds.
pub(super) fn ensure(holds: bool, otherwise: &'static str) -> Executed {
    if holds {
        Ok(())
    } else {
        Err(Refusal::Illegal(otherwise))
    }
}

/// The fields of a vector instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields(pub u32);

impl Fields {
    pub fn get(self, high: u32, low: u32) -> usize {
        (self.0 >> low) as usize & ((1 << (high - low + 1)) - 1)
    }

    /// Destination, or what is stored.
    pub fn vd(self) -> usize {
        self.get(11, 7)
    }

    /// First source: a vector, a scalar register or an immediate.
    pub fn vs1(self) -> usize {
        self.get(19, 15)
    }

    pub fn vs2(self) -> usize {
        self.get(24, 20)
    }

    /// Whether all elements are active, not those of the mask alone.
    pub fn is_unmasked(self) -> bool {
        self.get(25, 25) == 1
    }

    pub fn funct6(self) -> usize {
        self.get(31, 26)
    }

    pub fn funct3(self) -> usize {
        self.get(14, 12)
    }

    /// The 5-bit immediate, sign-extended.
    pub fn immediate(self) -> u64 {
        ((self.vs1() as i64) << 59 >> 59) as u64
    }
}

/// Where the second operand of an element comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operand {
    /// The elements of a register group.
    Vector(usize),
    /// The same value for all.
    Scalar(u64),
}

/// The vector registers and what configures them.
///
/// *Source*: RISC-V "V" vector extension, version 1.0.
#[derive(Clone, Debug)]
pub struct VectorUnit {
    /// `v0` to `v31`, one behind the other.
    pub(super) registers: Vec<u8>,
    /// Bytes of a register (`vlenb`).
    pub(super) register_bytes: usize,
    /// Elements that instructions work on.
    pub(super) vl: usize,
    pub(super) vtype: VectorType,
    /// What the type says of groups of elements of 1, 2, 4 and 8 bytes.
    pub(super) masks: [GroupMask; 4],
    /// First element that an instruction works on.
    pub(super) vstart: usize,
    /// Rounding of fixed-point results: up, to even, down, to odd.
    pub(super) vxrm: u8,
    /// A fixed-point result was saturated.
    pub(super) vxsat: bool,
    pub(super) agnostic: Agnostic,
    /// What they are filled with, by their offset into all registers.
    filling: [u8; FILLING],
    /// Whether elements of 16 bits may be floating-point numbers (Zvfh).
    pub(super) has_half: bool,
    /// Whether elements in memory must lie at multiples of their size.
    is_aligned: bool,
    /// Whether a program has seen how long registers are.
    pub(super) has_shown_length: bool,
    /// Accesses that loaded or stored whole registers, as compilers do with those that they keep
    /// on the stack.
    pub(super) whole_accesses: u64,
    pub(super) first_loads: FirstLoads,
    /// Whether a program has executed such a load.
    pub(super) has_loaded_first: bool,
}

impl VectorUnit {
    /// Makes a unit with registers of `vlen` bits (128 to 1024, a power of two) that hold zeros, or
    /// ones where agnostic elements are filled with them.
    ///
    /// # Panics
    /// Panics if `vlen` is none of these.
    #[must_use]
    pub fn new(vlen: usize, has_half: bool, agnostic: Agnostic) -> Self {
        assert!(vlen.is_power_of_two() && (128..=1024).contains(&vlen));
        let mut unit = Self {
            registers: vec![0; 32 * vlen / 8],
            register_bytes: vlen / 8,
            vl: 0,
            vtype: VectorType::ILLEGAL,
            masks: [GroupMask::NONE; 4],
            vstart: 0,
            vxrm: 0,
            vxsat: false,
            agnostic,
            filling: [u8::MAX; FILLING],
            has_half,
            is_aligned: false,
            has_shown_length: false,
            whole_accesses: 0,
            first_loads: FirstLoads::Whole,
            has_loaded_first: false,
        };
        unit.fill_registers();
        unit
    }

    /// Returns the unit with an exception for elements in memory that do not lie at multiples of
    /// their size, which an implementation may raise.
    #[must_use]
    pub fn with_alignment(mut self) -> Self {
        self.is_aligned = true;
        self
    }

    /// Returns the unit with loads that end at the first fault as an implementation may choose.
    #[must_use]
    pub fn with_first_loads(mut self, first_loads: FirstLoads) -> Self {
        self.first_loads = first_loads;
        self
    }

    /// Returns whether a program has executed a load that ends at the first fault since the unit
    /// was made.
    #[must_use]
    pub fn has_loaded_first(&self) -> bool {
        self.has_loaded_first
    }

    /// Returns whether elements in memory must lie at multiples of their size.
    pub(crate) fn is_aligned(&self) -> bool {
        self.is_aligned
    }

    /// Returns whether a program has seen how long registers are since the unit was made: it has
    /// asked for the length, or for more elements than fit, or moved whole registers.
    #[must_use]
    pub fn has_shown_length(&self) -> bool {
        self.has_shown_length
    }

    /// Returns how many loads and stores of whole registers have been executed since the unit was
    /// made.
    #[must_use]
    pub fn whole_accesses(&self) -> u64 {
        self.whole_accesses
    }

    /// Returns `vl`, the bytes of an element and the base-2 logarithm of LMUL; where `vtype` is
    /// illegal, of bytes in one register.
    pub(crate) fn configuration(&self) -> (u64, u64, i32) {
        if self.vtype.is_legal() {
            (self.vl as u64, self.element_bytes() as u64, self.group())
        } else {
            (0, 1, 0)
        }
    }

    /// Returns a number that tells configurations apart: `vl` and `vtype`.
    #[inline(always)]
    pub(crate) fn configuration_bits(&self) -> u32 {
        let vtype = self.vtype.bits();
        (self.vl as u32) << 9 | ((vtype >> 63) as u32) << 8 | (vtype & 0xff) as u32
    }

    /// Returns the bytes of a register (`vlenb`).
    pub(crate) fn register_bytes(&self) -> u64 {
        self.register_bytes as u64
    }

    /// Returns the index of an element for an indexed access with these bits.
    pub(crate) fn index(&self, bits: u32, idx: usize) -> u64 {
        let bytes = match bits >> 12 & 7 {
            0 => 1,
            5 => 2,
            6 => 4,
            _ => 8,
        };
        let at = (bits >> 20 & 31) as usize * self.register_bytes + idx * bytes;
        let end = (at + bytes).min(self.registers.len());
        let mut value = [0; 8];
        let found = self.registers.get(at..end).unwrap_or_default();
        value[..found.len()].copy_from_slice(found);
        u64::from_le_bytes(value)
    }

    /// Returns the bytes of all registers, `v0` first.
    #[must_use]
    pub fn registers(&self) -> &[u8] {
        &self.registers
    }

    /// Fills all registers, and from now on agnostic elements, with `filling` in place of ones, if
    /// they are filled.
    pub fn set_filling(&mut self, filling: [u8; FILLING]) {
        self.filling = filling;
        self.fill_registers();
    }

    fn fill_registers(&mut self) {
        if self.agnostic == Agnostic::Ones {
            self.fill_bytes(0, self.registers.len());
        }
    }

    /// From now on agnostic elements hold what they held before, and `vl` is as large as it can be.
    pub fn leave_undisturbed(&mut self) {
        self.agnostic = Agnostic::Undisturbed;
    }

    /// Fills the element `idx` of `bytes` bytes of the group at `register`.
    pub(super) fn fill_element(&mut self, register: usize, bytes: usize, idx: usize) {
        let at = register * self.register_bytes + idx * bytes;
        self.fill_bytes(at, at + bytes);
    }

    /// What an agnostic element `idx` of a mask register is filled with.
    pub(super) fn filled_mask(&self, register: usize, idx: usize) -> bool {
        let at = register * self.register_bytes + idx / 8;
        self.filling[at % FILLING] >> (idx % 8) & 1 == 1
    }

    /// Whether something else than ones was set.
    pub(super) fn is_filled_anew(&self) -> bool {
        self.filling != [u8::MAX; FILLING]
    }

    /// Fills bytes of all registers.
    pub(super) fn fill_bytes(&mut self, from: usize, to: usize) {
        if !self.is_filled_anew() {
            return self.registers[from..to].fill(u8::MAX);
        }
        for at in from..to {
            self.registers[at] = self.filling[at % FILLING];
        }
    }

    /// Puts everything back as it was made.
    pub fn reset(&mut self) {
        *self = Self {
            is_aligned: self.is_aligned,
            has_shown_length: self.has_shown_length,
            whole_accesses: self.whole_accesses,
            first_loads: self.first_loads,
            has_loaded_first: self.has_loaded_first,
            filling: self.filling,
            ..Self::new(8 * self.register_bytes, self.has_half, self.agnostic)
        };
        self.fill_registers();
    }

    /// Returns `N` (1, 2, 4 or 8) bytes from an offset into all registers as a number.
    #[inline(always)]
    pub(super) fn read<const N: usize>(&self, at: usize) -> u64 {
        let mut bytes = [0; 8];
        bytes[..N].copy_from_slice(&self.registers[at..at + N]);
        u64::from_le_bytes(bytes)
    }

    #[inline(always)]
    pub(super) fn write<const N: usize>(&mut self, at: usize, value: u64) {
        self.registers[at..at + N].copy_from_slice(&value.to_le_bytes()[..N]);
    }

    /// Returns the element `idx` of `bytes` bytes of the group at `register`.
    pub(super) fn element(&self, register: usize, bytes: usize, idx: usize) -> u64 {
        let at = register * self.register_bytes + idx * bytes;
        let mut value = [0; 8];
        value[..bytes].copy_from_slice(&self.registers[at..at + bytes]);
        u64::from_le_bytes(value)
    }

    pub(super) fn set_element(&mut self, register: usize, bytes: usize, idx: usize, value: u64) {
        let at = register * self.register_bytes + idx * bytes;
        self.registers[at..at + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
    }

    /// Returns element `idx` of a mask register.
    #[inline(always)]
    pub(super) fn mask(&self, register: usize, idx: usize) -> bool {
        self.registers[register * self.register_bytes + idx / 8] >> (idx % 8) & 1 == 1
    }

    #[inline(always)]
    pub(super) fn set_mask(&mut self, register: usize, idx: usize, value: bool) {
        let byte = &mut self.registers[register * self.register_bytes + idx / 8];
        *byte = *byte & !(1 << (idx % 8)) | u8::from(value) << (idx % 8);
    }

    #[inline(always)]
    pub(super) fn is_active(&self, fields: Fields, idx: usize) -> bool {
        fields.is_unmasked() || self.mask(0, idx)
    }

    /// Returns the bytes of a selected element.
    pub(super) fn element_bytes(&self) -> usize {
        self.vtype.element_bytes()
    }

    /// Returns how many elements a register group holds.
    pub(super) fn most(&self) -> usize {
        self.vtype.most(self.register_bytes)
    }

    /// Returns the base-2 logarithm of the registers of a group, negative for parts of one.
    pub(super) fn group(&self) -> i32 {
        self.vtype.group()
    }

    /// Returns whether anything is to be done for an instruction on `vl` elements.
    pub(super) fn has_body(&self) -> bool {
        self.vstart < self.vl
    }

    /// Fills the elements of `N` bytes behind the body of a group, if they are agnostic and that
    /// is to be seen.
    #[inline(always)]
    pub(super) fn finish_tail<const N: usize>(&mut self, vd: usize, group: i32) {
        let begin = vd * self.register_bytes;
        self.fill_tail(
            begin + self.vl * N,
            begin + (self.register_bytes << group.max(0)),
        );
    }

    /// Fills what lies from `tail` to `end` in all registers, if it is agnostic and that is to be
    /// seen.
    #[inline(always)]
    pub(super) fn fill_tail(&mut self, tail: usize, end: usize) {
        if self.agnostic == Agnostic::Ones && self.vtype.tail_agnostic() {
            let end = end.min(self.registers.len());
            if tail < end {
                self.fill_bytes(tail, end);
            }
        }
    }

    /// Fills the elements of a mask register behind the body, which are always agnostic.
    pub(super) fn finish_mask(&mut self, vd: usize) {
        if self.agnostic == Agnostic::Ones {
            let begin = vd * self.register_bytes;
            let (last, end) = (begin + self.vl / 8, begin + self.register_bytes);
            if last < end {
                let behind = u8::MAX << (self.vl % 8);
                let filled = self.filling[last % FILLING];
                let body = self.registers[last];
                self.registers[last] = body & !behind | filled & behind;
                self.fill_bytes(last + 1, end);
            }
        }
    }
}
