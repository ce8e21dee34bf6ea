//! Reading run folders, finished or live.

use crate::blobs::Blobs;
use crate::error::StoreError;
use crate::journal::{Access, JOURNAL_FILE, Journal, Stored};
use crate::lock::live_holder;
use std::fs;
use std::path::{Path, PathBuf};

/// Reads a run folder, also while another process writes it.
#[derive(Debug)]
pub struct RunReader {
    folder: PathBuf,
    journal: Journal,
    blobs: Blobs,
}

impl RunReader {
    /// Opens a run folder for reading.
    ///
    /// # Errors
    /// The folder holds no run, or one that is damaged or of a newer format.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        let journal = Journal::open(folder, Access::Read)?;
        let blobs = Blobs::new(folder, false)?;
        Ok(Self {
            folder: folder.to_owned(),
            journal,
            blobs,
        })
    }

    /// Returns the folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the texts of the run.
    #[must_use]
    pub fn blobs(&self) -> &Blobs {
        &self.blobs
    }

    /// Returns the events since the last call, all at the first.
    ///
    /// # Errors
    /// The journal is damaged.
    pub fn read_on(&mut self) -> Result<Vec<Stored>, StoreError> {
        self.journal.read_on()
    }

    /// Returns the process that is writing the run, if one is.
    #[must_use]
    pub fn live_holder(&self) -> Option<String> {
        live_holder(&self.folder)
    }
}

/// Returns what names are sorted by so that `run-9` comes before `run-10`: pieces of text and
/// numbers in turn, and the name itself for those that differ in leading zeros.
fn natural_key(path: &Path) -> (Vec<(String, u128)>, PathBuf) {
    let name = path.to_string_lossy();
    let mut pieces = Vec::new();
    let mut rest = &*name;
    while !rest.is_empty() {
        let digits = rest
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(rest.len());
        let (text, behind) = rest.split_at(digits);
        let end = behind
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(behind.len());
        let (number, behind) = behind.split_at(end);
        pieces.push((text.to_owned(), number.parse().unwrap_or(u128::MAX)));
        rest = behind;
    }
    (pieces, path.to_owned())
}

/// Returns whether a folder holds a run, sound or not.
#[must_use]
pub fn is_run_folder(folder: &Path) -> bool {
    folder.join(JOURNAL_FILE).symlink_metadata().is_ok()
}

/// Returns the run folders directly under `root`, by name, numbers in it by their size; none if `root` does
/// not exist.
///
/// # Errors
/// `root` cannot be read.
pub fn list_runs(root: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let to_error = |error: std::io::Error| StoreError::from_io("read", root, &error);
    let entries = match fs::read_dir(root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(to_error(error)),
    };
    let mut folders = Vec::new();
    for entry in entries {
        let folder = entry.map_err(to_error)?.path();
        if is_run_folder(&folder) {
            folders.push(folder);
        }
    }
    folders.sort_by_cached_key(|folder| natural_key(folder));
    Ok(folders)
}
