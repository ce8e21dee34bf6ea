//! Runs of the original Autocomp, made up, and what becomes of them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod harnesses;
mod kernels;
mod literals;
mod populations;
mod runs;
mod tasks;
