//! The interpreter of the subset of Python that kernels are written in.

mod attributes;
mod builtins;
mod calls;
mod format;
pub(crate) mod interpreter;
mod lower;
mod modules;
mod operators;
mod statements;
mod subscripts;
pub(crate) mod tree;
pub(crate) mod value;

pub(crate) use calls::Arguments;
pub(crate) use lower::lower;
pub(crate) use subscripts::slice_bounds;
