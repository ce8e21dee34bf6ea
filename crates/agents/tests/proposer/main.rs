//! The proposer against local servers: what it asks, what it accepts, whom it asks next.

mod asking;
#[path = "../../../llm/tests/chat/mod.rs"]
mod chat;
mod models;
mod prompts;
mod servers;
mod toy;
