//! Kernels as people write them are recognised.

use autocomp_nests::parts;
use std::path::{Path, PathBuf};

/// Returns the files in `tests/spellings`, in order.
fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/spellings");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    files
}

/// Each file in `tests/spellings` names in its first line the parts that have to be
/// recognised.
#[test]
fn spellings_are_recognised() {
    let files = files();
    assert!(30 <= files.len());
    let mut failures = Vec::new();
    for file in files {
        let source = std::fs::read_to_string(&file).expect("a kernel");
        let wanted = source
            .lines()
            .next()
            .unwrap_or("")
            .trim_start_matches("// parts: ");
        let found = match parts(&source) {
            Ok(names) => names.join(", "),
            Err(said) => said,
        };
        if found != wanted {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            failures.push(format!("{name}: wanted `{wanted}`, found `{found}`"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
