//! What was found out about kernels, kept to save time.

use autocomp_core::ContentHash;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What was found out about texts, by their hashes. When there are too many, all are forgotten.
pub struct Memory<T> {
    most: usize,
    known: Mutex<BTreeMap<ContentHash, Arc<OnceLock<T>>>>,
}

impl<T: Clone> Memory<T> {
    /// Creates an empty memory for at most `most` texts.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self {
            most,
            known: Mutex::default(),
        }
    }

    /// Returns what is known of `text`; `find` finds it out if nothing is. Whoever asks for the
    /// same meanwhile waits for it.
    pub fn of(&self, text: &str, find: impl FnOnce() -> T) -> T {
        let key = ContentHash::of(text.as_bytes());
        let place = {
            // Nothing is computed while it is locked, so that a panic elsewhere leaves it whole.
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            if self.most <= known.len() && !known.contains_key(&key) {
                known.clear();
            }
            Arc::clone(known.entry(key).or_default())
        };
        place.get_or_init(find).clone()
    }
}

impl<T> fmt::Debug for Memory<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Memory");
        shown.field("most", &self.most).finish_non_exhaustive()
    }
}
