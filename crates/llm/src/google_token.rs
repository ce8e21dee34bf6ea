//! Access tokens of Google Cloud, which expire: from a program that prints one,
//! or from the credentials file of a service account or a user.
//!
//! Source: Google, "Using OAuth 2.0 for Server to Server Applications" and
//! "Refreshing an access token".

use crate::aws_signature::encode_segment;
use crate::classify::shorten;
use crate::command::split_words;
use crate::error::{LlmError, LlmErrorKind};
use crate::http;
use crate::secrets::Secrets;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, SystemTime};
use tokio::time::Instant;

/// What a token is good for.
const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";
const TOKEN_ADDRESS: &str = "https://oauth2.googleapis.com/token";
/// A token is renewed this long before it expires, since a call takes a while.
const MARGIN: Duration = Duration::from_secs(300);
/// How long a printed token is used: programs print tokens that are already old.
const PRINTED_LIFETIME: Duration = Duration::from_secs(300);
/// How long a program may take to print a token.
const PRINTING: Duration = Duration::from_secs(60);
/// The most bytes of a token.
const LARGEST_TOKEN: usize = 64 << 10;

/// Tokens for one model, renewed as needed.
pub(crate) struct GoogleTokens {
    model: String,
    source: Source,
    /// Redacts the tokens.
    secrets: Secrets,
    issued: tokio::sync::Mutex<Option<Issued>>,
}

enum Source {
    Program(Vec<String>),
    ServiceAccount(Box<ServiceAccount>),
    User { form: String, address: String },
}

struct ServiceAccount {
    email: String,
    key_id: Option<String>,
    key: RsaKeyPair,
    address: String,
}

struct Issued {
    token: String,
    until: Instant,
}

#[derive(Deserialize)]
struct CredentialsFile {
    r#type: String,
    client_email: Option<String>,
    private_key: Option<String>,
    private_key_id: Option<String>,
    token_uri: Option<String>,
    client_id: Option<String>,
    client_secret: Option<String>,
    refresh_token: Option<String>,
}

impl GoogleTokens {
    /// Takes tokens from the program in `command`, split like a shell does it.
    ///
    /// # Errors
    /// [`LlmErrorKind::InvalidRequest`] if the words cannot be split.
    pub(crate) fn from_program(
        model: &str,
        command: &str,
        secrets: &Secrets,
    ) -> Result<Self, LlmError> {
        let words = split_words(command).ok().filter(|words| !words.is_empty());
        let words = words.ok_or_else(|| {
            let text = "VERTEX_TOKEN_COMMAND is no command line; write, for example, \
                        gcloud auth print-access-token";
            LlmError::new(LlmErrorKind::InvalidRequest, model, text)
        })?;
        Ok(Self::new(model, Source::Program(words), secrets))
    }

