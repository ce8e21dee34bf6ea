//! C compilers: found, installed, and run in a sandbox; programs built with
//! them, kept in a cache.

mod absent;
pub mod build;
mod common_header;
mod compiler;
mod compiler_output;
mod discovery;
mod installation;
mod pins;
mod pip;
mod target;
mod toolchain;
mod tools;
mod trial;

pub use common_header::CommonHeader;
pub use compiler::Compiler;
pub use discovery::{find_toolchain, on_path};
pub use pins::pinned_folders;
pub use target::CompileTarget;
pub use toolchain::{Family, Toolchain};
