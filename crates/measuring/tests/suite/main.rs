//! Tests of this crate from outside, in one program, which links once.

mod base;
mod compared;
mod lease;
mod pairs;
mod statistics;
