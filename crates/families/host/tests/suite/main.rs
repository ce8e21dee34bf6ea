//! Tests of this crate from outside, in one program, which links once.

mod exploits;
mod problems;
mod schedules;
#[path = "../support/mod.rs"]
mod support;
