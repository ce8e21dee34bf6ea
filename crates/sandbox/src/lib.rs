//! Child processes under limits; reports what was enforced.
//!
//! Every child starts in its own session with an empty environment, sees only
//! the files that its [`SandboxPolicy`] names, has no network, and is killed
//! together with everything it started. Mechanisms differ between machines, so
//! each is applied as far as the kernel offers it and [`Enforcement`] says
//! what was in force. Deliberately absent: namespaces and cgroups, which need
//! rights that an ordinary user does not have everywhere.

mod confinement;
mod policy;
mod process;
mod program;
mod report;

pub use policy::{Limits, ProcessRule, SandboxPolicy};
pub use process::{Session, run, run_while, start};
pub use report::{CapturedText, Enforcement, Exit, SandboxError, SandboxReport};
