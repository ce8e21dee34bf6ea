//! Evaluations that are known, and the rule for which of them hold.
//!
//! An evaluation is known under a key of the kernel and of everything else that decides its
//! result. Whether it would be the same again decides how long it is known:
//!
//! | evaluation | known |
//! |---|---|
//! | made by a simulator | to all processes that use the cache folder |
//! | measured on a device | to this process: tomorrow the device may be busy in another way |
//! | cut | to nobody: the bound of another iteration may be higher |
//! | a fault | to nobody: it is the program's, which may be mended |
//!
//! The same holds for kernels that failed: a device may be out of sorts, a simulator is not.

use crate::{CachePart, EvalError, FileStore, TierClock, Verdict, kernel_key, nanos};
use autocomp_core::{ContentHash, Cost, Evaluation, Outcome, TierCost};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// What a bench has evaluated before.
#[derive(Debug)]
pub struct Evaluations {
    /// Everything but the kernel that decides a result.
    base: ContentHash,
    known: Known,
}

#[derive(Debug)]
enum Known {
    Nowhere,
    Process(Mutex<BTreeMap<ContentHash, Evaluation>>),
    Folder(FileStore),
}

impl Evaluations {
    /// Evaluations that a simulator makes, which processes share in `cache_folder`; none are
    /// known without one. `base` is a hash of everything but the kernel that decides a result.
    #[must_use]
    pub fn simulated(base: ContentHash, cache_folder: Option<&Path>) -> Self {
        let known = match cache_folder {
            Some(folder) => Known::Folder(FileStore::new(folder, CachePart::Evaluations)),
            None => Known::Nowhere,
        };
        Self { base, known }
    }

    /// Evaluations that are measured, which are known as long as this value lives; none are if
    /// `use_cache` is not set. `base` is as for [`simulated`](Self::simulated) ones.
    #[must_use]
    pub fn measured(base: ContentHash, use_cache: bool) -> Self {
        let known = match use_cache {
            true => Known::Process(Mutex::default()),
            false => Known::Nowhere,
        };
        Self { base, known }
    }

    /// Returns the key of a kernel's evaluation.
    #[must_use]
    pub fn key(&self, source: &str) -> ContentHash {
        kernel_key(self.base, source)
    }

    /// Returns the hash of everything but the kernel that decides a result.
    #[must_use]
    pub fn base(&self) -> ContentHash {
        self.base
    }

    /// Returns the evaluation of a kernel within `bound`: the one that is known, with a single
    /// tier `cache`, or what `judge` says.
    ///
    /// # Errors
    /// The errors of `judge`.
    pub fn get(
        &self,
        source: &str,
        bound: Option<Cost>,
        judge: impl FnOnce(&mut TierClock) -> Result<Verdict, EvalError>,
    ) -> Result<Evaluation, EvalError> {
        let started = Instant::now();
        let key = self.key(source);
        if let Some(mut evaluation) = self.known(&key) {
            evaluation.tiers = vec![TierCost {
                tier: "cache".into(),
                wall_ns: nanos(started),
            }];
            return Ok(evaluation.within(bound));
        }
        let mut clock = TierClock::default();
        let verdict = judge(&mut clock)?;
        let evaluation = clock.finish(key, verdict);
        if !matches!(evaluation.outcome, Outcome::Cut | Outcome::Fault) {
            self.keep(&evaluation)?;
        }
        Ok(evaluation.within(bound))
    }

    fn known(&self, key: &ContentHash) -> Option<Evaluation> {
        let evaluation: Evaluation = match &self.known {
            Known::Nowhere => return None,
            Known::Process(known) => {
                let known = known.lock().unwrap_or_else(PoisonError::into_inner);
                known.get(key)?.clone()
            }
            Known::Folder(store) => serde_json::from_slice(&store.get(key)?).ok()?,
        };
        (evaluation.key == *key).then_some(evaluation)
    }

    fn keep(&self, evaluation: &Evaluation) -> Result<(), EvalError> {
        match &self.known {
            Known::Nowhere => {}
            Known::Process(known) => {
                let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
                known.insert(evaluation.key, evaluation.clone());
            }
            Known::Folder(store) => {
                let bytes = serde_json::to_vec(evaluation).map_err(|error| {
                    EvalError::Fault(format!("an evaluation cannot be stored: {error}"))
                })?;
                store.put(&evaluation.key, &bytes);
            }
        }
        Ok(())
    }
}
