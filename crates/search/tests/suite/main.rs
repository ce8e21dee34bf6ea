//! Tests of this crate from outside, in one program, which links once.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod allotments;
mod bandits;
mod beginnings;
mod cutting;
mod dropouts;
mod economy;
mod exhausting;
mod extending;
mod landscape;
mod method;
mod reusing;
mod strategies;
mod world;
