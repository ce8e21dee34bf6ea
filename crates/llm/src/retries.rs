//! Retry with jittered backoff, Retry-After and a total deadline.

use crate::client::LlmClient;
use crate::completion::{Completion, Request};
use crate::error::LlmError;
use crate::stray_calls::{Attempts, Unclaimed};
use backon::{BackoffBuilder as _, ExponentialBuilder};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Calls after which nothing more is learnt from refusals for one request.
const MOST_LEARNT: usize = 8;

/// When and how often a failed call is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Calls in all, at least 1.
    pub max_attempts: usize,
    /// Wait before the second call, doubled for each further one, with jitter.
    pub first_delay: Duration,
    /// The longest wait that backoff chooses by itself.
    pub longest_delay: Duration,
    /// Time limit of all calls and waits for one request together.
    pub deadline: Duration,
}

/// Wraps a client so that failures that may pass are tried again.
#[derive(Debug)]
pub struct Retried<C> {
    inner: C,
    policy: RetryPolicy,
    unclaimed: Arc<Unclaimed>,
}

impl<C: LlmClient> Retried<C> {
    /// Wraps `inner`.
    pub fn new(inner: C, policy: RetryPolicy) -> Self {
        let unclaimed = Unclaimed::new();
        Self {
            inner,
            policy,
            unclaimed,
        }
    }

    /// Leaves the calls of requests that are dropped before they end to `unclaimed`.
    #[must_use]
    pub fn with_unclaimed(mut self, unclaimed: &Arc<Unclaimed>) -> Self {
        self.unclaimed = Arc::clone(unclaimed);
        self
    }
}

#[async_trait::async_trait]
impl<C: LlmClient> LlmClient for Retried<C> {
    fn model(&self) -> &str {
        self.inner.model()
    }

    async fn complete(&self, request: &Request) -> Result<Completion, LlmError> {
        let deadline = Instant::now() + self.policy.deadline;
        let request = &Request {
            deadline: Some(deadline),
            ..request.clone()
        };
        let mut delays = ExponentialBuilder::default()
            .with_jitter()
            .with_min_delay(self.policy.first_delay)
            .with_max_delay(self.policy.longest_delay)
            .with_max_times(self.policy.max_attempts.saturating_sub(1))
            .build();
        let mut attempts = Attempts::new(&self.unclaimed);
        loop {
            let mut error = match self.inner.complete(request).await {
                Ok(mut completion) => {
                    attempts.extend(completion.attempts);
                    completion.attempts = attempts.take();
                    return Ok(completion);
                }
                Err(error) => error,
            };
            attempts.extend(std::mem::take(&mut error.attempts));
            if error.learnt.is_some() && attempts.count() < MOST_LEARNT {
                continue;
            }
            let next = if error.kind.is_retryable() {
                delays.next()
            } else {
                None
            };
            // What the provider asks for comes first.
            let delay = next.map(|delay| error.retry_after.map_or(delay, |asked| asked.max(delay)));
            match delay {
                Some(delay) if Instant::now() + delay < deadline => {
                    tracing::debug!(
                        model = self.inner.model(),
                        kind = error.kind.name(),
                        delay_ms = delay.as_millis() as u64,
                        "call failed, retrying"
                    );
                    tokio::time::sleep(delay).await;
                }
                _ => {
                    if 1 < attempts.count() {
                        error.message =
                            format!("{} (after {} calls)", error.message, attempts.count());
                    }
                    error.attempts = attempts.take().into();
                    return Err(error);
                }
            }
        }
    }
}
