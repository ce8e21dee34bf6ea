//! Tests of this crate from outside, in one program, which links once.

mod attacks;
mod board;
mod calibration;
mod costs;
mod elements;
mod feedback;
mod lengths;
mod messages;
mod programs;
mod rewriting;
mod robustness;
mod special_numbers;
mod targets;
mod texts;
#[path = "../../../../../eval/tests/told/mod.rs"]
mod told;
#[allow(dead_code, reason = "the fuzzer uses the rest")]
#[path = "../../../../../riscv/tests/vectors/mod.rs"]
mod vectors;

use autocomp_rvv::Machine;

/// The core of the K230 board.
fn c908() -> Machine {
    let text = include_str!("../../../../../../targets/rvv-k230/machines/c908.toml");
    Machine::parse(text).expect("the machine can be read")
}

fn x60() -> Machine {
    let text = include_str!("../../../../../../targets/rvv-k1/machines/x60.toml");
    Machine::parse(text).expect("the machine can be read")
}
