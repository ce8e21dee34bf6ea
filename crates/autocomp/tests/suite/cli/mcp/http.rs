//! The server over HTTP: who gets in, and what wrong requests are told.

use crate::cli::program::Place;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;

/// Sends a request as it is and returns status line and body.
fn over_http(address: &str, request: &str, headers: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "{request} HTTP/1.1\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nConnection: close\r\n{headers}\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    // A stream of events is kept open: what comes until the result is enough.
    let mut stream = BufReader::new(stream);
    while stream.read_line(&mut answer).unwrap() != 0 && !answer.contains("serverInfo") {}
    answer
}

#[test]
fn over_http_a_token_is_needed_and_no_page_gets_in() {
    let place = Place::new();
    let mut server = place
        .std_command()
        .args([
            "mcp", "--folder", "shared", "--http", "--port", "0", "--json",
        ])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut from = BufReader::new(server.stdout.take().unwrap());
    let mut text = String::new();
    while !text.ends_with("}\n") {
        assert_ne!(from.read_line(&mut text).unwrap(), 0);
    }
    let serving: Value = serde_json::from_str(&text).unwrap();
    let url = serving["url"].as_str().unwrap();
    let address = url
        .strip_prefix("http://")
        .unwrap()
        .strip_suffix("/mcp")
        .unwrap();
    let token = format!(
        "Authorization: bearer {}\r\n",
        serving["token"].as_str().unwrap()
    );
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": { "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" } },
    })
    .to_string();
    let host = format!("Host: {address}\r\n");
    let right = format!("{host}{token}");
    for (request, status, said) in [
        ("POST /", "404", "the protocol is served at /mcp"),
        ("GET /other", "404", "the protocol is served at /mcp"),
        ("PUT /mcp", "405", "takes POST for messages"),
    ] {
        let answer = over_http(address, request, &right, &body);
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{answer}"
        );
        assert!(answer.contains(said), "{request} {answer}");
    }
    let broken = over_http(address, "POST /mcp", &right, "{broken");
    assert!(broken.starts_with("HTTP/1.1 400"), "{broken}");
    let cases = [
        ("401", host.clone()),
        ("401", format!("{host}Authorization: Bearer 0\r\n")),
        ("403", format!("Host: evil.example\r\n{token}")),
        (
            "403",
            format!("{host}{token}Origin: http://evil.example\r\n"),
        ),
        ("200", right),
    ];
    for (status, headers) in cases {
        let answer = over_http(address, "POST /mcp", &headers, &body);
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{headers}{answer}"
        );
        assert_eq!(answer.contains("serverInfo"), status == "200", "{answer}");
    }
    server.kill().unwrap();
    server.wait().unwrap();
    let mut rest = String::new();
    from.read_to_string(&mut rest).unwrap();
}
