//! Hashes source folders for build scripts.
//!
//! What a family has evaluated is kept under a key that holds such a hash, so that results
//! of other code are never taken for those of this one. A run has an identity with another
//! one, of fewer folders: it goes on only where that is the same.

#![expect(
    clippy::print_stdout,
    reason = "cargo reads what a build script prints"
)]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The hash of the files below some folders.
#[derive(Clone, Debug, Default)]
pub struct SourceHash(blake3::Hasher);

impl SourceHash {
    /// Adds all files below `paths`, which are relative to the package that is built, but
    /// those at or below `without`. Cargo builds anew what depends on them when they change.
    ///
    /// # Errors
    /// If a path is not there or cannot be read: a hash without it would never change.
    pub fn add(&mut self, paths: &[&str], without: &[&str]) -> io::Result<()> {
        for path in files(paths, without)? {
            println!("cargo::rerun-if-changed={}", path.display());
            let text = fs::read(&path)?;
            self.0.update(path.to_string_lossy().as_bytes());
            self.0.update(&(text.len() as u64).to_le_bytes());
            self.0.update(&text);
        }
        for path in paths {
            // Files that are added later.
            println!("cargo::rerun-if-changed={path}");
        }
        Ok(())
    }

    /// Returns the hash of what was added so far, in hexadecimal digits.
    #[must_use]
    pub fn hex(&self) -> String {
        self.0.finalize().to_hex().to_string()
    }

    /// Makes the hash of what was added so far the variable `name` for the code that is built.
    pub fn export(&self, name: &str) {
        println!("cargo::rustc-env={name}={}", self.hex());
    }
}

/// Returns the files at or below `paths` in order, but those at or below `without`.
///
/// # Errors
/// If one of them is not there or cannot be read.
pub fn files(paths: &[&str], without: &[&str]) -> io::Result<Vec<PathBuf>> {
    for left_out in without {
        // A name that is wrong would leave out nothing, and nobody would see it.
        let missing = |error| io::Error::other(format!("{left_out}: {error}"));
        fs::metadata(left_out).map_err(missing)?;
    }
    let mut found = Vec::new();
    for path in paths {
        collect(Path::new(path), without, &mut found)?;
    }
    found.sort();
    found.dedup();
    Ok(found)
}

fn collect(path: &Path, without: &[&str], found: &mut Vec<PathBuf>) -> io::Result<()> {
    if without.iter().any(|it| path == Path::new(it)) {
        return Ok(());
    }
    let missing = |error| io::Error::other(format!("{}: {error}", path.display()));
    if !fs::metadata(path).map_err(missing)?.is_dir() {
        found.push(path.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        collect(&entry?.path(), without, found)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_counts_unless_its_path_is_left_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        fs::create_dir_all(at("src/inner")).expect("a folder");
        let write = |name: &str, text: &str| fs::write(at(name), text).expect("a file");
        write("src/a.rs", "a");
        write("src/inner/b.rs", "b");
        write("data.toml", "c");
        let paths = [at("src"), at("data.toml")];
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let hash = |without: &[&str]| {
            let mut hash = SourceHash::default();
            hash.add(&paths, without).expect("files");
            hash.hex()
        };
        let inner = at("src/inner");
        let (all, less) = (hash(&[]), hash(&[&inner]));
        assert_ne!(all, less);
        write("src/inner/b.rs", "changed");
        assert_ne!(hash(&[]), all);
        assert_eq!(hash(&[&inner]), less);
        for name in ["src/a.rs", "data.toml", "src/new.rs"] {
            let before = hash(&[&inner]);
            write(name, "changed");
            assert_ne!(hash(&[&inner]), before, "{name}");
        }
    }

    #[test]
    fn what_is_not_there_is_an_error() {
        assert!(files(&["src/nothing.rs"], &[]).is_err());
        assert!(files(&["src"], &["src/nothing.rs"]).is_err());
    }
}
