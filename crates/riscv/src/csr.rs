//! Control and status registers of machine mode.

use crate::soft_float::INEXACT;

/// Numbers of the registers that code outside this module names.
pub(crate) mod number {
    pub const FFLAGS: u16 = 0x001;
    pub const FRM: u16 = 0x002;
    pub const FCSR: u16 = 0x003;
    pub const MSTATUS: u16 = 0x300;
    pub const MTVEC: u16 = 0x305;
    pub const MCOUNTEREN: u16 = 0x306;
    pub const MSCRATCH: u16 = 0x340;
    pub const MTVAL: u16 = 0x343;
    /// The floating-point flags, the rounding mode, and both.
    pub const FLOAT: [u16; 3] = [FFLAGS, FRM, FCSR];
    /// All that show how long something took or how much was done.
    pub const COUNTERS: [u16; 5] = [0xb00, 0xb02, 0xc00, 0xc01, 0xc02];
}

const FS: u64 = 3 << 13;
const VS: u64 = 3 << 9;
const XS: u64 = 3 << 15;
const MIE: u64 = 1 << 3;
const MPIE: u64 = 1 << 7;
const MPP: u64 = 3 << 11;
/// RV64IMAFDC, XLEN 64, non-standard extensions present.
const MISA: u64 = 2 << 62 | 1 << 23 | 1 << 12 | 1 << 8 | 1 << 5 | 1 << 3 | 1 << 2 | 1;

/// Values that a counter register may show, taken at the time of the access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counters {
    pub cycle: u64,
    pub instret: u64,
}

/// The registers with state.
#[derive(Clone, Debug)]
pub(crate) struct ControlRegisters {
    pub mstatus: u64,
    pub mtvec: u64,
    pub mepc: u64,
    pub mcause: u64,
    pub mtval: u64,
    pub mscratch: u64,
    /// Floating-point exception flags, 5 bits.
    pub fflags: u8,
    /// Rounding mode, 3 bits; 5 to 7 are invalid.
    pub frm: u8,
    /// The field of `mstatus` that switches the vector unit on; 0 where there is none.
    vectors: u64,
    float_nearest: bool,
    float_plain: bool,
    mie: u64,
    mcounteren: u64,
    mcountinhibit: u64,
    /// Added to the counters, set by writes to them.
    cycle_offset: u64,
    instret_offset: u64,
    pmp_config: [u64; 2],
    pmp_address: [u64; 16],
}

impl ControlRegisters {
    /// Makes the registers as after reset, with the floating-point unit, the accelerator and the
    /// vector unit, where there is one, switched on if `units_on`.
    pub fn new(units_on: bool, has_vectors: bool) -> Self {
        let vectors = if has_vectors { VS } else { 0 };
        Self {
            mstatus: MPP | if units_on { FS | XS | vectors } else { 0 },
            vectors,
            mtvec: 0,
            mepc: 0,
            mcause: 0,
            mtval: 0,
            mscratch: 0,
            fflags: 0,
            frm: 0,
            float_nearest: units_on,
            float_plain: false,
            mie: 0,
            mcounteren: 0,
            mcountinhibit: 0,
            cycle_offset: 0,
            instret_offset: 0,
            pmp_config: [0; 2],
            pmp_address: [0; 16],
        }
    }

    /// Returns whether floating-point instructions are legal.
    #[inline(always)]
    pub fn float_on(&self) -> bool {
        self.mstatus & FS != 0
    }

    /// Returns whether vector instructions are legal.
    #[inline(always)]
    pub fn vectors_on(&self) -> bool {
        self.mstatus & VS != 0
    }

    /// Returns whether custom instructions are legal.
    #[inline(always)]
    pub fn accelerator_on(&self) -> bool {
        self.mstatus & XS != 0
    }

    /// Returns whether floating-point instructions are legal, those that follow `frm`
    /// round to nearest even, and a rounded result raises no flag that is not up yet.
    #[inline(always)]
    pub fn float_plain(&self) -> bool {
        self.float_plain
    }

    /// Returns whether floating-point instructions are legal, and those that follow `frm`
    /// round to nearest even.
    #[inline(always)]
    pub fn float_nearest(&self) -> bool {
        self.float_nearest
    }

    /// Adds floating-point exception flags.
    #[inline(always)]
    pub fn raise(&mut self, flags: u8) {
        if flags != 0 {
            self.fflags |= flags;
            self.settle_float();
        }
    }

    fn settle_float(&mut self) {
        self.float_nearest = self.float_on() && self.frm == 0;
        self.float_plain = self.float_nearest && self.fflags & INEXACT != 0;
    }

