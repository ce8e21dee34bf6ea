//! The hardware loops against the mathematics they stand for.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod convolution;
use crate::driver;
mod halves;
mod matmul;

use driver::{BASE, noise};

const A: u64 = BASE + 0x1_0000;
const B: u64 = BASE + 0x3_0000;
const D: u64 = BASE + 0x5_0000;
const C: u64 = BASE + 0x7_0000;

fn small(seed: u64, len: usize) -> Vec<i8> {
    noise(seed, len)
        .into_iter()
        .map(|byte| (byte % 7) as i8 - 3)
        .collect()
}

fn bytes(values: &[i8]) -> Vec<u8> {
    values.iter().map(|value| *value as u8).collect()
}

fn clip(value: i64) -> i8 {
    value.clamp(-128, 127) as i8
}
