//! Tests of this crate from outside, in one program, which links once.

#[path = "../../../llm/tests/chat/mod.rs"]
mod chat;
mod cli;
mod models;
mod parts;
