//! Child processes under limits; reports what was enforced.
//!
//! Every child starts in its own session with an empty environment, sees only
//! the files that its [`SandboxPolicy`] names, has no network, and is killed
//! together with everything it started. Mechanisms differ between machines, so
//! each is applied as far as the kernel offers it and [`Enforcement`] says
//! what was in force. Deliberately absent: namespaces and cgroups, which need
//! rights that an ordinary user does not have everywhere.

#[cfg(target_os = "linux")]
mod confinement;
mod policy;
#[cfg(target_os = "linux")]
mod process;
#[cfg(not(target_os = "linux"))]
#[path = "refusal.rs"]
mod process;
#[cfg(target_os = "linux")]
mod program;
mod report;

pub use policy::{Limits, ProcessRule, SandboxPolicy};
pub use process::{Session, run, run_while, start};
pub use report::{CapturedText, Enforcement, Exit, SandboxError, SandboxReport};

/// Whether this system has what programs are confined by.
pub const IS_AVAILABLE: bool = cfg!(target_os = "linux");

/// What is said where it has not.
pub const ONLY_ON_LINUX: &str = "compilers, references and kernels are run in a sandbox, which autocomp has on Linux only; on this system it runs none of them";

/// What to do then.
pub const ELSEWHERE: &str = "evaluate on Linux: `autocomp worker serve` on a machine or virtual machine with Linux, `--queue` here (docs/workers.md)";
