//! From a provider's HTTP error to a kind of error.
//!
//! Sources: the error pages of the OpenAI, Anthropic, Gemini, Bedrock and
//! OpenRouter documentation, and the messages of vLLM and llama.cpp.

use crate::error::LlmErrorKind;
use serde_json::Value;
use std::time::{Duration, SystemTime};

/// The longest part of a provider's message that is passed on.
const LONGEST_MESSAGE: usize = 500;

/// Returns the kind of an HTTP error with its body.
pub fn kind_of_status(status: u16, body: &str) -> LlmErrorKind {
    let lower = body.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let too_long = says(&[
        "context_length_exceeded",
        "maximum context length",
        "prompt is too long",
        "input is too long",
        "exceed_context_size",
        "exceeds the available context size",
        "exceeds the maximum number of tokens",
        // Together.
        "`inputs` tokens + `max_new_tokens` must be",
    ]);
    match status {
        400 | 404 | 413 | 422 => {
            if too_long || status == 413 {
                LlmErrorKind::ContextTooLong
            } else if says(&["credit balance is too low", "billing_hard_limit_reached"]) {
                LlmErrorKind::Quota
            } else if says(&["api key not valid", "api_key_invalid"]) {
                LlmErrorKind::Auth
            } else if says(&[
                "content_filter",
                "content_policy_violation",
                "content management policy",
            ]) {
                LlmErrorKind::Refused
            } else {
                LlmErrorKind::InvalidRequest
            }
        }
        // OpenRouter's moderation.
        403 if says(&["requires moderation", "was flagged"]) => LlmErrorKind::Refused,
        401 | 403 => LlmErrorKind::Auth,
        402 => LlmErrorKind::Quota,
        429 if says(&[
            "insufficient_quota",
            "billing_hard_limit_reached",
            // Gemini's limits per day do not come back within a run.
            "perdayper",
        ]) =>
        {
            LlmErrorKind::Quota
        }
        429 => LlmErrorKind::RateLimit,
        408 => LlmErrorKind::Timeout,
        // 424: Bedrock's model failed while it processed the request.
        409 | 424 | 425 => LlmErrorKind::Overload,
        500..=599 => LlmErrorKind::Overload,
        _ => LlmErrorKind::InvalidRequest,
    }
}

/// Returns the HTTP status that an error inside a reply stands for: by its code, which is a
/// number or a word, else by its type.
pub fn status_of_error(error: &Value) -> u16 {
    let number = |value: &Value| {
        let number = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
        u16::try_from(number)
            .ok()
            .filter(|it| (400..600).contains(it))
    };
    let fields = ["code", "status", "type", "status_code"].map(|name| &error[name]);
    if let Some(status) = fields.into_iter().find_map(number) {
        return status;
    }
    let words = fields.into_iter().filter_map(Value::as_str);
    let words = words.collect::<Vec<_>>().join(" ").to_ascii_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| words.contains(part));
    if has(&[
        "rate_limit",
        "too_many_requests",
        "resource_exhausted",
        "insufficient_quota",
    ]) {
        429
    } else if has(&[
        "authentication",
        "invalid_api_key",
        "unauthorized",
        "permission",
    ]) {
        401
    } else if has(&[
        "invalid_request",
        "context_length",
        "bad_request",
        "invalid_argument",
    ]) {
        400
    } else {
        502
    }
}

/// Returns the provider's own words from an error body, shortened.
pub fn message_of_body(status: u16, body: &str) -> String {
    let json: Option<Value> = serde_json::from_str(body).ok();
    let words = json
        .as_ref()
        .and_then(|json| {
            [
                "/error/message",
                "/message",
                "/Message",
                "/error_description",
                "/0/error/message",
                "/error",
                "/detail",
            ]
            .into_iter()
            .find_map(|pointer| json.pointer(pointer).and_then(Value::as_str))
        })
        .unwrap_or(body)
        .trim();
    if words.is_empty() {
        format!("HTTP status {status}")
    } else {
        format!("HTTP status {status}: {}", shorten(words))
    }
}

/// Returns `text` cut to a length that fits into a message.
pub fn shorten(text: &str) -> String {
    match text.char_indices().nth(LONGEST_MESSAGE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns how long to wait by the headers `retry-after-ms` and `retry-after`
/// (seconds, or a date as in RFC 9110 section 5.6.7), or Google's `retryDelay`.
pub fn retry_after<'a>(
    header: impl Fn(&str) -> Option<&'a str>,
    body: &str,
    now: SystemTime,
) -> Option<Duration> {
    // A date in the past asks for no wait.
    let date = |text: &str| {
        let date = httpdate::parse_http_date(text.trim()).ok()?;
        Some(date.duration_since(now).unwrap_or_default().as_secs_f64())
    };
    let seconds = |text: &str| text.trim().parse::<f64>().ok();
    let asked = header("retry-after-ms")
        .and_then(seconds)
        .map(|millis| millis / 1000.0)
        .or_else(|| {
            let text = header("retry-after")?;
            seconds(text).or_else(|| date(text))
        })
        .or_else(|| {
            let start = body.find("\"retryDelay\"")?;
            let value = body[start..].splitn(4, '"').nth(3)?;
            seconds(value.split('"').next()?.trim_end_matches('s'))
        })?;
    // Rejects negative numbers, NaN and absurd waits.
    (0.0..=86_400.0)
        .contains(&asked)
        .then(|| Duration::from_secs_f64(asked))
}
