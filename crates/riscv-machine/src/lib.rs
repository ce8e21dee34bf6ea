//! Simulated RISC-V machines: ELF programs, HTIF, calls of functions, the L2 and the memory
//! behind it.
//!
//! Pure and synchronous: programs come in as bytes, reports go out. What stands beside the
//! core is the caller's, behind [`Rocc`](autocomp_riscv::Rocc), and so is what is below its L1
//! caches, behind [`BelowL1`](autocomp_riscv::BelowL1); [`Alone`] is a core with nothing beside.

mod agenda;
mod alone;
mod error;
mod htif;
mod l2;
mod machine;
mod program;
mod ring;

pub use agenda::Agenda;
pub use alone::{Alone, ConstantLatency, CoreL2, NoAccelerator};
pub use error::ProgramError;
pub use htif::{ProgramEnd, ProgramReport, run_loaded, run_program};
pub use l2::{Client, Kind, MemoryConfig, MemoryCounts, MemorySystem, Reply, Sharing};
pub use machine::{
    Call, CallReport, MEMORY_BASE, MEMORY_BYTES, Machine, ObservedBlock, Progress, RETURN_ADDRESS,
    Spin, Stop,
};
pub use program::{Program, Segment, SourceLine};
pub use ring::Ring;

/// Parts that `tests/suite` looks at one by one. Tests inside would have all of the crate
/// compiled a second time. No interface.
#[doc(hidden)]
pub mod inside {
    pub use crate::l2::{Back, Left, Outer, Pipeline, ROOM_SEEN, RUNS, Turns};
}
