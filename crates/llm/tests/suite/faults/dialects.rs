//! Servers that refuse a field: the field is left out or replaced, and that is remembered.

use super::request;
use autocomp_llm::{
    Budget, Completion, ConnectSettings, Connector, LlmError, LlmErrorKind, ReasoningEffort,
    Request, Secrets,
};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use wiremock::{Mock, MockServer, ResponseTemplate};

/// A server that refuses what `refusal` finds in a body, and keeps the bodies.
async fn server(
    refusal: impl Fn(&Value) -> Option<(u16, String)> + Send + Sync + 'static,
) -> (MockServer, Arc<Mutex<Vec<Value>>>) {
    let server = MockServer::start().await;
    let bodies = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&bodies);
    let respond = move |request: &wiremock::Request| {
        let body: Value = serde_json::from_slice(&request.body).expect("json");
        kept.lock().expect("lock").push(body.clone());
        if let Some((status, text)) = refusal(&body) {
            return ResponseTemplate::new(status).set_body_string(text);
        }
        ResponseTemplate::new(200).set_body_json(json!({
            "choices": [{"message": {"content": "A plan."}}],
            "output": [{"content": [{"type": "output_text", "text": "A plan."}]}],
            "content": [{"type": "text", "text": "A plan."}],
            "candidates": [{"content": {"parts": [{"text": "A plan."}]}}],
            "message": {"content": "A plan."},
        }))
    };
    Mock::given(wiremock::matchers::any())
        .respond_with(respond)
        .mount(&server)
        .await;
    (server, bodies)
}

/// A request with everything that can be refused.
fn full() -> Request {
    Request {
        temperature: Some(0.7),
        reasoning: Some(ReasoningEffort::High),
        ..request()
    }
}

/// Asks twice; returns how that ended, and what people were told.
async fn ask_twice(model: &str) -> ([Result<Completion, LlmError>; 2], String) {
    let mut settings = ConnectSettings::standard();
    settings.allow_unknown_prices = true;
    let connector = Connector::new(settings, Arc::new(Secrets::default()), Budget::unlimited());
    let set = connector.connect(&[model]).expect("connect");
    let member = &set.members()[0];
    let answers = [
        member.complete(&full()).await,
        member.complete(&full()).await,
    ];
    (answers, connector.take_notices().join("\n"))
}

/// How servers say it, with `{}` for the field.
const WORDS: [(u16, &str); 10] = [
    (
        400,
        r#"{"error":{"message":"Unsupported parameter: '{}' is not supported with this model.","type":"invalid_request_error","param":"{}","code":"unsupported_parameter"}}"#,
    ),
    (
        400,
        r#"{"error":{"message":"Unsupported value: '{}' does not support 0.7 with this model. Only the default (1) value is supported."}}"#,
    ),
    (
        422,
        r#"{"detail":[{"type":"extra_forbidden","loc":["body","{}"],"msg":"Extra inputs are not permitted"}]}"#,
    ),
    (
        400,
        r#"{"message":"Unrecognized request argument supplied: {}"}"#,
    ),
    (
        400,
        r#"{"error":"unknown field `{}`, expected one of `model`, `messages`"}"#,
    ),
    (
        400,
        r#"{"error":{"message":"`{}` is deprecated for this model."}}"#,
    ),
    (
        400,
        r#"{"error":{"message":"litellm.UnsupportedParamsError: the model does not support parameters: ['{}']"}}"#,
    ),
    (
        404,
        r#"{"error":{"message":"Invalid JSON payload received. Unknown name \"{}\" at 'generation_config': Cannot find field."}}"#,
    ),
    (400, "This model doesn't support the parameter '{}'"),
    (
        422,
        r#"{"object":"error","message":{"detail":[{"loc":["body","{}"],"msg":"extra fields not permitted"}]}}"#,
    ),
];

