//! Schedule rewriter: source transformations that need no model.
//!
//! A kernel is followed without data to find out what it computes; that is written anew in
//! schedules of the hardware's loops, or, for chains of small products, in tiles that stay in
//! local memory. A bound on the cycles ranks them, and each draft is followed in turn: what
//! computes something else is dropped. The evaluator has the last word. Nothing here knows a
//! problem or a shape.

#![allow(
    missing_docs,
    reason = "most of what is public is so for the suite alone, see `inside`"
)]

mod chain;
mod costs;
mod graph;
mod lift;
mod limits;
mod memory;
mod normalise;
mod proposal;
mod rewriter;
mod schedule;

use autocomp_c_loops::syntax;

pub use costs::{ChainCosts, ProductCosts, RankingCosts};
pub use limits::{HardwareLimits, MachineCosts};
pub use normalise::Vocabulary;
pub use proposal::Proposal;
pub use rewriter::GemminiRewriter;

/// Parts that `tests/suite` looks at one by one. Tests inside would have all of the crate
/// compiled a second time. No interface.
#[doc(hidden)]
pub mod inside {
    pub use crate::chain::{schedules as schedules_of_chains, write as write_chain};
    pub use crate::lift::values::{FIELD, Values, in_field, multiply};
    pub use crate::lift::{Elementwise, Lifted, Operation, Work, lift};
    pub use crate::normalise::macros::expand;
    pub use crate::schedule::{schedules, write};
}
