//! Models ready to be asked, and sets of them.

use crate::breaker::{Availability, Breaker, BreakerPolicy};
use crate::budget::Budget;
use crate::client::LlmClient;
use crate::completion::{Attempt, Completion, Request, TokenCount};
use crate::error::{LlmError, LlmErrorKind};
use crate::price::Price;
use crate::stray_calls::{Attempts, Unclaimed};
use autocomp_core::UsdMicros;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::time::Instant;

/// One model, with everything around it, its circuit breaker and its tally.
pub struct Member {
    client: Box<dyn LlmClient>,
    price: Price,
    breaker: Breaker,
    budget: Arc<Budget>,
    /// Taken away when the model rejects its first schema.
    structured_output: AtomicBool,
    unclaimed: Arc<Unclaimed>,
    tally: Mutex<Tally>,
    notices: Mutex<Vec<String>>,
}

#[derive(Clone, Debug, Default)]
struct Tally {
    answered: u64,
    failed: u64,
    requests: u64,
    tokens: TokenCount,
    cost: UsdMicros,
    errors: BTreeMap<LlmErrorKind, u64>,
}

/// How a model fared so far: for progress lines and reports.
#[derive(Clone, Debug, PartialEq)]
pub struct MemberHealth {
    /// The model string.
    pub model: String,
    /// Requests answered with a usable reply.
    pub answered: u64,
    /// Requests that failed after all retries, unusable replies included.
    pub failed: u64,
    /// Calls sent, retries included.
    pub requests: u64,
    /// Tokens of all calls.
    pub tokens: TokenCount,
    /// Cost of all calls.
    pub cost: UsdMicros,
    /// Failed calls by kind.
    pub errors: BTreeMap<LlmErrorKind, u64>,
    /// Whether it may be asked now.
    pub availability: Availability,
}

impl Member {
    pub(crate) fn new(
        client: Box<dyn LlmClient>,
        price: Price,
        breaker: BreakerPolicy,
        budget: Arc<Budget>,
        structured_output: bool,
        unclaimed: Arc<Unclaimed>,
    ) -> Self {
        Self {
            client,
            price,
            breaker: Breaker::new(breaker),
            budget,
            structured_output: AtomicBool::new(structured_output),
            unclaimed,
            tally: Mutex::default(),
            notices: Mutex::default(),
        }
    }

    /// Returns the model string.
    #[must_use]
    pub fn model(&self) -> &str {
        self.client.model()
    }

    /// Returns what it costs.
    #[must_use]
    pub fn price(&self) -> &Price {
        &self.price
    }

    /// Returns whether the provider enforces JSON schemas of replies, as far as
    /// is known.
    #[must_use]
    pub fn has_structured_output(&self) -> bool {
        self.structured_output.load(Ordering::Relaxed)
    }

    /// Returns the budget that pays for its calls.
    #[must_use]
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Returns the circuit breaker.
    #[must_use]
    pub fn breaker(&self) -> &Breaker {
        &self.breaker
    }

    /// Sends a request. A failure counts towards setting the model aside; a
    /// reply counts only when [`Member::judge`] finds it usable.
    ///
    /// A model that rejects a request with a schema is asked once more without
    /// it, and without any from then on if that helps.
    ///
    /// # Errors
    /// The [`LlmError`] that is left after all retries.
    pub async fn complete(&self, request: &Request) -> Result<Completion, LlmError> {
        let result = self.complete_with_or_without_schema(request).await;
        let attempts = match &result {
            Ok(completion) => &completion.attempts[..],
            Err(error) => &error.attempts[..],
        };
        self.count(attempts);
        if let Err(error) = &result {
            self.tally
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .failed += 1;
            self.note_failure(error.kind, &error.message);
        }
        result
    }

