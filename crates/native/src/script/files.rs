//! The files that a reference in Python reads beside its own text: modules and data.

use autocomp_core::{ContentHash, ContentHasher};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Bytes of a file up to which its content counts; larger ones, libraries of packages, count by
/// their size and the time of their last change.
const MOST_READ_BYTES: u64 = 1 << 20;

/// Files with what they held.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct Files {
    paths: Vec<PathBuf>,
    held: Option<ContentHash>,
    /// Whether the reference took longer to start, which reads most of them, than to answer.
    pub(super) starts_slowly: bool,
}

impl Files {
    /// Returns files as they are now.
    pub(super) fn now(paths: Vec<PathBuf>, starts_slowly: bool) -> Self {
        let held = Some(held(&paths));
        Self {
            paths,
            held,
            starts_slowly,
        }
    }

    /// Returns whether they hold what they held.
    pub(super) fn are_unchanged(&self) -> bool {
        self.held == Some(held(&self.paths))
    }

    /// Returns a hash of what they held.
    pub(super) fn hash(&self) -> ContentHash {
        self.held.unwrap_or_else(|| held(&[]))
    }
}

fn held(paths: &[PathBuf]) -> ContentHash {
    let mut hasher = ContentHasher::new("files that a reference reads");
    for path in paths {
        hasher.update(path.as_os_str().as_encoded_bytes());
        hasher.update(&content(path));
    }
    hasher.finish()
}

/// Returns what stands for the content of a file; nothing for one that is not there.
fn content(path: &Path) -> Vec<u8> {
    let Ok(found) = fs::metadata(path) else {
        return Vec::new();
    };
    if found.is_file() && found.len() <= MOST_READ_BYTES {
        return fs::read(path).unwrap_or_default();
    }
    let changed = found.modified().ok();
    let changed = changed.and_then(|it| it.duration_since(UNIX_EPOCH).ok());
    format!("{} {:?}", found.len(), changed).into_bytes()
}
