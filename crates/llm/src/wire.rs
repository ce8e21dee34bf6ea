//! The wire formats of providers: from a request to a body, and back.
//!
//! One file per format. Written here, and not taken from a provider library,
//! because libraries read replies of any length into memory and drop settings
//! that they do not know (caching and schemas on Bedrock, the context length of
//! Ollama) without a word.

pub(crate) mod chat;
pub(crate) mod claude;
pub(crate) mod converse;
pub(crate) mod gemini;
pub(crate) mod ollama;
pub(crate) mod responses;

use crate::completion::{ReasoningEffort, Request, Role, TokenCount};
use crate::error::LlmErrorKind;
use autocomp_core::UsdMicros;
use serde_json::{Value, json};

/// One wire format, for one model.
pub trait Wire: Send + Sync {
    /// Returns the body of a request.
    ///
    /// # Errors
    /// The reason in words, if the format cannot say what the request asks for.
    fn body(&self, request: &Request) -> Result<Value, String>;

    /// Reads the body of a reply with status 200.
    fn read(&self, body: &Value) -> Reading;
}

/// What a reply says.
#[derive(Debug, Default)]
pub struct Reading {
    /// The text, thoughts left out.
    pub text: String,
    /// Tokens, if the provider tells.
    pub tokens: Option<TokenCount>,
    /// The cost, if the provider tells.
    pub cost: Option<UsdMicros>,
    /// Why the reply cannot be used, if the provider says so.
    pub failure: Option<(LlmErrorKind, String)>,
    /// What the reply holds if it holds no text.
    pub instead: Option<String>,
}

impl Reading {
    /// A reply that is not of the documented form.
    fn malformed(reason: impl Into<String>) -> Self {
        Self {
            failure: Some((LlmErrorKind::Malformed, reason.into())),
            ..Self::default()
        }
    }
}

/// The failure of a reply that was cut at the output limit.
fn cut() -> (LlmErrorKind, String) {
    let text = "the reply was cut at the output limit; raise max_output_tokens";
    (LlmErrorKind::Truncated, text.to_owned())
}

/// The failure of a reply that was declined or held back, for the provider's `reason`.
fn withheld(reason: &str) -> (LlmErrorKind, String) {
    let text = format!(
        "the reply was withheld ({})",
        crate::classify::shorten(reason)
    );
    (LlmErrorKind::Refused, text)
}

/// The failure of a reply in which the model declines in `words`.
fn declined(words: &str) -> (LlmErrorKind, String) {
    let text = format!("the model declined: {}", crate::classify::shorten(words));
    (LlmErrorKind::Refused, text)
}

/// The failure of a reply that holds an error of the server behind the one that was asked.
fn upstream(error: &Value) -> (LlmErrorKind, String) {
    let status = crate::classify::status_of_error(error);
    let text = match error {
        Value::String(words) => json!({ "message": words }).to_string(),
        _ => error.to_string(),
    };
    let kind = crate::classify::kind_of_status(status, &text);
    (kind, crate::classify::message_of_body(status, &text))
}

/// Says that a reply holds thoughts and no answer, if it holds any.
fn only_thoughts<'a>(thoughts: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let length: usize = thoughts.into_iter().map(|it| it.chars().count()).sum();
    (0 < length).then(|| format!("only reasoning came back ({length} characters), and no answer"))
}

/// Says that a reply holds the call of a tool and no answer, if it has a name.
fn tool_called(name: &str) -> Option<String> {
    let name = crate::classify::shorten(name);
    (!name.is_empty()).then(|| format!("the model called the tool `{name}` instead of answering"))
}

/// Returns the number at a pointer, 0 if there is none.
fn count(body: &Value, pointer: &str) -> u64 {
    body.pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
}

/// Returns the text at a pointer, empty if there is none.
fn text<'body>(body: &'body Value, pointer: &str) -> &'body str {
    body.pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// Returns the list at a pointer, empty if there is none.
fn list<'body>(body: &'body Value, pointer: &str) -> &'body [Value] {
    body.pointer(pointer)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

fn effort_name(effort: ReasoningEffort) -> &'static str {
    match effort {
        ReasoningEffort::Low => "low",
        ReasoningEffort::Medium => "medium",
        ReasoningEffort::High => "high",
    }
}

/// Tokens of thought allowed to models that take a number instead of a word.
/// At most half of the output, so that an answer still fits.
fn thinking_budget(effort: ReasoningEffort, max_output_tokens: u32) -> u32 {
    let budget = match effort {
        ReasoningEffort::Low => 1024,
        ReasoningEffort::Medium => 8000,
        ReasoningEffort::High => 24_000,
    };
    budget.min(max_output_tokens / 2)
}

/// Returns the version in a model's name: the first one or two numbers of at
/// most two digits after `family`, as in `claude-opus-4-5-20251101` or `gpt-5.6-mini`.
pub fn version_after(name: &str, family: &str) -> Option<(u32, u32)> {
    let rest = &name[name.find(family)? + family.len()..];
    let mut numbers = rest
        .split(['-', '.', ':', '@'])
        .skip_while(|part| part.is_empty())
        .map_while(|part| part.parse().ok().filter(|_| part.len() <= 2));
    let major = numbers.next()?;
    Some((major, numbers.next().unwrap_or(0)))
}
