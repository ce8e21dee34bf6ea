//! Reference lines: the problem's other kernels, measured beside the run.
//!
//! A speed-up over a naive baseline says little. The program measures the problem's
//! other kernels and leaves their costs in the run folder, so that whoever looks at
//! the run later has them without a compiler.

use autocomp_core::{Cost, CostObject};
use autocomp_store::{StoreError, read_file, replace_file};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The file of the run folder that holds them.
const FILE: &str = "references.json";
/// Longest such file that is read, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// Another kernel of the problem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// Its name in the problem.
    pub kernel: String,
    /// What it costs.
    #[serde(serialize_with = "as_object")]
    pub cost: Cost,
}

fn as_object<S: serde::Serializer>(cost: &Cost, serializer: S) -> Result<S::Ok, S::Error> {
    CostObject::from(*cost).serialize(serializer)
}

/// Returns the reference lines of a run folder, slowest first; none if there is no such
/// file, or if it is damaged: it is an addition to the run and decides nothing.
#[must_use]
pub fn references(run: &Path) -> Vec<Reference> {
    let text = read_file(run, FILE, MOST_BYTES).ok().flatten();
    let mut references: Vec<Reference> = text
        .and_then(|text| serde_json::from_slice(&text).ok())
        .unwrap_or_default();
    references.sort_by_key(|it| std::cmp::Reverse(it.cost));
    references
}

/// Leaves the reference lines in a run folder.
///
/// # Errors
/// The file cannot be written, or is no plain file.
pub fn write_references(run: &Path, references: &[Reference]) -> Result<(), StoreError> {
    let json = serde_json::to_string_pretty(references).expect("references are plain data");
    replace_file(run, FILE, (json + "\n").as_bytes())
}
