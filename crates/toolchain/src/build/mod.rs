//! Compiling and linking kernels: sandboxed, and never twice.

mod builder;
mod compiler_output;
mod object_file;
mod runtime;
mod tools;

pub use builder::{Build, Builder, Loops, Program, Rules, Source};
pub(crate) use tools::try_toolchain;
