//! Tests of this crate from outside, in one program, which links once.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod beginnings;
mod cutting;
mod economy;
mod extending;
mod landscape;
mod method;
mod reusing;
mod strategies;
mod world;
