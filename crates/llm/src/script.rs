//! A client that answers from a list, for tests.

use crate::client::LlmClient;
use crate::completion::{Completion, Request};
use crate::error::{LlmError, LlmErrorKind};
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Answers requests from a list, in the order in which they arrive, and keeps them.
#[derive(Debug)]
pub struct ScriptedClient {
    model: String,
    replies: Mutex<VecDeque<Result<String, LlmErrorKind>>>,
    requests: Mutex<Vec<Request>>,
}

impl ScriptedClient {
    /// Creates a client that gives `replies` one after the other, then
    /// [`LlmErrorKind::Unavailable`].
    #[must_use]
    pub fn new(
        model: &str,
        replies: impl IntoIterator<Item = Result<String, LlmErrorKind>>,
    ) -> Self {
        Self {
            model: model.to_owned(),
            replies: Mutex::new(replies.into_iter().collect()),
            requests: Mutex::default(),
        }
    }

    /// Returns the requests so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.requests
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

#[async_trait::async_trait]
impl LlmClient for ScriptedClient {
    fn model(&self) -> &str {
        &self.model
    }

    async fn complete(&self, request: &Request) -> Result<Completion, LlmError> {
        self.requests
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(request.clone());
        let reply = self
            .replies
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front();
        match reply.unwrap_or(Err(LlmErrorKind::Unavailable)) {
            Ok(text) => Ok(Completion {
                text,
                model: self.model.clone(),
                tokens: None,
                reported_cost: None,
                attempts: Vec::new(),
            }),
            Err(kind) => Err(LlmError::new(kind, &self.model, "scripted failure")),
        }
    }
}
