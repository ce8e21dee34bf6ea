//! The one trait of this crate.

use crate::completion::{Completion, Request};
use crate::error::LlmError;

/// Answers requests.
///
/// Providers implement it; retry, limits, budget and record are wrappers around
/// it. An implementation returns only complete, non-empty replies: everything
/// else is an [`LlmError`].
#[async_trait::async_trait]
pub trait LlmClient: Send + Sync {
    /// Returns the model string, as the user wrote it.
    fn model(&self) -> &str;

    /// Sends one request and waits for its reply.
    ///
    /// # Errors
    /// An [`LlmError`] of the kind that describes the failure.
    async fn complete(&self, request: &Request) -> Result<Completion, LlmError>;
}

#[async_trait::async_trait]
impl<C: LlmClient + ?Sized> LlmClient for std::sync::Arc<C> {
    fn model(&self) -> &str {
        (**self).model()
    }

    async fn complete(&self, request: &Request) -> Result<Completion, LlmError> {
        (**self).complete(request).await
    }
}

#[async_trait::async_trait]
impl<C: LlmClient + ?Sized> LlmClient for Box<C> {
    fn model(&self) -> &str {
        (**self).model()
    }

    async fn complete(&self, request: &Request) -> Result<Completion, LlmError> {
        (**self).complete(request).await
    }
}
