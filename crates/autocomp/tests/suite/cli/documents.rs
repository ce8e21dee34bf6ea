//! What the documents tell a reader to type is typed: the shell blocks of a page are
//! run one after the other in a folder of its own, with the files that it shows.
//!
//! Comments of Markdown, which no reader sees, stand before blocks that need one:
//! `<!-- file: PATH -->` before the text of a file, `<!-- not run: REASON -->` before
//! commands that a test cannot run.

use super::program::Place;
use std::fs;
use std::path::{Path, PathBuf};

/// A block between fences.
struct Block<'a> {
    /// Number of its first line in the page, from 1.
    line: usize,
    language: &'a str,
    /// What the comment before it says.
    comment: &'a str,
    text: String,
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let (mut is_open, mut comment) = (false, "");
    for (index, line) in page.lines().enumerate() {
        if let Some(language) = line.strip_prefix("```") {
            is_open = !is_open;
            if is_open {
                blocks.push(Block {
                    line: index + 2,
                    language,
                    comment: std::mem::take(&mut comment),
                    text: String::new(),
                });
            }
        } else if is_open {
            let block = blocks.last_mut().unwrap();
            block.text.push_str(line);
            block.text.push('\n');
        } else if let Some(said) = line.strip_prefix("<!-- ") {
            comment = said.trim_end_matches(" -->");
        }
    }
    assert!(!is_open, "a block that does not end");
    blocks
}

/// Returns how many blocks of shell commands were run.
fn follow(path: &Path) -> usize {
    let page = fs::read_to_string(path).unwrap();
    let place = Place::new();
    let mut n_run = 0;
    for block in blocks(&page) {
        if let Some(file) = block.comment.strip_prefix("file: ") {
            let file = place.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, &block.text).unwrap();
        } else if block.language == "sh" && !block.comment.starts_with("not run: ") {
            let ended = place.shell(&block.text);
            let at = format!("{}:{}", path.display(), block.line);
            assert_eq!(ended.code, Some(0), "{at}\n{}", ended.transcript());
            n_run += 1;
        }
    }
    n_run
}

#[test]
fn the_commands_of_the_documents_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let docs = fs::read_dir(root.join("docs")).unwrap();
    let mut pages: Vec<PathBuf> = docs.map(|entry| entry.unwrap().path()).collect();
    pages.retain(|path| path.extension().is_some_and(|it| it == "md"));
    pages.push(root.join("README.md"));
    let n_run: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = pages
            .iter()
            .map(|page| scope.spawn(move || follow(page)))
            .collect();
        let numbers = threads.into_iter().map(|thread| thread.join().unwrap());
        numbers.sum()
    });
    assert!(8 < n_run, "only {n_run} blocks were found");
}
