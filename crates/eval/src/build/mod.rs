//! Compiling and linking kernels: sandboxed, and never twice.

mod builder;
mod compiler_output;
mod image;
mod object_file;
mod tools;

pub use builder::{Build, Builder, Loops, Program, Rules, Source};
pub(crate) use image::{Image, ImageError};
pub(crate) use object_file::is_runtime_name;
pub(crate) use tools::try_toolchain;
