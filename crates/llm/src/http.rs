//! The HTTP client that every network provider uses.

use crate::classify::{kind_of_status, message_of_body, retry_after, shorten};
use crate::error::{LlmError, LlmErrorKind};
use serde_json::Value;
use std::time::Duration;

/// Time to open a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);

/// The most bytes of a response: several times the longest reply that a model
/// can write. What comes after it is not read.
const LARGEST_RESPONSE: usize = 4 << 20;

/// Where one model is reached by a client of our own.
pub(crate) struct Endpoint<'client> {
    /// The model string.
    pub(crate) model: &'client str,
    /// The HTTP client.
    pub(crate) http: &'client reqwest::Client,
    /// The whole address.
    pub(crate) url: &'client str,
}

impl Endpoint<'_> {
    /// Sends a body and returns the JSON that comes back with status 200.
    ///
    /// # Errors
    /// An [`LlmError`] of the kind that fits the failure;
    /// [`LlmErrorKind::Oversized`] as soon as a response is larger than 4 MiB.
    pub(crate) async fn post(
        &self,
        body: Vec<u8>,
        headers: Vec<(&'static str, String)>,
    ) -> Result<Value, LlmError> {
        let new_error =
            |kind: LlmErrorKind, message: String| LlmError::new(kind, self.model, message);
        let failed = |error: reqwest::Error| {
            let kind = match error.is_timeout() {
                true => LlmErrorKind::Timeout,
                false => LlmErrorKind::Connection,
            };
            new_error(kind, describe(&error))
        };
        let mut request = self.http.post(self.url).body(body);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let mut response = request.send().await.map_err(failed)?;
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            if LARGEST_RESPONSE < bytes.len() + chunk.len() {
                let text = "the response is larger than 4 MiB".to_owned();
                return Err(new_error(LlmErrorKind::Oversized, text));
            }
            bytes.extend_from_slice(&chunk);
        }
        let text = String::from_utf8_lossy(&bytes);
        if status != 200 {
            let kind = kind_of_status(status, &text);
            let mut error = new_error(kind, message_of_body(status, &text));
            error.retry_after = retry_after(
                |name| headers.get(name)?.to_str().ok(),
                &text,
                std::time::SystemTime::now(),
            );
            return Err(error);
        }
        serde_json::from_str(&text).map_err(|error| {
            let text = format!("the reply is not valid JSON ({error}): {}", shorten(&text));
            new_error(LlmErrorKind::Malformed, text)
        })
    }
}

/// Creates an HTTP client for a base address.
///
/// It follows no redirect (a redirect could carry a key elsewhere), uses no
/// proxy for this machine, and needs no certificates for plain HTTP.
///
/// # Errors
/// The reason in words, if the machine has no usable certificates.
pub(crate) fn client_for(url: &str) -> Result<reqwest::Client, String> {
    // Fails only if the process has one already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .redirect(reqwest::redirect::Policy::none());
    let parsed = reqwest::Url::parse(url).map_err(|error| error.to_string())?;
    let host = parsed.host_str().unwrap_or_default();
    if matches!(host, "localhost" | "127.0.0.1" | "[::1]") {
        builder = builder.no_proxy();
    }
    if parsed.scheme() == "http" {
        // Plain HTTP must work on machines without certificates; with an empty
        // set, an encrypted connection is refused rather than trusted.
        builder = builder.tls_certs_only([]);
    }
    builder.build().map_err(|error| describe(&error))
}

/// Returns an error with its causes, without the address (which may hold a key).
pub(crate) fn describe(error: &reqwest::Error) -> String {
    use std::error::Error as _;
    let mut text = match (error.is_connect(), error.is_body() || error.is_decode()) {
        (true, _) => "the connection could not be made".to_owned(),
        (_, true) => "the connection was cut before the reply was complete".to_owned(),
        _ => "the request failed".to_owned(),
    };
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&shorten(&cause.to_string()));
        source = cause.source();
    }
    text
}
