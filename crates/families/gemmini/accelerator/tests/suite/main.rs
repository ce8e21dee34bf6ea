//! Tests of this crate from outside, in one program, which links once.

#[path = "../driver/mod.rs"]
mod driver;
mod hostile;
mod legality;
mod loops;
mod model;
mod numbers;
mod text;
mod timing;
