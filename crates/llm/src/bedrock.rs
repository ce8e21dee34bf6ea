//! AWS Bedrock, Converse, with a Bedrock API key.
//!
//! Written here because the provider library drops prompt caching and
//! structured output for Bedrock without a word.
//!
//! Source: Amazon Bedrock API reference, Converse, OutputConfig, CachePointBlock.

use crate::classify::shorten;
use crate::client::LlmClient;
use crate::completion::{Completion, Request, Role, TokenCount};
use crate::error::{LlmError, LlmErrorKind};
use crate::http::{self, Endpoint};
use crate::model::ModelSpec;
use crate::secrets::Secrets;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The region if none is set, as the AWS tools have it.
const DEFAULT_REGION: &str = "us-east-1";

/// A client of one model on Bedrock.
pub struct BedrockClient {
    model: String,
    /// The model identifier, which decides on caching.
    name: String,
    url: String,
    key: String,
    http: reqwest::Client,
}

impl BedrockClient {
    /// Creates a client; opens no connection yet.
    ///
    /// # Errors
    /// [`LlmErrorKind::Auth`] if `secrets` has no key.
    pub fn new(spec: &ModelSpec, secrets: &Secrets) -> Result<Self, LlmError> {
        let model = spec.to_string();
        let base = spec.url.clone().unwrap_or_else(|| {
            let region = secrets.setting("AWS_REGION").unwrap_or(DEFAULT_REGION);
            format!("https://bedrock-runtime.{region}.amazonaws.com/")
        });
        let key = match secrets.key(spec.provider) {
            Some(key) => key.to_owned(),
            None if spec.url.is_some() => "none".to_owned(),
            None => {
                let text = "no key: set AWS_BEARER_TOKEN_BEDROCK, or add it to the key file";
                return Err(LlmError::new(LlmErrorKind::Auth, &model, text));
            }
        };
        let http = http::client_for(&base).map_err(|reason| {
            LlmError::new(
                LlmErrorKind::Unavailable,
                &model,
                format!("no HTTP client: {reason}"),
            )
        })?;
        let url = format!("{base}model/{}/converse", encode_segment(&spec.name));
        Ok(Self {
            model,
            name: spec.name.clone(),
            url,
            key,
            http,
        })
    }

    fn error(&self, kind: LlmErrorKind, message: impl Into<String>) -> LlmError {
        LlmError::new(kind, &self.model, message)
    }

    fn body(&self, request: &Request) -> Value {
        let mut body = json!({
            "messages": request.messages.iter().map(|message| {
                let role = match message.role {
                    Role::User => "user",
                    Role::Assistant => "assistant",
                };
                json!({ "role": role, "content": [{ "text": message.text }] })
            }).collect::<Vec<_>>(),
            "inferenceConfig": { "maxTokens": request.max_output_tokens },
        });
        if !request.system.is_empty() {
            let mut system = vec![json!({ "text": request.system })];
            if self.caches() {
                system.push(json!({ "cachePoint": { "type": "default" } }));
            }
            body["system"] = Value::Array(system);
        }
        if let Some(temperature) = request.temperature {
            body["inferenceConfig"]["temperature"] = json!(temperature);
        }
        if let Some(schema) = &request.schema {
            body["outputConfig"] = json!({ "textFormat": {
                "type": "json_schema",
                "structure": { "jsonSchema": {
                    "name": schema.name,
                    // The schema goes out as text.
                    "schema": schema.schema.to_string(),
                } },
            } });
        }
        body
    }

    /// Returns whether the model takes cache points; others reject them.
    fn caches(&self) -> bool {
        ["anthropic.claude", "amazon.nova"]
            .iter()
            .any(|family| self.name.contains(family))
    }

    fn read(&self, body: &Value) -> Result<Completion, LlmError> {
        let Some(content) = body
            .pointer("/output/message/content")
            .and_then(Value::as_array)
        else {
            let text = format!("the reply holds no message: {}", shorten(&body.to_string()));
            return Err(self.error(LlmErrorKind::Malformed, text));
        };
        let text: String = content
            .iter()
            .filter_map(|block| block.get("text").and_then(Value::as_str))
            .collect();
        let count = |name: &str| body["usage"].get(name).and_then(Value::as_u64).unwrap_or(0);
        let tokens = TokenCount {
            input: count("inputTokens"),
            cached: count("cacheReadInputTokens"),
            cache_write: count("cacheWriteInputTokens"),
            output: count("outputTokens"),
            reasoning: 0,
        };
        let tokens = body.get("usage").is_some().then_some(tokens);
        let stop = body
            .get("stopReason")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let failure = match stop {
            "max_tokens" | "model_context_window_exceeded" => Some((
                LlmErrorKind::Truncated,
                "the reply was cut at the output limit; raise max_output_tokens".to_owned(),
            )),
            "guardrail_intervened" | "content_filtered" | "refusal" => Some((
                LlmErrorKind::Refused,
                format!("the reply was withheld ({stop})"),
            )),
            _ if text.trim().is_empty() => {
                Some((LlmErrorKind::Empty, "the reply holds no text".to_owned()))
            }
            _ => None,
        };
        if let Some((kind, message)) = failure {
            let mut error = self.error(kind, message);
            *error.tokens = tokens.unwrap_or_default();
            error.partial = text;
            return Err(error);
        }
        Ok(Completion {
            text,
            model: self.model.clone(),
            tokens,
            reported_cost: None,
            attempts: Vec::new(),
        })
    }
}

#[async_trait::async_trait]
impl LlmClient for BedrockClient {
    fn model(&self) -> &str {
        &self.model
    }

    async fn complete(&self, request: &Request) -> Result<Completion, LlmError> {
        let endpoint = Endpoint {
            model: &self.model,
            http: &self.http,
            url: &self.url,
            key: Some(&self.key),
        };
        let body = endpoint.post(&self.body(request)).await?;
        self.read(&body)
    }
}

/// Encodes a path segment; model identifiers hold colons, ARNs slashes.
fn encode_segment(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}
