//! Menus of targets and what rewriters call their changes.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use autocomp_catalog::Catalog;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the files of Rust below a folder, or the file that `place` is.
fn sources(place: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(place) else {
        return vec![place.to_owned()];
    };
    let mut paths: Vec<PathBuf> = entries.map(|it| it.unwrap().path()).collect();
    paths.sort();
    let below = paths.iter().flat_map(|path| sources(path));
    below
        .filter(|path| path.extension().is_some_and(|it| it == "rs"))
        .collect()
}

/// Returns the identifiers in quotes of each line that says what a change is called.
fn named(place: &str) -> Vec<Vec<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    for path in sources(&root.join(place)) {
        let text = fs::read_to_string(&path).unwrap();
        let mut is_list = false;
        for line in text.lines() {
            is_list |= line.contains("fn menu_items(");
            let says = ["menu_item: ", "let menu_items", "changes.push(", "vec![\""];
            let is_named = is_list || says.iter().any(|mark| line.contains(mark));
            is_list &= line != "    }";
            if !is_named {
                continue;
            }
            let words = line.split('"').skip(1).step_by(2);
            let is_identifier = |word: &&str| {
                !word.is_empty() && word.bytes().all(|it| it.is_ascii_lowercase() || it == b'-')
            };
            let words: Vec<String> = words.filter(is_identifier).map(str::to_owned).collect();
            if !words.is_empty() {
                found.push(words);
            }
        }
    }
    found
}

/// Whatever a rewriter says that it does is in the menu of every target that it serves:
/// changes under another name than the menu's pay for it when plans are chosen, and lessons
/// file them under `other`. Of several names for a change, one must be there.
#[test]
fn menus_have_what_rewriters_do() {
    let catalog = Catalog::built_in().unwrap();
    for (family, place, least) in [
        (
            "trainium",
            "crates/families/trainium/rewriter/src/transformations/mod.rs",
            30,
        ),
        ("host", "crates/nests/src/propose/words.rs", 10),
        ("gemmini", "crates/families/gemmini/rewriter/src", 12),
    ] {
        let changes = named(place);
        assert!(least <= changes.len(), "{family}: {changes:?}");
        for name in catalog.target_names() {
            let target = catalog.target(name).unwrap();
            // The float instance has small, dependent problems and a menu for them.
            if target.family != family || name == "gemmini-fp32-4" {
                continue;
            }
            let menu: BTreeSet<&str> = target.menu.iter().map(|item| item.id.as_str()).collect();
            for names in &changes {
                assert!(
                    names.iter().any(|it| menu.contains(it.as_str())),
                    "{name} has none of {names:?} in its menu"
                );
            }
        }
    }
}

/// Models get plans of a whole schedule, and plans that combine, on every kind of
/// accelerator whose schedule is the kernel's own.
#[test]
fn accelerators_have_items_for_whole_schedules() {
    use autocomp_core::Scope;
    let catalog = Catalog::built_in().unwrap();
    for name in catalog.target_names() {
        let target = catalog.target(name).unwrap();
        let has = |scope| target.menu.iter().any(|item| item.scope == scope);
        assert!(has(Scope::Schedule) && has(Scope::Combination), "{name}");
        assert!(!target.rules.schedule.is_empty(), "{name}");
    }
}
