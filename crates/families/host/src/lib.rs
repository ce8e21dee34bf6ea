//! The host CPU as a family of targets.
//!
//! Kernels are C, compiled for the processor at hand, and run in a confined
//! worker process. Costs are measured, so they are noisy: kernels are timed
//! against each other in pairs, and what is told is a ratio with an interval.

pub mod bench;
mod counters;
pub mod detection;
mod family;
mod feedback;
pub mod innermost_loops;
pub mod machine;
mod overhead;
mod pairs;
pub mod peaks;
pub mod throughput;
mod timing_core;

pub use family::{Host, HostEvaluator};

/// Parts that `tests/suite` looks at one by one. Tests inside would have all of the crate
/// compiled a second time. No interface.
#[doc(hidden)]
pub mod inside {
    pub use crate::counters::{Counters, counter, reason};
    pub use crate::throughput::read as read_throughput;
}
