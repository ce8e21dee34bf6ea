//! A folder of immutable entries named by content hashes, shared by processes.

use crate::cache::{is_hex, walk};
use autocomp_core::{ContentHash, ContentHasher};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// The parts of a cache folder that hold entries of a [`FileStore`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CachePart {
    /// Linked programs, and what compilers said of those that do not build.
    Builds,
    /// Right answers of references.
    Answers,
    /// Verdicts on kernels.
    Evaluations,
    /// Kernels that others are timed against, with what they cost.
    Bases,
}

impl CachePart {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Builds, Self::Answers, Self::Evaluations, Self::Bases];

    /// Returns its folder's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Builds => "builds",
            Self::Answers => "answers",
            Self::Evaluations => "evaluations",
            Self::Bases => "bases",
        }
    }

    /// Returns about how many bytes it may hold; entries that were not used for
    /// longest make way for new ones.
    #[must_use]
    pub fn most_bytes(self) -> u64 {
        match self {
            Self::Builds => 512 << 20,
            Self::Answers => 1 << 30,
            Self::Evaluations => 128 << 20,
            Self::Bases => 32 << 20,
        }
    }
}

/// Share of the most bytes that one entry may have, and that a process writes
/// until it looks again what there is.
const SHARE: u64 = 16;

/// A use is noted once in this time.
const NOTED_EVERY: Duration = Duration::from_secs(600);

/// A folder of immutable entries. Writes are atomic, reads are verified: a
/// damaged entry, or one in the place of another, is as good as none, and is
/// removed. It is kept below a size by removing what was not used for longest.
#[derive(Debug)]
pub struct FileStore {
    folder: PathBuf,
    most_bytes: u64,
    /// Bytes that may be written before the size is looked at again.
    room: AtomicU64,
}

impl FileStore {
    /// Uses a part of a cache folder, which need not exist yet.
    #[must_use]
    pub fn new(cache_folder: &Path, part: CachePart) -> Self {
        Self::bounded(cache_folder.join(part.name()), part.most_bytes())
    }

    /// Opens the store in `folder` itself, for at most `most_bytes`.
    #[doc(hidden)]
    #[must_use]
    pub fn bounded(folder: PathBuf, most_bytes: u64) -> Self {
        Self {
            folder,
            most_bytes,
            room: AtomicU64::new(0),
        }
    }

    /// Returns the entry of `key` if there is an undamaged one.
    pub fn get(&self, key: &ContentHash) -> Option<Vec<u8>> {
        let path = self.path(key);
        let mut bytes = fs::read(&path).ok()?;
        let is_whole = bytes
            .split_first_chunk()
            .is_some_and(|(sum, payload)| *sum == checksum(key, payload));
        if !is_whole {
            tracing::warn!(path = %path.display(), "removing a damaged cache entry");
            let _ = fs::remove_file(&path);
            return None;
        }
        note_use(&path);
        bytes.drain(..32);
        Some(bytes)
    }

    /// Stores an entry, unless it is so large that too many others would have to
    /// go. A cache that cannot be written slows things down and changes nothing
    /// else, so failure is only logged.
    pub fn put(&self, key: &ContentHash, payload: &[u8]) {
        let size = payload.len() as u64 + 32;
        if self.most_bytes / SHARE < size {
            tracing::debug!(size, "too large for the cache");
            return;
        }
        if let Err(error) = self.try_put(key, payload) {
            tracing::warn!(folder = %self.folder.display(), %error, "cannot write to the cache");
        }
        let took = |room: u64| room.checked_sub(size);
        let order = Ordering::Relaxed;
        if self.room.fetch_update(order, order, took).is_err() {
            let used = evict(&self.folder, self.most_bytes, None).bytes;
            let room = self.most_bytes.saturating_sub(used);
            self.room.store(room.min(self.most_bytes / SHARE), order);
        }
    }

