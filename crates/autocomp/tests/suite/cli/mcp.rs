//! A client that speaks the protocol with the real program.

mod client;
mod http;

use super::program::Place;
use client::{Answer, Client};
use serde_json::{Value, json};
use std::io::{BufRead as _, Write as _};

/// Whatever the tools propose for the best kernel so far is evaluated, until nothing is better.
#[test]
fn a_client_improves_a_kernel_by_tools_alone() {
    let place = Place::new();
    let mut client = Client::start(&place, &[]);
    let problems = client.call("problems", json!({ "problem": "gemm-64", "form": "json" }));
    assert_eq!(problems.object["name"], "gemm-64");
    let cost = |answer: &Answer| answer.object["cycles"].as_u64();
    let baseline = client.call("evaluate", json!({ "problem": "gemm-64", "form": "json" }));
    let baseline = cost(&baseline).unwrap();
    let mut best = (baseline, "baseline".to_owned());
    for _ in 0..3 {
        let before = best.0;
        let proposals = client.call(
            "propose",
            json!({ "problem": "gemm-64", "kernel": best.1, "count": 4, "form": "json" }),
        );
        for proposal in proposals.object["proposals"].as_array().unwrap() {
            let file = proposal["file"].as_str().unwrap();
            let verdict = client.call(
                "evaluate",
                json!({ "problem": "gemm-64", "kernel": file, "form": "json" }),
            );
            if let Some(cost) = cost(&verdict)
                && cost < best.0
            {
                best = (cost, file.to_owned());
            }
        }
        if best.0 == before {
            break;
        }
    }
    assert!(best.0 * 2 < baseline, "{best:?} of {baseline}");
    let text = client.call("read", json!({ "path": best.1 })).text;
    assert!(text.contains("void solution("), "{text}");
    // The same by its text, which is kept once.
    let again = client.call(
        "evaluate",
        json!({ "problem": "gemm-64", "source": text, "form": "json" }),
    );
    assert_eq!(cost(&again), Some(best.0));
    let explained = client.call("explain", json!({ "problem": "gemm-64", "kernel": best.1 }));
    assert!(explained.text.contains("cycles"), "{explained:?}");
    client.end();
}

#[test]
fn a_search_is_started_watched_and_shown() {
    let place = Place::new();
    let mut client = Client::start(&place, &["--max-evaluations", "12"]);
    let start = json!({ "problem": "gemm-64", "max_evaluations": 500, "form": "json" });
    let started = client.call("search_start", start);
    assert_eq!(
        started.object,
        json!({ "run": "runs/gemm-64-s0", "evaluations_granted": 12, "evaluations_left": 0 })
    );
    let run = json!({ "run": "gemm-64-s0", "wait_s": 300, "form": "json" });
    let status = client.call("search_status", run);
    assert_eq!(status.object["process"], "finished", "{status:?}");
    let said = status.object["said"].as_str().unwrap();
    assert!(
        said.contains("iteration ") && said.contains(" evaluated"),
        "{said}"
    );
    assert!(
        status.object["evaluations"].as_u64().unwrap() <= 12,
        "{status:?}"
    );
    let messages = client
        .told
        .iter()
        .filter_map(|it| it["params"]["message"].as_str());
    let messages: Vec<&str> = messages.collect();
    // The newest line whenever there is one: which ones, is a matter of speed.
    assert!(!messages.is_empty());
    assert!(
        messages
            .iter()
            .all(|it| (1..=200).contains(&it.chars().count())),
        "{messages:?}"
    );
    let result = client.call("search_result", json!({ "run": "gemm-64-s0" }));
    assert!(
        result
            .text
            .starts_with("the best kernel is runs/gemm-64-s0/best.c\n"),
        "{result:?}"
    );
    let shown = client.call(
        "show",
        json!({ "run": "gemm-64-s0", "kernel": "best", "code": true }),
    );
    let read = client.call("read", json!({ "path": "runs/gemm-64-s0/best.c" }));
    assert_eq!(shown.text, read.text);
    client.end();
}

