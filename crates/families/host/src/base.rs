//! The kernel that others of a problem are timed against.
//!
//! All processes that evaluate for this user share it, so that costs that one
//! of them tells can be compared with those of another: it is kept in the cache
//! folder, and only read and changed by who holds the timing core.

use autocomp_core::ContentHash;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::Duration;

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
    /// That of the problem's own kernel.
    pub baseline_ns: f64,
    /// How far apart that kernel seemed to be from itself, timed as others are: half the
    /// width of the interval of the ratio, as a share.
    pub noise: f64,
}

impl SharedBase {
    fn place(cache_folder: &Path, key: &ContentHash) -> PathBuf {
        cache_folder.join("host-bases").join(format!("{key}.json"))
    }

    /// Returns the base of a problem, if there is one that is not too old.
    pub fn read(cache_folder: &Path, key: &ContentHash) -> Option<Self> {
        let place = Self::place(cache_folder, key);
        let age = std::fs::metadata(&place)
            .ok()?
            .modified()
            .ok()?
            .elapsed()
            .ok()?;
        let text = std::fs::read(&place).ok().filter(|_| age < LIFE)?;
        let base: Self = serde_json::from_slice(&text).ok()?;
        let usable = [base.call_ns, base.baseline_ns]
            .iter()
            .all(|ns| ns.is_finite() && 0.0 < *ns);
        usable.then_some(base)
    }

    /// Keeps a base. Where that fails, processes measure their own.
    pub fn write(&self, cache_folder: &Path, key: &ContentHash) {
        let place = Self::place(cache_folder, key);
        let (Some(folder), Ok(text)) = (place.parent(), serde_json::to_vec(self)) else {
            return;
        };
        let _ = std::fs::create_dir_all(folder);
        let Ok(mut file) = tempfile::NamedTempFile::new_in(folder) else {
            return;
        };
        if std::io::Write::write_all(&mut file, &text).is_ok() {
            let _ = file.persist(place);
        }
    }

    /// Forgets the base of a problem.
    pub fn forget(cache_folder: &Path, key: &ContentHash) {
        let _ = std::fs::remove_file(Self::place(cache_folder, key));
    }
}
