//! Requests to models and what comes back.

use crate::error::LlmErrorKind;
use autocomp_core::{Usage, UsdMicros};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::ops::AddAssign;
use std::time::Duration;

/// Who speaks in a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// autocomp.
    User,
    /// The model.
    Assistant,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub text: String,
}

/// How hard a model should think before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningEffort {
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
}

/// A JSON schema that the reply must match, where the provider supports it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplySchema {
    /// Name, letters, digits, `-` and `_` only.
    pub name: String,
    /// The schema, with `additionalProperties: false` on every object.
    pub schema: serde_json::Value,
}

/// One request to a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The stable prefix: equal for many requests, so that providers can cache it. May be empty.
    pub system: String,
    /// The conversation; the last message is the user's.
    pub messages: Vec<Message>,
    /// The most tokens the model may write, reasoning included.
    pub max_output_tokens: u32,
    /// Sampling temperature; absent for the model's own, which reasoning models require.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// How hard to think; absent for the model's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<ReasoningEffort>,
    /// Structured output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<ReplySchema>,
    /// What is asked for, in a word or two (`plan-i1.b0.p2`), for those who look
    /// at requests; not part of the request.
    #[serde(skip)]
    pub label: String,
    /// When the caller gives up; set by the retry layer, not part of the request.
    #[serde(skip)]
    pub deadline: Option<tokio::time::Instant>,
}

impl Request {
    /// Creates a request of one user message after the stable prefix `system`.
    #[must_use]
    pub fn new(system: impl Into<String>, user: impl Into<String>, max_output_tokens: u32) -> Self {
        Self {
            system: system.into(),
            messages: vec![Message {
                role: Role::User,
                text: user.into(),
            }],
            max_output_tokens,
            temperature: None,
            reasoning: None,
            schema: None,
            label: String::new(),
            deadline: None,
        }
    }

    /// Returns the whole prompt as one text: the prefix, a blank line, the
    /// messages. Turns after the first carry a line that names the speaker.
    ///
    /// This is what command and mailbox models read, and what is recorded.
    #[must_use]
    pub fn transcript(&self) -> String {
        let mut text = self.system.trim_end().to_owned();
        for (idx, message) in self.messages.iter().enumerate() {
            if !text.is_empty() {
                text.push_str("\n\n");
            }
            if 0 < idx {
                let speaker = match message.role {
                    Role::User => "USER",
                    Role::Assistant => "ASSISTANT",
                };
                // Writing to a string cannot fail.
                let _ = writeln!(text, "=== {speaker} ===");
            }
            text.push_str(&message.text);
        }
        text
    }

    /// Returns the bytes of the prompt.
    #[must_use]
    pub fn prompt_bytes(&self) -> usize {
        self.system.len()
            + self
                .messages
                .iter()
                .map(|message| message.text.len())
                .sum::<usize>()
    }

    /// Returns a guess of the prompt's tokens before it is sent.
    #[must_use]
    pub fn estimated_tokens(&self) -> u64 {
        estimate_tokens(self.prompt_bytes())
    }
}

/// Returns a guess of the tokens in `bytes` of English and C: bytes / 3.5.
#[must_use]
pub fn estimate_tokens(bytes: usize) -> u64 {
    (bytes as u64 * 2).div_ceil(7)
}

/// Tokens of one call, each counted once: the prompt is the sum of the first three.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenCount {
    /// Prompt tokens neither read from nor written to the provider's cache.
    pub input: u64,
    /// Prompt tokens read from the provider's cache.
    pub cached: u64,
    /// Prompt tokens written to the provider's cache at a surcharge.
    pub cache_write: u64,
    /// Output tokens, reasoning included.
    pub output: u64,
    /// Of the output tokens, those spent on reasoning.
    pub reasoning: u64,
}

impl TokenCount {
    /// Returns prompt and output tokens together.
    #[must_use]
    pub fn total(&self) -> u64 {
        [self.cached, self.cache_write, self.output]
            .into_iter()
            .fold(self.input, u64::saturating_add)
    }
}

impl AddAssign for TokenCount {
    fn add_assign(&mut self, other: Self) {
        let sum = u64::saturating_add;
        self.input = sum(self.input, other.input);
        self.cached = sum(self.cached, other.cached);
        self.cache_write = sum(self.cache_write, other.cache_write);
        self.output = sum(self.output, other.output);
        self.reasoning = sum(self.reasoning, other.reasoning);
    }
}

/// One call of a model, exactly as sent and received: the unit of the record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// The model string.
    pub model: String,
    /// The exact prompt, see [`Request::transcript`].
    pub prompt: String,
    /// The exact reply, as far as it arrived.
    pub reply: String,
    /// The class of the error, if the call failed.
    pub error_kind: Option<LlmErrorKind>,
    /// The error in words, without secrets.
    pub error: Option<String>,
    /// Tokens used.
    pub tokens: TokenCount,
    /// What it cost.
    pub cost: UsdMicros,
    /// The provider reported no usage, so tokens and cost are an upper guess.
    pub estimated: bool,
    /// Wall time of the call.
    pub latency: Duration,
    /// 1 if a request went out, 0 if it was stopped before.
    pub requests: u64,
    /// The number under which its cost was reserved in the journal, if it was.
    #[serde(default)]
    pub reservation: Option<u64>,
}

impl Attempt {
    /// Returns tokens and cost in the form of the journal. Cache writes count as input.
    #[must_use]
    pub fn usage(&self) -> Usage {
        Usage {
            requests: self.requests,
            input_tokens: self.tokens.input + self.tokens.cache_write,
            cached_tokens: self.tokens.cached,
            output_tokens: self.tokens.output,
            reasoning_tokens: self.tokens.reasoning,
            cost: self.cost,
        }
    }
}

/// A usable reply: complete and not empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion {
    /// The text.
    pub text: String,
    /// The model string that answered.
    pub model: String,
    /// Tokens of the call that answered; absent if the provider reported none.
    pub tokens: Option<TokenCount>,
    /// What the provider says the call cost, if it says so.
    pub reported_cost: Option<UsdMicros>,
    /// Every call made for the request, failed ones included; empty below the metering layer.
    pub attempts: Vec<Attempt>,
}
