//! Tests of this crate from outside, and of its parts, in one program, which links once.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bits;
mod difference;
mod exponentials;
mod fuzz;
mod generator;
mod hostile;
mod idioms;
mod interfaces;
mod kernels;
mod language;
mod limits;
mod mutants;
mod mutations;
mod neuron;
mod normal_form;
mod opening;
mod plain;
mod problems;
mod python;
mod refit;
mod rewriter;
mod rounding;
mod short_list;
mod summary;
mod traffic;
