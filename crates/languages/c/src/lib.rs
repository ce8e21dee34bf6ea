//! C as a language of kernels: what of it is refused before it is built, and
//! just enough of its lexical form to tell whether a reply is a kernel.

mod check;
mod language;
mod normal;
mod text;

pub use check::{Expanded, MAX_SOURCE_BYTES, check, doubts, is_runtime_name, templates};
pub use language::C;

/// Parts that `tests/suite` looks at one by one. Tests inside would have all of the crate
/// compiled a second time. No interface.
#[doc(hidden)]
pub mod inside {
    pub use crate::check::{MAX_DIAGNOSTICS, tokens::tokens};
    pub use crate::normal::normal_form;
    pub use crate::text::{blank, defines, is_balanced, macros};
}
