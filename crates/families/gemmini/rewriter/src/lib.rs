//! Schedule rewriter: source transformations that need no model.
//!
//! A kernel is read into loops, guards and accelerator commands with affine
//! addresses; analysis finds the buffers that its commands form in the local
//! memories. Each transformation lists the steps that make sense for such a
//! kernel, whatever its shape; a coarse model of the machine ranks them, and a
//! symbolic run drops those that change what is computed. The evaluator has
//! the last word on both. Nothing here knows a problem or a shape.

#![allow(
    missing_docs,
    reason = "most of what is public is so for the suite alone, see `inside`"
)]

mod analysis;
mod annotate;
mod chain;
mod dataflow;
mod estimate;
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
mod transformation;
mod transformations;
mod tree;
mod value;
mod walk;

use autocomp_c_loops::{affine, condition, syntax};

pub use limits::{HardwareLimits, MachineCosts};
pub use normalise::Vocabulary;
pub use parse::ParseError;
pub use proposal::{Family, Proposals, Variant};
pub use rewriter::GemminiRewriter;
pub use transformation::Step;
pub use tree::Path;

/// Parts that `tests/suite` looks at one by one. Tests inside would have all of the crate
/// compiled a second time. No interface.
#[doc(hidden)]
pub mod inside {
    pub use crate::annotate::annotate;
    pub use crate::chain::{schedules as schedules_of_chains, write as write_chain};
    pub use crate::dataflow::outcome;
    pub use crate::estimate::estimate;
    pub use crate::kernel::{Command, Dram, Kernel, Local, LocalRow, Memory, Statement, Weights};
    pub use crate::lift::values::{FIELD, Values, in_field, multiply};
    pub use crate::lift::{Elementwise, Lifted, Operation, Work, lift};
    pub use crate::normalise::macros::expand;
    pub use crate::parse::parse_with;
    pub use crate::print::print;
    pub use crate::rows::RowSet;
    pub use crate::schedule::{schedules, write};
    pub use crate::transformation::View;
    pub use crate::transformations::{TRANSFORMATIONS, find};
    pub use crate::walk::{Event, Program};
}
