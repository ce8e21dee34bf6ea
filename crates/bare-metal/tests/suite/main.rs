//! Tests of this crate from outside, in one program, which links once.

mod core_profile;
mod evaluation;
mod measured_twin;
mod misuse;
mod pc_sums;
mod plain;
