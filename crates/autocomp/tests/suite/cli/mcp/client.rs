//! A client of the protocol, and what it is answered.

use super::super::program::{Place, problem};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// A client over standard input and output.
pub struct Client {
    pub server: Child,
    pub to: Option<ChildStdin>,
    pub from: BufReader<ChildStdout>,
    number: u64,
    /// Notifications that came while an answer was awaited.
    pub told: Vec<Value>,
}

/// What a tool answered.
#[derive(Debug)]
pub struct Answer {
    pub text: String,
    pub object: Value,
    pub is_error: bool,
}

impl Client {
    pub fn start(place: &Place, arguments: &[&str]) -> Self {
        Self::start_with(place, arguments, json!({}))
    }

    /// Starts the server and says what the client is capable of.
    pub fn start_with(place: &Place, arguments: &[&str], capabilities: Value) -> Self {
        let mut client = Self::silent(place, arguments);
        client.initialize(&capabilities);
        client
    }

    /// Starts the server and says nothing.
    pub fn silent(place: &Place, arguments: &[&str]) -> Self {
        let mut server = place
            .std_command()
            .args(["mcp", "--folder", "shared", "--data", &problem()])
            .args(arguments)
            .env("OPENAI_API_KEY", "sk-of-nobody")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            to: server.stdin.take(),
            from: BufReader::new(server.stdout.take().unwrap()),
            server,
            number: 0,
            told: Vec::new(),
        }
    }

    pub fn initialize(&mut self, capabilities: &Value) {
        let answer = self.request(
            "initialize",
            json!({
                "protocolVersion": "2025-06-18",
                "capabilities": capabilities,
                "clientInfo": { "name": "test", "version": "1" },
            }),
        );
        assert_eq!(answer["result"]["serverInfo"]["name"], "autocomp");
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    }

    pub fn send(&mut self, message: &Value) {
        writeln!(self.to.as_mut().unwrap(), "{message}").unwrap();
    }

    pub fn request(&mut self, method: &str, params: Value) -> Value {
        self.number += 1;
        let id = self.number;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let mut line = String::new();
            assert_ne!(
                self.from.read_line(&mut line).unwrap(),
                0,
                "the server is gone"
            );
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == id {
                return message;
            }
            self.told.push(message);
        }
    }

    pub fn call(&mut self, tool: &str, arguments: Value) -> Answer {
        let answer = self.request(
            "tools/call",
            json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": "p" } }),
        );
        let result = &answer["result"];
        assert!(result.is_object(), "{answer}");
        let texts = result["content"].as_array().unwrap().iter();
        let answer = Answer {
            text: texts.map(|it| it["text"].as_str().unwrap()).collect(),
            object: result["structuredContent"].clone(),
            is_error: result["isError"] == true,
        };
        // One form or the other.
        assert!(
            answer.text.is_empty() || answer.object.is_null(),
            "{answer:?}"
        );
        answer
    }

    /// Ends the conversation; the server ends by itself.
    pub fn end(mut self) {
        self.to = None;
        assert!(self.server.wait().unwrap().success());
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
