//! Machine code of others on the computer at hand.
//!
//! C is compiled for this processor, runs in a confined worker process on buffers between
//! guard zones, and what it leaves is compared with what is right. References of problems run
//! here for every family whose kernels run elsewhere; kernels of the host run here, too.
//! Nothing here compares times.

mod builder;
mod calls;
mod interpreter;
mod kind;
pub mod library;
mod offences;
mod reference;
mod script;
#[cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "workers use it, which are there on Linux only")
)]
mod shared_memory;
mod slack;
mod worker;

pub use builder::{Builder, FUNCTIONS, HEADER, LIBRARY, Program, built, library_header};
pub use calls::{Calls, Offence, Place};
pub use kind::Kind;
pub use offences::verdict;
pub use reference::{Oracle, Reference, answer};
pub use script::{Script, parts};
pub use shared_memory::Placement;
pub use slack::{Numbers, Pattern};
pub use worker::{Death, Spent, WorkerSettings};