/// What a search did not evaluate is given back, whether it was refused, resumed or ended; and a
/// resumed one pays for what it makes alone.
#[test]
fn evaluations_that_were_not_made_are_given_back() {
    let place = Place::new();
    let mut client = Client::start(&place, &["--max-evaluations", "20"]);
    let refused = json!({ "problem": "gemm-64", "kernel": "none", "max_evaluations": 15 });
    let n_left = |client: &mut Client, more: Value| {
        let mut start = json!({ "max_evaluations": 5, "form": "json" });
        start
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let started = client.call("search_start", start);
        assert!(!started.is_error, "{started:?}");
        let name = started.object["run"].as_str().unwrap().to_owned();
        let run = json!({ "run": name, "wait_s": 300, "form": "json" });
        let status = client.call("search_status", run).object;
        assert_eq!(status["process"], "finished", "{status}");
        let left = started.object["evaluations_left"].as_u64().unwrap();
        (left, status["evaluations"].as_u64().unwrap())
    };
    for _ in 0..3 {
        let answer = client.call("search_start", refused.clone());
        assert!(answer.is_error, "{answer:?}");
    }
    let first = json!({ "problem": "gemm-64", "name": "one" });
    let (left, made) = n_left(&mut client, first);
    assert_eq!((left, made <= 5), (15, true));
    // It cannot be shortened; nothing is taken for that.
    let shortened = json!({ "resume": "one", "max_evaluations": 1 });
    let shortened = client.call("search_start", shortened);
    assert!(shortened.is_error, "{shortened:?}");
    let longer = json!({ "resume": "one", "max_evaluations": made + 8 });
    let (left, in_all) = n_left(&mut client, longer);
    // It may have ended, and given back what it did not make, before the answer was written.
    assert!((20 - made - 8..=20 - in_all).contains(&left), "{left}");
    assert!(made <= in_all && in_all <= made + 8);
    let rest = json!({ "problem": "gemm-64", "name": "two", "max_evaluations": 500 });
    let rest = client.call("search_start", rest);
    let granted = format!("with at most {} evaluations", 20 - in_all);
    assert!(rest.text.contains(&granted), "{rest:?}");
    client.end();
}

/// Returns the environments of all processes that a process has started, directly or not.
fn environments_below(process: u32) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let read = |name: &str| std::fs::read(entry.path().join(name)).unwrap_or_default();
        let Ok(id) = entry.file_name().to_string_lossy().parse::<u32>() else {
            continue;
        };
        let stat = String::from_utf8_lossy(&read("stat")).into_owned();
        // Behind the name, which may hold anything: state, then the parent.
        let parent = stat.rsplit(") ").next().and_then(|it| it.split(' ').nth(1));
        if parent == Some(process.to_string().as_str()) {
            found.push(String::from_utf8_lossy(&read("environ")).into_owned());
            found.extend(environments_below(id));
        }
    }
    found
}

/// Starts a server whose searches may ask people, who answer nothing.
fn with_a_model_that_waits(place: &Place) -> Client {
    Client::start(place, &["--model", "mailbox::box", "--max-usd", "1"])
}

/// A search called `long` that does not end by itself, however fast or slow the machine is.
fn endless_search() -> Value {
    json!({
        "problem": "gemm-64", "max_evaluations": 2000, "name": "long",
        "model": "mailbox::box", "max_usd": 0.25,
    })
}

/// Returns whether the run of [`endless_search`] comes into this state.
fn becomes(place: &Place, wanted: &str) -> bool {
    (0..300).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        place.json(&["show", "shared/runs/long"]).1["status"]["state"] == wanted
    })
}

