//! Replies with status 200 that hold no answer: what they hold is told, and errors of servers
//! behind the one that was asked are errors of their kind.

use super::{request, spec};
use autocomp_llm::{
    Budget, ConnectSettings, Connector, LlmClient, LlmErrorKind, NetworkClient, Secrets,
};
use serde_json::{Value, json};
use std::sync::Arc;
use wiremock::{Mock, MockServer, ResponseTemplate};

async fn server(body: Value) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(wiremock::matchers::any())
        .respond_with(ResponseTemplate::new(200).set_body_json(body))
        .mount(&server)
        .await;
    server
}

fn choice(message: Value, finish: &str) -> Value {
    json!({"choices": [{"message": message, "finish_reason": finish}]})
}

#[tokio::test]
async fn what_a_reply_without_an_answer_holds_is_told() {
    use LlmErrorKind::{
        Auth, ContextTooLong, Empty, NoAnswer, Overload, Quota, RateLimit, Truncated,
    };
    let thoughts = "only reasoning came back (9 characters)";
    let cases = [
        (
            "compatible",
            choice(
                json!({"content": "", "reasoning_content": "I think so"[..9].to_owned()}),
                "stop",
            ),
            NoAnswer,
            thoughts,
        ),
        (
            "compatible",
            choice(json!({"content": null, "reasoning": "I think. "}), "stop"),
            NoAnswer,
            thoughts,
        ),
        (
            "compatible",
            choice(
                json!({"content": null, "tool_calls": [{"function": {"name": "write_file", "arguments": "{}"}}]}),
                "tool_calls",
            ),
            NoAnswer,
            "the model called the tool `write_file` instead of answering",
        ),
        (
            "compatible",
            choice(
                json!({"content": "", "function_call": {"name": "run"}}),
                "function_call",
            ),
            NoAnswer,
            "the tool `run`",
        ),
        (
            "compatible",
            choice(json!({"content": ""}), "stop"),
            Empty,
            "the reply holds no text",
        ),
        (
            "compatible",
            choice(
                json!({"content": "", "reasoning_content": "I think. "}),
                "length",
            ),
            Truncated,
            "raise max_output_tokens",
        ),
        (
            "compatible",
            json!({"choices": [{"message": {"content": ""}, "finish_reason": "error", "error": {"code": 502, "message": "upstream died"}}]}),
            Overload,
            "HTTP status 502: upstream died",
        ),
        (
            "compatible",
            json!({"choices": [{"message": {"content": "half"}, "error": {"code": 429, "message": "slow down"}}]}),
            RateLimit,
            "slow down",
        ),
        (
            "compatible",
            choice(json!({"content": ""}), "error"),
            Overload,
            "ended the reply with an error",
        ),
        (
            "compatible",
            json!({"choices": []}),
            Empty,
            "the reply holds no text",
        ),
        (
            "compatible",
            json!({"error": {"code": "429", "message": "slow down"}}),
            RateLimit,
            "slow down",
        ),
        (
            "compatible",
            json!({"error": {"type": "authentication_error", "message": "who are you"}}),
            Auth,
            "who are you",
        ),
        (
            "compatible",
            json!({"error": {"code": "insufficient_quota", "message": "pay"}}),
            Quota,
            "pay",
        ),
        (
            "compatible",
            json!({"error": {"code": "context_length_exceeded", "message": "too much"}}),
            ContextTooLong,
            "too much",
        ),
        (
            "compatible",
            json!({"error": {"code": "server_error", "message": "oops"}}),
            Overload,
            "oops",
        ),
        (
            "ollama",
            json!({"error": "model runner has stopped"}),
            Overload,
            "model runner has stopped",
        ),
        (
            "ollama",
            json!({"message": {"content": "", "thinking": "I think. "}}),
            NoAnswer,
            thoughts,
        ),
        (
            "ollama",
            json!({"message": {"content": "", "tool_calls": [{"function": {"name": "ls"}}]}}),
            NoAnswer,
            "`ls`",
        ),
        (
            "anthropic",
            json!({"content": [{"type": "thinking", "thinking": "I think. "}]}),
            NoAnswer,
            thoughts,
        ),
        (
            "anthropic",
            json!({"content": [{"type": "tool_use", "name": "bash", "input": {}}]}),
            NoAnswer,
            "`bash`",
        ),
        (
            "gemini",
            json!({"candidates": [{"content": {"parts": [{"thought": true, "text": "I think. "}]}}]}),
            NoAnswer,
            thoughts,
        ),
        (
            "gemini",
            json!({"candidates": [{"content": {"parts": [{"functionCall": {"name": "search"}}]}}]}),
            NoAnswer,
            "`search`",
        ),
        (
            "gemini",
            json!({"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL"}]}),
            NoAnswer,
            "called a tool",
        ),
        (
            "openai-responses",
            json!({"output": [{"type": "reasoning", "summary": [{"text": "I think. "}]}]}),
            NoAnswer,
            thoughts,
        ),
        (
            "openai-responses",
            json!({"output": [{"type": "reasoning", "summary": []}]}),
            NoAnswer,
            "hidden by the provider",
        ),
        (
            "openai-responses",
            json!({"output": [{"type": "function_call", "name": "shell"}]}),
            NoAnswer,
            "`shell`",
        ),
        (
            "openai-responses",
            json!({"status": "failed", "error": {"code": "rate_limit_exceeded", "message": "wait"}, "output": []}),
            RateLimit,
            "wait",
        ),
        (
            "bedrock",
            json!({"output": {"message": {"content": [{"reasoningContent": {"reasoningText": {"text": "I think. "}}}]}}}),
            NoAnswer,
            thoughts,
        ),
        (
            "bedrock",
            json!({"output": {"message": {"content": [{"toolUse": {"name": "grep"}}]}}}),
            NoAnswer,
            "`grep`",
        ),
    ];
    for (provider, body, kind, words) in cases {
        let what = format!("{provider} {body}");
        let server = server(body).await;
        let model = spec(&format!("{provider}@{}/v1::m", server.uri()));
        let client = NetworkClient::new(&model, &Secrets::default()).expect("client");
        let error = client.complete(&request()).await.expect_err(&what);
        assert_eq!(error.kind, kind, "{what}: {error}");
        assert!(error.message.contains(words), "{what}: {error}");
    }
}

/// A reply that holds something else than an answer is not asked for again as it was.
#[tokio::test]
async fn thoughts_alone_and_calls_of_tools_are_not_asked_for_five_times() {
    let body = choice(json!({"content": "", "reasoning_content": "Well."}), "stop");
    let server = server(body).await;
    let connector = Connector::new(
        ConnectSettings {
            allow_unknown_prices: true,
            ..ConnectSettings::standard()
        },
        Arc::new(Secrets::default()),
        Budget::unlimited(),
    );
    let set = connector
        .connect(&[format!("compatible@{}/v1::m", server.uri())])
        .expect("connect");
    let error = set.members()[0]
        .complete(&request())
        .await
        .expect_err("no answer");
    assert_eq!(
        (error.kind, error.attempts.len()),
        (LlmErrorKind::NoAnswer, 1)
    );
}
