//! Models reached over HTTP.
//!
//! It sends one request per call: no retry (but for one with a new token, if an
//! old one was refused), no redirect (a redirect could carry a key elsewhere),
//! no streaming.

use crate::aws_signature::{AccessKey, Signing, encode_segment};
use crate::classify::{kind_of_status, message_of_body, shorten, status_of_error};
use crate::client::LlmClient;
use crate::completion::{Completion, Request, TokenCount};
use crate::dialect::{Dialect, with_remedy};
use crate::error::{LlmError, LlmErrorKind};
use crate::google_token::GoogleTokens;
use crate::http::{self, Endpoint};
use crate::model::{ModelSpec, Provider};
use crate::secrets::Secrets;
use crate::wire::Wire;
use crate::wire::chat::Chat;
use crate::wire::claude::Claude;
use crate::wire::converse::Converse;
use crate::wire::gemini::Gemini;
use crate::wire::ollama::Ollama;
use crate::wire::responses::Responses;
use serde_json::Value;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// The region if none is set, as the AWS tools have it.
const DEFAULT_REGION: &str = "us-east-1";

/// A client of one model over HTTP.
pub struct NetworkClient {
    model: String,
    url: String,
    http: reqwest::Client,
    wire: Box<dyn Wire>,
    entry: Entry,
    headers: &'static [(&'static str, &'static str)],
    dialect: Mutex<Dialect>,
}

/// How a request shows that it may be made.
enum Entry {
    Open,
    /// A header, and what stands in it.
    Header(&'static str, String),
    Google(GoogleTokens),
    Aws {
        key: AccessKey,
        region: String,
    },
}

impl NetworkClient {
    /// Creates a client; opens no connection yet.
    ///
    /// # Errors
    /// [`LlmErrorKind::Auth`] if the provider needs a key and `secrets` has none,
    /// [`LlmErrorKind::InvalidRequest`] if a setting such as the region is missing
    /// or the provider is not reached over HTTP.
    pub fn new(spec: &ModelSpec, secrets: &Secrets) -> Result<Self, LlmError> {
        let model = spec.to_string();
        let error = |kind, reason: String| LlmError::new(kind, &model, reason);
        let base = base_url(spec, secrets)
            .map_err(|reason| error(LlmErrorKind::InvalidRequest, reason))?;
        let http = http::client_for(&base).map_err(|reason| {
            error(
                LlmErrorKind::Unavailable,
                format!("no HTTP client: {reason}"),
            )
        })?;
        Ok(Self {
            url: join(&base, &path_of(spec)),
            http,
            wire: wire_of(spec),
            entry: entry_of(spec, secrets, &model)?,
            headers: match spec.provider {
                Provider::Anthropic => &[("anthropic-version", "2023-06-01")],
                _ => &[],
            },
            model,
            dialect: Mutex::default(),
        })
    }

    fn dialect(&self) -> MutexGuard<'_, Dialect> {
        // Whoever panicked has left nothing half done.
        self.dialect.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn error(&self, kind: LlmErrorKind, message: impl Into<String>) -> LlmError {
        LlmError::new(kind, &self.model, message)
    }

    async fn send(&self, body: &[u8]) -> Result<Value, LlmError> {
        let mut headers: Vec<(&'static str, String)> = self
            .headers
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned()))
            .collect();
        headers.push(("content-type", "application/json".to_owned()));
        let endpoint = Endpoint {
            model: &self.model,
            http: &self.http,
            url: &self.url,
        };
        match &self.entry {
            Entry::Open => {}
            Entry::Header(name, value) => headers.push((name, value.clone())),
            Entry::Aws { key, region } => headers.extend(self.sign(key, region, body)?),
            Entry::Google(tokens) => {
                let token = tokens.token().await?;
                let mut with_token = headers.clone();
                with_token.push(("authorization", format!("Bearer {token}")));
                let result = endpoint.post(body.to_vec(), with_token).await;
                match result {
                    Err(error) if error.kind == LlmErrorKind::Auth => {}
                    result => return result,
                }
                tokens.forget(&token).await;
                let token = tokens.token().await?;
                headers.push(("authorization", format!("Bearer {token}")));
            }
        }
        endpoint.post(body.to_vec(), headers).await
    }

