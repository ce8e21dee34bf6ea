//! Connections that break, drip or never open; programs and folders that misbehave.

mod accounts;
mod answers;
mod dialects;
mod mailbox;
mod network;
mod programs;
mod retries;
mod settings;

use autocomp_llm::{ModelSpec, Request};

fn request() -> Request {
    Request::new("You write plans.", "Write one.", 1000)
}

fn spec(text: &str) -> ModelSpec {
    text.parse().expect(text)
}
