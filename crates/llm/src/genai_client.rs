//! Providers reached over HTTP through the provider library.
//!
//! The only file that knows the library. It sends one request per call: no
//! retry, no redirect (a redirect could carry a key elsewhere), no streaming.

use crate::classify::{kind_of_status, message_of_body, retry_after, shorten};
use crate::client::LlmClient;
use crate::completion::{Completion, ReasoningEffort, Request, Role, TokenCount};
use crate::error::{LlmError, LlmErrorKind};
use crate::http;
use crate::model::{ModelSpec, Provider};
use crate::secrets::Secrets;
use autocomp_core::UsdMicros;
use genai::adapter::AdapterKind;
use genai::chat::{
    CacheControl, ChatMessage, ChatOptions, ChatRequest, ChatResponse, JsonSpec, StopReason, Usage,
};
use genai::resolver::{AuthData, Endpoint};
use genai::{ModelIden, ServiceTarget};
use serde_json::{Value, json};
use std::time::SystemTime;

/// A client of one model over HTTP.
pub struct GenaiClient {
    model: String,
    provider: Provider,
    client: genai::Client,
    target: ServiceTarget,
}

impl GenaiClient {
    /// Creates a client; opens no connection yet.
    ///
    /// # Errors
    /// [`LlmErrorKind::Auth`] if the provider needs a key and `secrets` has none,
    /// [`LlmErrorKind::InvalidRequest`] if a setting such as the region is missing.
    pub fn new(spec: &ModelSpec, secrets: &Secrets) -> Result<Self, LlmError> {
        let model = spec.to_string();
        let url = base_url(spec, secrets)
            .map_err(|reason| LlmError::new(LlmErrorKind::InvalidRequest, &model, reason))?;
        let http = http::client_for(&url).map_err(|reason| {
            LlmError::new(
                LlmErrorKind::Unavailable,
                &model,
                format!("no HTTP client: {reason}"),
            )
        })?;
        let client = genai::Client::builder()
            .with_reqwest(http)
            .build()
            .map_err(|error| {
                LlmError::new(
                    LlmErrorKind::Unavailable,
                    &model,
                    format!("no client: {error}"),
                )
            })?;
        let key = key_of(spec, secrets)
            .map_err(|reason| LlmError::new(LlmErrorKind::Auth, &model, reason))?;
        let target = ServiceTarget {
            endpoint: Endpoint::from_owned(url),
            auth: AuthData::Key(key),
            model: ModelIden::new(adapter_of(spec.provider), spec.name.clone()),
        };
        Ok(Self {
            model,
            provider: spec.provider,
            client,
            target,
        })
    }

    fn options(&self, request: &Request) -> ChatOptions {
        let mut options = ChatOptions::default()
            .with_max_tokens(request.max_output_tokens)
            .with_capture_raw_body(true);
        if let Some(temperature) = request.temperature {
            options = options.with_temperature(temperature);
        }
        if let Some(effort) = request.reasoning {
            options = options.with_reasoning_effort(match effort {
                ReasoningEffort::Low => genai::chat::ReasoningEffort::Low,
                ReasoningEffort::Medium => genai::chat::ReasoningEffort::Medium,
                ReasoningEffort::High => genai::chat::ReasoningEffort::High,
            });
        }
        if let Some(schema) = &request.schema {
            options = options
                .with_response_format(JsonSpec::new(schema.name.clone(), schema.schema.clone()));
        }
        match self.provider {
            // Asks for the price of the call in its usage.
            Provider::OpenRouter => options
                .with_extra_body(json!({ "model": self.name(), "usage": { "include": true } })),
            // The library would take an ending such as `-high` off the name.
            Provider::Together | Provider::Vllm | Provider::LlamaCpp | Provider::Compatible => {
                options.with_extra_body(json!({ "model": self.name() }))
            }
            _ => options,
        }
    }

    fn name(&self) -> &str {
        &self.target.model.model_name
    }

    fn error(&self, kind: LlmErrorKind, message: impl Into<String>) -> LlmError {
        LlmError::new(kind, &self.model, message)
    }

