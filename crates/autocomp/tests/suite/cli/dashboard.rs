//! `autocomp serve`: what needs the program itself.

use super::program::Place;
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;

/// Asks for a page and returns its status line and its content.
fn get(address: &str, path: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
    let status = head.lines().next().unwrap_or_default();
    (status.to_owned(), body.to_owned())
}

/// Kernels of every language are profiled again for whoever looks at them.
#[test]
fn kernels_of_every_language_have_a_profile() {
    let place = Place::new();
    for (name, problem) in [
        ("c", "gemmini/gemm-256x256x256"),
        ("nki", "trainium/rmsnorm"),
        ("cuda", "cuda/vector-add-f32-1048576"),
    ] {
        let folder = format!("runs/{name}");
        let words = ["optimize", problem, "--max-evaluations", "1", "--run-dir"];
        let ended = place.call(&[&words[..], &[folder.as_str()]].concat());
        assert_eq!(ended.code, Some(0), "{}", ended.transcript());
    }
    let mut command = place.std_command();
    command.args(["serve", "--port", "0", "--json", "--runs", "runs"]);
    let mut server = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut told = String::new();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let told: Value = loop {
        told += &lines.next().unwrap().unwrap();
        if let Ok(told) = serde_json::from_str(&told) {
            break told;
        }
    };
    let url = told["url"].as_str().unwrap();
    let address = url.trim_start_matches("http://");
    let address = address.split('/').next().unwrap();
    // Launches have no timeline.
    for (name, sides) in [
        ("c", &["profile", "timeline"][..]),
        ("nki", &["profile", "timeline"]),
        ("cuda", &["profile"]),
    ] {
        for side in sides {
            let (status, body) = get(address, &format!("/api/{side}?run={name}&kernel=c0"));
            assert!(status.contains("200"), "{name}: {status} {body}");
        }
    }
    server.kill().unwrap();
    server.wait().unwrap();
}