    fn sign(
        &self,
        key: &AccessKey,
        region: &str,
        body: &[u8],
    ) -> Result<Vec<(&'static str, String)>, LlmError> {
        let url = reqwest::Url::parse(&self.url).map_err(|error| {
            self.error(
                LlmErrorKind::InvalidRequest,
                format!("the address cannot be read: {error}"),
            )
        })?;
        let host = url.host_str().unwrap_or_default();
        let host = match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
        let signing = Signing {
            key,
            region,
            service: "bedrock",
            method: "POST",
            host: &host,
            path: url.path(),
            body,
        };
        Ok(signing.headers(SystemTime::now()))
    }

    fn read(&self, body: &Value) -> Result<Completion, LlmError> {
        // Gateways report errors of the provider behind them with status 200.
        let told = body.get("error").filter(|error| match error {
            Value::Object(_) => true,
            Value::String(words) => !words.trim().is_empty(),
            _ => false,
        });
        if let Some(error) = told {
            let status = status_of_error(error);
            let text = body.to_string();
            return Err(self.error(
                kind_of_status(status, &text),
                message_of_body(status, &text),
            ));
        }
        let reading = self.wire.read(body);
        let is_empty = reading.text.trim().is_empty();
        let failure = reading.failure.map(|(kind, message)| match kind {
            LlmErrorKind::Malformed => {
                let text = format!("{message}: {}", shorten(&body.to_string()));
                (kind, text)
            }
            _ => (kind, message),
        });
        let instead = reading.instead;
        let failure = failure.or_else(|| {
            is_empty.then(|| match instead {
                Some(instead) => (LlmErrorKind::NoAnswer, instead),
                None => (LlmErrorKind::Empty, "the reply holds no text".to_owned()),
            })
        });
        let tokens = reading
            .tokens
            .filter(|tokens| *tokens != TokenCount::default());
        if let Some((kind, message)) = failure {
            let mut error = self.error(kind, message);
            *error.tokens = tokens.unwrap_or_default();
            error.partial = reading.text.into();
            return Err(error);
        }
        Ok(Completion {
            text: reading.text,
            model: self.model.clone(),
            tokens,
            reported_cost: reading.cost,
            attempts: Vec::new(),
        })
    }
}

#[async_trait::async_trait]
impl LlmClient for NetworkClient {
    fn model(&self) -> &str {
        &self.model
    }

    async fn complete(&self, request: &Request) -> Result<Completion, LlmError> {
        let mut body = self
            .wire
            .body(request)
            .map_err(|reason| self.error(LlmErrorKind::InvalidRequest, reason))?;
        self.dialect().apply(&mut body);
        let reply = self.send(body.to_string().as_bytes()).await;
        let mut result = reply.and_then(|reply| self.read(&reply));
        if let Err(error) = &mut result
            && error.kind == LlmErrorKind::InvalidRequest
        {
            let learnt = self.dialect().learn(&body, &error.message);
            error.learnt = learnt.map(String::into_boxed_str);
            if error.learnt.is_none() {
                error.message = with_remedy(std::mem::take(&mut error.message), &body);
            }
        }
        result
    }
}

fn wire_of(spec: &ModelSpec) -> Box<dyn Wire> {
    match spec.provider {
        Provider::OpenAiResponses => Box::new(Responses::new(spec)),
        Provider::Anthropic => Box::new(Claude::new(spec)),
        Provider::Gemini => Box::new(Gemini::new(spec)),
        Provider::Vertex if is_claude(spec) => Box::new(Claude::new(spec)),
        Provider::Vertex => Box::new(Gemini::new(spec)),
        Provider::Bedrock => Box::new(Converse::new(spec)),
        Provider::Ollama => Box::new(Ollama::new(spec)),
        _ => Box::new(Chat::new(spec)),
    }
}

fn is_claude(spec: &ModelSpec) -> bool {
    spec.name.starts_with("claude")
}

