//! Tests of this crate from outside, in one program, which links once.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod difference;
mod fuzz;
mod generator;
mod hostile;
mod idioms;
mod interfaces;
mod kernels;
mod limits;
mod mutants;
mod mutations;
mod neuron;
mod opening;
mod problems;
mod python;
mod rewriter;
mod rounding;
mod traffic;
