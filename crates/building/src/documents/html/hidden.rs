//! Elements of pages that stand in texts of another form.

use super::nesting::Open;
use super::tag::{Tag, end_of_raw};
use super::visibility::is_hidden;

/// Returns a Markdown text without the elements in it that people do not see: those that their own
/// tags hide, scripts and sheets of styles. Code and the ends of lines stay.
pub fn without_hidden(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['<', '`', '~']) {
        let (before, from) = rest.split_at(at);
        out += before;
        let code = if from.starts_with('<') {
            None
        } else {
            Some(code(&out, from))
        };
        let hidden = if code.is_some() { 0 } else { hidden(from) };
        let first = from.chars().next().map_or(1, char::len_utf8);
        let taken = code.unwrap_or(first).max(hidden);
        let (piece, behind) = from.split_at(taken);
        match hidden {
            0 => out += piece,
            _ => out.extend(piece.chars().filter(|c| *c == '\n')),
        }
        rest = behind;
    }
    out + rest
}

/// Returns how many bytes of code a text begins with that stands behind `before`: a block between
/// fences, or words between as many marks; of neither, the marks alone.
fn code(before: &str, text: &str) -> usize {
    let mark = if text.starts_with('~') { '~' } else { '`' };
    let count = text.len() - text.trim_start_matches(mark).len();
    let line = before.rsplit('\n').next().unwrap_or_default();
    if 3 <= count && line.trim().is_empty() {
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
    let paragraph = text.find("\n\n").unwrap_or(text.len());
    let marks = &text[..count];
    let mut ends = text[count..paragraph]
        .match_indices(marks)
        .filter(|(at, _)| {
            let behind = &text[count + at + count..];
            let before = &text[count..count + at];
            !behind.starts_with(mark) && !before.ends_with(mark)
        });
    match ends.next() {
        Some((at, _)) if mark == '`' => count + at + count,
        _ => count,
    }
}

/// Returns how many bytes an element takes that a text begins with, if people do not see it.
fn hidden(text: &str) -> usize {
    let Some(tag) = Tag::read(text).filter(|it| !it.is_end) else {
        return 0;
    };
    let is_raw = matches!(tag.name.as_str(), "script" | "style");
    if is_raw {
        let end = tag.length + end_of_raw(&text[tag.length..], &tag.name);
        let behind = Tag::read(&text[end..]).map_or(0, |it| it.length);
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
        let Some(tag) = Tag::read(&text[at..whole]) else {
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
