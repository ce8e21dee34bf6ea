//! C as a language of kernels: what of it is refused before it is built, and
//! just enough of its lexical form to tell whether a reply is a kernel.

mod check;
mod language;
mod normal;
mod text;

pub use check::{Expanded, MAX_SOURCE_BYTES, check, doubts, is_runtime_name, templates};
pub use language::C;
