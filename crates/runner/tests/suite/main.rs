//! Tests of this crate from outside, in one program, which links once.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod beginnings;
#[path = "../../../llm/tests/chat/mod.rs"]
mod chat;
mod determinism;
mod economy;
mod kills;
mod models;
mod parts;
mod replay;
mod resume;
#[path = "../script/mod.rs"]
mod script;
mod stops;
