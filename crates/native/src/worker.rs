//! A confined process that calls one kernel, and what its calls cost.
//!
//! The worker waits for a command, makes the calls, and waits for the next
//! one. A command has been carried out when the operating system says that the
//! worker sleeps, and the only thing it may wait for is a command. Its cost is
//! the processor time that the operating system has charged to it since it
//! slept last: whatever a kernel does meanwhile, and whenever it says that it
//! is done, is in there. No number that a worker tells is used.
//!
//! All of that is Linux's. On other systems no worker starts.

#[cfg(target_os = "linux")]
mod confinement;
#[cfg(target_os = "linux")]
#[path = "worker/linux.rs"]
mod platform;
#[cfg(not(target_os = "linux"))]
#[path = "worker/other.rs"]
mod platform;
#[cfg(target_os = "linux")]
mod process;
#[cfg(target_os = "linux")]
mod system_calls;

pub use platform::Worker;
pub(crate) use platform::{memory_file, name_of};
#[cfg(target_os = "linux")]
pub(crate) use process::{counted_ns, cpu_clock};

use std::time::Duration;

/// How a worker is to run.
#[derive(Clone, Copy, Debug)]
pub struct WorkerSettings {
    /// Core that it runs on, if it is to stay on one.
    pub core: Option<usize>,
    /// Whether kernels use the state of matrix tiles.
    pub tile_state: bool,
    /// Processor time that one command may take.
    pub command_time: Duration,
}

/// What the calls of one command cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent {
    /// Processor time, nanoseconds.
    pub cpu_ns: u64,
    /// Wall time until it said that it is done, nanoseconds.
    pub wall_ns: u64,
    /// Modes of floating point that differ from those at the beginning.
    pub changed_modes: u64,
}

/// Why a worker cannot go on; the kernel's doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Death {
    /// Its static memory is more than a worker may have.
    TooLarge {
        /// Static memory, bytes.
        bytes: u64,
        /// What it may be.
        most: u64,
    },
    /// It ended before it was ready, so that no code of a kernel has run: the program cannot
    /// be loaded, or the machine has no room for it.
    NotStarted,
    /// It ended by itself instead of returning.
    Exited(i32),
    /// A signal killed it before it could say why.
    Killed(i32),
    /// The processor stopped it.
    Fault {
        /// Number of the signal.
        signal: i32,
        /// Address that was accessed.
        address: u64,
        /// Address of the instruction.
        pc: u64,
        /// Whether it wrote.
        write: bool,
        /// Whether the processor told no address: that was misaligned or impossible.
        no_address: bool,
        /// Whether the address is where the stack would go on.
        on_stack: bool,
    },
    /// It asked the operating system for something that kernels do not get.
    SystemCall {
        /// Number of the call.
        number: u64,
        /// Address of the instruction behind it.
        pc: u64,
    },
    /// It did not return in time.
    TimedOut,
    /// It went on running after it said that it was done, or said it twice.
    WorksAfterReturn,
    /// It is not alone in its process any more, or changed how signals are taken.
    ChangedProcess,
}
