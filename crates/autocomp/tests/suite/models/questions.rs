//! Single questions, models by themselves, prompts.

use super::answers::{answer, faster, good, reply, requests_at};
use super::bench::{Bench, OUTPUT_PRICE, PROBLEM, model_at};
use super::chat::{question, server};
use serde_json::json;
use std::fs;
use wiremock::{MockServer, ResponseTemplate};

/// Two questions at once, about what there is no menu for: one call each, and
/// the kernel that comes back is evaluated.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_question_is_put_to_a_model() {
    let model = server(|request| {
        let (_, prompt) = question(request);
        reply(&if prompt.contains("Say what limits") {
            "Loads of B are repeated.".to_owned()
        } else if prompt.contains("# Known optimizations") {
            json!({"items": [{
                "id": "use-a-stamp", "text": "Press harder on the array.", "applies_when": "always",
            }]})
            .to_string()
        } else if prompt.contains("computes the right result, without anything of the target") {
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

/// A first kernel that is wrong is repaired; one that is right and does without the target is
/// translated further by a search, until nothing of the original is left.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_becomes_a_kernel() {
    let reference = fs::read_to_string(format!("{PROBLEM}/reference.c")).unwrap();
    let model = server(move |request| {
        let (_, prompt) = question(request);
        let translates =
            prompt.contains("computes the right result, without anything of the target");
        reply(&match translates {
            true if prompt.contains("np.clip") => {
                "```c\nvoid solution(int8_t A[64][64], int8_t B[64][64], int8_t C[64][64]) {}\n```"
                    .to_owned()
            }
            true => format!("```c\n{reference}```"),
            false => answer(&prompt),
        })
    })
    .await;
    let bench = Bench::new();
    bench.settings(&[&model]);
    let name = model_at(&model);
    let translate = |output: &str, more: &[&str]| {
        let words = ["translate", PROBLEM, "--output", output, "--model", &name];
        bench.run(&[&words[..], &["--prices", "prices.toml", "--json"], more].concat())
    };
    bench.write(
        "model.py",
        "import numpy as np\ndef f(A, B): return np.clip(A @ B, -128, 127)\n",
    );
    let repaired = translate("first.c", &["--from", "model.py"]).json(0);
    assert_eq!(repaired["outcome"], "ok");
    assert_eq!(
        (&repaired["drafts"], &repaired["translated_percent"]),
        (&json!(2), &json!(100.0))
    );
    assert_eq!(repaired["usage"]["requests"], 2);
    let written = fs::read_to_string(bench.path("first.c")).unwrap();
    assert!(written.contains("mvin3"));
    let vain = translate(
        "vain.c",
        &["--from", "model.py", "--repairs", "0", "--tries", "2"],
    );
    let vain = vain.json(1);
    assert_eq!(
        (&vain["drafts"], &vain["outcome"]),
        (&json!(2), &json!("wrong"))
    );

    let begun = translate("begun.c", &["--iterations", "0"]).json(0);
    assert_eq!(
        (&begun["outcome"], &begun["translated_percent"]),
        (&json!("ok"), &json!(0.0))
    );
    // What is there already is not replaced unasked, which is told before a model is asked.
    let n_asked = requests_at(&model).await;
    let refused = translate("begun.c", &[]);
    assert_eq!(refused.code, 2, "{}", refused.messages);
    assert!(
        refused.messages.contains("begun.c is there already"),
        "{}",
        refused.messages
    );
    let nowhere = translate("no-folder/begun.c", &[]);
    assert_eq!(nowhere.code, 2, "{}", nowhere.messages);
    assert_eq!(requests_at(&model).await, n_asked);
    let more = ["--overwrite", "--iterations", "1", "--run-dir", "run"];
    let searched = translate("begun.c", &more).json(0);
    assert_eq!(searched["baseline_cycles"], begun["cost"]["value"]);
    // The polish at the end may have made another kernel of what was translated.
    let (baseline, best) = (&searched["baseline_cycles"], &searched["best_cycles"]);
    assert!(best.as_u64().unwrap() * 100 < baseline.as_u64().unwrap());
}

/// A kernel that came back is kept whatever becomes of later calls: a wrong one, and a right one that
/// a search goes on from. A reply of no use costs an attempt, and not those that are left.
#[test]
fn a_translation_keeps_what_came_back() {
    let bench = Bench::new();
    // Answers with the files `1`, `2`, … by turns, and fails where there is none.
    bench.write(
        "model.sh",
        "echo >> calls\ncat > prompt\ncat answer-$(grep -c '' calls)\n",
    );
    let translate = |answers: &[&str], more: &[&str]| {
        for file in ["calls", "answer-1", "answer-2", "answer-3", "kernel.c"] {
            let _ = fs::remove_file(bench.path(file));
        }
        for (number, text) in (1..).zip(answers) {
            bench.write(&format!("answer-{number}"), text);
        }
        let words = ["translate", PROBLEM, "--output", "kernel.c", "--json"];
        let model = ["--model", "command::sh model.sh"];
        bench.run(&[&words[..], &model, more].concat())
    };
    let kept = || fs::read_to_string(bench.path("kernel.c")).unwrap();
    let idle = "void solution(int8_t A[64][64], int8_t B[64][64], int8_t C[64][64]) {}\n";
    let idle = format!("```c\n{idle}```\n");
    let plain = fs::read_to_string(format!("{PROBLEM}/reference.c")).unwrap();
    let plain = format!("```c\n{plain}```\n");

    let ended = translate(&[&idle], &[]);
    let report = ended.json(4);
    assert_eq!(
        (&report["outcome"], &report["drafts"]),
        (&json!("wrong"), &json!(1))
    );
    let message = report["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("no answer: "), "{message}");
    assert!(kept().contains("C[64][64]) {}"), "{}", kept());

    // With no kernel at all there is nothing to keep.
    let none = translate(&[], &[]).json(4);
    assert_eq!(none["outcome"], json!(null));
    assert!(!bench.path("kernel.c").exists());

    // Each reply is asked for once more, so two of no use are one attempt.
    let useless = ["I think so.", "I still think so.", &plain];
    let report = translate(&useless, &["--iterations", "0"]).json(0);
    assert_eq!(
        (&report["outcome"], &report["drafts"]),
        (&json!("ok"), &json!(1))
    );
    assert_eq!(report["usage"]["requests"], 3);
    assert_eq!(report["error"], json!(null));

    let searched = translate(&[&plain], &["--run-dir", "run"]).json(4);
    assert_eq!(
        (&searched["status"], &searched["evaluations"]),
        (&json!("stopped"), &json!(1))
    );
    assert!(kept().contains("sum"), "{}", kept());

    // A search cannot be put where one is, which is told before a model is asked.
    let taken = translate(&[&plain], &["--run-dir", "run"]);
    assert_eq!(taken.code, 2, "{}", taken.messages);
    assert!(!bench.path("calls").exists());
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

#[test]
fn a_prompt_is_about_the_target_that_is_named() {
    let bench = Bench::new();
    let ask = |target: &str| {
        let words = [
            "prompt",
            "rvv/sum-f32-5x333",
            "--no-eval",
            "--json",
            "--target",
            target,
        ];
        bench.run(&words)
    };
    let prompt = |target: &str| {
        let report = ask(target).json(0);
        format!("{}{}", report["system"], report["user"])
    };
    assert_ne!(prompt("rvv-k230"), prompt("rvv-saturn"));
    assert_eq!(ask("gemmini-int8-16").code, 2);
}
