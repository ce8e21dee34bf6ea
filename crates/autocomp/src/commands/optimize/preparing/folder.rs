//! Where a new run is kept.

use std::path::{Path, PathBuf};

/// Returns the folder for a new run: as given, else a fresh one below `runs/`.
pub fn run_folder(given: Option<&Path>, problem: &str, seed: u64) -> PathBuf {
    if let Some(folder) = given {
        return folder.to_owned();
    }
    let stem: String = problem
        .rsplit('/')
        .next()
        .unwrap_or(problem)
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || c == '-' {
                c
            } else {
                '-'
            }
        })
        .collect();
    let base = PathBuf::from("runs").join(format!("{stem}-s{seed}"));
    (1..)
        .map(|n| {
            if n == 1 {
                base.clone()
            } else {
                base.with_file_name(format!("{stem}-s{seed}-{n}"))
            }
        })
        .find(|folder| !folder.exists())
        .unwrap_or(base)
}
