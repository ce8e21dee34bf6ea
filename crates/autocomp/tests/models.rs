//! The binary with language models: local servers of different reliability, a
//! program, and a folder in which somebody answers.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use tempfile::TempDir;
use wiremock::{Mock, MockServer, Request, ResponseTemplate, matchers::any};

const KEY: &str = "sk-planted-key-0007";

/// A problem small enough to be measured in a moment.
const PROBLEM: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../eval/tests/data/problems/gemm-64x64x64"
);

/// Prices of the servers in dollars per million tokens, and the tokens of a reply.
const INPUT_PRICE: u64 = 2;
const OUTPUT_PRICE: u64 = 10;
const INPUT_TOKENS: u64 = 500;
const OUTPUT_TOKENS: u64 = 100;
const REPLY_COST: f64 = (INPUT_TOKENS * INPUT_PRICE + OUTPUT_TOKENS * OUTPUT_PRICE) as f64 / 1e6;

/// Returns the cache that all tests share: the compiler is installed once.
fn cache() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("autocomp-cache")
}

/// A folder of its own for a test, with everything that it writes.
struct Bench {
    root: TempDir,
}

impl Bench {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        Self { root }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// Settings for models at `servers`: patient with none, small searches.
    fn settings(&self, servers: &[&MockServer]) -> PathBuf {
        let mut prices = "version = 1\n".to_owned();
        for server in servers {
            prices += &format!(
                "[[price]]\nmodel = \"{}\"\ninput = {INPUT_PRICE}.0\noutput = {OUTPUT_PRICE}.0\n\
                 as_of = \"2026-01-01\"\nsource = \"test\"\n",
                model_at(server),
            );
        }
        let prices = self.write("prices.toml", &prices);
        let models: Vec<String> = servers.iter().map(|server| model_at(server)).collect();
        let settings = json!({
            "problem": PROBLEM,
            "models": models,
            "workers": 2,
            "asking": {
                "prices": prices,
                "max_output_tokens": 2000,
                "timeout_s": 1,
                "attempts": 2,
                "first_wait_ms": 10,
                "pause_s": 600,
            },
            "search": { "beam": 2, "plans": 2, "drafts": 1, "repairs": 0, "iterations": 3 },
        });
        self.write("settings.toml", &toml::to_string(&settings).unwrap())
    }

    /// A command with nothing in its environment that is not needed.
    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_autocomp"));
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.root.path())
            .env("AUTOCOMP_CACHE_DIR", cache())
            .env("OPENAI_API_KEY", KEY)
            .current_dir(self.root.path());
        if let Some(compiler) = std::env::var_os("AUTOCOMP_COMPILER") {
            command.env("AUTOCOMP_COMPILER", compiler);
        }
        command
    }

    fn run(&self, words: &[&str]) -> Ended {
        Ended::of(self.command().args(words).output().unwrap())
    }
}

/// What a process left behind.
struct Ended {
    code: i32,
    out: String,
    messages: String,
}

impl Ended {
    fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            messages: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Returns the JSON it printed, after it ended with `code`.
    fn json(&self, code: i32) -> Value {
        assert_eq!(self.code, code, "{}\n{}", self.out, self.messages);
        serde_json::from_str(&self.out).unwrap()
    }
}

fn model_at(server: &MockServer) -> String {
    format!("openai@{}/v1::m", server.uri())
}

fn reply(text: &str) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(json!({
        "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": INPUT_TOKENS, "completion_tokens": OUTPUT_TOKENS},
    }))
}

async fn server(
    respond: impl Fn(&Request) -> ResponseTemplate + Send + Sync + 'static,
) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(any())
        .respond_with(respond)
        .mount(&server)
        .await;
    server
}

/// A model that knows what to do.
async fn good() -> MockServer {
    server(|request| {
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        reply(&answer(body["messages"][1]["content"].as_str().unwrap()))
    })
    .await
}

/// Answers a prompt as a good model would: with a plan, or with a kernel.
fn answer(prompt: &str) -> String {
    if prompt.contains("# Possible optimizations") {
        return "CHOICE: other\nMove B into the scratchpad once, before the loops.".to_owned();
    }
    format!("Here it is:\n```c\n{}```\n", faster())
}

