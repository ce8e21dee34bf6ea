//! Commands as a program would write them, for the tests.
#![allow(dead_code, reason = "each test file uses a part of it")]

pub mod instances;

use autocomp_gemmini::{Checks, Functional, GemminiConfig, Severity};
use autocomp_riscv::{Fault, Memory, RoccCommand};

pub const BASE: u64 = 0x8000_0000;
pub const ACC: u32 = 0x8000_0000;
pub const ADD: u32 = 0xc000_0000;
pub const FULL: u32 = 0xa000_0000;
pub const NONE: u32 = 0xffff_ffff;

/// An operand: local address, columns, rows.
pub fn tile(address: u32, cols: u32, rows: u32) -> u64 {
    u64::from(rows) << 48 | u64::from(cols) << 32 | u64::from(address)
}

pub fn high(scale: f32) -> u64 {
    u64::from(scale.to_bits()) << 32
}

/// An accelerator with its memory; the pc counts commands in steps of 4.
pub struct Driver {
    pub gemmini: Functional,
    pub memory: Memory,
    pub pc: u64,
}

impl Driver {
    pub fn new(config: GemminiConfig) -> Self {
        let mut gemmini = Functional::new(config);
        gemmini.poison(0);
        Self {
            gemmini,
            memory: Memory::new(BASE, 1 << 20),
            pc: 0,
        }
    }

    /// The same without the checks that go beyond single commands.
    pub fn unchecked(config: GemminiConfig) -> Self {
        let mut driver = Self::new(config);
        driver.gemmini.set_checks(Checks {
            uninitialized: Severity::Off,
            races: Severity::Off,
            hazards: Severity::Off,
        });
        driver
    }

    pub fn issue(&mut self, command: RoccCommand) -> Result<u64, Fault> {
        self.gemmini.execute(&command, &mut self.memory)
    }

    pub fn try_run(&mut self, funct: u8, rs1: u64, rs2: u64) -> Result<u64, Fault> {
        self.pc += 4;
        self.issue(RoccCommand {
            custom: 3,
            funct,
            rs1,
            rs2,
            wants_reply: false,
            pc: self.pc,
            cycle: 0,
        })
    }

    #[track_caller]
    pub fn run(&mut self, funct: u8, rs1: u64, rs2: u64) {
        if let Err(fault) = self.try_run(funct, rs1, rs2) {
            panic!("{} ({})", fault.message, fault.rule);
        }
    }

    #[track_caller]
    pub fn fails(&mut self, funct: u8, rs1: u64, rs2: u64) -> Fault {
        self.try_run(funct, rs1, rs2)
            .expect_err("the command must be refused")
    }

    pub fn config_ex(&mut self, ws: bool, a_transpose: bool, b_transpose: bool) {
        let flags = u64::from(ws) << 2 | u64::from(a_transpose) << 8 | u64::from(b_transpose) << 9;
        self.run(0, high(1.0) | 1 << 16 | flags, 1 << 48);
    }

    pub fn config_ld(&mut self, channel: u64, stride: u64, shrink: bool) {
        let block = u64::from(self.gemmini.config().dim) << 16;
        self.run(
            0,
            high(1.0) | block | 1 << 8 | channel << 3 | u64::from(shrink) << 2 | 1,
            stride,
        );
    }

    pub fn config_st(&mut self, stride: u64, scale: f32, activation: u64) {
        self.run(0, activation << 2 | 2, high(scale) | stride);
    }

    /// Usual settings: weight stationary, rows `stride` bytes apart.
    pub fn configure(&mut self, stride: u64) {
        self.config_ex(true, false, false);
        for channel in 0..3 {
            self.config_ld(channel, stride, false);
        }
        self.config_st(stride, 1.0, 0);
    }

    pub fn mvin(&mut self, dram: u64, address: u32, cols: u32, rows: u32) {
        self.run(2, dram, tile(address, cols, rows));
    }

    pub fn mvout(&mut self, dram: u64, address: u32, cols: u32, rows: u32) {
        self.run(3, dram, tile(address, cols, rows));
    }

    pub fn fence(&mut self) {
        self.pc += 4;
        self.gemmini.fence(self.pc, &mut self.memory).unwrap();
    }

    pub fn write(&mut self, address: u64, bytes: &[u8]) {
        self.memory
            .host_mut(address, bytes.len())
            .unwrap()
            .copy_from_slice(bytes);
    }

    pub fn read(&self, address: u64, len: usize) -> &[u8] {
        self.memory.host(address, len).unwrap()
    }
}

/// Repeatable bytes.
pub fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..len)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        })
        .collect()
}
