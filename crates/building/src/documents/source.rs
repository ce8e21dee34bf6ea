//! Programs and plain text.

use super::Place;
use super::block::Block;

/// Lines of a program that stand in one block at most.
const MOST_LINES: u32 = 60;

/// Returns the blocks of a program: lines between empty ones, as many as stand well together.
pub fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut begun: Option<(u32, Vec<&str>)> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let is_empty = line.trim().is_empty();
        let (first, lines) = begun.get_or_insert_with(|| (number, Vec::new()));
        let first = *first;
        lines.push(line);
        let is_long = MOST_LINES / 2 <= number - first;
        if is_empty && is_long || MOST_LINES <= number - first {
            blocks.push(Block::text(lines.join("\n"), Place::Lines(first, number)));
            begun = None;
        }
    }
    if let Some((first, lines)) = begun {
        let last = first + lines.len() as u32 - 1;
        blocks.push(Block::text(lines.join("\n"), Place::Lines(first, last)));
    }
    blocks
}

/// Returns the paragraphs of a text; lines that are underlined are headings.
pub fn paragraphs(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut begun: Option<(u32, Vec<&str>)> = None;
    let mut close = |begun: &mut Option<(u32, Vec<&str>)>| {
        let Some((first, mut lines)) = begun.take() else {
            return;
        };
        if let [title, line, ..] = lines[..]
            && let Some(level) = underline(title, line)
        {
            blocks.push(Block::heading(
                level,
                title.trim(),
                Place::Lines(first, first),
            ));
            lines.drain(..2);
            let first = first + 2;
            if !lines.is_empty() {
                let last = first + lines.len() as u32 - 1;
                blocks.push(Block::text(lines.join("\n"), Place::Lines(first, last)));
            }
            return;
        }
        let last = first + lines.len() as u32 - 1;
        blocks.push(Block::text(lines.join("\n"), Place::Lines(first, last)));
    };
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() {
            close(&mut begun);
        } else {
            begun
                .get_or_insert_with(|| (number, Vec::new()))
                .1
                .push(line);
        }
    }
    close(&mut begun);
    blocks
}

/// Returns the level of the heading that `line` underlines.
fn underline(title: &str, line: &str) -> Option<u8> {
    let line = line.trim();
    let mark = line.chars().next()?;
    let level = "=-~^\"'".find(mark)? as u8 + 1;
    let is_line = 3 <= line.len() && line.chars().all(|c| c == mark);
    let fits = title.trim().chars().count() <= line.len() + 2;
    (is_line && fits).then_some(level)
}
