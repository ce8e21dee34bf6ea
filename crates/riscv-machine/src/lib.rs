//! Simulated RISC-V machines: ELF programs, HTIF, calls of functions, the L2 and the memory
//! behind it.
//!
//! Pure and synchronous: programs come in as bytes, reports go out. What stands beside the
//! core and below its L1 caches is the caller's, behind [`Coprocessor`](autocomp_riscv::Coprocessor).

mod agenda;
mod error;
mod htif;
mod l2;
mod machine;
mod program;
mod ring;
mod without;

pub use agenda::Agenda;
pub use error::ProgramError;
pub use htif::{ProgramEnd, ProgramReport, run_loaded, run_program};
pub use l2::{Client, Kind, MemoryConfig, MemoryCounts, MemorySystem, Reply, Sharing};
pub use machine::{
    Call, CallReport, MEMORY_BASE, MEMORY_BYTES, Machine, ObservedBlock, Progress, RETURN_ADDRESS,
    Spin, Stop,
};
pub use program::{Program, Segment, SourceLine};
pub use ring::Ring;
pub use without::NoAccelerator;

/// Parts that `tests/suite` looks at one by one. Tests inside would have all of the crate
/// compiled a second time. No interface.
#[doc(hidden)]
pub mod inside {
    pub use crate::l2::{Back, Left, Outer, Pipeline, ROOM_SEEN, RUNS, Turns};
}
