//! Tests of this crate from outside, and of its parts, in one program, which links once.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cores;
mod explanation;
mod figures;
mod language;
mod mutants;
mod mutations;
mod neuron;
mod normal_form;
mod opening;
mod parameters;
mod problems;
mod sets;
mod summary;
#[path = "../../../../../eval/tests/told/mod.rs"]
mod told;
