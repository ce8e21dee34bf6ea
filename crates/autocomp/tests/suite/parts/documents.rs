//! The commands in the documents are commands of this program.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::FAMILIES;
use autocomp::inside::command_line;
use std::fs;
use std::path::Path;

/// Splits a line of a shell into words; quotes hold words together.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, ' ') => words.push(String::new()),
            (None, '#') if words.last().is_some_and(String::is_empty) => break,
            (_, c) => words.last_mut().unwrap().push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[test]
fn every_command_in_the_documents_is_understood() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let docs = fs::read_dir(root.join("docs")).unwrap();
    let pages = docs.map(|entry| entry.unwrap().path());
    let pages = pages.filter(|path| path.extension().is_some_and(|it| it == "md"));
    let mut n_commands = 0;
    for page in pages.chain([root.join("README.md")]) {
        let text = fs::read_to_string(&page).unwrap().replace("\\\n", " ");
        let blocks = text.split("```sh\n").skip(1);
        let lines = blocks.flat_map(|rest| rest.split("\n```").next().unwrap_or_default().lines());
        for line in lines
            .map(str::trim)
            .filter(|line| line.starts_with("autocomp "))
        {
            // What a shell does with the output is not ours.
            let line = line.split(" > ").next().unwrap_or_default();
            let line = line.split(" | ").next().unwrap_or_default();
            let parsed = command_line(FAMILIES).try_get_matches_from(words(line));
            let refused = parsed.err().filter(|error| error.use_stderr());
            if let Some(error) = refused {
                panic!("{}: {line}\n{error}", page.display());
            }
            n_commands += 1;
        }
    }
    assert!(20 < n_commands, "only {n_commands} commands were found");
}
