//! Tests of this crate from outside, in one program, which links once.

mod fuzz;
mod kernels;
mod limits;
mod mutants;
mod problems;
mod rewriter;
mod rounding;
