//! What is done to the text of a kernel before and after it is read.
//!
//! Macros of the source are expanded first, so that whatever is spelt with
//! them reads like the plain form; definitions that nothing uses any more are
//! left out last.

mod leftovers;
pub(crate) mod macros;
mod vocabulary;

pub(crate) use leftovers::without_leftovers;
pub(crate) use macros::{Expanded, expand};
pub use vocabulary::Vocabulary;