    /// Writes the entry of `key` to `path`, or has `make` write there what becomes the entry.
    ///
    /// # Errors
    /// Those of `make`, and [`EvalError::Environment`](crate::EvalError::Environment) if `path`
    /// cannot be written.
    pub fn restore(
        &self,
        key: &ContentHash,
        path: &Path,
        make: impl FnOnce() -> Result<(), crate::EvalError>,
    ) -> Result<(), crate::EvalError> {
        if let Some(bytes) = self.get(key) {
            return fs::write(path, bytes).map_err(|error| unwritable(path, &error));
        }
        make()?;
        if let Ok(bytes) = fs::read(path) {
            self.put(key, &bytes);
        }
        Ok(())
    }

    fn try_put(&self, key: &ContentHash, payload: &[u8]) -> io::Result<()> {
        let path = self.path(key);
        let folder = path.parent().unwrap_or(&self.folder);
        fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(&checksum(key, payload))?;
        file.write_all(payload)?;
        file.persist(&path)?;
        Ok(())
    }

    /// Returns where the value of `key` lies, if there is one.
    #[doc(hidden)]
    #[must_use]
    pub fn path(&self, key: &ContentHash) -> PathBuf {
        let name = key.to_string();
        let (group, rest) = name.split_at(2);
        self.folder.join(group).join(rest)
    }
}

/// Returns what an entry begins with: it tells damage, and a wrong place.
fn checksum(key: &ContentHash, payload: &[u8]) -> [u8; 32] {
    let mut hasher = ContentHasher::new("autocomp cache entry");
    hasher.update(&key.0);
    hasher.update(payload);
    hasher.finish().0
}

/// Notes in the file's time that an entry is in use. That it cannot be noted
/// does not matter.
fn note_use(path: &Path) {
    let noted = fs::metadata(path).and_then(|meta| meta.modified());
    let is_recent = noted.is_ok_and(|time| time.elapsed().is_ok_and(|age| age < NOTED_EVERY));
    if !is_recent && let Ok(file) = File::options().append(true).open(path) {
        let _ = file.set_modified(SystemTime::now());
    }
}

/// Number and size of files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Files.
    pub files: u64,
    /// Bytes in them.
    pub bytes: u64,
}

impl Extent {
    pub(crate) fn add(&mut self, bytes: u64) {
        self.files += 1;
        self.bytes += bytes;
    }
}

/// Removes entries below `folder` that were last used before `before`, and if
/// there is more than `most_bytes` then those used longest ago, until there is
/// a quarter less. Returns what is left.
pub(crate) fn evict(folder: &Path, most_bytes: u64, before: Option<SystemTime>) -> Extent {
    let mut files = Vec::new();
    walk(folder, &mut |path, meta| {
        // Nothing that autocomp has not put there.
        if is_entry(path) {
            let used = meta.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            files.push((used, meta.len(), path.to_owned()));
        }
    });
    files.sort();
    let mut left = Extent::default();
    files.iter().for_each(|(_, bytes, _)| left.add(*bytes));
    let target = match left.bytes <= most_bytes {
        true => most_bytes,
        false => most_bytes / 4 * 3,
    };
    for (used, bytes, path) in files {
        let is_old = before.is_some_and(|before| used < before);
        if left.bytes <= target && !is_old {
            break;
        }
        if fs::remove_file(path).is_ok() {
            left.files -= 1;
            left.bytes -= bytes;
        }
    }
    left
}

/// Returns the error for a cache folder that cannot be used.
pub fn unwritable(folder: &Path, error: &io::Error) -> crate::EvalError {
    crate::EvalError::Environment {
        message: format!(
            "cannot write to the cache folder {}: {error}",
            folder.display()
        ),
        remedies: vec![
            "make room on that disk, or make the folder writable".into(),
            "or set AUTOCOMP_CACHE_DIR to a folder that can be written".into(),
        ],
    }
}

/// Returns whether a file is an entry, or one that was being written.
fn is_entry(path: &Path) -> bool {
    let name = |path: &Path| {
        path.file_name()
            .map(|name| name.to_string_lossy().into_owned())
    };
    let (file, group) = (name(path), path.parent().and_then(name));
    let is_ours = |name: String| is_hex(&name, 62) || name.starts_with(".tmp");
    file.is_some_and(is_ours) && group.is_some_and(|group| is_hex(&group, 2))
}
