//! The binary with language models: local servers of different reliability, a
//! program, and a folder in which somebody answers.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod answers;
mod bench;
use crate::chat;
mod estimate;
mod failures;
mod keys;
mod kills;
mod questions;
mod runs;
mod together;
