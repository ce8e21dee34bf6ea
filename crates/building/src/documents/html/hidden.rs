//! Elements of pages that stand in texts of another form.

use super::nesting::Open;
use super::tag::{Tag, end_of_raw};
use super::visibility::is_hidden;

/// Bytes of a tag at most: what is longer is none.
const LONGEST_TAG: usize = 1000;

/// Elements in a text of another form that people do not see: those that their own tags hide,
/// scripts and sheets of styles.
pub struct HiddenElements<'a> {
    text: &'a str,
    /// Where the last script and the last sheet of styles end, or 0.
    last_ends: [usize; 2],
}

impl<'a> HiddenElements<'a> {
    /// Returns those of a text.
    pub fn of(text: &'a str) -> Self {
        let small = text.to_ascii_lowercase();
        let last_ends = ["</script", "</style"].map(|it| small.rfind(it).unwrap_or(0));
        Self { text, last_ends }
    }

    /// Returns how many bytes an element takes that begins at a place; 0 if people see it, or there
    /// is none.
    pub fn length_at(&self, place: usize) -> usize {
        let text = &self.text[place..];
        let Some(tag) = tag_of(text).filter(|it| !it.is_end) else {
            return 0;
        };
        let last_end = match tag.name.as_str() {
            "script" => Some(self.last_ends[0]),
            "style" => Some(self.last_ends[1]),
            _ => None,
        };
        match last_end {
            Some(last_end) if last_end <= place => 0,
            Some(_) => raw_length(text, &tag),
            None if is_hidden(&tag, false) => length(text, &tag),
            None => 0,
        }
    }
}

/// Reads the tag that a text begins with, if it is no longer than one may be.
fn tag_of(text: &str) -> Option<Tag> {
    Tag::read(&text[..text.floor_char_boundary(LONGEST_TAG)])
}

/// Returns how long an element is that holds text only and begins with this tag; 0 if it has no end.
fn raw_length(text: &str, tag: &Tag) -> usize {
    let end = tag.length + end_of_raw(&text[tag.length..], &tag.name);
    tag_of(&text[end..]).map_or(0, |it| end + it.length)
}

/// Returns how long an element is that begins with this tag; 0 if it has no contents.
fn length(text: &str, tag: &Tag) -> usize {
    let mut open = Open::default();
    open.start(&tag.name);
    if open.count() == 0 {
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
        let Some(tag) = tag_of(&text[at..whole]) else {
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
