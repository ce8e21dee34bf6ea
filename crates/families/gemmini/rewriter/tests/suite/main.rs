//! The rewriter from outside: through the trait that proposers see, and on
//! every kernel of the built-in problems.

mod plans;
mod problems;
