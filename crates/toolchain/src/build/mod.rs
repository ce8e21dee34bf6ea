//! Compiling and linking kernels: sandboxed, and never twice.

mod builder;
mod object_file;
mod runtime;

pub use builder::{Build, Builder, Loops, Program, Rules, Source};
