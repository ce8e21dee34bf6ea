//! The HTTP client that every network provider uses.

use crate::classify::shorten;
use std::time::Duration;

/// Time to open a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);

/// Creates an HTTP client for a base address.
///
/// It follows no redirect (a redirect could carry a key elsewhere), uses no
/// proxy for this machine, and needs no certificates for plain HTTP.
///
/// # Errors
/// The reason in words, if the machine has no usable certificates.
pub(crate) fn client_for(url: &str) -> Result<reqwest::Client, String> {
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
