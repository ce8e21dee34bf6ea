//! Changes to kernels for RISC-V vectors without a model.
//!
//! A kernel with intrinsics that asks for lengths is read as what it does to single elements
//! ([`plain`]), and the plain loops that come of it are scheduled as those of any kernel in C
//! (`autocomp-nests`). Beside that, groups of registers get another size ([`resized`]), and fields that
//! lie side by side are accessed as segments ([`segmented`]) or with a stride ([`strided`]).

mod elements;
mod groups;
mod rewriter;
mod segments;

pub use elements::plain;
pub use groups::resized;
pub use rewriter::LoopRewriter;
pub use segments::{segmented, strided};
