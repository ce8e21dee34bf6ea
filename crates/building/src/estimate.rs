//! What a build will cost, before it begins.

use autocomp_core::UsdMicros;
use autocomp_llm::{ModelSet, Request, TokenCount};
use serde::Serialize;

/// Parts that a passage is of use for, as a rule, of all seven.
pub(crate) const PARTS_PER_PASSAGE: f64 = 1.5;
/// Tokens of a statement with its citation.
const STATEMENT_TOKENS: u64 = 110;
/// Tokens of passages from which one statement is written.
const TOKENS_PER_STATEMENT: u64 = 400;
/// Tokens of an entry for a passage that is of use for something.
pub(crate) const ROUTE_TOKENS: u64 = 15;

/// What is expected, and what it can be at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Range {
    /// As a rule.
    pub expected: f64,
    /// At most: every passage is of use for every part, every reply is as long as it may be and
    /// has to be asked for again.
    pub most: f64,
}

/// What a build will cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Estimate {
    /// Requests.
    pub requests: Range,
    /// Tokens of prompts.
    pub input_tokens: Range,
    /// Tokens of replies.
    pub output_tokens: Range,
    /// Dollars, of the dearest model.
    pub usd: Range,
}

impl Estimate {
    /// Adds requests, each of which is made with the chance `share`, and replied to with
    /// `output` tokens.
    pub(crate) fn add(&mut self, request: &Request, share: f64, output: u64) {
        let input = request.estimated_tokens() as f64;
        let longest = f64::from(request.max_output_tokens);
        self.requests.expected += share;
        self.requests.most += 2.0;
        self.input_tokens.expected += share * input;
        self.input_tokens.most += 2.0 * input + longest;
        self.output_tokens.expected += share * (output as f64).min(longest);
        self.output_tokens.most += 2.0 * longest;
    }

    /// Returns how long replies with statements of so many bytes of passages are.
    pub(crate) fn statements(request: &Request) -> u64 {
        (request.estimated_tokens() / TOKENS_PER_STATEMENT + 1) * STATEMENT_TOKENS
    }

    /// Sets the cost by the prices of the models.
    pub(crate) fn price(&mut self, models: &ModelSet) {
        let cost = |input: f64, output: f64| {
            let tokens = TokenCount {
                input: input as u64,
                output: output as u64,
                ..TokenCount::default()
            };
            let costs = models.members().iter().map(|it| it.price().cost(&tokens));
            costs.max().unwrap_or(UsdMicros(0)).0 as f64 / 1e6
        };
        self.usd = Range {
            expected: cost(self.input_tokens.expected, self.output_tokens.expected),
            most: cost(self.input_tokens.most, self.output_tokens.most),
        };
    }
}
