//! `autocomp optimize` with language models: a program, and a local server.

use super::program::{Place, data, problem};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use wiremock::{Mock, MockServer, Request, ResponseTemplate, matchers::path};

const KEY: &str = "sk-planted-key-0004";
const EFFORT: &[&str] = &[
    "--beam",
    "1",
    "--plans",
    "1",
    "--iterations",
    "1",
    "--run-dir",
    "run",
    "--allow-unknown-prices",
];

/// Returns a kernel that is right and faster than the baseline: the weights
/// are moved in once.
fn better_kernel() -> String {
    let baseline = fs::read_to_string(data("gemm-64/baseline.c")).unwrap();
    let weights = "    for (int k = 0; k < 4; k++) {\n      mvin3(&B[k * 16][0], 1024 + k * 64, 64, 16);\n    }\n";
    let hoisted = baseline.replacen(weights, "", 1);
    assert_ne!(hoisted, baseline);
    hoisted.replacen(
        "  for (int i = 0;",
        &format!("{weights}  for (int i = 0;"),
        1,
    )
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| {
            if path.is_dir() {
                files_below(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

/// Checks that the run ended with [`better_kernel`] and that the plan is recorded.
fn check(place: &Place, code: Option<i32>, value: &Value, model: &str) {
    assert_eq!(
        (code, value["status"].as_str()),
        (Some(0), Some("finished")),
        "{value}"
    );
    assert_eq!(
        fs::read_to_string(value["best_kernel"].as_str().unwrap())
            .unwrap()
            .trim(),
        better_kernel().trim()
    );
    assert!(1.0 < value["speedup"].as_f64().unwrap(), "{value}");
    let plan = value["plans"].as_array().unwrap().last().unwrap();
    assert!(
        plan["plan"]
            .as_str()
            .unwrap()
            .contains("Move the weights in once"),
        "{plan}"
    );
    assert!(plan["proposer"].as_str().unwrap().contains(model), "{plan}");

    // A replay needs no model.
    let (code, again) = place.json(&["optimize", "--replay", "run", "--run-dir", "again"]);
    assert_eq!(
        (code, &again["history"]),
        (Some(0), &value["history"]),
        "{again}"
    );
}

#[test]
fn a_program_as_the_model() {
    let place = Place::new();
    place.file("better.c", format!("```c\n{}```\n", better_kernel()));
    let script = "prompt=$(cat)\ncase \"$prompt\" in\n\
                  *CHOICE:*) printf 'CHOICE: other\\nMove the weights in once, before the loop.\\n' ;;\n\
                  *) cat \"$(dirname \"$0\")/better.c\" ;;\nesac\n";
    let script = place.file("model.sh", script);
    let model = format!("command::sh {script}");
    let problem = problem();
    let (code, value) = place.json(
        &[
            &["optimize", &problem, "--model", &model, "--polish", "0"],
            EFFORT,
        ]
        .concat(),
    );
    check(&place, code, &value, "command::");
}

#[test]
fn a_program_that_always_fails_is_an_error() {
    let place = Place::new();
    let problem = problem();
    let arguments = [
        &[
            "optimize",
            &problem,
            "--model",
            "command::sh -c 'echo broken >&2; exit 3'",
        ],
        EFFORT,
    ]
    .concat();
    let ended = place.call(&arguments);
    assert_eq!(ended.code, Some(4), "{}", ended.transcript());
    assert!(ended.stderr.contains("broken"), "{}", ended.stderr);
    assert!(
        ended
            .stderr
            .contains("hint: `autocomp models check MODEL` tries a model"),
        "{}",
        ended.stderr
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_as_the_model() {
    let server = MockServer::start().await;
    let respond = |request: &Request| {
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let asks_for_plan = body["messages"]
            .to_string()
            .contains("# Possible optimizations");
        let text = if asks_for_plan {
            "CHOICE: other\nMove the weights in once, before the loop.".to_owned()
        } else {
            format!("```c\n{}```", better_kernel())
        };
        ResponseTemplate::new(200).set_body_json(json!({
            "choices": [{ "message": { "role": "assistant", "content": text }, "finish_reason": "stop" }],
            "usage": { "prompt_tokens": 500, "completion_tokens": 100 },
        }))
    };
    Mock::given(path("/v1/chat/completions"))
        .respond_with(respond)
        .mount(&server)
        .await;
    let model = format!("compatible@{}/v1/::mock", server.uri());
    let value = tokio::task::spawn_blocking(move || {
        let place = Place::new();
        let output = place
            .command()
            .env("OPENAI_COMPATIBLE_API_KEY", KEY)
            .args([
                "optimize",
                &problem(),
                "--model",
                &model,
                "--polish",
                "0",
                "--json",
            ])
            .args(EFFORT)
            .output()
            .unwrap();
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        check(&place, output.status.code(), &value, "mock");
        assert!(
            stderr.contains("estimate for the whole run: up to "),
            "{stderr}"
        );

        // The key is nowhere but on its way.
        assert!(!stderr.contains(KEY) && !String::from_utf8_lossy(&output.stdout).contains(KEY));
        let history = place.call(&["show", "run", "--task", "i1.b0.p0"]);
        assert_eq!(history.code, Some(0), "{}", history.stderr);
        assert!(
            history.stdout.contains("# Possible optimizations"),
            "the texts are recorded: {}",
            history.stdout
        );
        assert!(!history.stdout.contains(KEY));
        let files = files_below(&place.path().join("run"));
        assert!(3 < files.len());
        for file in files {
            let bytes = fs::read(&file).unwrap();
            let plain = zstd_or_plain(&bytes);
            assert!(
                !contains(&bytes, KEY) && !contains(&plain, KEY),
                "{}",
                file.display()
            );
        }
        value
    })
    .await
    .unwrap();
    assert_eq!(value["cost_usd"], 0.0);
    let requests = server.received_requests().await.unwrap();
    assert_eq!(
        requests.len(),
        2,
        "one plan, one draft; none for the replay"
    );
    for request in requests {
        assert_eq!(request.headers["authorization"], format!("Bearer {KEY}"));
        assert!(!contains(&request.body, KEY));
    }
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes
        .windows(text.len())
        .any(|window| window == text.as_bytes())
}

fn zstd_or_plain(bytes: &[u8]) -> Vec<u8> {
    zstd::decode_all(bytes).unwrap_or_else(|_| bytes.to_vec())
}
