//! Whole programs and kernel calls on a machine without an accelerator.

mod assemble;
mod calls;
mod files;
mod host_calls;

use assemble::BASE;
use autocomp_riscv::{CoreConfig, Limits};
use autocomp_riscv_machine::NoAccelerator;

const LIMITS: Limits = Limits {
    instructions: 1_000_000,
    cycles: 10_000_000,
};
const STACK: u64 = BASE + 0x8000;

fn config() -> CoreConfig {
    crate::described().core
}

fn accelerator() -> NoAccelerator {
    NoAccelerator::new(12, 20)
}
