//! The runtime of a target: its files and, compiled, its objects.

use autocomp_core::{ContentHash, ContentHasher};
use autocomp_eval::{EvalError, FileStore, unwritable};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The files that every program is built with, in a folder of the cache that
/// tools read, and here as they must be.
#[derive(Debug)]
pub(super) struct Runtime {
    folder: PathBuf,
    files: BTreeMap<String, Vec<u8>>,
}

impl Runtime {
    /// Takes the objects of `given` (names and contents) from `store`, or has
    /// them compiled: `compile` makes in a folder with the files the object of
    /// one of `sources`, whose name is the source's with `.o`.
    ///
    /// # Errors
    /// Those of `compile`, and [`EvalError::Environment`] if `folder` cannot be
    /// written.
    pub(super) fn open(
        folder: PathBuf,
        key: ContentHash,
        given: &[(&str, &[u8])],
        sources: &[&str],
        store: &FileStore,
        compile: impl Fn(&Path, &str) -> Result<(), EvalError>,
    ) -> Result<Self, EvalError> {
        let given = given.iter().copied();
        let mut files: BTreeMap<String, Vec<u8>> = given
            .map(|(name, content)| (name.to_owned(), content.to_vec()))
            .collect();
        let keys = sources.iter().map(|source| object_key(key, source));
        let mut objects: Vec<Option<Vec<u8>>> = keys.map(|key| store.get(&key)).collect();
        if objects.contains(&None) {
            let parent = parent(&folder)?;
            let staging =
                tempfile::tempdir_in(parent).map_err(|error| unwritable(parent, &error))?;
            write_all(staging.path(), &files)?;
            for (source, object) in sources.iter().zip(&mut objects) {
                compile(staging.path(), source)?;
                let content = fs::read(staging.path().join(object_name(source)))
                    .map_err(|error| unwritable(staging.path(), &error))?;
                store.put(&object_key(key, source), &content);
                *object = Some(content);
            }
        }
        let named = sources.iter().map(|source| object_name(source));
        files.extend(named.zip(objects.into_iter().flatten()));
        let runtime = Self { folder, files };
        runtime.ensure()?;
        Ok(runtime)
    }

    /// Returns the folder that tools read.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Sees to it that the folder holds the files, unchanged, and no others: a
    /// header of another hand would be included in place of the compiler's.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if it does not and cannot be written.
    pub(super) fn ensure(&self) -> Result<(), EvalError> {
        if self.is_whole() {
            return Ok(());
        }
        let parent = parent(&self.folder)?;
        let failed = |error| unwritable(parent, &error);
        let staging = tempfile::tempdir_in(parent).map_err(failed)?;
        let fresh = staging.path().join("fresh");
        fs::create_dir(&fresh).map_err(failed)?;
        write_all(&fresh, &self.files)?;
        if self.folder.exists() {
            // Somebody else may have been faster, and have begun to compile with it.
            if self.is_whole() {
                return Ok(());
            }
            tracing::warn!(folder = %self.folder.display(), "replacing a damaged runtime");
            let _ = fs::rename(&self.folder, staging.path().join("damaged"));
        }
        match fs::rename(&fresh, &self.folder) {
            Ok(()) => Ok(()),
            Err(_) if self.is_whole() => Ok(()),
            Err(error) => Err(failed(error)),
        }
    }

    fn is_whole(&self) -> bool {
        let Ok(entries) = fs::read_dir(&self.folder) else {
            return false;
        };
        let mut n_whole = 0;
        for entry in entries {
            let Ok(entry) = entry else {
                return false;
            };
            let name = entry.file_name();
            let expected = name.to_str().and_then(|name| self.files.get(name));
            if expected.is_none() || fs::read(entry.path()).ok().as_ref() != expected {
                return false;
            }
            n_whole += 1;
        }
        n_whole == self.files.len()
    }
}

/// Returns the name of the object that a source is compiled to.
pub(super) fn object_name(source: &str) -> String {
    format!("{source}.o")
}

fn object_key(runtime: ContentHash, source: &str) -> ContentHash {
    let mut hasher = ContentHasher::new("autocomp runtime object");
    hasher.update(&runtime.0);
    hasher.update(source.as_bytes());
    hasher.finish()
}

/// Returns the folder above, which is made if needed.
fn parent(folder: &Path) -> Result<&Path, EvalError> {
    let parent = folder.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(parent).map_err(|error| unwritable(parent, &error))?;
    Ok(parent)
}

fn write_all(folder: &Path, files: &BTreeMap<String, Vec<u8>>) -> Result<(), EvalError> {
    files.iter().try_for_each(|(name, content)| {
        fs::write(folder.join(name), content).map_err(|error| unwritable(folder, &error))
    })
}
