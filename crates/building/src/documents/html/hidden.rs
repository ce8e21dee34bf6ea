//! Elements of pages that stand in texts of another form.

use super::nesting::Open;
use super::tag::{Tag, end_of_raw};
use super::visibility::is_hidden;

/// Bytes of a tag, or of words between marks of code, at most: what is longer is none.
const LONGEST: usize = 1000;

/// Returns a Markdown text without the elements in it that people do not see: those that their own
/// tags hide, scripts and sheets of styles. Code and the ends of lines stay.
pub fn without_hidden(text: &str) -> String {
    let small = text.to_ascii_lowercase();
    // Behind these, no script and no sheet ends.
    let last_ends = ["</script", "</style"].map(|it| small.rfind(it).unwrap_or(0));
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['<', '`', '~']) {
        let (before, from) = rest.split_at(at);
        out += before;
        let place = text.len() - from.len();
        let hidden = match from.starts_with('<') {
            true => hidden(from, last_ends.map(|it| place < it)),
            false => 0,
        };
        let taken = match hidden {
            0 if from.starts_with('<') => 1,
            0 => code(&out, from),
            hidden => hidden,
        };
        let (piece, behind) = from.split_at(taken);
        match hidden {
            0 => out += piece,
            _ => out.extend(piece.chars().filter(|c| *c == '\n')),
        }
        rest = behind;
    }
    out + rest
}

/// Returns the beginning of a text, of so many bytes at most.
fn beginning(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev();
    let mut ends = end.filter(|it| text.is_char_boundary(*it));
    &text[..ends.next().unwrap_or(0)]
}

/// Returns how many bytes of code a text begins with that stands behind `before`: a block between
/// fences, or words between as many marks; of neither, the marks alone.
fn code(before: &str, text: &str) -> usize {
    let mark = if text.starts_with('~') { '~' } else { '`' };
    let count = text.len() - text.trim_start_matches(mark).len();
    let mut indentation = before.bytes().rev().take(100);
    let first = indentation.find(|it| !matches!(it, b' ' | b'\t' | b'>'));
    if 3 <= count && first.is_none_or(|it| it == b'\n') {
        let is_end = |it: &str| {
            let it = it.trim();
            count <= it.len() && it.chars().all(|c| c == mark)
        };
        let mut taken = 0;
        for (idx, line) in text.split_inclusive('\n').enumerate() {
            taken += line.len();
            if 0 < idx && is_end(line) {
                break;
            }
        }
        return taken;
    }
    let (marks, words) = text.split_at(count);
    let words = beginning(words, LONGEST);
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

/// Returns how many bytes an element takes that a text begins with, if people do not see it. What
/// ends scripts and sheets of styles may be `there`.
fn hidden(text: &str, there: [bool; 2]) -> usize {
    let Some(tag) = Tag::read(beginning(text, LONGEST)).filter(|it| !it.is_end) else {
        return 0;
    };
    let is_there = match tag.name.as_str() {
        "script" => Some(there[0]),
        "style" => Some(there[1]),
        _ => None,
    };
    if let Some(is_there) = is_there {
        if !is_there {
            return 0;
        }
        let end = tag.length + end_of_raw(&text[tag.length..], &tag.name);
        let behind = Tag::read(beginning(&text[end..], LONGEST)).map_or(0, |it| it.length);
        return if behind == 0 { 0 } else { end + behind };
    }
    let mut open = Open::default();
    open.start(&tag.name);
    if !is_hidden(&tag) || open.count() == 0 {
        return 0;
    }
    // Where the end tag may be left out, the next paragraph ends the element.
    let whole = match tag.name.as_str() {
        "p" | "li" | "dt" | "dd" | "tr" | "td" | "th" => text.find("\n\n").unwrap_or(text.len()),
        _ => text.len(),
    };
    let mut at = tag.length;
    while let Some(next) = text.get(at..whole).and_then(|it| it.find('<')) {
        at += next;
        let Some(tag) = Tag::read(beginning(&text[at..whole], LONGEST)) else {
            at += 1;
            continue;
        };
        match tag.is_end {
            true => open.end(&tag.name),
            false if open.start(&tag.name) == 0 => return at,
            false => {}
        }
        at += tag.length;
        if open.count() == 0 {
            return at;
        }
    }
    whole
}
