//! What a run is expected to cost, and what it costs.

use super::answers::faster;
use super::bench::Bench;
use super::chat::{self, question, server};
use serde_json::json;
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use wiremock::MockServer;

/// Tokens of a text, at 3.5 bytes each.
fn tokens_of(text: &str) -> usize {
    text.len() * 2 / 7
}

/// A model that bills what it really gets and writes, the prefix from its cache
/// after the first time. Every fourth draft does not build.
async fn billing() -> MockServer {
    let count = AtomicUsize::new(0);
    server(move |request| {
        let (body, _) = question(request);
        let content = |idx: usize| body["messages"][idx]["content"].as_str().unwrap();
        let nth = count.fetch_add(1, Ordering::Relaxed);
        let text = if content(1).contains("# Possible optimizations") {
            format!(
                "CHOICE: other\n{}",
                "Move B into the scratchpad once, before the loops over its users. ".repeat(50)
            )
        } else if nth % 4 == 3 {
            "```c\nvoid solution(int8_t A[64][64], int8_t B[64][64], int8_t C[64][64]) { oops }\n```"
                .to_owned()
        } else {
            // Kernels of their own, so that the beam is full.
            format!("```c\n// Variant {nth}.\n{}```", faster())
        };
        let prompt: usize = body["messages"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|message| message["content"].as_str())
            .map(tokens_of)
            .sum();
        let cached = if nth == 0 { 0 } else { tokens_of(content(0)) };
        let usage = json!({
            "prompt_tokens": prompt,
            "completion_tokens": tokens_of(&text),
            "prompt_tokens_details": {"cached_tokens": cached},
        });
        chat::reply(&text, &usage)
    })
    .await
}

/// The estimate, made before the run, against what the run really cost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_estimate_is_near_what_a_run_costs() {
    let model = billing().await;
    let bench = Bench::new();
    let settings = bench.settings(&[&model]);
    let prices = fs::read_to_string(bench.path("prices.toml")).unwrap();
    bench.write(
        "prices.toml",
        &prices.replace("output =", "cached = 0.2\noutput ="),
    );
    let settings_text = fs::read_to_string(&settings).unwrap();
    let settings_text = settings_text.replace("repairs = 0", "repairs = 2");
    let settings = bench.write("settings.toml", &settings_text);
    let ended = bench.optimize(&settings, &[]);
    let report = ended.json(0);
    let dollars = |name: &str| report[name].as_f64().unwrap();
    let (low, high) = (dollars("estimate_usd"), dollars("estimate_high_usd"));
    let actual = dollars("cost_usd");
    println!(
        "estimated {low} to {high}, actual {actual}: {:.2} of the low end",
        actual / low
    );
    assert!(low < high);
    assert!(
        0.75 * low < actual && actual < 1.1 * high,
        "estimated {low} to {high}, actual {actual}"
    );
    let usage = &report["models"][0]["usage"];
    assert!(usage["input_tokens"].as_u64() < usage["cached_tokens"].as_u64());
    let shown = bench.run(&["show", "run"]).out;
    assert!(shown.contains("% of the prompts)"), "{shown}");
}
