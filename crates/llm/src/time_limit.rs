//! The time limit of one call.

use crate::client::LlmClient;
use crate::completion::{Completion, Request};
use crate::error::{LlmError, LlmErrorKind};
use std::time::Duration;
use tokio::time::Instant;

/// Wraps a client so that a call ends after a time limit or at the request's
/// deadline, whichever comes first, whatever the provider does.
#[derive(Debug)]
pub struct Timed<C> {
    inner: C,
    limit: Duration,
}

impl<C: LlmClient> Timed<C> {
    /// Wraps `inner`.
    pub fn new(inner: C, limit: Duration) -> Self {
        Self { inner, limit }
    }
}

#[async_trait::async_trait]
impl<C: LlmClient> LlmClient for Timed<C> {
    fn model(&self) -> &str {
        self.inner.model()
    }

    async fn complete(&self, request: &Request) -> Result<Completion, LlmError> {
        let start = Instant::now();
        let limit = start + self.limit;
        let end = request
            .deadline
            .map_or(limit, |deadline| deadline.min(limit));
        match tokio::time::timeout_at(end, self.inner.complete(request)).await {
            Ok(result) => result,
            Err(_) => Err(LlmError::new(
                LlmErrorKind::Timeout,
                self.inner.model(),
                format!(
                    "no complete reply within {:.1} s",
                    start.elapsed().as_secs_f64()
                ),
            )),
        }
    }
}
