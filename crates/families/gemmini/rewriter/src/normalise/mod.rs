//! What is done to the text of a kernel before it is read: macros of the source are
//! expanded, so that whatever is spelt with them reads like the plain form.

pub(crate) mod macros;
mod vocabulary;

pub(crate) use macros::expand;
pub use vocabulary::Vocabulary;
