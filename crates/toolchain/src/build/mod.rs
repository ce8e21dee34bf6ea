//! Compiling and linking kernels: sandboxed, and never twice.

mod builder;
mod compiler_output;
mod runtime;
mod tools;

pub use builder::{Build, Builder, Loops, Program, Source};
pub(crate) use tools::try_toolchain;