    fn translate(&self, error: &genai::Error) -> LlmError {
        if let Some(status) = error.status() {
            let body = body_of(error);
            let status = status.as_u16();
            let header = |name: &str| {
                error
                    .headers()
                    .and_then(|headers| headers.get(name)?.to_str().ok())
            };
            let mut result =
                self.error(kind_of_status(status, body), message_of_body(status, body));
            result.retry_after = retry_after(header, body, SystemTime::now());
            return result;
        }
        let webc = match error {
            genai::Error::WebModelCall { webc_error, .. }
            | genai::Error::WebAdapterCall { webc_error, .. } => webc_error,
            // This variant prints the whole request; only its cause is passed on.
            genai::Error::ChatResponseGeneration {
                cause,
                response_body,
                ..
            } => {
                let refusal = blocked_by(response_body);
                return match refusal {
                    Some(reason) => self.error(LlmErrorKind::Refused, reason),
                    None => self.error(
                        LlmErrorKind::Malformed,
                        format!(
                            "the reply is not of the documented form: {}",
                            shorten(cause)
                        ),
                    ),
                };
            }
            other => return self.error(LlmErrorKind::InvalidRequest, shorten(&other.to_string())),
        };
        match webc {
            genai::webc::Error::ResponseFailedNotJson { content_type, body } => self.error(
                LlmErrorKind::Malformed,
                format!(
                    "the reply is {content_type:?} and not JSON: {}",
                    shorten(body)
                ),
            ),
            genai::webc::Error::ResponseFailedInvalidJson { body, cause } => self.error(
                LlmErrorKind::Malformed,
                format!("the reply is not valid JSON ({cause}): {}", shorten(body)),
            ),
            genai::webc::Error::Reqwest(error) if error.is_timeout() => {
                self.error(LlmErrorKind::Timeout, "the connection timed out")
            }
            genai::webc::Error::Reqwest(error) => {
                self.error(LlmErrorKind::Connection, http::describe(error))
            }
            other => self.error(LlmErrorKind::Malformed, shorten(&other.to_string())),
        }
    }

    fn read(&self, response: ChatResponse) -> Result<Completion, LlmError> {
        let raw = response.captured_raw_body.as_ref().unwrap_or(&Value::Null);
        // Gateways report errors of the provider behind them with status 200.
        if let Some(error) = raw.get("error").filter(|error| error.is_object()) {
            let status = error.get("code").and_then(Value::as_u64).unwrap_or(502);
            let status = u16::try_from(status).unwrap_or(502);
            let body = raw.to_string();
            return Err(self.error(
                kind_of_status(status, &body),
                message_of_body(status, &body),
            ));
        }
        let tokens = tokens_of(&response.usage);
        let text = response.content.texts().join("");
        let failure = match &response.stop_reason {
            Some(StopReason::MaxTokens(_)) => Some((
                LlmErrorKind::Truncated,
                "the reply was cut at the output limit; raise max_output_tokens".to_owned(),
            )),
            Some(StopReason::ContentFilter(reason)) => Some((
                LlmErrorKind::Refused,
                format!("the reply was withheld ({reason})"),
            )),
            _ => refusal_in(raw).map(|reason| (LlmErrorKind::Refused, reason)),
        };
        let failure = failure.or_else(|| {
            text.trim()
                .is_empty()
                .then(|| (LlmErrorKind::Empty, "the reply holds no text".to_owned()))
        });
        if let Some((kind, message)) = failure {
            let mut error = self.error(kind, message);
            *error.tokens = tokens.unwrap_or_default();
            error.partial = text;
            return Err(error);
        }
        let reported_cost = (self.provider == Provider::OpenRouter)
            .then(|| raw.pointer("/usage/cost").and_then(Value::as_f64))
            .flatten()
            .filter(|dollars| (0.0..1e6).contains(dollars))
            .map(|dollars| UsdMicros((dollars * 1e6).ceil() as u64));
        Ok(Completion {
            text,
            model: self.model.clone(),
            tokens,
            reported_cost,
            attempts: Vec::new(),
        })
    }
}

#[async_trait::async_trait]
impl LlmClient for GenaiClient {
    fn model(&self) -> &str {
        &self.model
    }

    async fn complete(&self, request: &Request) -> Result<Completion, LlmError> {
        let mut messages = Vec::with_capacity(request.messages.len() + 1);
        if !request.system.is_empty() {
            // Marks the end of the stable prefix where the provider caches on demand.
            messages.push(
                ChatMessage::system(request.system.clone()).with_options(CacheControl::Ephemeral),
            );
        }
        messages.extend(request.messages.iter().map(|message| match message.role {
            Role::User => ChatMessage::user(message.text.clone()),
            Role::Assistant => ChatMessage::assistant(message.text.clone()),
        }));
        let options = self.options(request);
        let response = self
            .client
            .exec_chat(
                self.target.clone(),
                ChatRequest::new(messages),
                Some(&options),
            )
            .await
            .map_err(|error| self.translate(&error))?;
        self.read(response)
    }
}

