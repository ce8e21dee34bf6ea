//! Servers that hang up, drip, flood, or do not take what they are sent.

use super::{request, spec};
use autocomp_llm::{
    Budget, ConnectSettings, Connector, LlmClient, LlmErrorKind, ModelSpec, NetworkClient,
    ReplySchema, Secrets, Timed,
};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// Serves one connection with pieces of raw bytes, each followed by a pause, then closes it.
pub async fn raw_server(pieces: Vec<&'static str>, pause: Duration) -> ModelSpec {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let address = listener.local_addr().expect("address");
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("accept");
        let mut request = [0; 1 << 16];
        let _ = stream.read(&mut request).await;
        for piece in pieces {
            if stream.write_all(piece.as_bytes()).await.is_err() {
                return;
            }
            let _ = stream.flush().await;
            tokio::time::sleep(pause).await;
        }
    });
    spec(&format!("openai@http://{address}/v1::m"))
}

async fn kind_from(spec: &ModelSpec, limit: Duration) -> LlmErrorKind {
    let client = NetworkClient::new(spec, &Secrets::default()).expect("client");
    Timed::new(client, limit)
        .complete(&request())
        .await
        .expect_err("it fails")
        .kind
}

#[tokio::test]
async fn cut_connections_are_connection_errors() {
    let long = Duration::from_secs(3600);
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n";
    for pieces in [
        vec![],
        vec!["HTTP/1.1 200 O"],
        vec![head],
        vec![head, "{\"choices\": ["],
    ] {
        let spec = raw_server(pieces.clone(), Duration::ZERO).await;
        assert_eq!(
            kind_from(&spec, long).await,
            LlmErrorKind::Connection,
            "{pieces:?}"
        );
    }
    // Nobody listens there.
    let unused = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let address = unused.local_addr().expect("address");
    drop(unused);
    let spec = spec(&format!("openai@http://{address}/v1::m"));
    assert_eq!(kind_from(&spec, long).await, LlmErrorKind::Connection);
}

#[tokio::test]
async fn a_dripping_reply_ends_at_the_time_limit() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n";
    let mut pieces = vec![head];
    pieces.extend(std::iter::repeat_n(" ", 1000));
    let spec = raw_server(pieces, Duration::from_millis(50)).await;
    assert_eq!(
        kind_from(&spec, Duration::from_millis(400)).await,
        LlmErrorKind::Timeout
    );
}

/// A server that sends without end is cut off, whatever format its model has.
#[tokio::test]
async fn an_endless_reply_is_not_read() {
    for provider in [
        "openai",
        "anthropic",
        "gemini",
        "bedrock",
        "ollama",
        "vertex",
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
        let address = listener.local_addr().expect("address");
        let flood = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.expect("accept");
            let mut request = [0; 1 << 16];
            let _ = stream.read(&mut request).await;
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n[";
            stream.write_all(head.as_bytes()).await.expect("written");
            let chunk = "0,".repeat(1 << 15);
            let mut sent = 0;
            // Until the client hangs up.
            while stream.write_all(chunk.as_bytes()).await.is_ok() {
                sent += chunk.len();
            }
            sent
        });
        let spec = spec(&format!("{provider}@http://{address}/v1::m"));
        let kind = kind_from(&spec, Duration::from_secs(3600)).await;
        assert_eq!(kind, LlmErrorKind::Oversized, "{provider}");
        let sent = flood.await.expect("joined");
        // What it sent beyond the limit lay in the buffers of the connection.
        assert!(sent < 32 << 20, "{provider}: {sent} bytes");
    }
}

/// A server without JSON schemas is asked without one from then on.
#[tokio::test]
async fn a_rejected_schema_is_left_out() {
    let server = wiremock::MockServer::start().await;
    let respond = |request: &wiremock::Request| {
        let body: serde_json::Value = serde_json::from_slice(&request.body).expect("json");
        if body.get("response_format").is_some() {
            return wiremock::ResponseTemplate::new(400)
                .set_body_string("response_format is not supported");
        }
        let reply = serde_json::json!({"choices": [{"message": {"content": "A plan."}}]});
        wiremock::ResponseTemplate::new(200).set_body_json(reply)
    };
    wiremock::Mock::given(wiremock::matchers::any())
        .respond_with(respond)
        .mount(&server)
        .await;
    let connector = Connector::new(
        ConnectSettings::standard(),
        Arc::new(Secrets::default()),
        Budget::unlimited(),
    );
    let model = format!("vllm@{}/v1::m", server.uri());
    let set = connector.connect(&[model]).expect("connect");
    let member = &set.members()[0];
    assert!(member.has_structured_output());
    let mut with_schema = request();
    with_schema.schema = Some(ReplySchema {
        name: "plan".to_owned(),
        schema: serde_json::json!({"type": "object"}),
    });
    let first = member.complete(&with_schema).await.expect("answered");
    assert_eq!(first.attempts.len(), 2);
    assert!(!member.has_structured_output());
    let second = member.complete(&with_schema).await.expect("answered");
    assert_eq!(second.attempts.len(), 1);
    let notices = connector.take_notices().join("\n");
    assert!(notices.contains("does not take JSON schemas"), "{notices}");
}
