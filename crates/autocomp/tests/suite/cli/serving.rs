//! `autocomp worker serve` with a real `nats-server`: what is left of a killed one, keys of single
//! workers, what is told where nobody can work.

use super::program::{Place, problem};
use super::workers::{Worker, nats::Nats};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::fs;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::time::Duration;

/// Returns a port that nobody listens to now.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Starts `worker serve` in a group of processes of its own; what it tells goes to `log`.
fn serve(place: &Place, log: &str, arguments: &[&str]) -> Worker {
    let mut command = place.std_command();
    command.args(["worker", "serve", "--devices", "1"]);
    command.args(arguments).process_group(0);
    let log = fs::File::create(place.path().join(log)).unwrap();
    Worker(command.stdout(Stdio::null()).stderr(log).spawn().unwrap())
}

/// Waits until a line with `what` is told.
fn wait(place: &Place, worker: &mut Worker, log: &str, what: &str) {
    let path = place.path().join(log);
    loop {
        let told = fs::read_to_string(&path).unwrap();
        if told.contains(what) {
            return;
        }
        let ended = worker.0.try_wait().unwrap();
        assert!(ended.is_none(), "{ended:?}: {told}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Ends a server and its worker as a terminal does, and returns what was told.
fn end(place: &Place, mut worker: Worker, log: &str) -> String {
    kill_process_group(Pid::from_child(&worker.0), Signal::INT).unwrap();
    assert!(worker.0.wait().unwrap().success());
    fs::read_to_string(place.path().join(log)).unwrap()
}

#[test]
fn the_server_of_a_killed_one_is_ended_by_the_next_and_a_second_one_is_refused() {
    let place = Place::new();
    let port = free_port().to_string();
    let queue = format!("nats://127.0.0.1:{port}");
    let arguments = ["--folder", "queue", "--port", port.as_str()];
    let mut killed = serve(&place, "killed", &arguments);
    wait(&place, &mut killed, "killed", "takes 1 jobs");
    let ended = place.call(&[&["worker", "serve"], &arguments[..]].concat());
    assert_eq!(ended.code, Some(4), "{}", ended.stderr);
    assert!(ended.stderr.contains("already"), "{}", ended.stderr);
    drop(killed);
    let mut next = serve(&place, "next", &arguments);
    wait(&place, &mut next, "next", "takes 1 jobs");
    let ended = place.call(&["eval", &problem(), "--queue", &queue]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    // A signal to all from the terminal does not reach the server, which would be started again.
    let told = end(&place, next, "next");
    assert!(!told.contains("started again"), "{told}");
    let ended = place.call(&["workers", "--queue", &queue]);
    assert_eq!(ended.code, Some(4), "{}", ended.stderr);
}

#[test]
fn a_server_that_does_not_answer_is_started_again() {
    let place = Place::new();
    let port = free_port().to_string();
    let arguments = ["--folder", "queue", "--port", port.as_str()];
    let mut worker = serve(&place, "log", &arguments);
    wait(&place, &mut worker, "log", "takes 1 jobs");
    let number = fs::read_to_string(place.path().join("queue/nats-server.pid")).unwrap();
    let server = Pid::from_raw(number.trim().parse().unwrap()).unwrap();
    kill_process(server, Signal::STOP).unwrap();
    wait(&place, &mut worker, "log", "does not answer and is started");
    let queue = format!("nats://127.0.0.1:{port}");
    let ended = place.call(&["eval", &problem(), "--queue", &queue]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    end(&place, worker, "log");
}

#[test]
fn a_worker_with_a_key_of_its_own_serves_and_an_address_of_others_is_refused() {
    let place = Place::new();
    let listen = format!("127.0.0.1:{}", free_port());
    let made = place.call(&[
        "worker", "init", "lab", "--user", "anna", "--worker", "desk", "--listen", &listen,
    ]);
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    let configuration = ["--config", "lab/nats-server.conf"];
    let ended = place.call(&[&["worker", "serve"], &configuration[..]].concat());
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains("--name NAME"), "{}", ended.stderr);
    let named = [&configuration[..], &["--name", "desk"]].concat();
    let mut worker = serve(&place, "desk", &named);
    wait(&place, &mut worker, "desk", "worker desk takes 1 jobs");
    let queue = format!("nats://{listen}");
    let asked = [
        "workers",
        "--queue",
        &queue,
        "--queue-access",
        "lab/anna.toml",
        "--metrics",
    ];
    let metrics = place.call(&asked);
    assert_eq!(metrics.code, Some(0), "{}", metrics.stderr);
    let running = metrics
        .stdout
        .lines()
        .find(|line| line.starts_with("autocomp_worker_running{"));
    assert!(running.unwrap().ends_with("} 0"), "{}", metrics.stdout);
    assert_eq!(
        place.call(&[&asked[..], &["--json"]].concat()).code,
        Some(2)
    );
    // A second worker of the name, with a cache of its own.
    let mut second = place.std_command();
    second.args([
        "worker",
        "--queue",
        &queue,
        "--queue-access",
        "lab/desk.toml",
    ]);
    second.env("AUTOCOMP_CACHE_DIR", place.path().join("other"));
    let second = second.output().unwrap();
    let told = String::from_utf8_lossy(&second.stderr).into_owned();
    assert_eq!(second.status.code(), Some(4), "{told}");
    assert!(told.contains("a worker desk already"), "{told}");
    // Somebody more.
    let asked = [
        "workers",
        "--queue",
        &queue,
        "--queue-access",
        "lab/carl.toml",
    ];
    assert_eq!(place.call(&asked).code, Some(2));
    let added = place.call(&["worker", "init", "lab", "--user", "carl"]);
    assert_eq!(added.code, Some(0), "{}", added.stderr);
    for again in [&["--user", "carl"][..], &[], &["--user", "a b"]] {
        let again = place.call(&[&["worker", "init", "lab"], again].concat());
        assert_ne!(again.code, Some(0), "{}", again.stdout);
    }
    let number = fs::read_to_string(place.path().join("lab/nats-server.pid")).unwrap();
    let server = Pid::from_raw(number.trim().parse().unwrap()).unwrap();
    kill_process(server, Signal::HUP).unwrap();
    while place.call(&asked).code != Some(0) {
        std::thread::sleep(Duration::from_millis(100));
    }
    end(&place, worker, "desk");
    for (arguments, expected) in [
        (&["serve", "--port", "0"][..], "1..=65535"),
        (
            &["--queue", &queue, "--name", "a.b"],
            "the name of a worker",
        ),
    ] {
        let ended = place.call(&[&["worker"], arguments].concat());
        assert_eq!(ended.code, Some(2), "{}", ended.stderr);
        assert!(ended.stderr.contains(expected), "{}", ended.stderr);
    }
    let elsewhere = ["worker", "serve", "--folder", "q", "--address", "192.0.2.1"];
    let ended = place.call(&elsewhere);
    assert_eq!(ended.code, Some(4), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("`--address`") && !ended.stderr.contains("search.toml"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_server_without_jetstream_has_no_workers_and_cannot_have_any() {
    let place = Place::new();
    let nats = Nats::with("jetstream: disabled");
    let ended = place.call(&["workers", "--queue", &nats.address()]);
    assert_eq!(ended.code, Some(4), "{}", ended.stderr);
    assert!(ended.stderr.contains("JetStream"), "{}", ended.stderr);
}