#[tokio::test]
async fn a_field_that_is_refused_is_left_out_whatever_it_is() {
    for (model, field, pointer) in [
        ("compatible", "temperature", "/temperature"),
        ("compatible", "reasoning_effort", "/reasoning_effort"),
        ("openrouter", "reasoning", "/reasoning"),
        ("openrouter", "usage", "/usage"),
        ("openai-responses", "store", "/store"),
        ("openai-responses", "temperature", "/temperature"),
        ("gemini", "temperature", "/generationConfig/temperature"),
        (
            "gemini",
            "thinkingConfig",
            "/generationConfig/thinkingConfig",
        ),
        ("ollama", "think", "/think"),
        ("anthropic", "temperature", "/temperature"),
    ] {
        for (status, words) in WORDS {
            let text = words.replace("{}", field);
            let refusal = move |body: &Value| body.pointer(pointer).map(|_| (status, text.clone()));
            let (server, bodies) = server(refusal).await;
            let ([first, second], notices) =
                ask_twice(&format!("{model}@{}/v1::m", server.uri())).await;
            let what = format!("{model} {field}: {words}");
            let first = first.unwrap_or_else(|error| panic!("{what}: {error}"));
            let errors = first.attempts.iter().map(|it| it.error_kind);
            let refused = Some(LlmErrorKind::InvalidRequest);
            assert_eq!(errors.collect::<Vec<_>>(), [refused, None], "{what}");
            assert_eq!(second.expect("answered").attempts.len(), 1, "{what}");
            assert!(
                notices.contains(&format!("is asked without `{field}`")),
                "{what}: {notices}"
            );
            // Nothing else is left out, and what is asked stays.
            let bodies = bodies.lock().expect("lock").clone();
            let mut sent = bodies[0].clone();
            let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
            let parent = sent.pointer_mut(parent).and_then(Value::as_object_mut);
            parent.expect("an object").remove(name);
            assert_eq!(bodies[1], sent, "{what}");
            assert_eq!(bodies[2], sent, "{what}");
        }
    }
}

#[tokio::test]
async fn the_limit_of_output_goes_out_under_the_name_that_the_server_knows() {
    for (model, refused, wanted, text) in [
        (
            "compatible@{}/v1::deployment-7",
            "max_tokens",
            "max_completion_tokens",
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        ),
        (
            "openai@{}/v1::azure/gpt-5-mini",
            "max_tokens",
            "max_completion_tokens",
            "Unsupported parameter: max_tokens ... Use max_completion_tokens",
        ),
        (
            "openai@{}/v1::gpt-5-mini",
            "max_completion_tokens",
            "max_tokens",
            "unknown field `max_completion_tokens`",
        ),
        (
            "openai@{}/v1::o3",
            "max_completion_tokens",
            "max_tokens",
            "max_completion_tokens: Extra inputs are not permitted",
        ),
        (
            "vllm@{}/v1::m",
            "max_tokens",
            "max_completion_tokens",
            "'max_tokens' is deprecated in favor of the 'max_completion_tokens' field",
        ),
    ] {
        let refuses = move |body: &Value| body.get(refused).map(|_| (400, text.to_owned()));
        let (server, bodies) = server(refuses).await;
        let ([first, second], notices) = ask_twice(&model.replace("{}", &server.uri())).await;
        assert!(first.is_ok() && second.is_ok(), "{text}: {first:?}");
        let bodies = bodies.lock().expect("lock").clone();
        assert_eq!(bodies.len(), 3, "{text}");
        assert_eq!(bodies[0][refused], 1000);
        for body in &bodies[1..] {
            assert_eq!(body[wanted], 1000, "{text}");
            assert!(body.get(refused).is_none(), "{text}");
        }
        assert!(notices.contains(wanted), "{notices}");
    }
}

/// A server that knows little: one refusal for each field, the limit under both names.
#[tokio::test]
async fn several_fields_are_left_out_one_after_the_other() {
    let known = ["model", "messages"];
    let (server, bodies) = server(move |body| {
        let fields = body.as_object()?;
        let field = fields.keys().find(|name| !known.contains(&name.as_str()))?;
        Some((400, format!("unknown field `{field}`")))
    })
    .await;
    let ([first, second], _) = ask_twice(&format!("compatible@{}/v1::m", server.uri())).await;
    assert!(first.is_ok(), "{first:?}");
    assert_eq!(second.expect("answered").attempts.len(), 1);
    let bodies = bodies.lock().expect("lock").clone();
    assert_eq!(
        bodies
            .last()
            .expect("a body")
            .as_object()
            .expect("an object")
            .len(),
        2
    );
}

