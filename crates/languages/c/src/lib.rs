//! C as a language of kernels: what of it is refused before it is built, and
//! just enough of its lexical form to tell whether a reply is a kernel.

mod check;
mod language;
mod text;

pub use check::{MAX_SOURCE_BYTES, check};
pub use language::C;
