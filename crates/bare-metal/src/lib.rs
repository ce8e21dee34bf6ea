//! C kernels called on a simulated RISC-V core: built, placed in memory, tested and timed.
//!
//! A kernel is compiled with the runtime of its target and linked ([`Image`] checks the one
//! shape that a program may have). A [`Session`] places it and its buffers in the memory of a
//! machine, between guard zones, with poison where nothing must be read. A [`Trial`] calls it
//! for all input sets, compares what it leaves with the answers of the problem's reference,
//! and times it cold and warm. [`KernelEvaluator`] does so behind the contract of families and
//! keeps what it finds.
//!
//! # A family on top of it
//! 1. A type that implements [`Platform`]: it reads the machine's file, makes a
//!    [`Machine`](autocomp_riscv_machine::Machine) and says what is counted and told of a
//!    call. What has a default is about a unit beside the core.
//! 2. `Family::open` makes the platform, finds a toolchain and returns
//!    `Arc::new(KernelEvaluator::new(platform, problem, target, toolchain, folder, settings)?)`.
//! 3. The target's runtime: headers that kernels see. Start code, linker script and the
//!    functions that compilers call on their own are here (`runtime/`); a file of the target
//!    with the same name stands in their place.
//! 4. A build script that hashes the sources that decide results (`autocomp-source-hash`):
//!    this crate, `riscv`, `riscv-machine`, `native`, `eval`, `catalog`, `languages/c`,
//!    `sandbox`, `toolchain` and the family's own.
//!
//! `tests/suite/plain.rs` is such a family for the core alone with a cycle for each
//! instruction.

mod bench;
mod cases;
mod core_lines;
mod elsewhere;
mod evaluator;
mod filling;
mod findings;
mod image;
mod inclusions;
mod later_calls;
mod layout;
mod misuse;
mod oracle;
mod order;
mod pc_map;
mod platform;
mod pool;
mod reference_checks;
mod runtime;
mod separation;
mod session;
mod timed_calls;
mod trial;

pub use bench::check_parameters;
pub use core_lines::{CoreLine, CoreTally, InstructionKind, Step, instructions};
pub use evaluator::{Explained, KernelEvaluator};
pub use findings::{Kernel, UNBOUNDED_LOOPS, add_line, add_other};
pub use image::{Image, ImageError};
pub use layout::Layout;
pub use misuse::Misuse;
pub use pc_map::{PcMap, PcSums};
pub use platform::{Other, Platform, SourceHashes, WorkDone};
pub use pool::Pool;
pub use runtime::files as runtime_files;
pub use session::{Session, SessionKind};
pub use timed_calls::{RankedCall, Recorded};
pub use trial::Trial;
