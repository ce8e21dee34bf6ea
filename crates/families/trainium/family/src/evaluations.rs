//! Evaluations that are remembered, for the simulated and the real device alike.

use std::path::Path;

use autocomp_core::{ContentHash, ContentHasher, Evaluation, Outcome};
use autocomp_eval::{CachePart, EvalError, FileStore, TierClock, Verdict};

/// What a bench has evaluated before.
#[derive(Debug)]
pub(crate) struct Evaluations {
    store: Option<FileStore>,
    /// Everything but the kernel that decides a result.
    base: ContentHash,
    /// Whether an evaluation that ended so would end so again.
    holds: fn(Outcome) -> bool,
}

impl Evaluations {
    /// The evaluations in `folder`; none are kept without one.
    pub(crate) fn new(
        folder: Option<&Path>,
        base: ContentHash,
        holds: fn(Outcome) -> bool,
    ) -> Self {
        let store = folder.map(|folder| FileStore::new(folder, CachePart::Evaluations));
        Self { store, base, holds }
    }

    /// The key of a kernel's evaluation.
    pub(crate) fn key(&self, source: &str) -> ContentHash {
        let mut hasher = ContentHasher::new("trainium evaluation of a kernel");
        hasher.update(&self.base.0);
        hasher.update(source.as_bytes());
        hasher.finish()
    }

    /// The evaluation that is remembered, or what `judge` says, which is remembered if it holds.
    pub(crate) fn get(
        &self,
        source: &str,
        judge: impl FnOnce(&mut TierClock) -> Result<Verdict, EvalError>,
    ) -> Result<Evaluation, EvalError> {
        let key = self.key(source);
        let stored = self.store.as_ref().and_then(|store| store.get(&key));
        if let Some(known) = stored.and_then(|bytes| serde_json::from_slice(&bytes).ok()) {
            return Ok(known);
        }
        let mut clock = TierClock::default();
        let verdict = judge(&mut clock)?;
        let evaluation = clock.finish(key, verdict);
        if let Some(store) = &self.store
            && (self.holds)(evaluation.outcome)
            && let Ok(bytes) = serde_json::to_vec(&evaluation)
        {
            store.put(&key, &bytes);
        }
        Ok(evaluation)
    }
}
