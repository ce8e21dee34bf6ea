//! Tests of this crate from outside, in one program, which links once.

#[path = "../chat/mod.rs"]
mod chat;
mod faults;
mod wire;
