//! Commands and files on a machine that has a device: this computer, or another one over SSH.
//!
//! A [`Machine`] is reached without a password or not at all. Work happens in a [`Folder`] of
//! its own there, which is removed when it is dropped. Commands have a limit in seconds, which
//! `timeout` on the machine enforces, and what they print is kept up to a size. A command that
//! fails is data ([`Done`]); a machine that cannot be reached is an
//! [`EvalError::Environment`](autocomp_eval::EvalError::Environment) with a remedy.

mod folder;
mod machine;

pub use folder::{Folder, Task};
pub use machine::{Done, Host, MOST_OUTPUT, Machine, Manners, last_lines};
