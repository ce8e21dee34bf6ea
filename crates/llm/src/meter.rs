//! Budget and record around one model: every call is paid for and written down.

use crate::budget::{Amount, Budget, Reservation, amount_of, dollars};
use crate::client::LlmClient;
use crate::completion::{Attempt, Completion, Request, TokenCount};
use crate::error::{LlmError, LlmErrorKind};
use crate::price::Price;
use crate::secrets::Secrets;
use crate::stray_calls::{Attempts, Unclaimed};
use autocomp_core::{Usage, UsdMicros};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Tokens that providers put around a prompt, at most: frames of messages, the
/// words by which a schema is explained.
const HIDDEN_TOKENS: u64 = 4096;

/// How far a cost that a provider reports may lie above the price table, which
/// may be out of date.
const MOST_ABOVE_TABLE: u64 = 10;

/// What a million tokens cost at most where no price is known, in dollars.
const DEAREST: f64 = 1000.0;

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

    /// Returns the most that a call can have cost, whatever its provider says.
    fn highest_cost(&self, request: &Request) -> UsdMicros {
        let (most, _) = possible(
            request,
            TokenCount {
                input: u64::MAX,
                output: u64::MAX,
                ..TokenCount::default()
            },
        );
        let known = self.price.upper_bound(most.input, most.output);
        if known == UsdMicros(0) {
            return UsdMicros((most.total() as f64 * DEAREST) as u64);
        }
        UsdMicros(known.0.saturating_mul(MOST_ABOVE_TABLE))
    }

    /// Says that a provider reports what cannot be.
    fn note_absurd(&self, tokens: &TokenCount, cost: Option<UsdMicros>, booked: &Attempt) {
        let reported = match cost {
            Some(cost) => format!("{} tokens and {}", tokens.total(), dollars(cost)),
            None => format!("{} tokens", tokens.total()),
        };
        self.budget.warn(format!(
            "{} reports {reported} for one call, more than its prompt and its limit of output make possible; {} tokens and {} are counted",
            self.secrets.redact(self.inner.model()),
            booked.tokens.total(),
            dollars(booked.cost),
        ));
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
            model: self.secrets.redact(self.inner.model()),
            prompt: request.transcript(),
            reply: self.secrets.redact(reply),
            error_kind: None,
            error: None,
            tokens,
            cost: self.price.cost(&tokens),
            estimated: false,
            latency,
            requests: 1,
            reservation: None,
        }
    }

    /// Returns what a call counts with whose reply nobody saw. Nobody bills what
    /// a model of the user's own did not finish.
    fn unseen(&self, prompt_tokens: u64, request: &Request) -> TokenCount {
        let is_billed = 0.0 < self.price.output;
        TokenCount {
            input: prompt_tokens,
            output: if is_billed {
                u64::from(request.max_output_tokens)
            } else {
                0
            },
            ..TokenCount::default()
        }
    }
}

#[async_trait::async_trait]
impl<C: LlmClient> LlmClient for Metered<C> {
    fn model(&self) -> &str {
        self.inner.model()
    }

    async fn complete(&self, request: &Request) -> Result<Completion, LlmError> {
        // A key that got into a kernel or a message goes no further.
        let request = &self.secrets.redact_request(request);
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
        let most = Usage {
            requests: 1,
            input_tokens: prompt_bound,
            output_tokens: self.unseen(prompt_bound, request).output,
            cost: reservation.amount().cost,
            ..Usage::default()
        };
        let model = self.secrets.redact(self.inner.model());
        let number = match self.budget.write_down(&model, &request.label, &most).await {
            Ok(number) => number,
            Err(error) => {
                reservation.release();
                let (kind, message) = (LlmErrorKind::Cancelled, error.to_string());
                return Err(LlmError::new(kind, self.inner.model(), message));
            }
        };
        let start = Instant::now();
        let mut under_way = UnderWay {
            metered: self,
            request,
            start,
            number,
            reservation: Some(reservation),
        };
        let result = self.inner.complete(request).await;
        let reservation = under_way.arrive();
        let latency = start.elapsed();
        match result {
            Ok(mut completion) => {
                let reported = completion
                    .tokens
                    .unwrap_or_else(|| guess(request, &completion.text));
                let (tokens, is_absurd) = possible(request, reported);
                let mut attempt = self.attempt(request, &completion.text, tokens, latency);
                attempt.reservation = number;
                attempt.estimated = completion.tokens.is_none() || is_absurd;
                if let Some(cost) = completion.reported_cost {
                    let limit = self.highest_cost(request);
                    attempt.estimated |= limit < cost;
                    attempt.cost = cost.min(limit);
                }
                if is_absurd
                    || completion
                        .reported_cost
                        .is_some_and(|cost| attempt.cost < cost)
                {
                    self.note_absurd(&reported, completion.reported_cost, &attempt);
                }
                completion.tokens = completion.tokens.map(|_| tokens);
                reservation.settle(amount_of(&tokens, attempt.cost, 1));
                self.secrets.redact_in_place(&mut completion.text);
                completion.attempts = vec![attempt];
                Ok(completion)
            }
            Err(mut error) => {
                let reported = *error.tokens;
                let (mut tokens, is_absurd) = possible(request, reported);
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
                error.partial = self.secrets.redact(&error.partial).into();
                if let Some(learnt) = &error.learnt {
                    let told = format!("{model} {learnt} from now on ({})", error.message);
                    self.budget.warn(self.secrets.redact(&told));
                }
                let mut attempt = self.attempt(request, &error.partial, tokens, latency);
                attempt.reservation = number;
                attempt.estimated = unknown || is_absurd;
                if is_absurd {
                    self.note_absurd(&reported, None, &attempt);
                }
                attempt.error_kind = Some(error.kind);
                attempt.error = Some(error.message.clone());
                reservation.settle(amount_of(&tokens, attempt.cost, 1));
                *error.tokens = tokens;
                error.attempts = [attempt].into();
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
    /// The number of its reservation in the journal.
    number: Option<u64>,
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
        let tokens = self
            .metered
            .unseen(self.request.estimated_tokens(), self.request);
        let latency = self.start.elapsed();
        let mut attempt = self.metered.attempt(self.request, "", tokens, latency);
        attempt.estimated = true;
        attempt.reservation = self.number;
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

/// Returns the tokens that a server reports, none of them above what the request
/// makes possible, and whether any was: a token stands for at least a byte of
/// the prompt, and a reply has at most as many as were asked for.
fn possible(request: &Request, reported: TokenCount) -> (TokenCount, bool) {
    let schema = request.schema.as_ref();
    let schema_bytes = schema.map_or(0, |schema| schema.schema.to_string().len());
    let mut prompt_left = (request.prompt_bytes() + schema_bytes) as u64 + HIDDEN_TOKENS;
    let mut take = |count: u64| {
        let taken = count.min(prompt_left);
        prompt_left -= taken;
        taken
    };
    let output = reported.output.min(u64::from(request.max_output_tokens));
    let tokens = TokenCount {
        input: take(reported.input),
        cached: take(reported.cached),
        cache_write: take(reported.cache_write),
        output,
        reasoning: reported.reasoning.min(output),
    };
    (tokens, tokens != reported)
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
    let costs = attempts.iter().map(|attempt| attempt.cost.0);
    UsdMicros(costs.fold(0, u64::saturating_add))
}
