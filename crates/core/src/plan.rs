//! Plans and drafts: what proposers make.

use crate::quantity::UsdMicros;
use serde::{Deserialize, Serialize};

/// One transformation, described before it is carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The chosen [`MenuItem::id`](crate::MenuItem::id).
    pub menu_item: String,
    /// The plan in words.
    pub text: String,
    /// The plan in the proposer's own machine-readable form (JSON), or empty.
    #[serde(default)]
    pub payload: String,
    /// Who made it: `rewriter`, or a model string such as `openai::gpt-5`.
    pub proposer: String,
}

/// Code made from a plan, not yet evaluated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    /// The whole kernel source.
    pub source: String,
    /// Who made it.
    pub proposer: String,
}

/// What one call of a model used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Requests sent, retries included.
    pub requests: u64,
    /// Prompt tokens that were not served from a cache.
    pub input_tokens: u64,
    /// Prompt tokens served from the provider's cache.
    pub cached_tokens: u64,
    /// Output tokens, reasoning included.
    pub output_tokens: u64,
    /// Of the output tokens, those spent on reasoning.
    pub reasoning_tokens: u64,
    /// Cost in millionths of a dollar.
    pub cost: UsdMicros,
}

impl Usage {
    /// Returns prompt and output tokens together.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.input_tokens
            .saturating_add(self.cached_tokens)
            .saturating_add(self.output_tokens)
    }

    /// Adds `other` to this usage.
    pub fn add(&mut self, other: &Self) {
        // Saturates: figures come from servers.
        let sum = u64::saturating_add;
        self.requests = sum(self.requests, other.requests);
        self.input_tokens = sum(self.input_tokens, other.input_tokens);
        self.cached_tokens = sum(self.cached_tokens, other.cached_tokens);
        self.output_tokens = sum(self.output_tokens, other.output_tokens);
        self.reasoning_tokens = sum(self.reasoning_tokens, other.reasoning_tokens);
        self.cost.0 = sum(self.cost.0, other.cost.0);
    }
}
