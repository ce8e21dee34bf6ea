//! Tests of this crate from outside, in one program, which links once.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod comparisons;
mod doubts;
mod evaluations;
mod file_stores;
mod inputs;
mod sentences;
mod symmetry;
mod text;
mod thread_counts;
mod timelines;
