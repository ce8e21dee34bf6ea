//! Markdown.

use super::Place;
use super::block::Block;
use super::html::HiddenElements;

/// Returns the blocks of a text; `place` makes places of the first and last line of one.
pub fn blocks(text: &str, place: &dyn Fn(u32, u32) -> Place) -> Vec<Block> {
    let text = without_hidden(&without_comments(text));
    let mut blocks = Vec::new();
    let mut begun: Option<(u32, Vec<&str>)> = None;
    let mut fence: Option<(char, usize)> = None;
    let close = |begun: &mut Option<(u32, Vec<&str>)>, blocks: &mut Vec<Block>| {
        if let Some((first, lines)) = begun.take() {
            let last = first + lines.len() as u32 - 1;
            blocks.push(Block::text(lines.join("\n"), place(first, last)));
        }
    };
    for (number, line) in (1..).zip(text.lines()) {
        let mark = fence_of(line);
        if let Some(open) = fence {
            begun
                .get_or_insert_with(|| (number, Vec::new()))
                .1
                .push(line);
            if ends_fence(line, open) {
                fence = None;
                close(&mut begun, &mut blocks);
            }
            continue;
        }
        if mark.is_some() {
            // Code belongs to the words before it.
            fence = mark;
            begun
                .get_or_insert_with(|| (number, Vec::new()))
                .1
                .push(line);
            continue;
        }
        if let Some((level, title)) = heading(line) {
            close(&mut begun, &mut blocks);
            blocks.push(Block::heading(level, title, place(number, number)));
            continue;
        }
        let is_line = |mark: char| {
            let line = line.trim();
            2 < line.len() && line.chars().all(|c| c == mark)
        };
        if let Some((first, lines)) = &mut begun
            && lines.len() == 1
            && (is_line('=') || is_line('-'))
            && !lines[0].contains('|')
            && !lines[0].trim_start().starts_with(['-', '*', '>'])
        {
            let level = if is_line('=') { 1 } else { 2 };
            blocks.push(Block::heading(
                level,
                lines[0].trim(),
                place(*first, *first),
            ));
            begun = None;
            continue;
        }
        if line.trim().is_empty() || is_remark(line) {
            close(&mut begun, &mut blocks);
        } else {
            begun
                .get_or_insert_with(|| (number, Vec::new()))
                .1
                .push(line);
        }
    }
    close(&mut begun, &mut blocks);
    blocks
}

fn fence_of(line: &str) -> Option<(char, usize)> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = line.len() - line.trim_start_matches(mark).len();
    (3 <= length).then_some((mark, length))
}

/// Returns whether a line ends the code that such a fence has begun.
fn ends_fence(line: &str, (open, length): (char, usize)) -> bool {
    fence_of(line).is_some_and(|(mark, count)| mark == open && length <= count)
}

fn heading(line: &str) -> Option<(u8, &str)> {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    let is_heading = (1..=6).contains(&level) && title.starts_with([' ', '\t']);
    let title = title.trim().trim_end_matches('#').trim();
    is_heading.then_some((level as u8, title))
}

/// Returns a text without comments, which its readers do not see; ends of lines stay.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("<!--") {
        out += &rest[..at];
        let (comment, behind) = match rest[at..].find("-->") {
            Some(end) => rest[at..].split_at(end + 3),
            None => (&rest[at..], ""),
        };
        out.extend(comment.chars().filter(|c| *c == '\n'));
        rest = behind;
    }
    out + rest
}

/// Words between marks of code are so many bytes at most.
const LONGEST_CODE: usize = 1000;

/// Returns a text without elements of HTML in it that people do not see; code and the ends of lines
/// stay.
fn without_hidden(text: &str) -> String {
    let elements = HiddenElements::of(text);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(next) = text[at..].find(['<', '`', '~']) {
        out += &text[at..at + next];
        at += next;
        let rest = &text[at..];
        let hidden = match rest.starts_with('<') {
            true => elements.length_at(at),
            false => 0,
        };
        if 0 < hidden {
            out.extend(rest[..hidden].chars().filter(|c| *c == '\n'));
            at += hidden;
            continue;
        }
        let seen = match rest.starts_with('<') {
            true => 1,
            false => code_length(&out, rest),
        };
        out += &rest[..seen];
        at += seen;
    }
    out + &text[at..]
}

/// Returns how many bytes of code a text begins with that stands behind `before`: a block between
/// fences, or words between as many marks; of neither, the marks alone.
fn code_length(before: &str, text: &str) -> usize {
    let mut indentation = before.bytes().rev().take(100);
    let first = indentation.find(|it| !matches!(it, b' ' | b'\t' | b'>'));
    if let Some(open) = fence_of(text)
        && first.is_none_or(|it| it == b'\n')
    {
        let mut lines = text.split_inclusive('\n');
        let mut length = lines.next().map_or(0, str::len);
        for line in lines {
            length += line.len();
            if ends_fence(line.trim_start_matches(['>', ' ']), open) {
                break;
            }
        }
        return length;
    }
    let mark = if text.starts_with('~') { '~' } else { '`' };
    let count = text.len() - text.trim_start_matches(mark).len();
    let (marks, words) = text.split_at(count);
    let words = &words[..words.floor_char_boundary(LONGEST_CODE)];
    let words = words.split("\n\n").next().unwrap_or_default();
    let mut ends = words.match_indices(marks).filter(|(at, _)| {
        let (before, behind) = (&words[..*at], &words[at + count..]);
        !behind.starts_with(mark) && !before.ends_with(mark)
    });
    match ends.next() {
        Some((at, _)) if mark == '`' => count + at + count,
        _ => count,
    }
}

/// Returns whether a line defines a link to say something nobody sees: `[//]: # (a remark)`.
fn is_remark(line: &str) -> bool {
    let behind = line.trim_start().strip_prefix('[');
    let behind = behind.and_then(|it| it.split_once("]:"));
    let title = behind.and_then(|it| it.1.trim().split_once(char::is_whitespace));
    title.is_some_and(|(place, title)| {
        let title = title.trim();
        let is_in = |open, close| title.starts_with(open) && title.ends_with(close);
        place.starts_with(['#', '<']) && (is_in('(', ')') || is_in('"', '"') || is_in('\'', '\''))
    })
}
