//! The host CPU as a family of targets.
//!
//! Kernels are C, compiled for the processor at hand, and run in a confined
//! worker process. Costs are measured, so they are noisy: kernels are timed
//! against each other in pairs, and what is told is a ratio with an interval.

pub mod building;
pub mod detection;
pub mod machine;
mod shared_memory;
mod worker;
mod calls;
mod cases;
mod offences;
mod oracle;
pub mod pairs;
pub mod statistics;
pub mod bench;
mod timing_core;
pub mod rewriter;
