//! Schedule rewriter: source transformations that need no model.
//!
//! A kernel is read into loops, guards and accelerator commands with affine
//! addresses; analysis finds the buffers that its commands form in the local
//! memories. Each transformation lists the steps that make sense for such a
//! kernel, whatever its shape; a coarse model of the machine ranks them, and a
//! symbolic run drops those that change what is computed. The evaluator has
//! the last word on both. Nothing here knows a problem or a shape.

mod affine;
mod analysis;
mod annotate;
#[cfg(test)]
mod case_tests;
mod condition;
mod dataflow;
mod estimate;
#[cfg(test)]
mod interpreter;
mod kernel;
mod layout;
mod lift;
mod limits;
mod nest;
mod parse;
mod parse_command;
mod print;
mod proposal;
mod residency;
mod rewriter;
mod rows;
mod schedule;
#[cfg(test)]
mod semantics_tests;
mod syntax;
mod transformation;
mod transformations;
mod tree;
mod value;
mod walk;

pub use limits::HardwareLimits;
pub use parse::ParseError;
pub use proposal::{Family, Proposals, Variant};
pub use rewriter::GemminiRewriter;
pub use transformation::Step;
pub use tree::Path;
