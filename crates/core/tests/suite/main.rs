//! Tests of this crate from outside, in one program, which links once.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod costs;
mod hashes;
mod histories;
mod lessons;
mod menus;
mod quantities;
mod settings;
