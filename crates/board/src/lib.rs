//! Boards on which kernels are run and timed, here or over SSH.
//!
//! Kernels are checked on a simulated machine first. What runs on the board then is the program
//! that was simulated, bit for bit, at the same addresses: a runner puts its segments and buffers
//! into memory of Linux and calls it ([`Job`](job::Job), `runner.c`). Answers are compared here.

mod bench;
mod device;
mod job;
mod pairs;
mod settings;

pub use bench::BoardBench;
pub use settings::Settings;
