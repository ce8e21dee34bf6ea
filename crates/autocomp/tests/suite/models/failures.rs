//! A run with servers of different reliability.
//!
//! Tests begin in the order of their names: this one, which waits for a server that never
//! answers, has others beside it.

use super::answers::{good, reply, requests_at};
use super::bench::{
    Bench, INPUT_TOKENS, KEY, OUTPUT_TOKENS, REPLY_COST, assert_close, cache, model_at,
};
use super::chat::server;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use wiremock::ResponseTemplate;

/// Returns whether `needle` stands in a file of the folder, compressed ones included.
fn occurs(folder: &Path, needle: &str) -> bool {
    // Without optimization, looking through the cache here would take ten seconds.
    let mut grep = Command::new("grep");
    let found = grep.args(["-rqsaF", "--", needle]).arg(folder).status();
    found.unwrap().success() || occurs_compressed(folder, needle)
}

fn occurs_compressed(folder: &Path, needle: &str) -> bool {
    fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return occurs_compressed(&path, needle);
        }
        let decoded = fs::read(path).and_then(|bytes| zstd::decode_all(&bytes[..]));
        decoded.is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(needle))
    })
}

/// One model is always rate-limited, one returns garbage that echoes the key,
/// one never answers in time, one is good: the run ends well, and its reports
/// account for every call, cent and token.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_with_unreliable_models_ends_well() {
    let limited =
        server(|_| ResponseTemplate::new(429).set_body_string(format!("slow down, {KEY}"))).await;
    let garbage = server(|_| reply(&format!("Your key is {KEY}, have a nice day."))).await;
    let slow = server(|_| reply("late").set_delay(Duration::from_secs(3600))).await;
    let good = good().await;
    let bench = Bench::new();
    let settings = bench.settings(&[&limited, &garbage, &slow, &good]);
    let ended = bench.optimize(&settings, &[]);
    let report = ended.json(0);
    assert_eq!(report["status"], "finished");
    assert!(1.0 < report["speedup"].as_f64().unwrap(), "{report:#}");
    assert_eq!(
        ended.messages.matches("is set aside").count(),
        3,
        "{}",
        ended.messages
    );

    let models: Vec<&Value> = [&limited, &garbage, &slow, &good]
        .map(|server| {
            let models = report["models"].as_array().unwrap();
            models
                .iter()
                .find(|model| model["model"] == model_at(server))
                .unwrap()
        })
        .into();
    for (model, server) in models.iter().zip([&limited, &garbage, &slow, &good]) {
        assert_eq!(model["calls"], requests_at(server).await, "{model:#}");
        assert_eq!(model["usage"]["requests"], model["calls"]);
    }
    let cost = |model: &Value| model["usage"]["cost"].as_u64().unwrap() as f64 / 1e6;
    let calls = |model: &Value| model["calls"].as_u64().unwrap();
    assert_eq!(
        (models[0]["failed_calls"].clone(), cost(models[0])),
        (models[0]["calls"].clone(), 0.0)
    );
    for model in [models[1], models[3]] {
        assert_close(cost(model), calls(model) as f64 * REPLY_COST);
        assert_eq!(model["usage"]["input_tokens"], calls(model) * INPUT_TOKENS);
        assert_eq!(
            model["usage"]["output_tokens"],
            calls(model) * OUTPUT_TOKENS
        );
        assert_eq!(model["estimated_calls"], 0);
    }
    // Nobody knows what a reply that was cut off has cost: the most possible is counted.
    assert_eq!(models[2]["estimated_calls"], models[2]["calls"]);
    assert!(calls(models[2]) as f64 * 0.02 <= cost(models[2]));

    let total = report["cost_usd"].as_f64().unwrap();
    assert_close(total, models.iter().map(|model| cost(model)).sum());
    assert!(0.0 < report["estimate_usd"].as_f64().unwrap());
    assert!(
        ended.messages.contains("estimate for the whole run"),
        "{}",
        ended.messages
    );

    let shown = bench.run(&["show", "run", "--json"]).json(0);
    assert_eq!(shown["models"], report["models"]);
    assert_eq!(shown["progress"]["usage"], report["usage"]);
    let text = bench.run(&["show", "run"]).out;
    assert!(text.contains(" calls at a guess)"), "{text}");

    // The same run again from its record, without any model.
    let asked = requests_at(&good).await;
    let replayed = bench.replay().json(0);
    assert_eq!(replayed["history"], report["history"]);
    assert_eq!(requests_at(&good).await, asked);

    assert!(
        occurs(&bench.path("run"), "[OPENAI_API_KEY]"),
        "the echo was recorded"
    );
    assert!(!occurs(bench.root.path(), KEY), "no key in any file");
    for entry in fs::read_dir(cache()).unwrap() {
        let path = entry.unwrap().path();
        // The compiler, and what other tests have there for a moment.
        let is_kept = !["toolchains", "scratch"]
            .iter()
            .any(|name| path.ends_with(name));
        if path.is_dir() && is_kept {
            assert!(!occurs(&path, KEY), "no key in {}", path.display());
        }
    }
    assert!(!format!("{}{}{text}", ended.out, ended.messages).contains(KEY));
}
