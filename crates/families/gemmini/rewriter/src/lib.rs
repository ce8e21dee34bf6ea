//! Schedule rewriter: source transformations that need no model.
//!
//! A kernel is read into loops, guards and accelerator commands with affine
//! addresses; analysis finds the buffers that its commands form in the local
//! memories. Each transformation lists the steps that make sense for such a
//! kernel, whatever its shape; a coarse model of the machine ranks them, and a
//! symbolic run drops those that change what is computed. The evaluator has
//! the last word on both. Nothing here knows a problem or a shape.

mod analysis;
mod annotate;
#[cfg(test)]
mod case_tests;
mod chain;
#[cfg(test)]
mod chain_tests;
mod dataflow;
mod estimate;
#[cfg(test)]
mod interpreter;
mod kernel;
mod layout;
mod lift;
mod limits;
mod nest;
mod normalise;
mod parse;
mod parse_command;
mod print;
mod proposal;
mod residency;
mod rewriter;
mod rows;
mod schedule;
#[cfg(test)]
mod schedule_tests;
#[cfg(test)]
mod semantics_tests;
#[cfg(test)]
mod spelling_tests;
mod transformation;
mod transformations;
mod tree;
mod value;
mod walk;

use autocomp_c_loops::{affine, condition, syntax};

pub use limits::HardwareLimits;
pub use normalise::Vocabulary;
pub use parse::ParseError;
pub use proposal::{Family, Proposals, Variant};
pub use rewriter::GemminiRewriter;
pub use transformation::Step;
pub use tree::Path;