#[test]
fn a_search_is_cancelled_and_gone_on_with() {
    let place = Place::new();
    let mut client = with_a_model_that_waits(&place);
    assert!(!client.call("search_start", endless_search()).is_error);
    // One at a time.
    let second = client.call("search_start", endless_search());
    assert!(
        second.is_error && second.text.contains("runs/long is going on already"),
        "{second:?}"
    );
    let status = json!({ "run": "long", "wait_s": 0.2, "form": "json" });
    loop {
        let status = client.call("search_status", status.clone()).object;
        assert_eq!(status["process"], "going on", "{status}");
        if !status["evaluations"].is_null() {
            break;
        }
    }
    assert!(
        !client
            .call("search_cancel", json!({ "run": "long" }))
            .is_error
    );
    // On a busy machine it may stop later than the tool waits.
    let stopped = json!({ "run": "long", "wait_s": 300, "form": "json" });
    let cancelled = client.call("search_status", stopped);
    assert_eq!(cancelled.object["process"], "stopped", "{cancelled:?}");
    assert_eq!(
        cancelled.object["status"]["state"], "stopped",
        "{cancelled:?}"
    );
    let said = cancelled.object["said"].as_str().unwrap();
    assert!(said.starts_with("interrupted; continue with"), "{said}");
    let again = json!({
        "resume": "long", "max_evaluations": 2000, "form": "json",
        "model": "mailbox::box", "max_usd": 0.25,
    });
    let again = client.call("search_start", again);
    assert_eq!(again.object["run"], "runs/long", "{again:?}");
    let going_on = client.call("search_status", status);
    assert_eq!(going_on.object["process"], "going on", "{going_on:?}");
    // A search that goes on when its client leaves is stopped.
    client.end();
    assert!(becomes(&place, "stopped"));
}

#[test]
fn searches_that_ask_no_model_see_no_keys() {
    let place = Place::new();
    let mut client = Client::start(&place, &[]);
    let start = json!({ "problem": "gemmini/gemm-512x512x512", "max_evaluations": 3000 });
    assert!(!client.call("search_start", start).is_error);
    let seen = environments_below(client.server.id());
    assert!(!seen.is_empty());
    assert!(seen.iter().all(|it| !it.contains("sk-of-nobody")), "a key");
    client.end();
}

#[test]
fn a_client_with_tasks_gets_one_for_a_search() {
    let place = Place::new();
    let tasks = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let mut client = Client::start_with(&place, &[], tasks);
    let start = json!({
        "name": "search_start",
        "arguments": { "problem": "gemm-64", "max_evaluations": 5 },
    });
    let started = client.request("tools/call", start);
    let task = started["result"]["taskId"]
        .as_str()
        .unwrap_or_else(|| panic!("{started}"));
    let task = json!({ "taskId": task });
    let result = loop {
        let got = client.request("tasks/get", task.clone());
        let got = got["result"].clone();
        match got["status"].as_str() {
            Some("working") => std::thread::yield_now(),
            Some("completed") => break got["result"].clone(),
            _ => panic!("{got}"),
        }
    };
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("runs/gemm-64-s0/best.c"), "{text}");
    client.end();
}

