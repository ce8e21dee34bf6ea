//! A folder of immutable entries named by content hashes, shared by processes.

use autocomp_core::ContentHash;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A folder of immutable entries. Writes are atomic, reads are verified: a
/// damaged entry is as good as none, and is removed.
#[derive(Clone, Debug)]
pub struct FileStore {
    folder: PathBuf,
}

impl FileStore {
    /// Uses `folder`, which need not exist yet.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Returns the entry of `key` if there is an undamaged one.
    pub fn get(&self, key: &ContentHash) -> Option<Vec<u8>> {
        let path = self.path(key);
        let mut bytes = fs::read(&path).ok()?;
        let checksum = ContentHash::of(bytes.get(32..).unwrap_or(&[])).0;
        if bytes.len() < 32 || bytes[..32] != checksum {
            tracing::warn!(path = %path.display(), "removing a damaged cache entry");
            let _ = fs::remove_file(&path);
            return None;
        }
        bytes.drain(..32);
        Some(bytes)
    }

    /// Stores an entry. A cache that cannot be written slows things down and
    /// changes nothing else, so failure is only logged.
    pub fn put(&self, key: &ContentHash, payload: &[u8]) {
        if let Err(error) = self.try_put(key, payload) {
            tracing::warn!(folder = %self.folder.display(), %error, "cannot write to the cache");
        }
    }

    fn try_put(&self, key: &ContentHash, payload: &[u8]) -> io::Result<()> {
        let path = self.path(key);
        let folder = path.parent().unwrap_or(&self.folder);
        fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(&ContentHash::of(payload).0)?;
        file.write_all(payload)?;
        file.persist(&path)?;
        Ok(())
    }

    fn path(&self, key: &ContentHash) -> PathBuf {
        let name = key.to_string();
        let (group, rest) = name.split_at(2);
        self.folder.join(group).join(rest)
    }
}

/// Makes a folder whose name says that it is complete: files are written
/// beside it and renamed into place, and a concurrent maker's work is taken.
pub fn make_folder(
    place: &Path,
    fill: impl FnOnce(&Path) -> Result<(), crate::EvalError>,
) -> Result<(), crate::EvalError> {
    if place.is_dir() {
        return Ok(());
    }
    let parent = place.parent().unwrap_or(Path::new("."));
    let unwritable = |error: io::Error| unwritable(parent, &error);
    fs::create_dir_all(parent).map_err(unwritable)?;
    let staging = tempfile::tempdir_in(parent).map_err(unwritable)?;
    fill(staging.path())?;
    match fs::rename(staging.path(), place) {
        Ok(()) => {
            // It is no longer temporary.
            let _ = staging.keep();
            Ok(())
        }
        Err(_) if place.is_dir() => Ok(()),
        Err(error) => Err(unwritable(error)),
    }
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

#[cfg(test)]
mod tests {
    use super::FileStore;
    use autocomp_core::ContentHash;
    use proptest::prelude::*;

    #[test]
    fn a_store_that_cannot_be_written_is_empty() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        std::fs::write(&file, "in the way").expect("written");
        let store = FileStore::new(file.join("store"));
        let key = ContentHash::of(b"key");
        store.put(&key, b"payload");
        assert_eq!(store.get(&key), None);
    }

    proptest! {
        #[test]
        fn entries_return_whole_or_not_at_all(
            payload in proptest::collection::vec(any::<u8>(), 0..200),
            damage in proptest::option::of((any::<prop::sample::Index>(), 1..=255_u8)),
            cut in proptest::option::of(any::<prop::sample::Index>()),
        ) {
            let folder = tempfile::tempdir().expect("a folder");
            let store = FileStore::new(folder.path().to_owned());
            let key = ContentHash::of(b"key");
            prop_assert_eq!(store.get(&key), None);
            store.put(&key, &payload);
            let path = store.path(&key);
            let mut bytes = std::fs::read(&path).expect("written");
            let whole = bytes.clone();
            if let Some((at, flip)) = damage {
                let at = at.index(bytes.len());
                bytes[at] ^= flip;
            }
            if let Some(cut) = cut {
                bytes.truncate(cut.index(bytes.len() + 1));
            }
            std::fs::write(&path, &bytes).expect("written");
            prop_assert_eq!(store.get(&key), (bytes == whole).then_some(payload));
        }
    }
}
