//! Tests of this crate from outside, in one program, which links once.

mod differential;
mod parts;
mod robustness;
#[path = "../rocket/mod.rs"]
mod rocket;