fn path_of(spec: &ModelSpec) -> String {
    let name = &spec.name;
    match spec.provider {
        Provider::OpenAiResponses => "responses".to_owned(),
        Provider::Anthropic => "messages".to_owned(),
        Provider::Gemini => format!("models/{name}:generateContent"),
        Provider::Vertex if is_claude(spec) => {
            format!("publishers/anthropic/models/{name}:rawPredict")
        }
        Provider::Vertex => format!("publishers/google/models/{name}:generateContent"),
        Provider::Bedrock => format!("model/{}/converse", encode_segment(name)),
        Provider::Ollama => "api/chat".to_owned(),
        _ => "chat/completions".to_owned(),
    }
}

/// Puts `path` behind the path of `base`, before its query.
pub fn join(base: &str, path: &str) -> String {
    match base.split_once('?') {
        Some((head, query)) => format!("{}/{path}?{query}", head.trim_end_matches('/')),
        None => format!("{}/{path}", base.trim_end_matches('/')),
    }
}

fn base_url(spec: &ModelSpec, secrets: &Secrets) -> Result<String, String> {
    if let Some(url) = &spec.url {
        return Ok(url.clone());
    }
    let info = spec.provider.info();
    match spec.provider {
        Provider::Vertex => {
            let project = secrets
                .setting("VERTEX_PROJECT_ID")
                .ok_or("set VERTEX_PROJECT_ID to the Google Cloud project")?;
            let location = secrets.setting("VERTEX_LOCATION").unwrap_or("global");
            let host = match location {
                "global" => "aiplatform.googleapis.com".to_owned(),
                region => format!("{region}-aiplatform.googleapis.com"),
            };
            Ok(format!(
                "https://{host}/v1/projects/{project}/locations/{location}/"
            ))
        }
        Provider::Bedrock => Ok(format!(
            "https://bedrock-runtime.{}.amazonaws.com/",
            region(secrets)
        )),
        _ => info.default_url.map(str::to_owned).ok_or_else(|| {
            format!(
                "give the address: {}@https://host/…::{}",
                info.name, spec.name
            )
        }),
    }
}

fn region(secrets: &Secrets) -> &str {
    secrets.setting("AWS_REGION").unwrap_or(DEFAULT_REGION)
}

/// Returns how requests are let in. An address given by the user gets the
/// provider's key if there is one, and none otherwise, as servers at custom
/// addresses often ask for none.
fn entry_of(spec: &ModelSpec, secrets: &Secrets, model: &str) -> Result<Entry, LlmError> {
    let info = spec.provider.info();
    if let Some(key) = secrets.key(spec.provider) {
        return Ok(match spec.provider {
            Provider::Anthropic => Entry::Header("x-api-key", key.to_owned()),
            Provider::Gemini => Entry::Header("x-goog-api-key", key.to_owned()),
            _ => Entry::Header("authorization", format!("Bearer {key}")),
        });
    }
    if spec.provider == Provider::Vertex {
        if let Some(command) = secrets.setting("VERTEX_TOKEN_COMMAND") {
            return GoogleTokens::from_program(model, command, secrets).map(Entry::Google);
        }
        if let Some(path) = secrets.setting("GOOGLE_APPLICATION_CREDENTIALS") {
            return GoogleTokens::from_file(model, Path::new(path), secrets).map(Entry::Google);
        }
    }
    if spec.provider == Provider::Bedrock
        && let (Some(id), Some(secret)) = (
            secrets.named("AWS_ACCESS_KEY_ID"),
            secrets.named("AWS_SECRET_ACCESS_KEY"),
        )
    {
        return Ok(Entry::Aws {
            key: AccessKey {
                id: id.to_owned(),
                secret: secret.to_owned(),
                session_token: secrets.named("AWS_SESSION_TOKEN").map(str::to_owned),
            },
            region: region(secrets).to_owned(),
        });
    }
    match info.key_variable {
        Some(variable) if spec.url.is_none() && !info.self_hosted => {
            let others = match spec.provider {
                Provider::Vertex => ", VERTEX_TOKEN_COMMAND or GOOGLE_APPLICATION_CREDENTIALS",
                Provider::Bedrock => ", or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
                _ => "",
            };
            let text = format!("no key: set {variable}{others}, or add it to the key file");
            Err(LlmError::new(LlmErrorKind::Auth, model, text))
        }
        _ => Ok(Entry::Open),
    }
}
