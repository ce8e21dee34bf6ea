//! Tests of this crate from outside, in one program, which links once.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod parts;
mod programs;

use autocomp_riscv::CoreConfig;
use autocomp_riscv_machine::MemoryConfig;

/// The machine of these tests.
#[derive(serde::Deserialize)]
struct Described {
    core: CoreConfig,
    memory: MemoryConfig,
}

fn described() -> Described {
    toml::from_str(include_str!("machine.toml")).unwrap()
}
