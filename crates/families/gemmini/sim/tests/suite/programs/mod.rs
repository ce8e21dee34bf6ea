//! Whole programs and kernel calls on a machine without an accelerator.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod assemble;
mod calls;
mod counters;
mod files;
mod hosted;

use assemble::BASE;
use autocomp_gemmini_sim::{MachineConfig, NoAccelerator};
use autocomp_riscv::Limits;

const MACHINE: &str =
    include_str!("../../../../../../../targets/gemmini-int8-16/machines/fpga.toml");
const LIMITS: Limits = Limits {
    instructions: 1_000_000,
    cycles: 10_000_000,
};
const STACK: u64 = BASE + 0x8000;

fn config() -> MachineConfig {
    MachineConfig::from_toml(MACHINE).unwrap()
}

fn accelerator() -> NoAccelerator {
    NoAccelerator::new(12, 20)
}

#[test]
fn a_machine_with_an_unknown_key_is_refused_with_its_line() {
    let text = MACHINE.replace("load_latency", "lode_latency");
    let error = MachineConfig::from_toml(&text).unwrap_err().to_string();
    assert!(
        error.contains("lode_latency") && error.contains("line"),
        "{error}"
    );
}
