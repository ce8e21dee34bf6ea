//! RISC-V cores with vectors (RVV 1.0) as a kind of target: C kernels on a simulated core.
//!
//! The instructions and the model of time are in `autocomp-riscv`, how kernels are built, placed,
//! tested and timed in `autocomp-bare-metal`. Here is what a machine's file says, what is told of a
//! call, and how far the model is from what was measured.

pub mod calibration;
mod experiment;
mod family;
mod machine;
mod platform;
mod profile;
mod remedies;
mod texts;
mod vector_work;

pub use family::Rvv;
pub use machine::Machine;
pub use platform::RvvPlatform;
/// Parts that `tests/suite` looks at one by one. No interface.
#[doc(hidden)]
pub mod inside {
    pub use crate::texts::TEXTS;
}

pub use profile::{CauseCycles, LineCycles, VectorProfile, Without};
pub use vector_work::VectorWork;
