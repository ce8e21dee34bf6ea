//! Tests of this crate from outside, in one program, which links once.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod affines;
mod casts;
mod conditions;
