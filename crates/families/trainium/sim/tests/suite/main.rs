//! Tests of this crate from outside, and of its parts, in one program, which links once.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod access_patterns;
mod aliases;
mod attacks;
mod bits;
mod capacity;
mod compiler_tiles;
mod cores;
mod costs;
mod dialect;
mod exponentials;
mod fuzz;
mod generator;
mod hostile;
mod idioms;
mod interfaces;
mod kernels;
mod lanes;
mod legal_kernels;
mod limits;
mod microscaling;
mod plain;
mod python;
mod refit;
mod rounding;
mod shared_tensors;
mod short_list;
mod sums;
mod third_generation;
mod traffic;
mod unwritten_memory;
mod waits;
