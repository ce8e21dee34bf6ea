//! Configuration: `vtype`, `vl` and the instructions that set them.

use super::unit::{Agnostic, Fields, VectorUnit};

/// Bit that says that a configuration is not supported.
const ILLEGAL: u64 = 1 << 63;

/// A valid or illegal `vtype`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct VectorType(u64);

impl VectorType {
    pub const ILLEGAL: Self = Self(ILLEGAL);

    /// Returns the type that these bits ask for, or the illegal one: reserved bits, an element
    /// wider than 64 bits, or one that does not fit the part of a register.
    pub fn asked_for(bits: u64, register_bytes: usize) -> Self {
        let asked = Self(bits);
        let is_reserved = bits >> 8 != 0 || bits & 7 == 4 || bits >> 3 & 7 > 3;
        // A part of a register holds elements of at most that part of 64 bits.
        let fits = !is_reserved
            && (asked.group() >= 0 || asked.element_bytes() << -asked.group() <= 8)
            && asked.most(register_bytes) > 0;
        if fits { asked } else { Self::ILLEGAL }
    }

    pub fn bits(self) -> u64 {
        self.0
    }

    pub fn is_legal(self) -> bool {
        self.0 & ILLEGAL == 0
    }

    /// Returns the bytes of an element (SEW / 8).
    pub fn element_bytes(self) -> usize {
        1 << (self.0 >> 3 & 3)
    }

    /// Returns the base-2 logarithm of LMUL.
    pub fn group(self) -> i32 {
        ((self.0 & 7) as i32) << 29 >> 29
    }

    /// Returns how many elements a group holds (VLMAX).
    pub fn most(self, register_bytes: usize) -> usize {
        let elements = register_bytes / self.element_bytes();
        match self.group() {
            group @ 0.. => elements << group,
            group => elements >> -group,
        }
    }

    pub fn tail_agnostic(self) -> bool {
        self.0 >> 6 & 1 == 1
    }

    pub fn mask_agnostic(self) -> bool {
        self.0 >> 7 & 1 == 1
    }
}

/// Where groups of registers of elements of some width may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GroupMask(u8);

impl GroupMask {
    /// There are no such groups. No register has this bit, so that none of them fits.
    pub const NONE: Self = Self(32);

    /// Returns that of groups of elements of so many bytes, as the base-2 logarithm, beside those
    /// of a type.
    fn of(vtype: VectorType, log: i32) -> Self {
        let group = log - vtype.element_bytes().ilog2() as i32 + vtype.group();
        match vtype.is_legal() && (-3..=3).contains(&group) {
            true => Self((1 << group.max(0)) - 1),
            false => Self::NONE,
        }
    }

    /// Returns whether groups may begin at all of these registers, whose bits are combined.
    #[inline(always)]
    pub fn allows(self, registers: usize) -> bool {
        (registers | 32) & usize::from(self.0) == 0
    }

    /// Returns the registers of a group.
    #[inline(always)]
    pub fn registers(self) -> usize {
        usize::from(self.0) + 1
    }
}

impl VectorUnit {
    /// Executes `vsetvli`, `vsetivli` or `vsetvl`; returns the new `vl`, which goes to `rd`.
    pub(super) fn configure(&mut self, fields: Fields, x: &[u64]) -> Option<u64> {
        let (rd, rs1) = (fields.vd(), fields.vs1());
        let bits = match fields.get(31, 30) {
            0 | 1 => fields.get(30, 20) as u64,
            3 => fields.get(29, 20) as u64,
            _ if fields.get(31, 25) == 0x40 => x[fields.vs2()],
            _ => return None,
        };
        // Most ask for what there is.
        if bits != self.vtype.bits() {
            self.vtype = VectorType::asked_for(bits, self.register_bytes);
            self.masks = [0, 1, 2, 3].map(|log| GroupMask::of(self.vtype, log));
        }
        let asked = self.vtype;
        self.vstart = 0;
        if !asked.is_legal() {
            self.vl = 0;
            return Some(0);
        }
        let wanted = match (fields.get(31, 30) == 3, rs1, rd) {
            (true, _, _) => rs1 as u64,
            (false, 0, 0) => self.vl as u64,
            (false, 0, _) => u64::MAX,
            _ => x[rs1],
        };
        let most = self.most() as u64;
        self.has_shown_length |= most < wanted;
        // What is more than fits, and less than fits twice, may be shared evenly.
        let is_shared = self.agnostic == Agnostic::Ones && most < wanted && wanted < 2 * most;
        self.vl = match is_shared {
            true => wanted.div_ceil(2),
            false => wanted.min(most),
        } as usize;
        Some(self.vl as u64)
    }

    /// Reads a control register of the unit; `None` if it is none.
    pub(crate) fn read_control(&mut self, csr: u16) -> Option<u64> {
        self.has_shown_length |= csr == 0xc22;
        Some(match csr {
            0x008 => self.vstart as u64,
            0x009 => u64::from(self.vxsat),
            0x00a => u64::from(self.vxrm),
            0x00f => u64::from(self.vxrm) << 1 | u64::from(self.vxsat),
            0xc20 => self.vl as u64,
            0xc21 => self.vtype.bits(),
            0xc22 => self.register_bytes as u64,
            _ => return None,
        })
    }

    /// Writes a control register of the unit; returns whether it is one that can be written.
    pub(crate) fn write_control(&mut self, csr: u16, value: u64) -> bool {
        match csr {
            // As many bits as the largest index needs.
            0x008 => self.vstart = value as usize & (8 * self.register_bytes - 1),
            0x009 => self.vxsat = value & 1 == 1,
            0x00a => self.vxrm = value as u8 & 3,
            0x00f => {
                self.vxsat = value & 1 == 1;
                self.vxrm = (value >> 1) as u8 & 3;
            }
            _ => return false,
        }
        true
    }
}
