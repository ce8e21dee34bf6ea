//! Whole simulated machines: ELF loading, HTIF programs, kernel calls, calibration.
//!
//! Pure and synchronous: programs and machine descriptions come in as bytes
//! and text, reports go out.

mod calibrate;
mod config;
mod error;
mod host;
mod limits;
mod machine;
mod program;
mod without;

pub use calibrate::{
    CalibrationError, CalibrationGroup, CalibrationReport, CalibrationRow, CalibrationSuite,
    CaseCounts, CaseResult, ColdRuns, calibrate, parse_counts, run_cases,
};
pub use config::MachineConfig;
pub use error::SimError;
pub use host::{ProgramEnd, ProgramReport, run_loaded, run_program};
pub use machine::{
    Call, CallReport, MEMORY_BASE, MEMORY_BYTES, Machine, ObservedBlock, Progress, RETURN_ADDRESS,
    Spin, Stop,
};
pub use program::{Program, Segment, SourceLine};
pub use without::NoAccelerator;

/// Parts that `tests/suite` looks at one by one. Tests inside would have all of the crate
/// compiled a second time. No interface.
#[doc(hidden)]
pub mod inside {
    pub use crate::limits::LIMITS;
}