    /// Takes tokens for the account of a credentials file that only its owner may read.
    ///
    /// # Errors
    /// [`LlmErrorKind::Auth`] if the file cannot be used.
    pub(crate) fn from_file(model: &str, path: &Path, secrets: &Secrets) -> Result<Self, LlmError> {
        let error = |reason: String| {
            let text = format!(
                "the credentials file {} cannot be used: {reason}",
                path.display()
            );
            LlmError::new(LlmErrorKind::Auth, model, text)
        };
        crate::secrets::check_permissions(path).map_err(|reason| error(reason.to_string()))?;
        let text = std::fs::read_to_string(path).map_err(|reason| error(reason.to_string()))?;
        // The library's message could show a part of the file.
        let file: CredentialsFile = serde_json::from_str(&text)
            .map_err(|_| error("it is not JSON with a `type`".to_owned()))?;
        let address = file.token_uri.unwrap_or_else(|| TOKEN_ADDRESS.to_owned());
        let missing = |name: &str| error(format!("`{name}` is missing"));
        let source = match file.r#type.as_str() {
            "service_account" => {
                let pem = file.private_key.ok_or_else(|| missing("private_key"))?;
                let key = private_key(&pem)
                    .ok_or_else(|| error("`private_key` is no RSA key in PKCS 8".to_owned()))?;
                secrets.remember("GOOGLE_APPLICATION_CREDENTIALS", &pem);
                Source::ServiceAccount(Box::new(ServiceAccount {
                    email: file.client_email.ok_or_else(|| missing("client_email"))?,
                    key_id: file.private_key_id,
                    key,
                    address,
                }))
            }
            "authorized_user" => {
                let secret = file.client_secret.ok_or_else(|| missing("client_secret"))?;
                let refresh = file.refresh_token.ok_or_else(|| missing("refresh_token"))?;
                secrets.remember("GOOGLE_APPLICATION_CREDENTIALS", &secret);
                secrets.remember("GOOGLE_APPLICATION_CREDENTIALS", &refresh);
                let id = file.client_id.ok_or_else(|| missing("client_id"))?;
                let form = [
                    ("grant_type", "refresh_token"),
                    ("client_id", &id),
                    ("client_secret", &secret),
                    ("refresh_token", &refresh),
                ]
                .map(|(name, value)| format!("{name}={}", encode_segment(value)))
                .join("&");
                Source::User { form, address }
            }
            other => {
                return Err(error(format!(
                    "its type is {other:?}; known are service_account and authorized_user"
                )));
            }
        };
        Ok(Self::new(model, source, secrets))
    }

    fn new(model: &str, source: Source, secrets: &Secrets) -> Self {
        Self {
            model: model.to_owned(),
            source,
            secrets: secrets.clone(),
            issued: tokio::sync::Mutex::default(),
        }
    }

    /// Returns a token that is good for a while; one caller renews it, the others wait.
    ///
    /// # Errors
    /// An [`LlmError`] if there is none: [`LlmErrorKind::Auth`] if it is refused.
    pub(crate) async fn token(&self) -> Result<String, LlmError> {
        let mut issued = self.issued.lock().await;
        if let Some(issued) = issued.as_ref().filter(|it| Instant::now() < it.until) {
            return Ok(issued.token.clone());
        }
        let (token, lifetime) = match &self.source {
            Source::Program(words) => (self.print(words).await?, PRINTED_LIFETIME + MARGIN),
            Source::ServiceAccount(account) => {
                let form = format!(
                    "grant_type={}&assertion={}",
                    encode_segment("urn:ietf:params:oauth:grant-type:jwt-bearer"),
                    account.assertion(SystemTime::now()).ok_or_else(|| {
                        self.error(LlmErrorKind::Auth, "the key cannot sign".to_owned())
                    })?
                );
                self.request(&account.address, form).await?
            }
            Source::User { form, address } => self.request(address, form.clone()).await?,
        };
        self.secrets.remember("VERTEX_API_KEY", &token);
        *issued = Some(Issued {
            token: token.clone(),
            until: Instant::now() + lifetime.saturating_sub(MARGIN),
        });
        Ok(token)
    }

    /// Forgets a token that was refused, so that the next one is new.
    pub(crate) async fn forget(&self, refused: &str) {
        let mut issued = self.issued.lock().await;
        if issued.as_ref().is_some_and(|it| it.token == refused) {
            *issued = None;
        }
    }

    fn error(&self, kind: LlmErrorKind, message: String) -> LlmError {
        LlmError::new(kind, &self.model, self.secrets.redact(&message))
    }

    async fn print(&self, words: &[String]) -> Result<String, LlmError> {
        let failed = |reason: String| {
            let text = format!("VERTEX_TOKEN_COMMAND gave no token: {reason}");
            self.error(LlmErrorKind::Auth, text)
        };
        let output = tokio::process::Command::new(&words[0])
            .args(&words[1..])
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output();
        let output = tokio::time::timeout(PRINTING, output)
            .await
            .map_err(|_| failed(format!("it took more than {} s", PRINTING.as_secs())))?
            .map_err(|error| failed(error.to_string()))?;
        if !output.status.success() {
            let complaint = String::from_utf8_lossy(&output.stderr);
            return Err(failed(format!(
                "{}: {}",
                output.status,
                shorten(complaint.trim())
            )));
        }
        let token = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let is_token = !token.is_empty()
            && token.len() <= LARGEST_TOKEN
            && token.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_token {
            return Err(failed("it did not print one word".to_owned()));
        }
        Ok(token)
    }

    /// Asks Google for a token; returns it with its lifetime.
    async fn request(&self, address: &str, form: String) -> Result<(String, Duration), LlmError> {
        let client = http::client_for(address)
            .map_err(|reason| self.error(LlmErrorKind::Unavailable, reason))?;
        let endpoint = http::Endpoint {
            model: &self.model,
            http: &client,
            url: address,
        };
        let headers = vec![(
            "content-type",
            "application/x-www-form-urlencoded".to_owned(),
        )];
        let reply = endpoint.post(form.into_bytes(), headers).await;
        let reply = reply.map_err(|mut error| {
            // 400 says that the account or its key is gone.
            if error.kind == LlmErrorKind::InvalidRequest {
                error.kind = LlmErrorKind::Auth;
            }
            error.message = self
                .secrets
                .redact(&format!("no access token: {}", error.message));
            error
        })?;
        let token = reply.get("access_token").and_then(Value::as_str);
        let token = token.ok_or_else(|| {
            self.error(
                LlmErrorKind::Malformed,
                "the reply holds no access token".to_owned(),
            )
        })?;
        let seconds = reply.get("expires_in").and_then(Value::as_u64);
        let lifetime = Duration::from_secs(seconds.unwrap_or(3600).min(86_400));
        Ok((token.to_owned(), lifetime))
    }
}

impl ServiceAccount {
    /// Returns the signed request for a token, good for an hour; none if the key cannot sign.
    fn assertion(&self, now: SystemTime) -> Option<String> {
        let now = now.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_secs();
        let mut header = json!({ "alg": "RS256", "typ": "JWT" });
        if let Some(key_id) = &self.key_id {
            header["kid"] = json!(key_id);
        }
        let claims = json!({
            "iss": self.email, "scope": SCOPE, "aud": self.address, "iat": now, "exp": now + 3600,
        });
        let mut text = format!(
            "{}.{}",
            URL_SAFE_NO_PAD.encode(header.to_string()),
            URL_SAFE_NO_PAD.encode(claims.to_string())
        );
        let mut signature = vec![0; self.key.public().modulus_len()];
        let random = SystemRandom::new();
        self.key
            .sign(&RSA_PKCS1_SHA256, &random, text.as_bytes(), &mut signature)
            .ok()?;
        text.push('.');
        text.push_str(&URL_SAFE_NO_PAD.encode(signature));
        Some(text)
    }
}

/// Reads an RSA key in the text form of PKCS 8.
fn private_key(pem: &str) -> Option<RsaKeyPair> {
    let body = pem
        .split("-----BEGIN PRIVATE KEY-----")
        .nth(1)?
        .split("-----END PRIVATE KEY-----")
        .next()?;
    let body: String = body.split_whitespace().collect();
    RsaKeyPair::from_pkcs8(&STANDARD.decode(body).ok()?).ok()
}
