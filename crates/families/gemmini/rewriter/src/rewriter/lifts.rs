//! What texts were found to compute, kept for as long as a search needs it.
//!
//! A text is met again and again: as the draft of several plans, of several kernels that
//! compute the same, and as a kernel itself when it has been measured.

use super::lock;
use crate::lift::{Lifted, Reason};
use autocomp_core::ContentHash;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

/// Texts that are remembered. What is kept of one takes some kilobytes.
const REMEMBERED: usize = 1024;

/// What a text computes, or why that is not known.
pub(super) type Lift = Arc<Result<Lifted, Reason>>;

/// What texts were found to compute, by their hashes.
#[derive(Debug, Default)]
pub(super) struct Lifts {
    known: Mutex<BTreeMap<ContentHash, Arc<OnceLock<Lift>>>>,
}

impl Lifts {
    /// Returns what `text` computes; `lift` finds it out if that is not known. Whoever asks
    /// for the same meanwhile waits for it.
    pub(super) fn of(&self, text: &str, lift: impl FnOnce() -> Result<Lifted, Reason>) -> Lift {
        let key = ContentHash::of(text.as_bytes());
        let place = {
            let mut known = lock(&self.known);
            if REMEMBERED <= known.len() && !known.contains_key(&key) {
                known.clear();
            }
            Arc::clone(known.entry(key).or_default())
        };
        Arc::clone(place.get_or_init(|| Arc::new(lift())))
    }
}
