//! Tests of this crate from outside, in one program, which links once.

mod hints;
mod macros;
mod plans;
mod spellings;
