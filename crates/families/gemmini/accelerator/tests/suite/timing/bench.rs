//! An accelerator with a sense of time, and who sends it commands.

use super::instances::{int8_16, rtl};
use autocomp_gemmini::{Checks, Gemmini, GemminiConfig, Severity};
use autocomp_riscv::{BelowL1, LineAccess, Memory, Rocc, RoccCommand};

pub const BASE: u64 = 0x8000_0000;
pub const BANK: u64 = 4096;
pub const ACC: u64 = 0x8000_0000;
pub const NONE: u64 = 0xffff_ffff;

pub struct Bench {
    pub gemmini: Gemmini,
    pub memory: Memory,
    pub cycle: u64,
    /// Address of the code that sends commands.
    pub code: u64,
}

impl Bench {
    pub fn new(config: GemminiConfig) -> Self {
        Self::with_memory(config, 1 << 20)
    }

    pub fn with_memory(config: GemminiConfig, bytes: usize) -> Self {
        let mut gemmini = Gemmini::new(config, Some(&rtl())).unwrap();
        gemmini.functional_mut().set_checks(Checks {
            uninitialized: Severity::Off,
            races: Severity::Off,
            hazards: Severity::Off,
        });
        let mut bench = Self {
            gemmini,
            memory: Memory::new(BASE, bytes),
            cycle: 1000,
            code: 0x100,
        };
        // Weight stationary, rows of 64 bytes.
        bench.issue(0, 1 << 16 | 4, 1 << 48);
        for channel in 0..3 {
            bench.issue(
                0,
                0x3f80_0000 << 32 | 16 << 16 | 1 << 8 | channel << 3 | 1,
                64,
            );
        }
        bench.issue(0, 2, 0x3f80_0000 << 32 | 64);
        // Warm the L2.
        for at in (0..64 << 10).step_by(64).cycle().take(8 << 10) {
            for access in [LineAccess::Read, LineAccess::WriteBack] {
                bench.gemmini.line_access(BASE + at, access, bench.cycle);
            }
            bench.cycle += 40;
        }
        bench.cycle += 1000;
        bench.drain();
        bench
    }

    pub fn try_issue(&mut self, funct: u8, rs1: u64, rs2: u64) -> bool {
        let command = RoccCommand {
            custom: 3,
            funct,
            rs1,
            rs2,
            wants_reply: false,
            pc: self.code + u64::from(funct) * 4,
            cycle: self.cycle,
        };
        let Ok(reply) = self.gemmini.execute(command, &mut self.memory) else {
            return false;
        };
        assert!(
            reply.accepted >= self.cycle,
            "a command was taken before it was there"
        );
        self.cycle = reply.accepted + 1;
        true
    }

    pub fn issue(&mut self, funct: u8, rs1: u64, rs2: u64) {
        assert!(self.try_issue(funct, rs1, rs2), "illegal command {funct}");
    }

    /// Looks at all units in every cycle up to `cycle`.
    pub fn work_through(&mut self, cycle: u64) {
        self.gemmini.timing_mut().unwrap().work_through(cycle);
    }

    /// Waits for everything; returns the cycles since `self.cycle`.
    pub fn drain(&mut self) -> u64 {
        let idle = self.gemmini.fence(0, self.cycle, &mut self.memory).unwrap();
        assert!(idle >= self.cycle, "a fence ended before it began");
        let waited = idle - self.cycle;
        self.cycle = idle + 100;
        waited
    }

    /// Returns the cycles from the first command to the end of all.
    pub fn time(&mut self, commands: impl FnOnce(&mut Self)) -> u64 {
        let start = self.cycle;
        commands(self);
        let issued = self.cycle;
        self.drain() + issued - start
    }

    pub fn mvin(&mut self, at: u64, row: u64, cols: u64, rows: u64) {
        self.issue(2, at, tile(row, cols, rows));
    }

    pub fn mvout(&mut self, at: u64, row: u64, cols: u64, rows: u64) {
        self.issue(3, at, tile(row, cols, rows));
    }

    pub fn pair(&mut self, a: u64, b: u64, c: u64) {
        self.issue(6, tile(b, 16, 16), tile(c, 16, 16));
        self.issue(4, tile(a, 16, 16), tile(NONE, 16, 16));
    }
}

pub fn tile(row: u64, cols: u64, rows: u64) -> u64 {
    rows << 48 | cols << 32 | row
}

pub fn int8() -> Bench {
    Bench::new(int8_16())
}
