//! Models and the rewriter in one search.

use super::answers::{answer, good, requests_at};
use super::bench::Bench;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;

fn contribution<'report>(report: &'report Value, who: &str, kind: &str) -> &'report Value {
    let all = report["contributions"].as_array().unwrap();
    all.iter()
        .find(|it| it["proposer"].as_str().unwrap().contains(who) && it["kind"] == kind)
        .unwrap_or_else(|| panic!("{who} ({kind}) in {all:#?}"))
}

/// The rewriter has its turn among the models, and polishes what survives; what
/// each contributed is told apart.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_rewriter_takes_turns_with_a_model() {
    let good = good().await;
    let bench = Bench::new();
    let settings = bench.settings(&[&good]);
    let text = fs::read_to_string(&settings).unwrap();
    let text = text.replace("models = [", "models = [\"rewriter\", ");
    fs::write(&settings, text.replace("plans = 2", "plans = 4")).unwrap();
    let ended = bench.optimize(&settings, &[]);
    let report = ended.json(0);
    assert!(1.0 < report["speedup"].as_f64().unwrap(), "{report:#}");
    let of = |who: &str, kind: &str, field: &str| {
        contribution(&report, who, kind)[field].as_u64().unwrap()
    };
    // Of 8 plans, 4 are set aside for whole schedules in the first iteration.
    assert!(0 < of("openai", "restructure", "drafts"), "{report:#}");
    assert!(0 < of("openai", "step", "drafts"), "{report:#}");
    let turns = of("rewriter", "step", "drafts");
    assert!(
        0 < turns && 0 < of("rewriter", "polish", "right"),
        "{report:#}"
    );
    let steps: u64 = report["contributions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["steps_to_best"].as_u64().unwrap())
        .sum();
    assert_eq!(steps + 1, report["plans"].as_array().unwrap().len() as u64);
    assert_eq!(
        report["models"].as_array().unwrap().len(),
        1,
        "the rewriter costs nothing"
    );

    let shown = bench.run(&["show", "run", "--json"]).json(0);
    assert_eq!(shown["contributions"], report["contributions"]);
    let text = bench.run(&["show", "run"]).out;
    assert!(
        text.contains("rewriter (polish)") && text.contains("rewriter (step)"),
        "{text}"
    );

    // The record tells it all again, without anybody.
    let asked = requests_at(&good).await;
    assert_eq!(bench.replay().json(0)["history"], report["history"]);
    assert_eq!(requests_at(&good).await, asked);

    // Later prompts know what was tried before.
    let mut has_attempts = false;
    for request in good.received_requests().await.unwrap() {
        let body = String::from_utf8_lossy(&request.body).into_owned();
        has_attempts |= body.contains("# What was tried");
        assert!(!body.contains("{{"), "{body}");
    }
    assert!(has_attempts);
}

/// `--model rewriter` alone is the rewriter alone: no plans set aside, no polish.
#[test]
fn the_rewriter_alone_is_as_without_models() {
    let bench = Bench::new();
    let effort = ["--iterations", "2", "--beam", "2", "--plans", "2", "--json"];
    let run = |more: &[&str]| {
        let words = [&["optimize", super::bench::PROBLEM][..], more, &effort].concat();
        bench.run(&words).json(0)
    };
    let plain = run(&["--run-dir", "plain"]);
    let named = run(&["--run-dir", "named", "--model", "rewriter"]);
    assert_eq!(plain["history"], named["history"]);
    assert!(plain["contributions"].as_array().unwrap().len() == 1);
}

/// Requests in a folder are named by phase and task, and the run says which it
/// waits for.
#[test]
fn requests_in_a_folder_say_what_they_are_for() {
    let bench = Bench::new();
    let mailbox = bench.path("mailbox");
    fs::create_dir(&mailbox).unwrap();
    let model = format!("mailbox::{}", mailbox.display());
    let words = [
        "optimize",
        super::bench::PROBLEM,
        "--model",
        &model,
        "--iterations",
        "1",
        "--beam",
        "1",
        "--plans",
        "2",
        "--polish",
        "0",
        "--run-dir",
        "run",
        "--json",
    ];
    let mut child = bench
        .command()
        .args(words)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut answered = BTreeSet::new();
    while child.try_wait().unwrap().is_none() {
        for entry in fs::read_dir(&mailbox).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let Some(stem) = name.strip_suffix(".request.md") else {
                continue;
            };
            if !answered.insert(stem.to_owned()) {
                continue;
            }
            let Ok(prompt) = fs::read_to_string(&path) else {
                continue;
            };
            // The plan of one change is first given in a form that cannot be used.
            let text = if stem.starts_with("plan-") && !stem.contains("-again") {
                "Later.".to_owned()
            } else {
                answer(&prompt)
            };
            let part = mailbox.join(format!("{stem}.part"));
            fs::write(&part, text).unwrap();
            fs::rename(&part, mailbox.join(format!("{stem}.answer.md"))).unwrap();
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let output = child.wait_with_output().unwrap();
    let messages = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{messages}");
    // One of the two plans is set aside for a whole schedule.
    let names: BTreeSet<&str> = answered
        .iter()
        .map(|stem| stem.rsplit_once('-').unwrap().0)
        .collect();
    let plan = names.iter().find(|name| name.starts_with("plan-")).unwrap();
    let (one, other) = (
        &plan[5..],
        if plan.ends_with("p0") {
            "i1.b0.p1"
        } else {
            "i1.b0.p0"
        },
    );
    let expected = [
        "implement-i1.b0.p0.d0".to_owned(),
        "implement-i1.b0.p1.d0".to_owned(),
        format!("plan-{one}"),
        format!("plan-{one}-again"),
        format!("schedule-{other}"),
    ];
    assert_eq!(names, expected.iter().map(String::as_str).collect());
    let waits = format!("waits for an answer in {} to plan-{one}", mailbox.display());
    assert!(messages.contains(&waits), "{messages}");
}