#[test]
fn what_a_client_may_not_is_refused() {
    let place = Place::new();
    std::fs::create_dir(place.path().join("shared")).unwrap();
    place.file("outside.c", "secret");
    place.file("shared/.hidden", "secret");
    std::os::unix::fs::symlink("../outside.c", place.path().join("shared/link.c")).unwrap();
    std::os::unix::fs::symlink("../outside.c", place.path().join("shared/plain")).unwrap();
    std::os::unix::fs::symlink("..", place.path().join("shared/up")).unwrap();
    let run = place.path().join("shared/runs/crafted");
    std::fs::create_dir_all(&run).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", run.join("run.sqlite")).unwrap();
    std::fs::create_dir(place.path().join("foreign")).unwrap();
    place.file("foreign/run.sqlite", "secret");
    let linked = place.path().join("shared/runs/linked");
    std::os::unix::fs::symlink("../../foreign", linked).unwrap();
    let mut client = Client::start(&place, &["--max-evaluations", "1"]);
    let with = |more: Value| {
        let mut all = json!({ "problem": "gemm-64" });
        all.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        all
    };
    let cases = [
        ("evaluate", with(json!({ "kernel": "../outside.c" }))),
        ("evaluate", with(json!({ "kernel": "/etc/passwd" }))),
        ("evaluate", with(json!({ "kernel": "link.c" }))),
        ("evaluate", with(json!({ "kernel": "plain" }))),
        ("explain", with(json!({ "kernel": "plain" }))),
        ("propose", with(json!({ "kernel": "plain" }))),
        ("search_start", with(json!({ "kernel": "plain" }))),
        ("evaluate", with(json!({ "kernel": "up/outside.c" }))),
        (
            "evaluate",
            with(json!({ "kernel": "baseline", "source": "x" })),
        ),
        ("evaluate", with(json!({ "machine": "--no-cache" }))),
        ("evaluate", with(json!({ "compiler": "/bin/sh" }))),
        ("evaluate", with(json!({ "count": 2 }))),
        ("evaluate", json!({ "problem": "--data=/" })),
        ("evaluate", json!({ "problem": "up" })),
        ("evaluate", json!({ "problem": 7 })),
        ("evaluate", json!({ "problem": "gemm-65" })),
        ("evaluate", with(json!({ "kernel": "absent" }))),
        ("evaluate", with(json!({ "machine": "absent" }))),
        ("read", json!({ "path": ".hidden" })),
        ("read", json!({ "path": "link.c" })),
        ("show", json!({ "run": "crafted" })),
        (
            "search_start",
            with(json!({ "model": "command::touch broken" })),
        ),
        ("search_start", with(json!({ "name": "../broken" }))),
        ("search_start", with(json!({ "max_minutes": -1 }))),
        ("search_start", with(json!({ "strategy": "--trust" }))),
        ("search_start", json!({})),
        ("search_start", json!({ "resume": "crafted" })),
        ("search_cancel", json!({ "run": "crafted" })),
        ("propose", with(json!({ "count": 13 }))),
    ];
    let listed = client.call("runs", json!({}));
    assert_eq!(listed.text.trim(), "no runs in runs", "{listed:?}");
    let mut said = String::new();
    for (tool, arguments) in cases {
        let answer = client.call(tool, arguments.clone());
        assert!(answer.is_error, "{tool} {arguments}: {answer:?}");
        assert!(!answer.text.contains("secret"), "{answer:?}");
        said += &format!("{tool} {arguments}\n{}\n\n", answer.text);
    }
    // What is refused is not counted; the single evaluation is, and then there is none left.
    assert!(!client.call("evaluate", with(json!({}))).is_error);
    let spent = client.call("evaluate", with(json!({})));
    assert!(spent.is_error);
    said += &spent.text;
    assert!(client.request("tools/call", json!({ "name": "no" }))["error"].is_object());
    let unknown = client.request("no/such", json!({}));
    assert_eq!(unknown["error"]["message"], "there is no method `no/such`");
    client.end();
    insta::assert_snapshot!(said);
}

#[test]
fn lines_that_are_no_messages_are_answered() {
    let place = Place::new();
    let mut client = Client::start(&place, &[]);
    let long = format!("{{\"x\": \"{}\"}}", "y".repeat(9 << 20));
    for (line, code, id) in [
        (b"{".as_slice(), -32700, Value::Null),
        (b"\xff\xfe", -32700, Value::Null),
        (b"{\"id\": 7}", -32600, json!(7)),
        (b"[1]", -32600, Value::Null),
        (b"[]", -32600, Value::Null),
        (
            br#"{"jsonrpc": "1.0", "id": 9, "method": "ping"}"#,
            -32600,
            json!(9),
        ),
        (
            br#"{"jsonrpc": "2.0", "id": null, "method": "ping"}"#,
            -32600,
            Value::Null,
        ),
        (
            br#"{"jsonrpc": "2.0", "id": 12, "method": "tools/call", "params": [1]}"#,
            -32600,
            json!(12),
        ),
        (
            br#"{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}"#,
            -32600,
            Value::Null,
        ),
        (
            br#"{"jsonrpc": "2.0", "id": 123456789012345678901234567890, "method": "ping"}"#,
            -32600,
            Value::Null,
        ),
        (
            br#"{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "ping"}"#,
            -32600,
            json!(2),
        ),
        (
            br#"{"jsonrpc": "2.0", "id": 3, "method": 4}"#,
            -32600,
            json!(3),
        ),
        (long.as_bytes(), -32600, Value::Null),
        // Methods that there are, with parameters that are not theirs.
        (
            br#"{"jsonrpc": "2.0", "id": 13, "method": "tools/call", "params": {"name": "runs", "arguments": "{}"}}"#,
            -32602,
            json!(13),
        ),
        (
            br#"{"jsonrpc": "2.0", "id": 14, "method": "tools/call", "params": {}}"#,
            -32602,
            json!(14),
        ),
        (
            br#"{"jsonrpc": "2.0", "id": 15, "method": "resources/read"}"#,
            -32602,
            json!(15),
        ),
        (
            br#"{"jsonrpc": "2.0", "id": 16, "method": "prompts/list"}"#,
            -32601,
            json!(16),
        ),
    ] {
        let to = client.to.as_mut().unwrap();
        to.write_all(line).unwrap();
        to.write_all(b"\n").unwrap();
        let mut answer = String::new();
        client.from.read_line(&mut answer).unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["error"]["code"], code, "{answer}");
        assert_eq!(answer["id"], id, "{answer}");
    }
    let targets = client.call("targets", json!({}));
    assert!(!targets.is_error, "{targets:?}");
    client.end();
}

