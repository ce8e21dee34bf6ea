//! The wire format of every provider against a local server.
//!
//! Each cassette is written after the provider's API documentation: the
//! request that must go out (a subset of its JSON), the response, and what must
//! come of it.

use autocomp_core::UsdMicros;
use autocomp_llm::{
    Budget, LlmClient, LlmErrorKind, Metered, ModelSpec, NetworkClient, PROVIDERS, Price, Provider,
    ReasoningEffort, ReplySchema, Request, Secrets, TokenCount,
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
    let client = NetworkClient::new(&spec, &secrets).expect(name);
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
    assert!(90 <= names.len(), "cassettes are missing");
    let mut played = BTreeMap::<String, (u32, u32, u32)>::new();
    for path in names {
        let name = path
            .file_stem()
            .expect("name")
            .to_string_lossy()
            .into_owned();
        let text = std::fs::read_to_string(&path).expect(&name);
        let cassette: Cassette =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let (provider, _) = cassette.model.split_once(['@', ':']).expect(&name);
        let counts = played.entry(provider.to_owned()).or_default();
        let tokens = cassette.expect.tokens.unwrap_or_default();
        counts.0 += u32::from(cassette.expect.text.is_some());
        counts.1 += u32::from(0 < tokens.cached);
        counts.2 += u32::from(cassette.expect.error.is_some());
        play(&name, cassette).await;
    }
    for info in PROVIDERS {
        if matches!(info.provider, Provider::Command | Provider::Mailbox) {
            continue;
        }
        let (good, cached, failed) = played.get(info.name).copied().unwrap_or_default();
        assert!(
            0 < good && 0 < failed,
            "{}: cassettes are missing",
            info.name
        );
        // Ollama tells of no cache, and an unknown server of nothing.
        let tells_of_its_cache = !matches!(info.provider, Provider::Ollama | Provider::Compatible);
        assert!(
            0 < cached || !tells_of_its_cache,
            "{}: no cassette with cached tokens",
            info.name
        );
    }
}

/// A server that answers every path with `respond`.
async fn server(
    respond: impl Fn(&wiremock::Request) -> ResponseTemplate + Send + Sync + 'static,
) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(any())
        .respond_with(respond)
        .mount(&server)
        .await;
    server
}

fn header(request: &wiremock::Request, name: &str) -> String {
    let value = request.headers.get(name).map(|value| value.to_str());
    value.and_then(Result::ok).unwrap_or_default().to_owned()
}

#[tokio::test]
async fn bedrock_requests_are_signed_with_an_access_key() {
    let bedrock = server(|_| {
        ResponseTemplate::new(200).set_body_json(serde_json::json!({
            "output": {"message": {"role": "assistant", "content": [{"text": "A plan."}]}},
            "stopReason": "end_turn",
        }))
    })
    .await;
    let secrets = Secrets::from_lookup(|name| match name {
        "AWS_ACCESS_KEY_ID" => Some("AKIDEXAMPLE".to_owned()),
        "AWS_SECRET_ACCESS_KEY" => Some(KEY.to_owned()),
        "AWS_SESSION_TOKEN" => Some("planted-session-token".to_owned()),
        "AWS_REGION" => Some("eu-central-1".to_owned()),
        _ => None,
    });
    let spec = format!("bedrock@{}::anthropic.claude-opus-4-6-v1:0", bedrock.uri());
    let client = NetworkClient::new(&spec.parse().expect("spec"), &secrets).expect("client");
    let request = Request::new("You write plans.", "Write one.", 1000);
    assert_eq!(
        client.complete(&request).await.expect("answered").text,
        "A plan."
    );
    let sent = &bedrock.received_requests().await.expect("recorded")[0];
    let authorization = header(sent, "authorization");
    assert!(
        authorization.starts_with("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/")
            && authorization.contains("/eu-central-1/bedrock/aws4_request, ")
            && authorization.contains("SignedHeaders=host;x-amz-date;x-amz-security-token, "),
        "{authorization}"
    );
    assert_eq!(
        header(sent, "x-amz-security-token"),
        "planted-session-token"
    );
    assert!(!format!("{secrets:?}").contains(KEY));
    assert!(
        !secrets
            .redact(&format!("{KEY} planted-session-token"))
            .contains("planted")
    );
}

fn gemini_reply() -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(serde_json::json!({
        "candidates": [{"content": {"parts": [{"text": "A plan."}]}, "finishReason": "STOP"}],
    }))
}

