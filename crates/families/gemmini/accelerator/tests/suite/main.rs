//! Tests of this crate from outside, in one program, which links once.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../driver/mod.rs"]
mod driver;
mod hostile;
mod legality;
mod loops;
mod model;
mod numbers;
mod parts;
mod text;
mod timing;
