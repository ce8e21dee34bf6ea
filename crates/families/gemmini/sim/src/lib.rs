//! Descriptions of machines with a Gemmini, and their calibration.
//!
//! Pure and synchronous: programs and machine descriptions come in as bytes
//! and text, reports go out.

mod calibrate;
mod config;
mod limits;

pub use calibrate::{
    CalibrationError, CalibrationGroup, CalibrationReport, CalibrationRow, CalibrationSuite,
    CaseCounts, CaseResult, ColdRuns, calibrate, parse_counts, run_cases,
};
pub use config::{InvalidMachine, MachineConfig};

/// Parts that `tests/suite` looks at one by one. Tests inside would have all of the crate
/// compiled a second time. No interface.
#[doc(hidden)]
pub mod inside {
    pub use crate::limits::LIMITS;
}
