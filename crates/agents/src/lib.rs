//! Proposers: who writes plans and drafts.
//!
//! One trait, [`Proposer`], and one file per kind of proposer. Prompts are
//! templates plus data; no prompt text stands in Rust code.

mod proposer;
mod replay;

pub use proposer::{
    Exchange, ImplementRequest, PlanRequest, ProposeError, ProposeErrorKind, Proposer, Reply,
};
pub use replay::{Recording, Replay};
