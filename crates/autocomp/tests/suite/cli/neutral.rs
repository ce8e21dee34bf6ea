//! Crates that all families share name no family, assume no language and no unit.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The neutral crates.
const NEUTRAL: &[&str] = &[
    "core",
    "search",
    "store",
    "runner",
    "llm",
    "sandbox",
    "agents",
    "catalog",
    "eval",
    "measuring",
    "native",
    "nests",
    "queue",
    "remote",
    "rewriting",
    "reports",
    "building",
    "toolchain",
    "dashboard",
    "imports",
    "knowledge",
    "mcp",
    "packed-files",
    "source-hash",
    "languages/c",
    "languages/c-loops",
    "languages/python",
];

/// Names of families, vendors and boards, and the beginnings of their targets' names.
const FAMILIES: &[&str] = &[
    "gemmini",
    "trainium",
    "cuda",
    "rvv",
    "rocket",
    "saturn",
    "k230",
    "spacemit",
    "nvidia",
    "neuroncore",
    "host-x86",
    "host-aarch64",
];

/// Words of families, which may be a part of other words.
const PARTS: &[&str] = &["scratchpad", "accumulator", "mvin"];

/// Names of languages that one family alone has.
const LANGUAGES: &[&str] = &["nki", "nisa"];

/// A unit of costs. What tests make up may have it.
const UNIT: &str = "cycles";

/// Beginnings of paths where such words may stand, with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    (
        "catalog/tests/suite/user_folder/snapshots/suite__user_folder__defects__",
        "messages that list what is built in",
    ),
    (
        "dashboard/web/tests/",
        "pictures are made of real problems, with the whole program",
    ),
    (
        "imports/src/kernelbench/",
        "what a program in PyTorch calls its device",
    ),
    (
        "imports/tests/suite/harnesses/",
        "programs of others, as they wrote them",
    ),
    (
        "imports/tests/suite/tasks.rs",
        "programs in PyTorch, as others write them",
    ),
    (
        "reports/tests/suite/snapshots/",
        "reports of runs that were recorded",
    ),
];

/// Where units may be told apart, where names of older formats are read, and where the word is
/// another one.
const UNITS: &[&str] = &[
    "catalog/src/target.rs",
    "core/src/cost.rs",
    "dashboard/web/src/",
    "imports/src/journal.rs",
    "knowledge/src/target_folder.rs",
    // Objects that hold each other.
    "languages/python/src/",
    // Estimates, which only compare schedules with each other.
    "nests/src/estimate.rs",
    "nests/src/lib.rs",
    "nests/src/propose.rs",
];

/// What a unit may stand in: names that older formats or JSON have.
const NAMES: &[&str] = &[
    "alias = \"cycles\"",
    "alias = \"ideal_cycles\"",
    "alias = \"best_cycles\"",
];

/// Returns all files with text below a folder: path below `crates`, and text.
fn files(folder: &Path, found: &mut Vec<(String, String)>, crates: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if path.file_name().is_none_or(|it| it != "node_modules") {
                files(&path, found, crates);
            }
        } else if let Ok(text) = fs::read_to_string(&path) {
            let shown = path.strip_prefix(crates).unwrap().display().to_string();
            found.push((shown, text));
        }
    }
}

/// Returns whether a line has the word, with no letter before or behind it.
fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        !line[..at].ends_with(char::is_alphanumeric)
            && !line[at + word.len()..].starts_with(char::is_alphanumeric)
    })
}

/// Returns the word of a family that a line has.
fn word(line: &str, may_have_unit: bool) -> Option<&'static str> {
    let lower = line.to_lowercase();
    let mut names = FAMILIES.iter().chain(PARTS).copied();
    let name = names.find(|it| lower.contains(it));
    let language = || LANGUAGES.iter().copied().find(|it| has_word(&lower, it));
    let has_unit =
        !may_have_unit && lower.contains(UNIT) && !NAMES.iter().any(|name| line.contains(name));
    name.or_else(language).or(has_unit.then_some(UNIT))
}

#[test]
fn neutral_crates_name_no_family_and_no_unit() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut all = Vec::new();
    for name in NEUTRAL {
        files(&crates.join(name), &mut all, &crates);
    }
    assert!(500 < all.len(), "only {} files", all.len());
    let mut found = Vec::new();
    let mut needed = BTreeSet::new();
    for (shown, text) in &all {
        let is_source = shown.contains("/src/") || shown.contains("/templates/");
        let has_unit = !is_source || UNITS.iter().any(|it| shown.starts_with(it));
        let exception = EXCEPTIONS.iter().find(|it| shown.starts_with(it.0));
        let mut is_test = false;
        for (idx, line) in text.lines().enumerate() {
            is_test |= line.trim() == "#[cfg(test)]";
            match (word(line, has_unit || is_test), exception) {
                (None, _) => {}
                (Some(_), Some((path, _))) => {
                    needed.insert(*path);
                }
                (Some(word), None) => {
                    found.push(format!("{shown}:{}: `{word}`: {}", idx + 1, line.trim()));
                }
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    let idle = EXCEPTIONS.iter().filter(|it| !needed.contains(it.0));
    assert_eq!(idle.count(), 0, "only {needed:?} are needed");
}

#[test]
fn words_of_families_are_found_in_names_comments_and_texts() {
    for (line, found) in [
        ("//! As in Gemmini.", Some("gemmini")),
        ("fn to_scratchpad() {}", Some("scratchpad")),
        ("\"import nki\"", Some("nki")),
        ("let thinking = 1;", None),
        ("the cost in cycles", Some("cycles")),
        ("#[serde(alias = \"cycles\")]", None),
    ] {
        assert_eq!(word(line, false), found, "{line}");
    }
    assert_eq!(word("the cost in cycles", true), None);
}
