//! Searches whose kernels are evaluated by workers: processes of this machine, through a real
//! `nats-server`.

#[allow(dead_code, reason = "tests of the queue need more of it")]
#[path = "../../../../queue/tests/suite/nats.rs"]
pub(super) mod nats;

use super::program::{Place, cache, problem};
use autocomp_core::{Event, canonical_history};
use autocomp_store::RunReader;
use nats::Nats;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

pub(super) struct Worker(pub(super) Child);

impl Worker {
    fn start(place: &Place, nats: &Nats, name: &str) -> Self {
        let mut command = place.std_command();
        command.args(["worker", "--devices", "2", "--name", name]);
        command.env("AUTOCOMP_QUEUE", nats.address());
        let log = fs::File::create(place.path().join(format!("{name}.log"))).unwrap();
        Self(command.stdout(Stdio::null()).stderr(log).spawn().unwrap())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn events(run: &Path) -> Vec<Event> {
    let mut reader = RunReader::open(run).unwrap();
    reader
        .read_on()
        .unwrap()
        .into_iter()
        .map(|it| it.event)
        .collect()
}

/// Returns the workers of all evaluations, and checks that no task has two.
fn workers(events: &[Event]) -> Vec<String> {
    let mut keys = std::collections::BTreeSet::new();
    let evaluated = events.iter().filter_map(|event| match event {
        Event::Evaluated(it) => Some(it),
        _ => None,
    });
    evaluated
        .filter(|it| it.same_as.is_none())
        .map(|it| {
            assert!(keys.insert(it.key), "{} is there twice", it.key);
            it.evaluation.worker.clone().unwrap()
        })
        .collect()
}

const SEARCH: [&str; 6] = ["--max-evaluations", "14", "--seed", "3", "--run-dir", "run"];

#[test]
fn workers_that_come_and_go_give_the_history_that_this_machine_gives() {
    let place = Place::new();
    let ended = place.call(&[&["optimize", &problem()], &SEARCH[..5], &["here"]].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let nats = Nats::start();
    let mut others = vec![
        Worker::start(&place, &nats, "desk"),
        Worker::start(&place, &nats, "attic"),
    ];
    let problem = problem();
    let begin = [&["optimize", problem.as_str()], &SEARCH[..]].concat();
    let queue = ["--queue", &nats.address(), "--queue-lease", "2"].map(str::to_owned);
    let mut coordinator = place.std_command();
    coordinator.args(&begin).args(&queue);
    let mut coordinator = coordinator
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // A worker is killed, and then the search, wherever they are.
    let journal = place.path().join("run/run.sqlite");
    while !journal.exists() && coordinator.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(20));
    }
    others.pop();
    std::thread::sleep(Duration::from_millis(700));
    let _ = coordinator.kill();
    coordinator.wait().unwrap();
    let ended = place
        .command()
        .args(["optimize", "--resume", "run"])
        .args(&queue)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(ended.status.success(), "{told}");
    let (here, there) = (
        events(&place.path().join("here")),
        events(&place.path().join("run")),
    );
    assert_eq!(canonical_history(&here), canonical_history(&there));
    let workers = workers(&there);
    assert!(workers.contains(&"desk".to_owned()), "{workers:?}");
    let ended = place.call(&["report", "run", "--out", "run.html"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let report = fs::read_to_string(place.path().join("run.html")).unwrap();
    assert!(report.contains("Who evaluated</h3>") && report.contains("<td>desk</td>"));
    // Of its jobs nothing is left on the worker.
    let kept = cache().join("workers/desk");
    for _ in 0..3000 {
        if fs::read_dir(&kept).unwrap().count() == 0 {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("{} is not empty", kept.display());
}

#[test]
fn what_cannot_be_is_told_with_a_remedy() {
    let place = Place::new();
    let cases: [(&[&str], i32, &str); 4] = [
        (
            &["--queue", "nats://127.0.0.1:1"],
            4,
            "autocomp worker serve",
        ),
        (
            &["--queue", "nats://me:SECRET@host"],
            2,
            "a secret does not belong",
        ),
        (&["--queue-access", "none.toml"], 2, "name the queue"),
        (
            &["--queue", "host", "--queue-access", "none.toml"],
            2,
            "none.toml",
        ),
    ];
    for (arguments, code, expected) in cases {
        let ended = place.call(&[&["eval", &problem()], arguments].concat());
        assert_eq!(ended.code, Some(code), "{}", ended.stderr);
        assert!(ended.stderr.contains(expected), "{}", ended.stderr);
        assert!(!ended.stderr.contains("SECRET"), "{}", ended.stderr);
    }
    let nats = Nats::start();
    let compiler = ["--queue", &nats.address(), "--compiler", "gcc"];
    let ended = place.call(&[&["eval", &problem()], &compiler[..]].concat());
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("workers take no program"),
        "{}",
        ended.stderr
    );
    let ended = place.call(
        &[
            &["worker"],
            &["--queue", &nats.address(), "--compiler", "nope"][..],
        ]
        .concat(),
    );
    assert_eq!(ended.code, Some(4), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("compiler nope does not work"),
        "{}",
        ended.stderr
    );
}
