//! The kernel that others of a problem are timed against.
//!
//! All processes that evaluate for this user share it, so that costs that one
//! of them tells can be compared with those of another: it is kept in the cache
//! folder, and only read and changed by who holds the timing core.

use autocomp_core::ContentHash;
use autocomp_eval::{CachePart, FileStore};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// From this age on absolute costs are measured anew: the machine may be
/// another one by now.
const LIFE: Duration = Duration::from_secs(12 * 60 * 60);

/// A base, as it is shared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SharedBase {
    /// The kernel.
    pub source: String,
    /// Its processor time per call, nanoseconds.
    pub call_ns: f64,
    /// Processor time of the problem's own kernel per call, nanoseconds.
    pub baseline_ns: f64,
    /// How far apart that kernel seemed to be from itself, timed as others are: half the
    /// width of the interval of the ratio, as a share.
    pub noise: f64,
    /// When it was timed, seconds since 1970.
    pub timed_at: u64,
}

impl SharedBase {
    /// Returns the time for [`SharedBase::timed_at`].
    #[must_use]
    pub fn now() -> u64 {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        since.map_or(0, |since| since.as_secs())
    }

    fn store(cache_folder: &Path) -> FileStore {
        FileStore::new(cache_folder, CachePart::Bases)
    }

    /// Returns the base of a problem, if there is one that is not too old.
    pub fn read(cache_folder: &Path, key: &ContentHash) -> Option<Self> {
        let text = Self::store(cache_folder).get(key)?;
        let base: Self = serde_json::from_slice(&text).ok()?;
        let usable = [base.call_ns, base.baseline_ns]
            .iter()
            .all(|ns| ns.is_finite() && 0.0 < *ns);
        // One from the future is of a clock that was set.
        let age = Self::now().checked_sub(base.timed_at)?;
        (usable && age < LIFE.as_secs()).then_some(base)
    }

    /// Keeps a base. Where that fails, processes measure their own.
    pub fn write(&self, cache_folder: &Path, key: &ContentHash) {
        if let Ok(text) = serde_json::to_vec(self) {
            Self::store(cache_folder).put(key, &text);
        }
    }

    /// Forgets the base of a problem.
    pub fn forget(cache_folder: &Path, key: &ContentHash) {
        let _ = std::fs::remove_file(Self::store(cache_folder).path(key));
    }
}
