//! Standard input and output as a transport: lines that are no messages are answered, too, and
//! none is longer than a message may be.

use crate::parameters::misfit;
use serde::Deserializer as _;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt;
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
    DuplexStream, ReadHalf, WriteHalf,
};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Bytes of a message at most.
const LONGEST: usize = 8 << 20;
/// Where a request that needs no conversation before it says its version of the protocol.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// Bytes that wait between the streams.
const WAITING: usize = 64 << 10;

/// The streams of the protocol, and what carries them on.
pub struct Streams {
    /// Where messages come from.
    pub input: ReadHalf<DuplexStream>,
    /// Where messages go.
    pub output: WriteHalf<DuplexStream>,
    /// Ends when all that was to be written is.
    pub written: JoinHandle<()>,
}

/// Puts `from` and `to`, which speak to a client, before the protocol.
pub fn streams(
    from: impl AsyncRead + Unpin + Send + 'static,
    to: impl AsyncWrite + Unpin + Send + 'static,
) -> Streams {
    let (near, far) = tokio::io::duplex(WAITING);
    let (input, output) = tokio::io::split(near);
    let (answers, messages) = tokio::io::split(far);
    let (sender, lines) = mpsc::channel(64);
    tokio::spawn(read(BufReader::new(from), messages, sender.clone()));
    tokio::spawn(carry(BufReader::new(answers), sender));
    Streams {
        input,
        output,
        written: tokio::spawn(write(lines, to)),
    }
}

/// Hands on messages, and answers what is none.
async fn read(
    mut from: BufReader<impl AsyncRead + Unpin>,
    mut messages: WriteHalf<DuplexStream>,
    answers: mpsc::Sender<Vec<u8>>,
) {
    let mut line = Vec::new();
    let mut is_begun = false;
    loop {
        line.clear();
        let mut piece = (&mut from).take(LONGEST as u64 + 1);
        match piece.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
        if !is_begun && is_notification(&line) {
            // The protocol would end with it, and nobody waits for an answer.
            continue;
        }
        let mut flaw = flaw(&line, &mut is_begun);
        if LONGEST < line.len() {
            flaw = Some((
                -32600,
                Value::Null,
                format!("a message has {LONGEST} bytes at most"),
            ));
            if !skip_line(&mut from, &line).await {
                break;
            }
        }
        match flaw {
            None => {
                if messages.write_all(&line).await.is_err() {
                    break;
                }
            }
            Some((code, id, message)) => {
                let answer = json!({
                    "jsonrpc": "2.0",
                    "id": id,
                    "error": { "code": code, "message": message },
                });
                let mut bytes = answer.to_string().into_bytes();
                bytes.push(b'\n');
                if answers.send(bytes).await.is_err() {
                    break;
                }
            }
        }
    }
    // The protocol ends with its input.
    let _ = messages.shutdown().await;
}

/// Returns what is wrong with a line: code, the number of the request if it can be read, words.
/// The first request that opens a conversation, or needs none, is noted in `is_begun`.
fn flaw(line: &[u8], is_begun: &mut bool) -> Option<(i32, Value, String)> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return None;
    }
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(error) => return Some((-32700, Value::Null, format!("it is no JSON: {error}"))),
    };
    let has = |name: &str| value.get(name).is_some();
    let is_message = has("method") || has("result") || has("error");
    let id = value
        .get("id")
        .filter(|it| it.is_string() || it.is_i64() || it.is_u64());
    let method = value["method"].as_str();
    let misfit = method.and_then(|it| misfit(it, value.get("params")));
    let begins = method == Some("initialize") || !value["params"]["_meta"][VERSION].is_null();
    *is_begun |= begins && misfit.is_none();
    let words = if value.is_array() {
        "it is a batch, which is not taken: send each message on a line of its own"
    } else if !is_message {
        "it is no message: it has neither a method nor a result"
    } else if value["jsonrpc"] != "2.0" {
        "it is no message: `jsonrpc` is not \"2.0\""
    } else if has("id") && id.is_none() {
        "it is no request: `id` is neither a string nor a whole number of 64 bits"
    } else if has("method") && method.is_none() {
        "it is no request: `method` is no string"
    } else if has("params") && !value["params"].is_object() && !value["params"].is_null() {
        "it is no request: `params` is no object"
    } else if has_twice(line) {
        "it is no message: it has two fields of one name"
    } else if id.is_some() && !*is_begun && !matches!(method, Some("ping" | "initialize") | None) {
        "the conversation has not begun: send `initialize` first"
    } else {
        let id = id.cloned()?;
        return misfit.map(|words| (-32602, id, words));
    };
    let id = id.cloned().unwrap_or(Value::Null);
    Some((-32600, id, words.to_owned()))
}

/// Returns whether a line is a message that is not answered.
fn is_notification(line: &[u8]) -> bool {
    let value: Value = serde_json::from_slice(line).unwrap_or_default();
    value["jsonrpc"] == "2.0" && value["method"].is_string() && value.get("id").is_none()
}

/// The names of an object's fields.
struct Names;

impl<'de> Visitor<'de> for Names {
    /// Whether one is there twice.
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        let mut names = BTreeSet::new();
        let mut is_twice = false;
        while let Some(name) = map.next_key::<String>()? {
            map.next_value::<IgnoredAny>()?;
            is_twice |= !names.insert(name);
        }
        Ok(is_twice)
    }
}

/// Returns whether a message has two fields of one name, of which it is not known which one counts.
fn has_twice(line: &[u8]) -> bool {
    serde_json::Deserializer::from_slice(line)
        .deserialize_map(Names)
        .unwrap_or(false)
}

/// Reads the rest of a line; returns whether there is another one.
async fn skip_line(from: &mut BufReader<impl AsyncRead + Unpin>, begun: &[u8]) -> bool {
    if begun.ends_with(b"\n") {
        return true;
    }
    loop {
        let Ok(bytes) = from.fill_buf().await else {
            return false;
        };
        if bytes.is_empty() {
            return false;
        }
        let end = bytes.iter().position(|it| *it == b'\n');
        let length = end.map_or(bytes.len(), |it| it + 1);
        from.consume(length);
        if end.is_some() {
            return true;
        }
    }
}

/// Carries what the protocol says on, line by line.
async fn carry(mut answers: BufReader<ReadHalf<DuplexStream>>, sender: mpsc::Sender<Vec<u8>>) {
    loop {
        let mut line = Vec::new();
        match answers.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) if sender.send(line).await.is_err() => return,
            Ok(_) => {}
        }
    }
}

async fn write(mut lines: mpsc::Receiver<Vec<u8>>, mut to: impl AsyncWrite + Unpin) {
    while let Some(line) = lines.recv().await {
        let written = to.write_all(&line).await;
        if written.is_err() || to.flush().await.is_err() {
            return;
        }
    }
}
