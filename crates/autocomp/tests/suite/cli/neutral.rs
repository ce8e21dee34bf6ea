//! Crates that all families share name no family, assume no language and no unit.

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
];

/// Names of families and the beginnings of their targets' names, which not even tests may have.
const FAMILIES: &[&str] = &[
    "gemmini",
    "trainium",
    "rocket",
    "saturn",
    "host-x86",
    "host-aarch64",
];

/// Words of families. What tests make up may have units, and memories of some kind.
const FAMILY_WORDS: &[&str] = &["scratchpad", "accumulator", "mvin", "cycles"];

/// Where units may be told apart, and where names of older formats are read.
const UNITS: &[&str] = &[
    "core/src/cost.rs",
    "catalog/src/target.rs",
    // Estimates, which only compare schedules with each other.
    "nests/src/estimate.rs",
    "nests/src/lib.rs",
    "nests/src/propose.rs",
];

/// What a word may stand in: names that older formats or JSON have.
const NAMES: &[&str] = &[
    "alias = \"cycles\"",
    "alias = \"ideal_cycles\"",
    "alias = \"best_cycles\"",
];

/// Returns all files below a folder.
fn files(folder: &Path, found: &mut Vec<(String, String)>, crates: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found, crates);
        } else if let Ok(text) = fs::read_to_string(&path) {
            let shown = path.strip_prefix(crates).unwrap().display().to_string();
            found.push((shown, text));
        }
    }
}

#[test]
fn neutral_crates_name_no_family_and_no_unit() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (mut sources, mut tests) = (Vec::new(), Vec::new());
    for name in NEUTRAL {
        for folder in ["src", "templates"] {
            files(&crates.join(name).join(folder), &mut sources, &crates);
        }
        for folder in ["tests", "benches", "examples"] {
            files(&crates.join(name).join(folder), &mut tests, &crates);
        }
    }
    // Recordings and replies that tests read are what families once wrote.
    tests.retain(|(shown, _)| shown.ends_with(".rs"));
    assert!(100 < sources.len(), "only {} files", sources.len());
    assert!(20 < tests.len(), "only {} files of tests", tests.len());
    let mut found = Vec::new();
    for (shown, text) in sources.iter().chain(&tests) {
        let is_test = !shown.contains("/src/") && !shown.contains("/templates/");
        let begin_of_tests = text
            .lines()
            .position(|line| line.trim() == "#[cfg(test)]")
            .unwrap_or(usize::MAX);
        for (idx, line) in text.lines().enumerate() {
            let lower = line.to_lowercase();
            let has_unit = UNITS.iter().any(|file| shown.ends_with(file));
            let is_word = |word: &&str| {
                lower.contains(*word)
                    && !(*word == "cycles" && has_unit)
                    && !NAMES.iter().any(|name| line.contains(name))
            };
            let name = FAMILIES.iter().copied().find(|name| lower.contains(name));
            let word = (!is_test && idx < begin_of_tests)
                .then(|| FAMILY_WORDS.iter().copied().find(is_word))
                .flatten();
            if let Some(word) = name.or(word) {
                found.push(format!("{shown}:{}: `{word}`: {}", idx + 1, line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