/// What lacks is said, not what a request without a conversation would have to bring.
#[test]
fn a_conversation_begins_with_initialize() {
    let place = Place::new();
    let mut client = Client::silent(&place, &[]);
    let early = client.request("tools/list", json!({}));
    let said = early["error"]["message"].as_str().unwrap();
    assert!(said.contains("send `initialize` first"), "{early}");
    assert!(client.request("ping", json!({}))["result"].is_object());
    // Neither a message that is not answered nor a greeting that lacks something ends it.
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let bare = client.request("initialize", json!({}));
    let said = bare["error"]["message"].as_str().unwrap();
    assert!(said.contains("missing field `protocolVersion`"), "{bare}");
    client.initialize(&json!({}));
    assert!(client.request("tools/list", json!({}))["result"].is_object());
    client.end();
}

#[test]
fn a_search_that_cannot_begin_is_told_at_once() {
    let place = Place::new();
    let mut client = Client::start(&place, &[]);
    let started = client.call("search_start", json!({ "problem": "no/such" }));
    assert!(
        started.is_error && started.text.contains("no/such"),
        "{started:?}"
    );
    client.end();
}

/// Clients that go away send a termination signal.
#[test]
fn a_server_that_is_told_to_end_stops_its_searches() {
    let place = Place::new();
    let mut client = Client::start(&place, &[]);
    let call = json!({ "problem": "gemm-64", "max_evaluations": 5000, "name": "long" });
    assert!(!client.call("search_start", call).is_error);
    let process = rustix::process::Pid::from_child(&client.server);
    rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
    assert!(client.server.wait().unwrap().success());
    let report = place.json(&["show", "shared/runs/long"]).1;
    assert_eq!(report["status"]["state"], "stopped", "{report}");
}

/// A server that is killed stops nothing any more; its searches end all the same.
#[test]
fn searches_end_with_a_server_that_is_killed() {
    let place = Place::new();
    let mut client = with_a_model_that_waits(&place);
    let started = client.call("search_start", endless_search());
    assert!(!started.is_error, "{started:?}");
    assert!(becomes(&place, "running"));
    client.server.kill().unwrap();
    client.server.wait().unwrap();
    assert!(becomes(&place, "stopped"));
}

#[test]
fn the_skill_is_written_and_keeps_to_the_format() {
    let place = Place::new();
    let ended = place.call(&["mcp", "--write-skill", "skills/autocomp"]);
    assert_eq!(ended.code, Some(0), "{}", ended.transcript());
    let text = std::fs::read_to_string(place.path().join("skills/autocomp/SKILL.md")).unwrap();
    let head = text.split("---").nth(1).unwrap();
    let field = |name: &str| {
        let line = head.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap().trim().to_owned()
    };
    assert_eq!(field("name:"), "autocomp");
    assert!(field("description:").chars().count() <= 1024);
    // Its references are there.
    for link in text.split("](").skip(1) {
        let link = link.split(')').next().unwrap();
        assert!(
            place.path().join("skills/autocomp").join(link).is_file(),
            "{link}"
        );
    }
    let again = place.call(&["mcp", "--write-skill", "skills/autocomp"]);
    assert_eq!(again.code, Some(0));
    place.file("skills/autocomp/SKILL.md", "another");
    let refused = place.call(&["mcp", "--write-skill", "skills/autocomp"]);
    assert_eq!(refused.code, Some(2), "{}", refused.transcript());
}
