//! Keys reach no text, wherever a user put them and however they are spelled.

use super::answers::{good, reply};
use super::bench::{Bench, KEY, PROBLEM};
use super::chat::server;
use std::fs;
use std::path::Path;

/// Spellings of [`KEY`] that a text may hold.
fn spellings() -> [String; 7] {
    [
        KEY.to_owned(),
        KEY.to_uppercase(),
        KEY.chars().rev().collect(),
        KEY.bytes().map(|byte| format!("%{byte:02x}")).collect(),
        KEY.bytes().map(|byte| format!("\\u{byte:04X}")).collect(),
        KEY.bytes().map(|byte| format!("{byte:02x}")).collect(),
        // Base64 of the key.
        "c2stcGxhbnRlZC1rZXktMDAwNw".to_owned(),
    ]
}

fn assert_no_key(text: &str, place: &str) {
    for spelling in spellings() {
        assert!(!text.contains(&spelling), "{spelling} in {place}: {text}");
    }
}

/// Complains about a spelling in any file of the folder, compressed ones included.
fn assert_no_key_in(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            assert_no_key_in(&path);
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        let bytes = zstd::decode_all(&bytes[..]).unwrap_or(bytes);
        assert_no_key(
            &String::from_utf8_lossy(&bytes),
            &path.display().to_string(),
        );
    }
}

#[test]
fn what_a_user_mistypes_is_not_shown() {
    let bench = Bench::new();
    for spelling in spellings() {
        let value = spelling.replace('\\', "\\\\");
        bench.write("s.toml", &format!("seed = 1\nopenai_key = \"{value}\"\n"));
        let command = format!("command::ask --with '{spelling}'");
        let address = format!("vllm@http://127.0.0.1:9/v1?k={KEY}::m");
        for (code, words) in [
            (3, &["optimize", "--config", "s.toml"][..]),
            (2, &["optimize", PROBLEM, "--model", &command]),
            (2, &["optimize", PROBLEM, "--model", &address]),
            (2, &["optimize", PROBLEM, "--model", &spelling]),
            (2, &["optimize", PROBLEM, &spelling]),
            (2, &["eval", &spelling]),
            (2, &["prompt", PROBLEM, "--phase", &spelling]),
        ] {
            let ended = bench.run(words);
            assert_eq!(ended.code, code, "{words:?}: {}", ended.messages);
            assert_no_key(&ended.messages, "messages");
            let with_json: Vec<&str> = words.iter().copied().chain(["--json"]).collect();
            let ended = bench.run(&with_json);
            assert!(ended.json(code)["error"].is_object());
            assert_no_key(&format!("{}{}", ended.out, ended.messages), "JSON");
        }
    }
    // A key that nobody knows, but that looks like one.
    bench.write("s.toml", "seed = 1\nother_key = \"abc123def456ghi789\"\n");
    let ended = bench.run(&["optimize", "--config", "s.toml"]);
    assert!(!ended.messages.contains("abc123") && ended.messages.contains("line 2"));
    assert!(
        !bench.path("runs").exists(),
        "a mistake leaves no run behind"
    );
}

/// A server sends the key back in every spelling, in plans and in code, and the
/// kernel to start from holds it, too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_spelling_of_a_key_is_sent_stored_or_shown() {
    let echo = server(|_| {
        let all = spellings().join("\n");
        reply(&format!("CHOICE: other\nPut these words first:\n{all}\n"))
    })
    .await;
    let good = good().await;
    let bench = Bench::new();
    let settings = bench.settings(&[&echo, &good]);
    let ended = bench.optimize(&settings, &[]);
    let report = ended.json(0);
    assert_no_key(&format!("{report}{}", ended.messages), "the report");
    assert_no_key_in(&bench.path("run"));
    for server in [&echo, &good] {
        for request in server.received_requests().await.unwrap() {
            assert_no_key(&String::from_utf8_lossy(&request.body), "a request");
        }
    }
    let shown = bench.run(&["show", "run", "--task", "i1.b0.p0"]);
    assert_no_key(&shown.out, "show");

    let baseline = fs::read_to_string(Path::new(PROBLEM).join("baseline.c")).unwrap();
    let all = spellings()
        .map(|spelling| format!("// {spelling}\n"))
        .concat();
    bench.write("own.c", &format!("{all}{baseline}"));
    let ended = bench.run(&["prompt", PROBLEM, "--phase", "plan", "--kernel", "own.c"]);
    assert_eq!(ended.code, 0, "{}", ended.messages);
    assert!(ended.out.contains("// [OPENAI_API_KEY]"), "{}", ended.out);
    assert_no_key(&ended.out, "a prompt");
}
