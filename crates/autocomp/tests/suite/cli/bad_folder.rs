//! Run folders that are damaged or in use.

use super::program::{Place, problem};
use autocomp_core::ContentHash;
use std::fs;
use std::process::Stdio;

fn with_run() -> Place {
    let place = Place::new();
    let (code, value) = place.json(&[
        "optimize",
        &problem(),
        "--run-dir",
        "runs/one",
        "--max-evaluations",
        "3",
    ]);
    assert_eq!(code, Some(0), "{value}");
    place
}

#[test]
fn a_journal_that_is_damaged() {
    let place = with_run();
    let journal = place.path().join("runs/one/run.sqlite");
    let mut bytes = fs::read(&journal).unwrap();
    let length = bytes.len();
    bytes[..length / 2].fill(0x5a);
    fs::write(&journal, &bytes).unwrap();
    for arguments in [
        &["show", "runs/one"][..],
        &["optimize", "--resume", "runs/one"],
        &["optimize", "--replay", "runs/one"],
    ] {
        let ended = place.call(arguments);
        assert_eq!(
            (ended.code, ended.stdout.as_str()),
            (Some(3), ""),
            "{arguments:?} {}",
            ended.stderr
        );
        assert!(
            ended.stderr.contains("runs/one/run.sqlite is damaged"),
            "{}",
            ended.stderr
        );
        assert!(
            ended
                .stderr
                .contains("hint: restore the folder from a copy"),
            "{}",
            ended.stderr
        );
    }
    assert_eq!(fs::read(&journal).unwrap(), bytes, "nothing is touched");

    // The list of runs says so and is not spoilt by it.
    let (code, value) = place.json(&["runs"]);
    assert_eq!(
        (code, value["damaged"].as_array().unwrap().len()),
        (Some(0), 1),
        "{value}"
    );
}

#[test]
fn a_text_that_is_damaged() {
    let place = with_run();
    let (_, report) = place.json(&["show", "runs/one"]);
    let best = report["lineage"].as_array().unwrap().last().unwrap()["source"]
        .as_str()
        .unwrap()
        .to_owned();
    let pack = place.path().join("runs/one/blobs/pack");
    let mut bytes = fs::read(&pack).unwrap();
    let hash: ContentHash = best.parse().unwrap();
    let head = bytes.windows(32).position(|it| it == hash.0).unwrap();
    let length = u32::from_le_bytes(bytes[head + 32..][..4].try_into().unwrap());
    bytes[head + 40..][..length as usize].fill(0);
    fs::write(&pack, bytes).unwrap();
    let ended = place.call(&["show", "runs/one", "--kernel", "best"]);
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(3), ""),
        "{}",
        ended.stderr
    );
    assert!(
        ended.stderr.contains("of the run is damaged") && ended.stderr.contains("hint: "),
        "{}",
        ended.stderr
    );
    // Where other texts are shown too, it is said which one is not.
    let (_, history) = place.json(&["show", "runs/one", "--history"]);
    let events = history["events"].as_array().unwrap().iter();
    let mut keys = events.filter(|it| it["event"] == "evaluated" && it["source"] == *best);
    let key = &keys.next().unwrap()["key"];
    let key = match key["iteration"].as_u64() {
        Some(0) => "baseline".to_owned(),
        _ => format!(
            "i{}.b{}.p{}.d{}",
            key["iteration"], key["parent"], key["plan"], key["draft"]
        ),
    };
    let (code, task) = place.json(&["show", "runs/one", "--task", &key]);
    assert_eq!(code, Some(0), "{task}");
    assert_eq!(task["missing"][0]["hash"], best.as_str(), "{task}");
    let shown = place.call(&["show", "runs/one", "--task", &key]).stdout;
    assert!(
        shown.contains("missing: ") && shown.contains("of the run is damaged"),
        "{shown}"
    );
}

#[test]
fn a_folder_that_is_no_run() {
    let place = Place::new();
    fs::create_dir_all(place.path().join("mine")).unwrap();
    place.file("mine/notes.txt", "keep");
    insta::assert_snapshot!(
        "not-a-run",
        place.call(&["optimize", "--resume", "mine"]).transcript()
    );
    // Found before a compiler is looked for, let alone installed.
    let ended = place.ended(
        &place
            .command()
            .args(["optimize", &problem(), "--run-dir", "mine"])
            .env("AUTOCOMP_CACHE_DIR", place.path().join("cache"))
            .output()
            .unwrap(),
    );
    insta::assert_snapshot!("not-an-empty-folder", ended.stderr);
    assert!(!place.path().join("cache/toolchains").exists());
    assert_eq!(
        fs::read_dir(place.path().join("mine")).unwrap().count(),
        1,
        "nothing is added"
    );
}

#[test]
fn a_second_process_on_the_same_run() {
    let place = Place::new();
    // A model that lets it wait until the test is over and its folder gone.
    let script = place.file("wait.sh", "while test -e \"$0\"; do sleep 1; done\n");
    let mut first = place
        .std_command()
        .args([
            "optimize",
            &problem(),
            "--run-dir",
            "run",
            "--model",
            &format!("command::sh {script}"),
        ])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while place.call(&["show", "run"]).code != Some(0) {
        assert_eq!(first.try_wait().unwrap(), None, "the run does not start");
    }
    let second = place.call(&["optimize", "--resume", "run"]);
    let (_, live) = place.json(&["show", "run"]);
    first.kill().unwrap();
    first.wait().unwrap();
    assert_eq!(
        (second.code, second.stdout.as_str()),
        (Some(4), ""),
        "{}",
        second.stderr
    );
    assert!(
        second.stderr.contains("run is being written by process"),
        "{}",
        second.stderr
    );
    assert!(
        second
            .stderr
            .contains("hint: wait for that process or end it"),
        "{}",
        second.stderr
    );
    assert_eq!(live["status"]["state"], "running", "{live}");
    let (_, dead) = place.json(&["show", "run"]);
    assert_eq!(dead["status"]["state"], "broken", "{dead}");
}