/// What is no refusal of a field is not taken for one, and ends soon.
#[tokio::test]
async fn other_errors_stay_what_they_are() {
    for (text, in_message) in [
        (
            "The model `m` does not exist or you do not have access to it",
            "does not exist",
        ),
        (
            "unknown model; see your usage and the provider's reasoning",
            "unknown model",
        ),
        ("messages: unsupported role", "unsupported role"),
        (
            "max_tokens is too large: 1000. This model supports at most 500 completion tokens",
            "`max_output_tokens` lower than 1000",
        ),
        (
            "max_tokens (1000) exceeds the maximum allowed for this model: invalid",
            "`max_output_tokens`",
        ),
        (
            "Invalid value: max_tokens must be less than or equal to 500",
            "`max_output_tokens`",
        ),
    ] {
        let (server, bodies) = server(move |_| Some((400, text.to_owned()))).await;
        let ([first, _], _) = ask_twice(&format!("compatible@{}/v1::m", server.uri())).await;
        let error = first.expect_err("refused");
        assert_eq!(error.kind, LlmErrorKind::InvalidRequest, "{text}");
        assert!(
            error.message.contains(in_message),
            "{text}: {}",
            error.message
        );
        let bodies = bodies.lock().expect("lock").clone();
        assert_eq!(bodies.len(), 2, "{text}");
        assert_eq!(bodies[0], bodies[1], "{text}");
    }
    // A server that refuses everything, under whatever name, is not asked for ever.
    let (server, bodies) = server(|body| {
        let names: Vec<_> = body.as_object()?.keys().cloned().collect();
        Some((400, format!("unsupported: {}", names.join(", "))))
    })
    .await;
    let ([first, _], _) = ask_twice(&format!("openrouter@{}/v1::m", server.uri())).await;
    assert!(first.is_err());
    assert!(bodies.lock().expect("lock").len() <= 16);
}

/// Servers echo what they were sent: a key in a refusal, in the name of a tool or in an error of a
/// server behind stands neither in notices nor in records nor in messages.
#[tokio::test]
async fn no_key_comes_out_of_what_is_learnt() {
    const KEY: &str = "sk-proj-0123456789abcdefghijklmnopqrstuvwxyz";
    let refusals = move |body: &Value| {
        body.get("temperature").map(|_| {
            let text = format!("Unsupported parameter: 'temperature' (key {KEY})");
            (400, text)
        })
    };
    let (server, _) = server(refusals).await;
    let secrets = Secrets::from_lookup(|name| (name == "OPENAI_API_KEY").then(|| KEY.to_owned()));
    let mut settings = ConnectSettings::standard();
    settings.allow_unknown_prices = true;
    let connector = Connector::new(settings, Arc::new(secrets), Budget::unlimited());
    let set = connector
        .connect(&[format!("openai@{}/v1::m", server.uri())])
        .expect("connect");
    let completion = set.members()[0].complete(&full()).await.expect("answered");
    let told = connector.take_notices().join("\n");
    assert!(told.contains("without `temperature`"), "{told}");
    assert!(!format!("{completion:?}{told}").contains(KEY));
    for body in [
        json!({"choices": [{"message": {"content": "", "tool_calls": [{"function": {"name": KEY}}]}}]}),
        json!({"choices": [{"message": {"content": ""}, "error": {"code": 400, "message": KEY}}]}),
        json!({"error": {"code": 400, "message": KEY}}),
    ] {
        let server = MockServer::start().await;
        Mock::given(wiremock::matchers::any())
            .respond_with(ResponseTemplate::new(200).set_body_json(body.clone()))
            .mount(&server)
            .await;
        let set = connector
            .connect(&[format!("openai@{}/v1::m", server.uri())])
            .expect("connect");
        let error = set.members()[0].complete(&request()).await;
        let error = error.expect_err("no answer");
        assert!(!format!("{error:?} {error}").contains(KEY), "{body}");
    }
}
