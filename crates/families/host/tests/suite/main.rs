//! Tests of this crate from outside, in one program, which links once.

mod attacks;
mod counters;
mod detection;
mod exploits;
mod innermost_loops;
mod machine;
mod problems;
mod references;
mod schedules;
#[path = "../support/mod.rs"]
mod support;
mod throughput;
