//! Ollama, by its own protocol.
//!
//! Written here because the context length must be set per request: Ollama's
//! default is far below our prompts, and it cuts what does not fit without a
//! word. The provider library cannot set it.
//!
//! Source: Ollama API documentation, "Generate a chat completion".

use crate::client::LlmClient;
use crate::completion::{Completion, ReasoningEffort, Request, Role, TokenCount};
use crate::error::{LlmError, LlmErrorKind};
use crate::http::{self, Endpoint};
use crate::model::ModelSpec;
use serde_json::{Value, json};

/// A client of one model on an Ollama server.
pub struct OllamaClient {
    model: String,
    name: String,
    url: String,
    http: reqwest::Client,
}

impl OllamaClient {
    /// Creates a client; opens no connection yet.
    ///
    /// # Errors
    /// [`LlmErrorKind::Unavailable`] if the machine cannot make an HTTP client.
    pub fn new(spec: &ModelSpec) -> Result<Self, LlmError> {
        let model = spec.to_string();
        let default = spec.provider.info().default_url.unwrap_or_default();
        let base = spec.url.as_deref().unwrap_or(default);
        let http = http::client_for(base).map_err(|reason| {
            LlmError::new(
                LlmErrorKind::Unavailable,
                &model,
                format!("no HTTP client: {reason}"),
            )
        })?;
        Ok(Self {
            model,
            name: spec.name.clone(),
            url: format!("{base}api/chat"),
            http,
        })
    }

    fn error(&self, kind: LlmErrorKind, message: impl Into<String>) -> LlmError {
        LlmError::new(kind, &self.model, message)
    }

    fn body(&self, request: &Request) -> Value {
        let mut messages = Vec::with_capacity(request.messages.len() + 1);
        if !request.system.is_empty() {
            messages.push(json!({ "role": "system", "content": request.system }));
        }
        for message in &request.messages {
            let role = match message.role {
                Role::User => "user",
                Role::Assistant => "assistant",
            };
            messages.push(json!({ "role": role, "content": message.text }));
        }
        // Powers of two keep the server from loading the model anew for each prompt.
        let context = request.prompt_bytes() as u64 / 2 + u64::from(request.max_output_tokens);
        let mut body = json!({
            "model": self.name,
            "messages": messages,
            "stream": false,
            "options": {
                "num_predict": request.max_output_tokens,
                "num_ctx": context.next_power_of_two(),
            },
        });
        if let Some(temperature) = request.temperature {
            body["options"]["temperature"] = json!(temperature);
        }
        if let Some(effort) = request.reasoning {
            body["think"] = json!(match effort {
                ReasoningEffort::Low => "low",
                ReasoningEffort::Medium => "medium",
                ReasoningEffort::High => "high",
            });
        }
        if let Some(schema) = &request.schema {
            body["format"] = schema.schema.clone();
        }
        body
    }

    fn read(&self, body: &Value) -> Result<Completion, LlmError> {
        let text = body
            .pointer("/message/content")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let count = |name: &str| body.get(name).and_then(Value::as_u64);
        let tokens = count("eval_count").map(|output| TokenCount {
            // Absent if the whole prompt was in the server's cache.
            input: count("prompt_eval_count").unwrap_or(0),
            output,
            ..TokenCount::default()
        });
        let failure = match body.get("done_reason").and_then(Value::as_str) {
            Some("length") => Some((
                LlmErrorKind::Truncated,
                "the reply was cut at the output limit; raise max_output_tokens",
            )),
            _ if text.trim().is_empty() => Some((LlmErrorKind::Empty, "the reply holds no text")),
            _ => None,
        };
        if let Some((kind, message)) = failure {
            let mut error = self.error(kind, message);
            *error.tokens = tokens.unwrap_or_default();
            error.partial = text.to_owned();
            return Err(error);
        }
        Ok(Completion {
            text: text.to_owned(),
            model: self.model.clone(),
            tokens,
            reported_cost: None,
            attempts: Vec::new(),
        })
    }
}

#[async_trait::async_trait]
impl LlmClient for OllamaClient {
    fn model(&self) -> &str {
        &self.model
    }

    async fn complete(&self, request: &Request) -> Result<Completion, LlmError> {
        let endpoint = Endpoint {
            model: &self.model,
            http: &self.http,
            url: &self.url,
            key: None,
        };
        let body = endpoint.post(&self.body(request)).await?;
        self.read(&body)
    }
}
