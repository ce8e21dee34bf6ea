//! The wire format of every provider against a local server.
//!
//! Each cassette is written after the provider's API documentation: the
//! request that must go out (a subset of its JSON), the response, and what must
//! come of it.

use autocomp_core::UsdMicros;
use autocomp_llm::{
    BedrockClient, Budget, GenaiClient, LlmClient, LlmErrorKind, Metered, ModelSpec, OllamaClient,
    Price, Provider, ReasoningEffort, ReplySchema, Request, Secrets, TokenCount,
};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use wiremock::{Mock, MockServer, ResponseTemplate, matchers::any};

const KEY: &str = "sk-planted-key-0001";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cassette {
    model: String,
    #[serde(default)]
    key_variable: Option<String>,
    #[serde(default)]
    reasoning: Option<ReasoningEffort>,
    #[serde(default)]
    schema: bool,
    request: ExpectedRequest,
    response: Response,
    expect: Expected,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectedRequest {
    path: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    body: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Response {
    status: u16,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    body: Value,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    content_type: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    error: Option<LlmErrorKind>,
    #[serde(default)]
    tokens: Option<TokenCount>,
    #[serde(default)]
    retry_after_ms: Option<u64>,
    #[serde(default)]
    reported_cost: Option<u64>,
}

/// Asserts that everything in `expected` stands in `actual`, too.
fn assert_within(expected: &Value, actual: &Value, place: &str) {
    match (expected, actual) {
        (Value::Object(expected), Value::Object(actual)) => {
            for (key, value) in expected {
                let place = format!("{place}/{key}");
                let actual = actual
                    .get(key)
                    .unwrap_or_else(|| panic!("{place} is missing"));
                assert_within(value, actual, &place);
            }
        }
        (Value::Array(expected), Value::Array(actual)) => {
            assert_eq!(expected.len(), actual.len(), "{place}");
            for (idx, (expected, actual)) in expected.iter().zip(actual).enumerate() {
                assert_within(expected, actual, &format!("{place}/{idx}"));
            }
        }
        (Value::Null, _) => {}
        _ => assert_eq!(expected, actual, "{place}"),
    }
}

async fn play(name: &str, cassette: Cassette) {
    let server = MockServer::start().await;
    let mut template = ResponseTemplate::new(cassette.response.status);
    template = match &cassette.response.text {
        Some(text) => template.set_body_raw(
            text.clone(),
            cassette
                .response
                .content_type
                .as_deref()
                .unwrap_or("application/json"),
        ),
        None => template.set_body_json(&cassette.response.body),
    };
    for (key, value) in &cassette.response.headers {
        template = template.insert_header(key.as_str(), value.as_str());
    }
    Mock::given(any())
        .respond_with(template)
        .expect(1)
        .mount(&server)
        .await;

    let secrets = Secrets::from_lookup(|variable| {
        (Some(variable) == cassette.key_variable.as_deref()).then(|| KEY.to_owned())
    });
    let spec: ModelSpec = cassette
        .model
        .replace("{url}", &server.uri())
        .parse()
        .expect(name);
    let client: Box<dyn LlmClient> = match spec.provider {
        Provider::Bedrock => Box::new(BedrockClient::new(&spec, &secrets).expect(name)),
        Provider::Ollama => Box::new(OllamaClient::new(&spec).expect(name)),
        _ => Box::new(GenaiClient::new(&spec, &secrets).expect(name)),
    };
    let model = client.model().to_owned();
    let client = Metered::new(
        client,
        Price::free(&model),
        Budget::unlimited(),
        Arc::new(secrets.clone()),
    );
    let mut request = Request::new("You write plans.", "Write one.", 1000);
    request.reasoning = cassette.reasoning;
    request.schema = cassette.schema.then(|| ReplySchema {
        name: "edits".to_owned(),
        schema: serde_json::json!({
            "type": "object", "properties": {"edits": {"type": "array", "items": {"type": "string"}}},
            "required": ["edits"], "additionalProperties": false,
        }),
    });
    let result = client.complete(&request).await;

    let sent = server.received_requests().await.expect("recorded");
    assert_eq!(sent.len(), 1, "{name}: exactly one request");
    assert_eq!(sent[0].url.path(), cassette.request.path, "{name}");
    for (key, value) in &cassette.request.headers {
        let header = sent[0]
            .headers
            .get(key.as_str())
            .and_then(|header| header.to_str().ok());
        assert_eq!(header, Some(value.as_str()), "{name}: header {key}");
    }
    let body: Value = serde_json::from_slice(&sent[0].body).expect(name);
    assert_within(&cassette.request.body, &body, name);

    let record = match &result {
        Ok(completion) => format!("{completion:?}"),
        Err(error) => format!("{error:?} {error}"),
    };
    assert!(!record.contains(KEY), "{name}: a key in {record}");
    let expect = cassette.expect;
    match result {
        Ok(completion) => {
            assert_eq!(
                Some(completion.text.as_str()),
                expect.text.as_deref(),
                "{name}"
            );
            assert_eq!(completion.tokens, expect.tokens, "{name}");
            assert_eq!(
                completion.reported_cost,
                expect.reported_cost.map(UsdMicros),
                "{name}"
            );
        }
        Err(error) => {
            assert_eq!(Some(error.kind), expect.error, "{name}: {error}");
            if let Some(tokens) = expect.tokens {
                assert_eq!(*error.tokens, tokens, "{name}");
            }
            let waited = error.retry_after.map(|wait| wait.as_millis() as u64);
            assert_eq!(waited, expect.retry_after_ms, "{name}");
        }
    }
}

#[tokio::test]
async fn every_cassette_plays_as_documented() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cassettes");
    let mut names: Vec<_> = std::fs::read_dir(&folder)
        .expect("cassettes")
        .map(|entry| entry.expect("entry").path())
        .collect();
    names.sort();
    assert!(40 <= names.len(), "cassettes are missing");
    for path in names {
        let name = path
            .file_stem()
            .expect("name")
            .to_string_lossy()
            .into_owned();
        let text = std::fs::read_to_string(&path).expect(&name);
        let cassette: Cassette =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        play(&name, cassette).await;
    }
}
