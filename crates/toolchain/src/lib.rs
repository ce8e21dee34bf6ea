//! C compilers: found, installed, and run in a sandbox; programs built with
//! them, kept in a cache.

pub mod build;
mod compiler;
mod discovery;
mod installation;
mod pinned;
mod pip;

pub use compiler::{Family, Toolchain};
pub use discovery::find_toolchain;
pub use pinned::pinned_folders;
