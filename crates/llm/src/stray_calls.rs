//! Calls whose caller went away: they cost all the same, so they are kept.

use crate::completion::Attempt;
use crate::error::LlmErrorKind;
use std::sync::{Arc, Mutex, PoisonError};

/// Attempts that no caller received, because the caller was dropped (a run that
/// stops does not wait for ever). Whoever keeps the record takes them from here.
#[derive(Debug, Default)]
pub struct Unclaimed {
    attempts: Mutex<Vec<Attempt>>,
}

impl Unclaimed {
    /// Creates an empty list.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Takes what there is, in the order in which callers went away.
    #[must_use]
    pub fn take(&self) -> Vec<Attempt> {
        std::mem::take(&mut self.lock())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Attempt>> {
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Attempts on their way to a caller. What is still here when this is dropped
/// goes to the [`Unclaimed`].
#[derive(Debug)]
pub struct Attempts {
    list: Vec<Attempt>,
    unclaimed: Arc<Unclaimed>,
}

impl Attempts {
    /// Creates an empty list that leaves its attempts to `unclaimed`.
    #[must_use]
    pub fn new(unclaimed: &Arc<Unclaimed>) -> Self {
        Self {
            list: Vec::new(),
            unclaimed: Arc::clone(unclaimed),
        }
    }

    /// Appends attempts.
    pub fn extend(&mut self, attempts: impl IntoIterator<Item = Attempt>) {
        self.list.extend(attempts);
    }

    /// Returns how many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.list.len()
    }

    /// Notes that the reply of the last attempt cannot be used, and why.
    pub fn blame_last(&mut self, complaint: &str) {
        if let Some(attempt) = self.list.last_mut() {
            attempt.error_kind = Some(LlmErrorKind::Malformed);
            attempt.error = Some(complaint.to_owned());
        }
    }

    /// Hands the attempts over.
    #[must_use]
    pub fn take(&mut self) -> Vec<Attempt> {
        std::mem::take(&mut self.list)
    }
}

impl Drop for Attempts {
    fn drop(&mut self) {
        if !self.list.is_empty() {
            self.unclaimed.lock().append(&mut self.list);
        }
    }
}
