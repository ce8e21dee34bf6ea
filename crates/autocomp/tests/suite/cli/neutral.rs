//! Crates that all families share name no family, assume no language and no unit.

use std::fs;
use std::path::Path;

/// The neutral crates.
const NEUTRAL: &[&str] = &[
    "core", "search", "store", "runner", "llm", "sandbox", "agents", "catalog", "eval", "reports",
];

/// Words of families.
const FAMILY_WORDS: &[&str] = &[
    "gemmini",
    "trainium",
    "rocket",
    "saturn",
    "scratchpad",
    "accumulator",
    "mvin",
    "cycles",
];

/// Where units may be told apart, and where names of older formats are read.
const UNITS: &[&str] = &["core/src/cost.rs", "catalog/src/target.rs"];

/// What a word may stand in: names that older formats or JSON have.
const NAMES: &[&str] = &[
    "alias = \"cycles\"",
    "alias = \"ideal_cycles\"",
    "alias = \"best_cycles\"",
];

#[test]
fn neutral_crates_name_no_family_and_no_unit() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Vec::new();
    let mut read = 0;
    for name in NEUTRAL {
        let mut folders = vec![
            crates.join(name).join("src"),
            crates.join(name).join("templates"),
        ];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let shown = path.strip_prefix(&crates).unwrap().display().to_string();
                let text = fs::read_to_string(&path).unwrap();
                read += 1;
                // Tests at the end of a file may use built-in data.
                let text = text.split("#[cfg(test)]").next().unwrap_or_default();
                for (idx, line) in text.lines().enumerate() {
                    let lower = line.to_lowercase();
                    let is_named = |word: &&&str| {
                        lower.contains(**word)
                            && !(**word == "cycles"
                                && UNITS.iter().any(|file| shown.ends_with(file)))
                    };
                    let allowed = NAMES.iter().any(|name| line.contains(name));
                    if let Some(word) = FAMILY_WORDS.iter().find(is_named).filter(|_| !allowed) {
                        found.push(format!("{shown}:{}: `{word}`: {}", idx + 1, line.trim()));
                    }
                }
            }
        }
    }
    assert!(100 < read, "only {read} files were read");
    assert!(found.is_empty(), "{}", found.join("\n"));
}
