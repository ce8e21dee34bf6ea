//! `autocomp study`: the example that is shipped, in part.

use super::program::{Place, copy};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples/study");

#[test]
fn arms_are_run_and_compared() {
    let place = Place::new();
    copy(Path::new(EXAMPLE), place.path());
    let whole = fs::read_to_string(place.path().join("study.toml")).unwrap();
    assert_eq!(whole.matches("[[arm]]").count(), 8);
    let (_, absent) = place.json(&["study", "study.toml", "--report"]);
    assert_eq!(
        (&absent["finished"], &absent["total"]),
        (&0.into(), &24.into())
    );
    assert!(!place.path().join("studies").exists());

    // Two of the arms, one seed, fewer evaluations.
    let (head, arms) = whole.split_once("[[arm]]").unwrap();
    let arms: Vec<&str> = arms.split("[[arm]]").collect();
    let head = head
        .replace("seeds = [1, 2, 3]", "seeds = [1]")
        .replace("max_evaluations = 16", "max_evaluations = 5")
        .replace("iterations = 3", "iterations = 2");
    let small = format!("{head}[[arm]]{}[[arm]]{}", arms[0], arms[6]);
    place.file("small.toml", &small);
    let (code, report) = place.json(&["study", "small.toml"]);
    assert_eq!(code, Some(0), "{report}");
    assert_eq!(
        (&report["finished"], &report["total"]),
        (&2.into(), &2.into())
    );
    assert_eq!(report["arms"][0]["ratio_to_first"]["median"], 1.0);
    for run in report["runs"].as_array().unwrap() {
        assert!(
            run["evaluations"]
                .as_u64()
                .is_some_and(|n| (2..=5).contains(&n)),
            "{run}"
        );
        assert_eq!(run["state"], "finished");
    }
    assert!(place.path().join("studies/small/report.md").is_file());

    // What is finished is not repeated; a run that is gone is made again, alike.
    fs::remove_dir_all(place.path().join("studies/small/plain-p0-s1")).unwrap();
    let again = place.call(&["study", "small.toml", "--json"]);
    assert!(
        again.stderr.contains("run 1 of 2: plain-p0-s1"),
        "{}",
        again.stderr
    );
    assert!(!again.stderr.contains("run 2 of 2"), "{}", again.stderr);
    let value: serde_json::Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!(value["arms"], report["arms"]);

    // Other settings belong into another folder.
    place.file("small.toml", small.replace("plans = 3", "plans = 2"));
    let ended = place.call(&["study", "small.toml"]);
    insta::assert_snapshot!("study-with-other-settings", ended.transcript());
}

