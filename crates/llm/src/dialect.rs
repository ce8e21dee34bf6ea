//! What a server does not take, learnt from what it refuses.
//!
//! Servers that speak the same format differ in the fields that they know: one takes
//! `max_tokens` and another `max_completion_tokens`, reasoning models refuse `temperature`, small
//! servers refuse what they have not built. Their names tell nothing of that (a deployment behind
//! a gateway has any name), their refusals do: those name the field.
//!
//! Sources: the messages of OpenAI ("Unsupported parameter: …", "Unsupported value: …"), Azure,
//! LiteLLM, Mistral and other servers built on pydantic ("Extra inputs are not permitted").

use serde_json::Value;
use std::collections::BTreeSet;

/// Fields that say what is asked, without which nothing is.
const NEEDED: [&str; 8] = [
    "model",
    "messages",
    "input",
    "contents",
    "system",
    "systemInstruction",
    "instructions",
    "anthropic_version",
];

/// Fields that the caller can do without at once, and does.
const OF_SCHEMAS: [&str; 8] = [
    "response_format",
    "format",
    "text",
    "responseMimeType",
    "responseJsonSchema",
    "outputConfig",
    "json_schema",
    "schema",
];

/// Objects that hold fields, and are none themselves.
const GROUPS: [&str; 5] = [
    "options",
    "generationConfig",
    "inferenceConfig",
    "additionalModelRequestFields",
    "output_config",
];

/// Fields whose names are words of prose, too: they count as named only as names are.
const WORDS: [&str; 7] = [
    "reasoning",
    "thinking",
    "think",
    "usage",
    "provider",
    "store",
    "effort",
];

/// The two names of the limit of output in Chat Completions.
const LIMITS: [&str; 2] = ["max_tokens", "max_completion_tokens"];

/// Words by which servers say that they do not know a field, or not this value of it.
const REFUSALS: [&str; 21] = [
    "unsupported",
    "not support",
    "n't support",
    "unknown",
    "unrecognized",
    "unrecognised",
    "unexpected",
    "extra inputs",
    "extra field",
    "extra_forbidden",
    "not permitted",
    "not allowed",
    "forbidden",
    "not accept",
    "not compatible",
    "incompatible",
    "only the default",
    "deprecated",
    "no longer",
    "not a valid parameter",
    "invalid",
];

/// Words by which servers say that the limit of output is higher than theirs.
const TOO_LARGE: [&str; 8] = [
    "too large",
    "too high",
    "at most",
    "less than or equal",
    "exceeds",
    "maximum allowed",
    "must be between",
    "<=",
];

/// What is changed in the bodies of requests to one model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dialect {
    /// The limit of output goes out under this name instead of the other one.
    limit: Option<&'static str>,
    /// Fields that are left out, wherever they stand.
    omitted: BTreeSet<String>,
}

impl Dialect {
    /// Changes a body as was learnt.
    pub(crate) fn apply(&self, body: &mut Value) {
        if let (Some(limit), Some(fields)) = (self.limit, body.as_object_mut()) {
            for other in LIMITS.into_iter().filter(|it| *it != limit) {
                if let Some(value) = fields.remove(other) {
                    fields.insert(limit.to_owned(), value);
                }
            }
        }
        omit(body, &self.omitted);
    }

    /// Learns from a refusal of a request with this body. Returns what is different from now on;
    /// nothing if the refusal names no field that can be changed.
    pub(crate) fn learn(&mut self, body: &Value, refusal: &str) -> Option<String> {
        let lower = refusal.to_ascii_lowercase();
        if !REFUSALS.iter().any(|word| lower.contains(word)) {
            return None;
        }
        // The field that is refused is named before what is proposed in its place.
        let mut named: Vec<(usize, String)> = fields_of(body)
            .into_iter()
            .filter_map(|field| Some((place_of(refusal, &field)?, field)))
            .collect();
        named.sort();
        for (_, field) in named {
            if !LIMITS.contains(&field.as_str()) {
                self.omitted.insert(field.clone());
                return Some(format!("is asked without `{field}`"));
            }
            let other = LIMITS.into_iter().find(|it| *it != field)?;
            if self.limit.is_none() {
                if TOO_LARGE.iter().any(|word| lower.contains(word))
                    && place_of(refusal, other).is_none()
                {
                    continue;
                }
                self.limit = Some(other);
                return Some(format!("is asked with `{other}` in place of `{field}`"));
            }
            // It knows neither.
            self.omitted.insert(field.clone());
            return Some(format!("is asked without `{field}`"));
        }
        None
    }
}

/// Adds what can be done to a refusal of the limit of output.
pub(crate) fn with_remedy(message: String, body: &Value) -> String {
    let lower = message.to_ascii_lowercase();
    let limits = [
        "max_tokens",
        "max_completion_tokens",
        "max_output_tokens",
        "maxoutputtokens",
        "maxtokens",
        "num_predict",
        "completion tokens",
        "output tokens",
    ];
    let is_limit = limits.iter().any(|name| lower.contains(name))
        && TOO_LARGE.iter().any(|word| lower.contains(word));
    if !is_limit {
        return message;
    }
    let sent = limit_in(body).map_or_else(String::new, |it| format!(" than {it}"));
    format!(
        "{message}; set `max_output_tokens` lower{sent}, in the settings under `[asking]` or on the command line"
    )
}

/// Returns the limit of output that a body has.
fn limit_in(body: &Value) -> Option<u64> {
    [
        "/max_tokens",
        "/max_completion_tokens",
        "/max_output_tokens",
        "/generationConfig/maxOutputTokens",
        "/inferenceConfig/maxTokens",
        "/options/num_predict",
    ]
    .into_iter()
    .find_map(|pointer| body.pointer(pointer)?.as_u64())
}

/// Returns the names of the fields that a request could do without.
fn fields_of(body: &Value) -> Vec<String> {
    let mut fields = Vec::new();
    for (name, value) in body.as_object().into_iter().flatten() {
        if NEEDED.contains(&name.as_str()) || OF_SCHEMAS.contains(&name.as_str()) {
            continue;
        }
        if !GROUPS.contains(&name.as_str()) {
            fields.push(name.clone());
        }
        fields.extend(fields_of(value));
    }
    fields
}

fn omit(body: &mut Value, omitted: &BTreeSet<String>) {
    let Some(fields) = body.as_object_mut() else {
        return;
    };
    fields.retain(|name, _| !omitted.contains(name));
    for (name, value) in fields {
        if !NEEDED.contains(&name.as_str()) {
            omit(value, omitted);
        }
    }
}

/// Returns where a text names a field as a word of its own.
fn place_of(text: &str, field: &str) -> Option<usize> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(field).map(|it| it.0).find(|start| {
        let before = text[..*start].chars().next_back();
        let after = text[start + field.len()..].chars().next();
        let is_word = !before.is_some_and(is_part) && !after.is_some_and(is_part);
        let is_quoted = |c: Option<char>| c.is_some_and(|c| matches!(c, '\'' | '"' | '`'));
        let words_before = text[..*start].trim_end().to_ascii_lowercase();
        let is_name = is_quoted(before) && is_quoted(after)
            || ["parameter", "parameters", "field", "argument", "key", ":"]
                .iter()
                .any(|word| words_before.ends_with(word));
        is_word && (is_name || !WORDS.contains(&field))
    })
}
