//! Every rule that stops the machine, broken once; and its legal neighbour.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod commands;
use crate::driver;
mod order;
mod records;
mod unwritten_memory;

use autocomp_riscv::Fault;
use driver::instances::int8_16;
use driver::{ACC, BASE, Driver};

fn ready() -> Driver {
    let mut driver = Driver::new(int8_16());
    driver.configure(64);
    driver.mvin(BASE, 0, 64, 16);
    driver.mvin(BASE, 4096, 64, 16);
    driver.mvin(0, ACC, 16, 16);
    driver.fence();
    driver
}

#[track_caller]
fn refused(fault: &Fault, rule: &str, parts: &[&str]) {
    assert_eq!(fault.rule, rule, "{}", fault.message);
    for part in parts {
        assert!(
            fault.message.contains(part),
            "`{part}` is missing in `{}`",
            fault.message
        );
    }
}
