//! Files and folders of the code that documents lead to are there.

use std::fs;
use std::path::{Path, PathBuf};

/// Adds the sources in Rust below a folder.
fn add_sources(folder: &Path, sources: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !path.ends_with("target") {
            add_sources(&path, sources);
        } else if path.extension().is_some_and(|it| it == "rs") {
            sources.push(path);
        }
    }
}

#[test]
fn paths_in_documents_lead_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let pages = fs::read_dir(root.join("docs")).expect("a folder");
    let pages = pages.map(|it| it.expect("an entry").path());
    let pages = pages.filter(|it| it.extension().is_some_and(|it| it == "md"));
    let mut sources = Vec::new();
    add_sources(&root.join("crates"), &mut sources);
    let (mut n_paths, mut missing) = (0, Vec::new());
    for page in pages.chain([root.join("README.md")]) {
        let text = fs::read_to_string(&page).expect("a text");
        // Files that stand below a folder that the page names.
        for word in text.split('`').skip(1).step_by(2) {
            let is_part = |it: char| it.is_ascii_alphanumeric() || "/._-".contains(it);
            if !word.ends_with(".rs") || !word.chars().all(is_part) {
                continue;
            }
            n_paths += 1;
            if !sources.iter().any(|it| it.ends_with(word)) {
                missing.push(format!("{}: {word}", page.display()));
            }
        }
        let begins = text.match_indices("crates/").map(|(at, _)| &text[at..]);
        for begin in begins {
            let is_part = |it: char| it.is_ascii_alphanumeric() || "/._-".contains(it);
            let end = begin.find(|it| !is_part(it)).unwrap_or(begin.len());
            let path = begin[..end].trim_end_matches('.');
            // Several paths in one.
            if begin[end..].starts_with(['{', '*', '<']) {
                continue;
            }
            n_paths += 1;
            if !root.join(path).exists() {
                missing.push(format!("{}: {path}", page.display()));
            }
        }
    }
    assert!(20 < n_paths, "{n_paths}");
    assert!(missing.is_empty(), "{missing:#?}");
}
