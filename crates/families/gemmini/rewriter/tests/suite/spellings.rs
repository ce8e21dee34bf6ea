//! Spellings of kernels: `tests/spellings/*.c`.
//!
//! The comment at the head of each names its idiom, says what the kernel computes, and where it
//! matters the entry.

use crate::int8_16;
use crate::schedules::in_full;
use autocomp_gemmini_rewriter::Vocabulary;
use autocomp_gemmini_rewriter::inside::lift;
use std::fs;
use std::path::PathBuf;

/// The fewest spellings that there must be.
const FEWEST: usize = 120;

fn field<'text>(text: &'text str, name: &str) -> Option<&'text str> {
    let prefix = format!("// {name}: ");
    text.lines()
        .take_while(|line| line.starts_with("//"))
        .find_map(|line| line.strip_prefix(&prefix))
}

/// Returns what a kernel computes, or why that is not understood.
fn computed(text: &str) -> String {
    let mut vocabulary = Vocabulary::default();
    if let Some(entry) = field(text, "entry") {
        entry.clone_into(&mut vocabulary.entry);
    }
    match lift(text, &int8_16().accelerator, &vocabulary) {
        Ok(lifted) => lifted
            .works
            .iter()
            .map(in_full)
            .collect::<Vec<_>>()
            .join("; "),
        Err(why) => format!("not understood: {why}"),
    }
}

#[test]
fn every_spelling_is_understood() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/spellings");
    let mut count = 0;
    let mut failures = String::new();
    for entry in fs::read_dir(folder).expect("the folder of spellings") {
        let path = entry.expect("an entry").path();
        let text = fs::read_to_string(&path).expect("a readable spelling");
        count += 1;
        let computed = computed(&text);
        if field(&text, "is") != Some(&computed) {
            failures.push_str(&format!("{}: {computed}\n", path.display()));
        }
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(FEWEST <= count, "there are only {count} spellings");
}
