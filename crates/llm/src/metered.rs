//! Budget and record around one model: every call is paid for and written down.

use crate::budget::{Amount, Budget, Reservation, amount_of};
use crate::client::LlmClient;
use crate::completion::{Attempt, Completion, Request, TokenCount};
use crate::error::{LlmError, LlmErrorKind};
use crate::price::Price;
use crate::secrets::Secrets;
use crate::unclaimed::{Attempts, Unclaimed};
use autocomp_core::UsdMicros;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Wraps a client so that each call reserves its cost first, settles it
/// afterwards, and leaves an [`Attempt`] without secrets. A call that is dropped
/// under way counts with the most it may cost, in the budget and as unclaimed.
#[derive(Debug)]
pub struct Metered<C> {
    inner: C,
    price: Price,
    budget: Arc<Budget>,
    secrets: Arc<Secrets>,
    unclaimed: Arc<Unclaimed>,
}

impl<C: LlmClient> Metered<C> {
    /// Wraps `inner`.
    pub fn new(inner: C, price: Price, budget: Arc<Budget>, secrets: Arc<Secrets>) -> Self {
        Self {
            inner,
            price,
            budget,
            secrets,
            unclaimed: Unclaimed::new(),
        }
    }

    /// Leaves calls that are dropped under way to `unclaimed`.
    #[must_use]
    pub fn with_unclaimed(mut self, unclaimed: &Arc<Unclaimed>) -> Self {
        self.unclaimed = Arc::clone(unclaimed);
        self
    }

    fn attempt(
        &self,
        request: &Request,
        reply: &str,
        tokens: TokenCount,
        latency: Duration,
    ) -> Attempt {
        Attempt {
            model: self.inner.model().to_owned(),
            prompt: self.secrets.redact(&request.transcript()),
            reply: self.secrets.redact(reply),
            error_kind: None,
            error: None,
            tokens,
            cost: self.price.cost(&tokens),
            estimated: false,
            latency,
            requests: 1,
        }
    }
}

#[async_trait::async_trait]
impl<C: LlmClient> LlmClient for Metered<C> {
    fn model(&self) -> &str {
        self.inner.model()
    }

    async fn complete(&self, request: &Request) -> Result<Completion, LlmError> {
        let prompt_bound = upper_prompt_tokens(request);
        if let Some(limit) = self.price.prompt_limit
            && limit < request.estimated_tokens()
        {
            return Err(LlmError::new(
                LlmErrorKind::ContextTooLong,
                self.inner.model(),
                format!("the prompt is longer than the {limit} tokens for which a price is known"),
            ));
        }
        let output_bound = u64::from(request.max_output_tokens);
        let reservation = self
            .budget
            .reserve(Amount {
                cost: self.price.upper_bound(prompt_bound, output_bound),
                tokens: prompt_bound + output_bound,
                requests: 1,
            })
            .await
            .map_err(|reached| {
                LlmError::new(LlmErrorKind::BudgetExhausted, self.inner.model(), reached.0)
            })?;
        let start = Instant::now();
        let mut under_way = UnderWay {
            metered: self,
            request,
            start,
            reservation: Some(reservation),
        };
        let result = self.inner.complete(request).await;
        let reservation = under_way.arrive();
        let latency = start.elapsed();
        match result {
            Ok(mut completion) => {
                let tokens = completion
                    .tokens
                    .unwrap_or_else(|| guess(request, &completion.text));
                let mut attempt = self.attempt(request, &completion.text, tokens, latency);
                attempt.estimated = completion.tokens.is_none();
                if let Some(cost) = completion.reported_cost {
                    attempt.cost = cost;
                }
                reservation.settle(amount_of(&tokens, attempt.cost, 1));
                self.secrets.redact_in_place(&mut completion.text);
                completion.attempts = vec![attempt];
                Ok(completion)
            }
            Err(mut error) => {
                let mut tokens = *error.tokens;
                let unknown = tokens == TokenCount::default() && error.kind.may_have_cost();
                if unknown {
                    // The provider may have billed the whole reply that never arrived.
                    tokens = TokenCount {
                        input: request.estimated_tokens(),
                        output: output_bound,
                        ..TokenCount::default()
                    };
                }
                self.secrets.redact_in_place(&mut error.message);
                self.secrets.redact_in_place(&mut error.partial);
                let mut attempt = self.attempt(request, &error.partial, tokens, latency);
                attempt.estimated = unknown;
                attempt.error_kind = Some(error.kind);
                attempt.error = Some(error.message.clone());
                reservation.settle(amount_of(&tokens, attempt.cost, 1));
                *error.tokens = tokens;
                error.attempts = vec![attempt];
                Err(error)
            }
        }
    }
}

/// A call that has been sent. Dropped before it arrived, it still counts.
struct UnderWay<'call, C: LlmClient> {
    metered: &'call Metered<C>,
    request: &'call Request,
    start: Instant,
    reservation: Option<Reservation>,
}

impl<C: LlmClient> UnderWay<'_, C> {
    fn arrive(&mut self) -> Reservation {
        self.reservation
            .take()
            .expect("a call arrives once, and holds its reservation until then")
    }
}

impl<C: LlmClient> Drop for UnderWay<'_, C> {
    fn drop(&mut self) {
        let Some(reservation) = self.reservation.take() else {
            return;
        };
        let is_billed = 0.0 < self.metered.price.output;
        let tokens = TokenCount {
            input: self.request.estimated_tokens(),
            // Nobody bills what a model of the user's own did not finish.
            output: if is_billed {
                u64::from(self.request.max_output_tokens)
            } else {
                0
            },
            ..TokenCount::default()
        };
        let latency = self.start.elapsed();
        let mut attempt = self.metered.attempt(self.request, "", tokens, latency);
        attempt.estimated = true;
        attempt.error_kind = Some(LlmErrorKind::Cancelled);
        attempt.error = Some("the run stopped before the reply was complete".to_owned());
        reservation.settle(amount_of(&tokens, attempt.cost, 1));
        Attempts::new(&self.metered.unclaimed).extend([attempt]);
    }
}

/// Returns a count that the prompt's real tokens hardly exceed: bytes / 2, and
/// some for the message frames.
fn upper_prompt_tokens(request: &Request) -> u64 {
    request.prompt_bytes() as u64 / 2 + 64
}

/// Returns a guess for providers that report no usage.
fn guess(request: &Request, reply: &str) -> TokenCount {
    TokenCount {
        input: request.estimated_tokens(),
        output: crate::completion::estimate_tokens(reply.len()),
        ..TokenCount::default()
    }
}

/// Sums the cost of attempts.
#[must_use]
pub fn total_cost(attempts: &[Attempt]) -> UsdMicros {
    UsdMicros(attempts.iter().map(|attempt| attempt.cost.0).sum())
}
