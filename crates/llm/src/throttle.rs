//! Limits shared by all models of one provider: calls at once, calls per minute,
//! and the pauses a provider asks for.

use crate::client::LlmClient;
use crate::completion::{Completion, Request};
use crate::error::{LlmError, LlmErrorKind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

/// The longest pause taken over from a provider.
const LONGEST_PAUSE: Duration = Duration::from_secs(120);

/// The gate of one provider.
#[derive(Debug)]
pub struct Gate {
    slots: Semaphore,
    /// Least time between two starts.
    spacing: Duration,
    /// The next start is not before this.
    next_start: Mutex<Option<Instant>>,
}

impl Gate {
    /// Creates a gate for `concurrency` calls at once and at most `per_minute` starts a minute.
    #[must_use]
    pub fn new(concurrency: usize, per_minute: Option<u32>) -> Arc<Self> {
        let spacing = per_minute.map_or(Duration::ZERO, |count| {
            Duration::from_secs(60) / count.max(1)
        });
        Arc::new(Self {
            slots: Semaphore::new(concurrency.max(1)),
            spacing,
            next_start: Mutex::new(None),
        })
    }

    /// Waits for a slot and a start time; the slot is held until it is dropped.
    async fn pass(&self) -> SemaphorePermit<'_> {
        let slot = self
            .slots
            .acquire()
            .await
            .expect("the semaphore is never closed");
        if let Some(start) = self.book() {
            tokio::time::sleep_until(start).await;
        }
        slot
    }

    /// Returns when the caller may start, and books that start.
    fn book(&self) -> Option<Instant> {
        let mut next_start = self
            .next_start
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let start = next_start.filter(|start| now < *start);
        *next_start = (self.spacing != Duration::ZERO)
            .then(|| start.unwrap_or(now) + self.spacing)
            .or(start);
        start
    }

    /// Lets nothing start for `pause`.
    fn pause(&self, pause: Duration) {
        let mut next_start = self
            .next_start
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let until = Instant::now() + pause.min(LONGEST_PAUSE);
        *next_start = Some(next_start.map_or(until, |start| start.max(until)));
    }
}

/// Wraps a client so that its calls pass the gate of its provider.
#[derive(Debug)]
pub struct Throttled<C> {
    inner: C,
    gate: Arc<Gate>,
}

impl<C: LlmClient> Throttled<C> {
    /// Wraps `inner`.
    pub fn new(inner: C, gate: Arc<Gate>) -> Self {
        Self { inner, gate }
    }
}

#[async_trait::async_trait]
impl<C: LlmClient> LlmClient for Throttled<C> {
    fn model(&self) -> &str {
        self.inner.model()
    }

    async fn complete(&self, request: &Request) -> Result<Completion, LlmError> {
        let pass = self.gate.pass();
        let slot = match request.deadline {
            Some(deadline) => tokio::time::timeout_at(deadline, pass).await.ok(),
            None => Some(pass.await),
        };
        let Some(_slot) = slot else {
            return Err(LlmError::new(
                LlmErrorKind::Timeout,
                self.inner.model(),
                "the provider's limits left no room for the call before the deadline",
            ));
        };
        let result = self.inner.complete(request).await;
        if let Err(error) = &result
            && error.kind == LlmErrorKind::RateLimit
            && let Some(pause) = error.retry_after
        {
            self.gate.pause(pause);
        }
        result
    }
}