fn adapter_of(provider: Provider) -> AdapterKind {
    match provider {
        Provider::OpenAiResponses => AdapterKind::OpenAIResp,
        Provider::Anthropic => AdapterKind::Anthropic,
        Provider::Gemini => AdapterKind::Gemini,
        Provider::Vertex => AdapterKind::Vertex,
        Provider::Together => AdapterKind::Together,
        Provider::OpenRouter => AdapterKind::OpenRouter,
        _ => AdapterKind::OpenAI,
    }
}

fn base_url(spec: &ModelSpec, secrets: &Secrets) -> Result<String, String> {
    if let Some(url) = &spec.url {
        return Ok(url.clone());
    }
    if spec.provider == Provider::Vertex {
        let project = secrets
            .setting("VERTEX_PROJECT_ID")
            .ok_or("set VERTEX_PROJECT_ID to the Google Cloud project")?;
        let location = secrets.setting("VERTEX_LOCATION").unwrap_or("global");
        let host = match location {
            "global" => "aiplatform.googleapis.com".to_owned(),
            region => format!("{region}-aiplatform.googleapis.com"),
        };
        return Ok(format!(
            "https://{host}/v1/projects/{project}/locations/{location}/"
        ));
    }
    let info = spec.provider.info();
    info.default_url.map(str::to_owned).ok_or_else(|| {
        format!(
            "give the address: {}@https://host/…::{}",
            info.name, spec.name
        )
    })
}

/// Returns the key to send. An address given by the user gets the provider's
/// key if there is one; without a key the word `none` is sent, as servers at
/// custom addresses often ask for none.
fn key_of(spec: &ModelSpec, secrets: &Secrets) -> Result<String, String> {
    if let Some(key) = secrets.key(spec.provider) {
        return Ok(key.to_owned());
    }
    match spec.provider.info().key_variable {
        Some(variable) if spec.url.is_none() && !spec.provider.info().self_hosted => {
            Err(format!("no key: set {variable}, or add it to the key file"))
        }
        _ => Ok("none".to_owned()),
    }
}

fn body_of(error: &genai::Error) -> &str {
    match error {
        genai::Error::HttpError { body, .. } => body,
        genai::Error::WebModelCall { webc_error, .. }
        | genai::Error::WebAdapterCall { webc_error, .. } => match webc_error {
            genai::webc::Error::ResponseFailedStatus { body, .. } => body,
            _ => "",
        },
        _ => "",
    }
}

/// Returns why Gemini blocked a prompt, if it did.
fn blocked_by(body: &Value) -> Option<String> {
    let reason = body.pointer("/promptFeedback/blockReason")?.as_str()?;
    Some(format!("the prompt was blocked ({reason})"))
}

/// Returns the refusal in a reply of the OpenAI forms, if there is one.
fn refusal_in(body: &Value) -> Option<String> {
    let chat = body
        .pointer("/choices/0/message/refusal")
        .and_then(Value::as_str);
    let responses = || {
        let items = body.get("output")?.as_array()?;
        let parts = items
            .iter()
            .filter_map(|item| item.get("content")?.as_array())
            .flatten();
        parts
            .filter_map(|part| part.get("refusal")?.as_str())
            .next()
    };
    chat.or_else(responses)
        .map(|words| format!("the model declined: {}", shorten(words)))
}

/// Splits the library's totals into tokens counted once each.
fn tokens_of(usage: &Usage) -> Option<TokenCount> {
    let count = |value: Option<i32>| {
        value
            .and_then(|value| u64::try_from(value).ok())
            .unwrap_or(0)
    };
    let details = usage.prompt_tokens_details.as_ref();
    let cached = count(details.and_then(|details| details.cached_tokens));
    let cache_write = count(details.and_then(|details| details.cache_creation_tokens));
    let reasoning = count(
        usage
            .completion_tokens_details
            .as_ref()
            .and_then(|details| details.reasoning_tokens),
    );
    let tokens = TokenCount {
        input: count(usage.prompt_tokens).saturating_sub(cached + cache_write),
        cached,
        cache_write,
        // Gemini reports thoughts without an answer as reasoning only.
        output: count(usage.completion_tokens).max(reasoning),
        reasoning,
    };
    (tokens != TokenCount::default()).then_some(tokens)
}