/// A program prints tokens; the first one is refused, so a second is fetched.
#[tokio::test]
async fn vertex_takes_a_new_token_when_one_is_refused() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let count = folder.path().join("count");
    let program = format!(
        "sh -c 'echo x >> {0}; echo token-$(wc -l < {0} | tr -d \" \")'",
        count.display()
    );
    let vertex = server(|request| {
        if header(request, "authorization") == "Bearer token-2" {
            gemini_reply()
        } else {
            ResponseTemplate::new(401)
        }
    })
    .await;
    let secrets =
        Secrets::from_lookup(|name| (name == "VERTEX_TOKEN_COMMAND").then(|| program.clone()));
    let spec = format!("vertex@{}::gemini-2.5-pro", vertex.uri());
    let client = NetworkClient::new(&spec.parse().expect("spec"), &secrets).expect("client");
    let request = Request::new("You write plans.", "Write one.", 1000);
    for _ in 0..3 {
        assert_eq!(
            client.complete(&request).await.expect("answered").text,
            "A plan."
        );
    }
    let printed = std::fs::read_to_string(&count)
        .expect("count")
        .lines()
        .count();
    assert_eq!(printed, 2, "a token is kept while it is good");
    assert_eq!(secrets.redact("token-2"), "[VERTEX_API_KEY]");
}

#[tokio::test]
async fn vertex_signs_in_with_a_service_account() {
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
    use ring::signature::{
        KeyPair as _, RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey,
    };

    // Made for this test alone, since the library makes none.
    let key = include_str!("../data/rsa-pkcs8.base64");
    let lines = key.split_whitespace().collect::<String>();
    let pair = RsaKeyPair::from_pkcs8(&STANDARD.decode(lines).expect("base64")).expect("a key");
    let public = pair.public_key().as_ref().to_vec();
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{key}-----END PRIVATE KEY-----\n");
    let google = server(move |request| {
        let form = String::from_utf8_lossy(&request.body).into_owned();
        let assertion = form
            .split("assertion=")
            .nth(1)
            .expect("an assertion")
            .to_owned();
        let parts: Vec<&str> = assertion.split('.').collect();
        let signed = format!("{}.{}", parts[0], parts[1]);
        let signature = URL_SAFE_NO_PAD.decode(parts[2]).expect("base64");
        let is_signed = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, &public)
            .verify(signed.as_bytes(), &signature)
            .is_ok();
        let claims = URL_SAFE_NO_PAD.decode(parts[1]).expect("base64");
        let claims: Value = serde_json::from_slice(&claims).expect("claims");
        let is_right = claims["iss"] == "a@p.iam" && claims["scope"].is_string();
        if is_signed && is_right && header(request, "content-type").contains("form") {
            let reply = serde_json::json!({"access_token": "issued-token", "expires_in": 3600});
            ResponseTemplate::new(200).set_body_json(reply)
        } else {
            ResponseTemplate::new(400)
        }
    })
    .await;
    let vertex = server(|request| match header(request, "authorization").as_str() {
        "Bearer issued-token" => gemini_reply(),
        _ => ResponseTemplate::new(401),
    })
    .await;
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("account.json");
    let file = serde_json::json!({
        "type": "service_account", "client_email": "a@p.iam", "private_key": pem,
        "private_key_id": "1", "token_uri": format!("{}/token", google.uri()),
    });
    std::fs::write(&path, file.to_string()).expect("write");
    let secrets = Secrets::from_lookup(|name| {
        (name == "GOOGLE_APPLICATION_CREDENTIALS").then(|| path.display().to_string())
    });
    let spec: ModelSpec = format!("vertex@{}::gemini-2.5-pro", vertex.uri())
        .parse()
        .expect("spec");
    let refused = NetworkClient::new(&spec, &secrets)
        .err()
        .expect("others may read it");
    assert!(refused.message.contains("chmod 600"), "{}", refused.message);
    set_private(&path);
    let client = NetworkClient::new(&spec, &secrets).expect("client");
    let request = Request::new("You write plans.", "Write one.", 1000);
    for _ in 0..2 {
        assert_eq!(
            client.complete(&request).await.expect("answered").text,
            "A plan."
        );
    }
    let asked = google.received_requests().await.expect("recorded").len();
    assert_eq!(asked, 1, "a token is kept while it is good");
    assert_eq!(secrets.redact("issued-token"), "[VERTEX_API_KEY]");
}

fn set_private(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(path, mode).expect("permissions");
}
