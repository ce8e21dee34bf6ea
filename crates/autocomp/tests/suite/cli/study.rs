//! `autocomp study`: the example that is shipped, in part.

use super::program::Place;
use std::fs;
use std::path::Path;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples/study");

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

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
        .replace("max_evaluations = 6", "max_evaluations = 5")
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
