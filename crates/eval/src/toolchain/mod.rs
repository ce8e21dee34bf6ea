//! The C compiler for RISC-V: finding it, installing it, its flags.

mod compiler;
mod discovery;
mod installation;
mod pinned;
mod pip;

pub use compiler::{Family, Toolchain};
pub use discovery::{ToolchainSearch, find_recorded_toolchain, find_toolchain};
