//! Tests of this crate from outside, in one program, which links once.

mod attacks;
mod build;
mod built_in;
mod cases;
mod evaluation;
#[path = "../support/evaluators.rs"]
mod evaluators;
mod parts;
mod profile;
mod runtime_names;
#[path = "../support/mod.rs"]
mod support;
#[path = "../../../../../eval/tests/told/mod.rs"]
mod told;
