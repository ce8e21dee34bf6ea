//! The simulator by itself: whole programs, and suites whose cycles were measured.

mod calibration;
mod programs;
mod suite;

pub(crate) use calibration::Suites;
pub(crate) use programs::Programs;

/// The target that is simulated unless another is named.
const TARGET: &str = "gemmini-int8-16";
