//! Tests of this crate from outside, in one program, which links once.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod builds;
mod documents;
mod hostile;
mod negation;
mod numbers;
mod pdf;
mod quotations;

use std::fs;
use std::path::{Path, PathBuf};

/// Writes a file below a folder, and returns its path.
fn file(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, content).unwrap();
    path
}