/// Returns the baseline with B moved in once instead of once for each row block.
fn faster() -> String {
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

async fn requests_at(server: &MockServer) -> u64 {
    server.received_requests().await.unwrap().len() as u64
}

/// Returns whether `needle` stands in a file of the folder, compressed ones included.
fn occurs(folder: &Path, needle: &str) -> bool {
    let holds = |bytes: &[u8]| {
        bytes
            .windows(needle.len())
            .any(|window| window == needle.as_bytes())
    };
    fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return occurs(&path, needle);
        }
        let Ok(bytes) = fs::read(path) else {
            return false;
        };
        holds(&bytes) || zstd::decode_all(&bytes[..]).is_ok_and(|bytes| holds(&bytes))
    })
}

fn assert_close(left: f64, right: f64) {
    assert!((left - right).abs() < 1e-9, "{left} and {right}");
}

/// One model is always rate-limited, one returns garbage that echoes the key,
/// one never answers in time, one is good: the run ends well, and its reports
/// account for every call, cent and token.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_with_unreliable_models_ends_well() {
    let limited =
        server(|_| ResponseTemplate::new(429).set_body_string(format!("slow down, {KEY}"))).await;
    let garbage = server(|_| reply(&format!("Your key is {KEY}, have a nice day."))).await;
    let slow = server(|_| reply("late").set_delay(Duration::from_secs(60))).await;
    let good = good().await;
    let bench = Bench::new();
    let settings = bench.settings(&[&limited, &garbage, &slow, &good]);
    let words = [
        "optimize",
        "--config",
        settings.to_str().unwrap(),
        "--run-dir",
        "run",
        "--json",
    ];
    let ended = bench.run(&words);
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
    let replayed = bench
        .run(&[
            "optimize",
            "--replay",
            "run",
            "--run-dir",
            "again",
            "--json",
        ])
        .json(0);
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

/// A cap on money stops the run before it is exceeded; with a higher one, it goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_stops_at_its_cap_and_can_be_resumed() {
    let good = good().await;
    let bench = Bench::new();
    let settings = bench.settings(&[&good]);
    let words = [
        "optimize",
        "--config",
        settings.to_str().unwrap(),
        "--run-dir",
        "run",
        "--json",
        "--max-usd",
        "0.08",
    ];
    let stopped = bench.run(&words);
    let report = stopped.json(4);
    assert_eq!(
        (&report["status"], &report["reason"]),
        (&json!("stopped"), &json!("exhausted"))
    );
    assert!(
        stopped.messages.contains("money cap of $0.08"),
        "{}",
        stopped.messages
    );
    let spent = report["cost_usd"].as_f64().unwrap();
    assert!(0.0 < spent && spent <= 0.08, "{spent}");
    assert_close(spent, requests_at(&good).await as f64 * REPLY_COST);

    let words = ["optimize", "--resume", "run", "--json", "--max-usd", "1"];
    let report = bench.run(&words).json(0);
    assert_eq!(report["status"], "finished");
    let in_all = report["cost_usd"].as_f64().unwrap();
    assert!(spent < in_all);
    assert_close(in_all, requests_at(&good).await as f64 * REPLY_COST);
}

/// Tokens of a text, at 3.5 bytes each.
fn tokens_of(text: &str) -> usize {
    text.len() * 2 / 7
}

