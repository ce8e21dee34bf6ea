//! Models that answer well.

use super::bench::{INPUT_TOKENS, OUTPUT_TOKENS, PROBLEM};
use super::chat::{self, question, server};
use serde_json::json;
use std::fs;
use std::path::Path;
use wiremock::{MockServer, ResponseTemplate};

/// A reply with its tokens.
pub fn reply(text: &str) -> ResponseTemplate {
    let usage = json!({"prompt_tokens": INPUT_TOKENS, "completion_tokens": OUTPUT_TOKENS});
    chat::reply(text, &usage)
}

/// A model that knows what to do.
pub async fn good() -> MockServer {
    server(|request| reply(&answer(&question(request).1))).await
}

/// Returns whether a prompt asks for a plan, of one change or of a schedule.
pub fn asks_for_a_plan(prompt: &str) -> bool {
    [
        "# Possible optimizations",
        "# Possible steps",
        "the description of the schedule",
    ]
    .iter()
    .any(|words| prompt.contains(words))
}

/// Answers a prompt as a good model would: with a plan, or with a kernel.
pub fn answer(prompt: &str) -> String {
    if asks_for_a_plan(prompt) {
        return "CHOICE: other\nMove B into the scratchpad once, before the loops.".to_owned();
    }
    format!("Here it is:\n```c\n{}```\n", faster())
}

/// Returns the baseline with B moved in once instead of once for each row block.
pub fn faster() -> String {
    let baseline = fs::read_to_string(Path::new(PROBLEM).join("baseline.c")).unwrap();
    let inner = "        for (int k = 0; k < 4; k++) {\n          mvin3(&B[ko * 64 + k * 16][j * 64], 1024 + k * 64, 64, 16);\n        }\n";
    let outer =
        "  for (int k = 0; k < 4; k++) {\n    mvin3(&B[k * 16][0], 1024 + k * 64, 64, 16);\n  }\n";
    let start = "  for (int i = 0; i < 4; i++) {\n";
    assert_eq!(
        (
            baseline.matches(inner).count(),
            baseline.matches(start).count()
        ),
        (1, 1)
    );
    baseline
        .replace(inner, "")
        .replace(start, &format!("{outer}{start}"))
}

pub async fn requests_at(server: &MockServer) -> u64 {
    server.received_requests().await.unwrap().len() as u64
}