/// Nothing is run, and paid, of a study that cannot be run to its end.
#[test]
fn an_unknown_problem_is_told_before_anything_is_run() {
    let place = Place::new();
    copy(Path::new(EXAMPLE), place.path());
    let two = "problems = [\"gemm-64\", \"nosuch\"]\nseeds = [1]\nmax_evaluations = 3\n\n[[arm]]\nname = \"one\"\n";
    place.file("two.toml", two);
    let ended = place.call(&["study", "two.toml"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains("nosuch"), "{}", ended.stderr);
    let made = fs::read_dir(place.path().join("studies/two")).unwrap();
    let made = made.map(|it| it.unwrap().path());
    assert_eq!(made.filter(|it| it.is_dir()).count(), 0);
}

/// Runs that are there are not set beside those of a problem that was changed since.
#[test]
fn costs_of_another_problem_are_not_compared() {
    let place = Place::new();
    copy(Path::new(EXAMPLE), place.path());
    let head =
        "problems = [\"gemm-64\"]\nseeds = [1]\nmax_evaluations = 3\n\n[[arm]]\nname = \"one\"\n";
    place.file("two.toml", head);
    let (code, report) = place.json(&["study", "two.toml"]);
    assert_eq!(
        (code, &report["arms"][0]["unit"]),
        (Some(0), &"cycles".into())
    );
    assert_eq!(report["changed"], serde_json::json!([]));
    let reference = place.path().join("gemm-64/reference.c");
    let changed = fs::read_to_string(&reference).unwrap() + "// changed\n";
    fs::write(reference, changed).unwrap();
    // Also where nothing is run again, the table says that it is of the problem as it was.
    for report in [true, false] {
        let words: &[&str] = match report {
            true => &["study", "two.toml", "--report"],
            false => &["study", "two.toml"],
        };
        let ended = place.call(words);
        let told = ended.stdout.contains("The files of gemm-64 have changed");
        assert!(told, "{}", ended.stdout);
    }
    place.file("two.toml", format!("{head}\n[[arm]]\nname = \"two\"\n"));
    let (code, report) = place.json(&["study", "two.toml"]);
    assert_eq!(code, Some(0), "{report}");
    let arms = &report["arms"];
    assert_eq!(
        (&arms[0]["is_compared"], &arms[1]["is_compared"]),
        (&true.into(), &false.into())
    );
    assert!(arms[1]["ratio_to_first"].is_null(), "{report}");
    let text = fs::read_to_string(place.path().join("studies/two/report.md")).unwrap();
    assert!(
        text.contains("two on gemm-64 was measured by another problem"),
        "{text}"
    );
}

/// A study of two arms of the example with one seed, whose stand-in has a price.
fn priced(place: &Place, name: &str, max_usd: Option<f64>) -> String {
    copy(Path::new(EXAMPLE), place.path());
    let price = "version = 1\n\n[[price]]\nmodel = \"command::sh stand-in.sh\"\ninput = 10.0\n\
                 output = 50.0\nas_of = \"2026-01-01\"\nsource = \"a test\"\n";
    place.file("prices.toml", price);
    let whole = fs::read_to_string(place.path().join("study.toml")).unwrap();
    let (head, arms) = whole.split_once("[[arm]]").unwrap();
    let arms: Vec<&str> = arms.split("[[arm]]").collect();
    let cap = max_usd.map_or_else(String::new, |usd| format!("\nmax_usd = {usd:?}"));
    let head = head
        .replace("seeds = [1, 2, 3]", "seeds = [1]")
        .replace("max_evaluations = 16", &format!("max_evaluations = 4{cap}"))
        .replace("iterations = 3", "iterations = 2")
        .replace("repairs = 1", "repairs = 0")
        .replace(
            "allow_unknown_prices = true",
            "prices = \"prices.toml\"\nmax_output_tokens = 800",
        );
    let text = format!("{head}[[arm]]{}[[arm]]{}", arms[0], arms[1]);
    place.file(name, &text);
    name.to_owned()
}

fn medians(report: &Value) -> Vec<&Value> {
    let arms = report["arms"].as_array().unwrap().iter();
    arms.map(|arm| &arm["cost"]["median"]).collect()
}

/// What one run has cost is missing to the next: the cap holds for all runs together. With
/// a higher one, the study goes on where it was and finds the same.
#[test]
fn the_cap_holds_for_all_runs_together() {
    let place = Place::new();
    let free = priced(&place, "free.toml", None);
    let (code, whole) = place.json(&["study", &free]);
    assert_eq!(code, Some(0), "{whole}");
    let cost = whole["cost_usd"].as_f64().unwrap();
    let first = whole["runs"][0]["cost_usd"].as_f64().unwrap();
    assert!(0.0 < first && first < cost, "{whole}");

    // Enough for the first run, and not for the second.
    let cap = first + (cost - first) / 2.0;
    let capped = priced(&place, "capped.toml", Some(cap));
    let (code, report) = place.json(&["study", &capped]);
    assert_eq!(code, Some(4), "{report}");
    assert!(report["cost_usd"].as_f64().unwrap() <= cap, "{report}");
    assert_eq!(report["runs"][0]["state"], "finished");
    assert_eq!(report["runs"][1]["state"], "stopped");
    // What calls under way had set aside may do for another one, never for more than the cap.
    let (code, again) = place.json(&["study", &capped]);
    assert_eq!(code, Some(4), "{again}");
    assert!(again["cost_usd"].as_f64().unwrap() <= cap, "{again}");

    let raised = priced(&place, "capped.toml", Some(10.0 * cost));
    let (code, report) = place.json(&["study", &raised]);
    assert_eq!(code, Some(0), "{report}");
    assert_eq!(medians(&report), medians(&whole));
}

/// A study that is killed in the middle of a run resumes that run, and finds the same.
#[test]
fn a_killed_study_goes_on_in_the_middle_of_a_run() {
    let place = Place::new();
    let whole = priced(&place, "whole.toml", None);
    let (_, whole) = place.json(&["study", &whole]);
    let killed = priced(&place, "killed.toml", None);
    let mut child = place
        .std_command()
        .args(["study", &killed])
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // Until the first run has a kernel beside the baseline.
    let run = place.path().join("studies/killed/plain-p0-s1");
    let has_begun = || {
        let ended = place.call(&["show", &run.display().to_string(), "--json"]);
        let report: Value = serde_json::from_str(&ended.stdout).unwrap_or_default();
        report["evaluations"].as_u64().is_some_and(|n| 2 <= n)
    };
    while child.try_wait().unwrap().is_none() && !has_begun() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let _ = child.kill();
    child.wait().unwrap();

    let again = place.call(&["study", "killed.toml", "--json"]);
    let report: Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert_eq!(medians(&report), medians(&whole));
    for (one, other) in report["runs"]
        .as_array()
        .unwrap()
        .iter()
        .zip(whole["runs"].as_array().unwrap())
    {
        assert_eq!(one["evaluations"], other["evaluations"]);
    }
}
