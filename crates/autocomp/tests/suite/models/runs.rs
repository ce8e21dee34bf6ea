//! Whole runs: with a server, with a program, with a folder in which somebody answers.

use super::answers::{answer, faster, good, requests_at};
use super::bench::{Bench, PROBLEM, REPLY_COST, assert_close};
use serde_json::json;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A cap on money stops the run before it is exceeded; with a higher one, it goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_stops_at_its_cap_and_can_be_resumed() {
    let good = good().await;
    let bench = Bench::new();
    let settings = bench.settings(&[&good]);
    let capped = ["--max-usd", "0.08", "--iterations", "9"];
    let stopped = bench.optimize(&settings, &capped);
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
    assert_eq!(bench.replay().json(0)["history"], report["history"]);
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
            "--polish",
            "0",
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
