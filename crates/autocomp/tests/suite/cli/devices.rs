//! Costs that workers measure: a run has one device, and goes on there.

use super::program::Place;
use super::toy_family::{toy, toy_command};
use super::workers::{Worker, nats::Nats};
use serde_json::Value;
use std::process::Stdio;

fn worker(place: &Place, nats: &Nats, name: &str) -> Worker {
    let mut command = toy_command(place, &["worker", "--devices", "2", "--name", name]);
    command.env("AUTOCOMP_QUEUE", nats.address());
    Worker(
        command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    )
}

#[test]
fn a_run_has_one_device_is_confirmed_there_and_goes_on_there() {
    let place = Place::new();
    let nats = Nats::start();
    let _worker = worker(&place, &nats, "desk");
    let address = nats.address();
    let queue = ["--queue", &address];
    let search = "optimize toy --max-evaluations 3 --set confirm=2 --run-dir";
    let search: Vec<&str> = search.split(' ').collect();
    let ended = toy(&place, &[&search[..], &["there"], &queue].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let shown = toy(&place, &["show", "there", "--json"]);
    let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
    let confirmations = shown["confirmations"].as_array().unwrap();
    let devices: Vec<&str> = confirmations
        .iter()
        .map(|it| it["device"].as_str().unwrap())
        .collect();
    let device = devices[0];
    assert_eq!(devices, vec![device; 2]);
    assert!(device.ends_with("/0"), "{device}");
    let ended = toy(&place, &["report", "there", "--out", "there.html"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let report = std::fs::read_to_string(place.path().join("there.html")).unwrap();
    let cell = format!("<td>desk on {}</td>", device.replace('/', "&#x2f;"));
    assert!(report.contains(&cell), "{device}");

    let ended = toy(&place, &[&search[..], &["here"]].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let on = |run, more: &[&str]| {
        let words = ["optimize", "--resume", run, "--max-evaluations", "4"];
        let ended = toy(&place, &[&words[..], more].concat());
        (ended.code, ended.stderr)
    };
    let there = format!("the run was measured on {device} by a worker");
    let mix: &[&str] = &["--queue", &address, "--any-machine"];
    let cases: [(&str, &[&str], &str); 2] = [
        ("there", &[], &there),
        ("here", &queue, "the run was measured on this machine"),
    ];
    for (run, more, expected) in cases {
        let (code, told) = on(run, more);
        assert_eq!(code, Some(2), "{told}");
        assert!(
            told.contains(expected) && told.contains("--any-machine"),
            "{told}"
        );
    }
    for (run, more) in [("there", &queue[..]), ("here", mix)] {
        let (code, told) = on(run, more);
        assert_eq!(code, Some(0), "{told}");
    }
}