    /// Enters the trap handler; returns its address.
    pub fn enter_trap(&mut self, pc: u64, cause: u64, value: u64) -> u64 {
        self.mepc = pc;
        self.mcause = cause;
        self.mtval = value;
        let enabled = self.mstatus & MIE != 0;
        self.mstatus = self.mstatus & !(MIE | MPIE) | MPP | if enabled { MPIE } else { 0 };
        self.mtvec & !3
    }

    /// Leaves the trap handler; returns the address to go on at.
    pub fn leave_trap(&mut self) -> u64 {
        let enabled = self.mstatus & MPIE != 0;
        self.mstatus = self.mstatus & !MIE | MPIE | if enabled { MIE } else { 0 };
        self.mepc
    }

    /// Reads a register. `None` if it does not exist or is switched off.
    pub fn read(&self, csr: u16, counters: Counters) -> Option<u64> {
        use number as n;
        Some(match csr {
            n::FFLAGS if self.float_on() => self.fflags.into(),
            n::FRM if self.float_on() => self.frm.into(),
            n::FCSR if self.float_on() => u64::from(self.frm) << 5 | u64::from(self.fflags),
            n::MSTATUS => {
                let dirty = [FS, XS, VS]
                    .iter()
                    .any(|field| self.mstatus & field == *field);
                self.mstatus | u64::from(dirty) << 63 | 2 << 32 | 2 << 34
            }
            0x301 if self.vectors != 0 => MISA | 1 << 21,
            0x301 => MISA,
            0x302 | 0x303 => 0,
            0x304 => self.mie,
            n::MTVEC => self.mtvec,
            n::MCOUNTEREN => self.mcounteren,
            0x320 => self.mcountinhibit,
            0x323..=0x33f => 0,
            n::MSCRATCH => self.mscratch,
            0x341 => self.mepc,
            0x342 => self.mcause,
            n::MTVAL => self.mtval,
            0x344 => 0,
            0x180 => 0,
            0x3a0 | 0x3a2 => self.pmp_config[usize::from(csr - 0x3a0) / 2],
            0x3b0..=0x3bf => self.pmp_address[usize::from(csr - 0x3b0)],
            0x7a0..=0x7a3 => 0,
            0xb00 | 0xc00 => counters.cycle.wrapping_add(self.cycle_offset),
            0xc01 => counters.cycle / 1000,
            0xb02 | 0xc02 => counters.instret.wrapping_add(self.instret_offset),
            0xb03..=0xb1f | 0xc03..=0xc1f => 0,
            0xf11..=0xf15 => 0,
            _ => return None,
        })
    }

    /// Writes a register; returns whether the pipeline restarts after it.
    /// `None` if it does not exist, is read-only or is switched off.
    pub fn write(&mut self, csr: u16, value: u64, counters: Counters) -> Option<bool> {
        use number as n;
        if csr >> 10 == 3 {
            return None;
        }
        match csr {
            n::FFLAGS if self.float_on() => self.fflags = value as u8 & 31,
            n::FRM if self.float_on() => self.frm = value as u8 & 7,
            n::FCSR if self.float_on() => {
                self.fflags = value as u8 & 31;
                self.frm = (value >> 5) as u8 & 7;
            }
            n::MSTATUS => self.mstatus = value & (FS | XS | self.vectors | MIE | MPIE) | MPP,
            0x301..=0x303 => {}
            0x304 => self.mie = value & 0xaaa,
            n::MTVEC => self.mtvec = value & !2,
            n::MCOUNTEREN => self.mcounteren = value & 7,
            0x320 => self.mcountinhibit = value & 5,
            0x323..=0x33f | 0xb03..=0xb1f => {}
            n::MSCRATCH => self.mscratch = value,
            0x341 => self.mepc = value & !1,
            0x342 => self.mcause = value,
            n::MTVAL => self.mtval = value,
            0x344 => {}
            0x180 => {}
            0x3a0 | 0x3a2 => self.pmp_config[usize::from(csr - 0x3a0) / 2] = value,
            0x3b0..=0x3bf => self.pmp_address[usize::from(csr - 0x3b0)] = value & ((1 << 54) - 1),
            0x7a0..=0x7a3 => {}
            0xb00 => self.cycle_offset = value.wrapping_sub(counters.cycle),
            // The instruction that writes does not count.
            0xb02 => self.instret_offset = value.wrapping_sub(counters.instret + 1),
            _ => return None,
        }
        self.settle_float();
        // Rocket restarts fetching after writes that could change how the
        // instructions behind them execute; these four cannot.
        Some(!(n::MSCRATCH..=n::MTVAL).contains(&csr))
    }
}
