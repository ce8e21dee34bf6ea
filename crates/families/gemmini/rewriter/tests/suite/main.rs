//! The rewriter from outside: through the trait that proposers see, and on
//! every kernel of the built-in problems; and its parts, one by one.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cases;
mod chains;
mod comments;
mod depths;
mod interpreter;
mod macros;
mod plans;
mod problems;
mod rows;
mod schedules;
mod semantics;
mod spellings;
mod values;

use autocomp_gemmini_rewriter::inside::{Kernel, parse_with};
use autocomp_gemmini_rewriter::{ParseError, Vocabulary};

/// Reads a kernel for the default target.
fn parse(source: &str) -> Result<Kernel, ParseError> {
    parse_with(source, &Vocabulary::default())
}