/// A model that bills what it really gets and writes, the prefix from its cache
/// after the first time. Every fourth draft does not build.
async fn billing() -> MockServer {
    let count = AtomicUsize::new(0);
    server(move |request| {
        let body: Value = serde_json::from_slice(&request.body).unwrap();
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
        ResponseTemplate::new(200).set_body_json(json!({
            "choices": [{"message": {"content": text}, "finish_reason": "stop"}],
            "usage": {
                "prompt_tokens": prompt,
                "completion_tokens": tokens_of(&text),
                "prompt_tokens_details": {"cached_tokens": cached},
            },
        }))
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
    let words = [
        "optimize",
        "--config",
        settings.to_str().unwrap(),
        "--run-dir",
        "run",
        "--json",
    ];
    let ended = bench.run(&words);
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

/// Two questions at once, about what there is no menu for: one call each, and
/// the kernel that comes back is evaluated.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_question_is_put_to_a_model() {
    let model = server(|request| {
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let prompt = body["messages"][1]["content"].as_str().unwrap();
        reply(&if prompt.contains("Say what limits") {
            "Loads of B are repeated.".to_owned()
        } else if prompt.contains("# Known optimizations") {
            json!({"items": [{
                "id": "use-a-stamp", "text": "Press harder on the array.", "applies_when": "always",
            }]})
            .to_string()
        } else if prompt.contains("computes the right result, without the accelerator") {
            "```c\nvoid solution(int8_t A[64][64], int8_t B[64][64], int8_t C[64][64]) {}\n```"
                .to_owned()
        } else {
            format!("CHOICE: other\n```c\n{}```", faster())
        })
    })
    .await;
    let bench = Bench::new();
    bench.settings(&[&model]);
    let name = model_at(&model);
    let ask = |phase: &str, more: &[&str]| {
        let words = ["ask", PROBLEM, "--phase", phase, "--model", &name];
        let words = [&words[..], &["--prices", "prices.toml", "--json"], more].concat();
        bench.run(&words)
    };
    let analysis = ask("analyze", &[]).json(0);
    assert_eq!(analysis["analysis"], "Loads of B are repeated.");
    assert_eq!(analysis["usage"]["requests"], 1);
    let menu = ask("menu", &[]).json(0);
    assert_eq!(menu["menu_items"][0]["id"], "use-a-stamp");
    let direct = ask("direct", &["--output", "direct.c"]).json(0);
    assert_eq!(direct["outcome"], "ok");
    assert!(
        fs::read_to_string(bench.path("direct.c"))
            .unwrap()
            .contains("mvin3")
    );
    let combined = ask("combine", &["--other", "direct.c"]).json(0);
    assert_eq!(combined["cycles"], direct["cycles"]);
    // A kernel that does nothing is not right.
    assert!(ask("translate", &[]).json(1)["kernel"].is_string());
    assert_eq!(requests_at(&model).await, 5);
}

/// Answers the requests in a folder until told to stop.
fn somebody_answers(folder: &Path, over: &AtomicBool) {
    while !over.load(Ordering::Relaxed) {
        for entry in fs::read_dir(folder).unwrap() {
            let name = entry.unwrap().path().to_string_lossy().into_owned();
            let Some(stem) = name.strip_suffix(".request.md") else {
                continue;
            };
            // The request may have been answered and tidied away meanwhile.
            let Ok(prompt) = fs::read_to_string(&name) else {
                continue;
            };
            fs::write(format!("{stem}.part"), answer(&prompt)).unwrap();
            fs::rename(format!("{stem}.part"), format!("{stem}.answer.md")).unwrap();
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A run that waits for people is killed; they answer meanwhile; it goes on.
#[test]
fn a_run_that_waits_for_a_folder_can_be_killed() {
    let bench = Bench::new();
    let mailbox = bench.path("mailbox");
    fs::create_dir(&mailbox).unwrap();
    let model = format!("mailbox::{}", mailbox.display());
    let words = [
        "optimize",
        PROBLEM,
        "--model",
        &model,
        "--iterations",
        "1",
        "--plans",
        "2",
        "--drafts",
        "1",
        "--run-dir",
        "run",
    ];
    let mut child = bench
        .command()
        .args(words)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let names = |end: &str| -> BTreeSet<String> {
        fs::read_dir(&mailbox)
            .unwrap()
            .filter_map(|entry| {
                let name = entry.unwrap().file_name().into_string().unwrap();
                name.strip_suffix(end).map(str::to_owned)
            })
            .collect()
    };
    while names(".request.md").len() < 2 {
        assert!(child.try_wait().unwrap().is_none(), "it ended early");
        std::thread::sleep(Duration::from_millis(20));
    }
    let plans = names(".request.md");
    child.kill().unwrap();
    child.wait().unwrap();
    // Both plans are answered while nobody waits for them.
    for stem in &plans {
        let text = "CHOICE: other\nMove B into the scratchpad once, before the loops.";
        fs::write(mailbox.join(format!("{stem}.answer.md")), text).unwrap();
    }
    let over = AtomicBool::new(false);
    let ended = std::thread::scope(|scope| {
        scope.spawn(|| somebody_answers(&mailbox, &over));
        let ended = bench.run(&["optimize", "--resume", "run", "--json"]);
        over.store(true, Ordering::Relaxed);
        ended
    });
    let report = ended.json(0);
    assert!(1.0 < report["speedup"].as_f64().unwrap(), "{report:#}");
    // The plans were not asked for again.
    assert!(plans.is_subset(&names(".done.md")), "{:?}", names(""));
    let asked = report["models"][0]["calls"].as_u64().unwrap();
    assert_eq!(names(".done.md").len() as u64, asked, "{:?}", names(""));

    // The record tells it all again, without the folder.
    fs::remove_dir_all(&mailbox).unwrap();
    let words = [
        "optimize",
        "--replay",
        "run",
        "--run-dir",
        "again",
        "--json",
    ];
    assert_eq!(bench.run(&words).json(0)["history"], report["history"]);
    let history = |run: &str| bench.run(&["show", run, "--history"]).out;
    assert_eq!(history("run"), history("again"), "byte for byte");
}

#[test]
fn a_program_drives_a_whole_run() {
    let bench = Bench::new();
    let kernel = bench.write("faster.c", &faster());
    let model = format!(
        "command::sh -c 'prompt=$(cat); case \"$prompt\" in *CHOICE:*) \
         printf \"CHOICE: other\\nMove B in once, before the loops.\\n\";; *) cat {};; esac'",
        kernel.display()
    );
    let report = bench
        .run(&[
            "optimize",
            PROBLEM,
            "--model",
            &model,
            "--iterations",
            "1",
            "--plans",
            "2",
            "--run-dir",
            "run",
            "--json",
        ])
        .json(0);
    assert!(1.0 < report["speedup"].as_f64().unwrap(), "{report:#}");
    assert_eq!(report["cost_usd"], 0.0);
    assert_eq!(report["plans"][1]["proposer"], model.as_str());
}

#[test]
fn a_folder_drives_a_whole_run() {
    let bench = Bench::new();
    let mailbox = bench.path("mailbox");
    fs::create_dir(&mailbox).unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let is_over = Arc::clone(&over);
    let folder = mailbox.clone();
    // Somebody who looks into the folder now and then.
    let somebody = std::thread::spawn(move || somebody_answers(&folder, &is_over));
    let model = format!("mailbox::{}", mailbox.display());
    let ended = bench.run(&[
        "optimize",
        PROBLEM,
        "--model",
        &model,
        "--iterations",
        "1",
        "--plans",
        "2",
        "--run-dir",
        "run",
        "--json",
    ]);
    over.store(true, Ordering::Relaxed);
    somebody.join().unwrap();
    let report = ended.json(0);
    assert!(1.0 < report["speedup"].as_f64().unwrap(), "{report:#}");
    assert_eq!(report["models"][0]["failed_calls"], 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn models_are_checked_and_listed() {
    let good = good().await;
    let limited = server(|_| ResponseTemplate::new(429)).await;
    let bench = Bench::new();
    bench.settings(&[&good, &limited]);
    let check = |models: &[&MockServer]| {
        let names: Vec<String> = models.iter().map(|server| model_at(server)).collect();
        let mut words = vec!["models", "check", "--prices", "prices.toml", "--json"];
        words.extend(names.iter().map(String::as_str));
        bench.run(&words)
    };
    let report = check(&[&good]).json(0);
    assert_eq!(report["models"][0]["ok"], true);
    assert_eq!(report["models"][0]["price"]["output"], OUTPUT_PRICE as f64);
    let report = check(&[&good, &limited]).json(1);
    assert_eq!(report["models"][1]["error_kind"], "rate_limit");

    let list = bench
        .run(&["models", "list", "--prices", "prices.toml", "--json"])
        .json(0);
    let prices = list["prices"].as_array().unwrap();
    assert!(prices.iter().any(|price| price["model"] == model_at(&good)));
    assert!(
        prices
            .iter()
            .all(|price| price["as_of"].as_str().is_some_and(|day| day.len() == 10))
    );
    let providers = list["providers"].as_array().unwrap();
    assert!(
        providers
            .iter()
            .any(|provider| provider["name"] == "mailbox")
    );

    // Without a price, a model is not asked.
    let unpriced = bench.run(&["models", "check", &model_at(&good), "--json"]);
    assert!(
        unpriced.json(1)["models"][0]["error"]
            .as_str()
            .unwrap()
            .contains("price")
    );
}

#[test]
fn every_phase_has_a_prompt() {
    let bench = Bench::new();
    for phase in [
        "plan",
        "implement",
        "edits",
        "repair",
        "combine",
        "direct",
        "analyze",
        "translate",
        "menu",
        "isa",
    ] {
        let ended = bench.run(&["prompt", PROBLEM, "--phase", phase, "--json"]);
        let report = ended.json(0);
        let text = format!(
            "{}\n{}",
            report["system"].as_str().unwrap(),
            report["user"].as_str().unwrap()
        );
        assert!(
            text.contains("compute_preloaded("),
            "{phase}: the kernel is in the prompt"
        );
        let tokens = report["estimated_tokens"].as_u64().unwrap();
        let stable = report["estimated_stable_tokens"].as_u64().unwrap();
        assert!(
            0 < stable && stable < tokens,
            "{phase}: {stable} of {tokens}"
        );
        assert!(
            text.len() as u64 / 8 < tokens && tokens < text.len() as u64,
            "{phase}: {tokens}"
        );
    }
    assert_eq!(bench.run(&["prompt", PROBLEM, "--phase", "plans"]).code, 2);
}
