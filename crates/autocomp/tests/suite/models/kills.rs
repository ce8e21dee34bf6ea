//! Caps outlive `kill -9`: what was sent may have been billed, whether or not
//! the process lived to see the reply.

use super::answers::{answer, asks_for_a_plan, reply, requests_at};
use super::bench::{Bench, OUTPUT_PRICE};
use super::chat::{question, server};
use serde_json::{Value, json};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What a reply may cost at least: all the output tokens that the settings allow.
const LONGEST_REPLY: f64 = (2000 * OUTPUT_PRICE) as f64 / 1e6;
const CAP: f64 = 0.2;

/// A reply that no process here lives to see.
const NEVER: Duration = Duration::from_secs(600);

/// Kills the process each time it has sent another request of the kind that is
/// not answered in time (plans, or code), until the cap ends the run; returns
/// its last report and how many requests there were of both kinds.
async fn kill_until_the_cap_holds(slow_plans: bool) -> (Value, u64) {
    let unanswered = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&unanswered);
    let server = server(move |request| {
        let text = question(request).1;
        let reply = reply(&answer(&text));
        if asks_for_a_plan(&text) != slow_plans {
            return reply;
        }
        counter.fetch_add(1, Ordering::SeqCst);
        reply.set_delay(NEVER)
    })
    .await;
    let bench = Bench::new();
    let settings = bench.settings(&[&server]);
    let text = std::fs::read_to_string(&settings).unwrap();
    let text = text.replace("timeout_s = 1", "timeout_s = 600");
    std::fs::write(&settings, text).unwrap();
    let cap = CAP.to_string();
    let first = [
        "optimize",
        "--config",
        settings.to_str().unwrap(),
        "--run-dir",
        "run",
        "--max-usd",
        &cap,
    ];
    let again = ["optimize", "--resume", "run", "--json"];
    let mut words = &first[..];
    for _ in 0..30 {
        let before = unanswered.load(Ordering::SeqCst);
        let mut child = bench
            .command()
            .args(words)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let ended = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break Some(status);
            }
            if before < unanswered.load(Ordering::SeqCst) {
                child.kill().unwrap();
                child.wait().unwrap();
                break None;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        };
        words = &again[..];
        if ended.is_some() {
            break;
        }
    }
    let report = bench.run(&again).json(4);
    (report, requests_at(&server).await)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cap_outlives_kills_while_plans_are_under_way() {
    let (report, requests) = kill_until_the_cap_holds(true).await;
    assert!(
        requests as f64 * LONGEST_REPLY <= CAP,
        "{requests} requests"
    );
    assert_eq!(report["reason"], "exhausted");
    // A call that was written down may have been cut off before it was sent.
    let counted = report["usage"]["requests"].as_u64().unwrap();
    assert!(0 < requests && requests <= counted, "{requests}, {counted}");
    let cost = report["cost_usd"].as_f64().unwrap();
    assert!(
        counted as f64 * LONGEST_REPLY <= cost && cost <= CAP,
        "{cost}"
    );
    let model = &report["models"][0];
    assert_eq!(
        (&model["lost_calls"], &model["calls"]),
        (&json!(counted), &json!(0))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cap_outlives_kills_while_code_is_under_way() {
    let (report, requests) = kill_until_the_cap_holds(false).await;
    let cost = report["cost_usd"].as_f64().unwrap();
    assert!(cost <= CAP, "{cost}");
    let model = &report["models"][0];
    let calls = |name: &str| model[name].as_u64().unwrap();
    let counted = calls("calls") + calls("lost_calls");
    assert!(0 < requests && requests <= counted, "{requests}, {model:#}");
    assert!(0 < calls("calls") && 0 < calls("lost_calls"), "{model:#}");
    assert!(
        calls("lost_calls") as f64 * LONGEST_REPLY <= cost,
        "{model:#}"
    );
}
