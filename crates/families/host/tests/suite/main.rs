//! Tests of this crate from outside, in one program, which links once.

mod attacks;
mod base;
mod counters;
mod detection;
mod exploits;
mod innermost_loops;
mod machine;
mod problems;
mod references;
mod schedules;
mod sources;
mod statistics;
#[path = "../support/mod.rs"]
mod support;
mod throughput;