    async fn complete_with_or_without_schema(
        &self,
        request: &Request,
    ) -> Result<Completion, LlmError> {
        let has_schema = request.schema.is_some();
        let plain = Request {
            schema: None,
            ..request.clone()
        };
        if has_schema && !self.has_structured_output() {
            return self.client.complete(&plain).await;
        }
        let error = match self.client.complete(request).await {
            Err(error) if has_schema && error.kind == LlmErrorKind::InvalidRequest => error,
            result => return result,
        };
        let mut attempts = Attempts::new(&self.unclaimed);
        attempts.extend(error.attempts);
        match self.client.complete(&plain).await {
            Ok(mut completion) => {
                if self.structured_output.swap(false, Ordering::Relaxed) {
                    self.notice(format!(
                        "{} does not take JSON schemas and is asked without ({})",
                        self.model(),
                        error.message
                    ));
                }
                attempts.extend(completion.attempts);
                completion.attempts = attempts.take();
                Ok(completion)
            }
            Err(mut error) => {
                attempts.extend(error.attempts);
                error.attempts = attempts.take().into();
                Err(error)
            }
        }
    }

    /// Counts a reply that could not be used, before the model is asked again.
    pub fn count_unusable(&self) {
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        *tally.errors.entry(LlmErrorKind::Malformed).or_default() += 1;
    }

    /// Notes whether a reply could be used. Unusable replies in a row set the
    /// model aside like errors do.
    pub fn judge(&self, usable: Result<(), &str>) {
        match usable {
            Ok(()) => {
                self.tally
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .answered += 1;
                if self.breaker.succeeded() {
                    self.notice(format!("{} answers again", self.model()));
                }
            }
            Err(complaint) => {
                self.tally
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .failed += 1;
                self.note_failure(LlmErrorKind::Malformed, complaint);
            }
        }
    }

    /// Takes the calls whose callers went away before they got them.
    #[must_use]
    pub fn take_unclaimed(&self) -> Vec<Attempt> {
        let attempts = self.unclaimed.take();
        self.count(&attempts);
        attempts
    }

    /// Returns how the model fared so far.
    #[must_use]
    pub fn health(&self) -> MemberHealth {
        let tally = self
            .tally
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        MemberHealth {
            model: self.model().to_owned(),
            answered: tally.answered,
            failed: tally.failed,
            requests: tally.requests,
            tokens: tally.tokens,
            cost: tally.cost,
            errors: tally.errors,
            availability: self.breaker.availability(),
        }
    }

    fn note_failure(&self, kind: LlmErrorKind, message: &str) {
        if let Some(reason) = self.breaker.failed(kind, message) {
            self.notice(format!(
                "{} is set aside ({reason}); its share goes to the others",
                self.model()
            ));
        }
    }

    fn notice(&self, text: String) {
        tracing::warn!("{text}");
        self.notices
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(text);
    }

    /// Takes what happened to the model that people should hear about.
    pub(crate) fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut self.notices.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn count(&self, attempts: &[Attempt]) {
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        for attempt in attempts {
            tally.requests += attempt.requests;
            tally.tokens += attempt.tokens;
            tally.cost.0 = tally.cost.0.saturating_add(attempt.cost.0);
            if let Some(kind) = attempt.error_kind {
                *tally.errors.entry(kind).or_default() += 1;
            }
        }
    }
}

/// Models among which samples are split.
#[derive(Clone)]
pub struct ModelSet {
    members: Vec<Arc<Member>>,
}

impl ModelSet {
    /// Creates a set of members.
    #[must_use]
    pub fn new(members: Vec<Arc<Member>>) -> Self {
        Self { members }
    }

    /// Returns the members.
    #[must_use]
    pub fn members(&self) -> &[Arc<Member>] {
        &self.members
    }

    /// Returns the order in which sample number `slot` asks the members: its own
    /// first, then the others as fallback. Any run of as many samples as there
    /// are members gives each of them exactly one.
    pub fn order(&self, slot: u64) -> impl Iterator<Item = &Arc<Member>> {
        let count = self.members.len() as u64;
        let first = slot.checked_rem(count).unwrap_or(0) as usize;
        self.members[first..].iter().chain(&self.members[..first])
    }

    /// Returns when the first member that is set aside may be asked again;
    /// none if a member is available or all are lost.
    #[must_use]
    pub fn next_probe(&self) -> Option<Instant> {
        let mut next = None;
        for member in &self.members {
            match member.breaker.availability() {
                Availability::Available => return None,
                Availability::SetAside { until, .. } => {
                    next = Some(next.map_or(until, |next: Instant| next.min(until)));
                }
                Availability::Lost { .. } => {}
            }
        }
        next
    }
}
