//! GPUs of this computer, on which kernels are run and timed.
//!
//! Everything that touches the vendor's driver happens in a process of its own ([`worker`]),
//! so that a kernel that breaks its context, or never ends, takes that process and nothing else.
//! What the device is given is the list that the confined host part of a kernel wrote.

mod bench;
mod calls;
mod list;
mod memory;
mod pairs;
mod program;
mod session;
mod settings;
mod vendor;
#[cfg(target_os = "linux")]
mod worker;
#[cfg(not(target_os = "linux"))]
#[path = "no_worker.rs"]
mod worker;

pub use bench::found;
pub use calls::{Device, Told, find};
pub use pairs::{Comparison, Entry};
pub use program::Program;
pub use session::{Failure, Loaded, Session, Uploaded};
pub use worker::{Ended, run};

pub(crate) use bench::DeviceBench;
pub(crate) use settings::Settings;
