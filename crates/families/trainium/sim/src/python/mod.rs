//! The interpreter of the subset of Python that kernels are written in.

mod attributes;
mod binding;
mod builtins;
mod calls;
mod carried;
mod classes;
mod comparisons;
pub(crate) mod dictionary;
mod expressions;
mod format;
mod host_arrays;
pub(crate) mod interpreter;
mod items;
mod loops;
mod lower;
mod matches;
mod modules;
mod names;
pub(crate) mod objects;
mod operators;
mod outside;
mod package;
pub(crate) mod release;
mod remedies;
mod special;
mod statements;
mod subscripts;
mod texts;
pub(crate) mod tree;
pub(crate) mod value;
mod walk;

pub(crate) use calls::Arguments;
pub(crate) use lower::lower;
pub(crate) use modules::{find as module_attribute, is_ambient, module_of};
pub(crate) use subscripts::slice_bounds;
