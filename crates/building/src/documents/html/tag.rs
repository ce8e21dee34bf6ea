//! Tags, with what they say of their elements.

use super::entities::entities;

/// A tag.
pub struct Tag {
    /// In small letters.
    pub name: String,
    pub is_end: bool,
    /// Whether it ends with `/>`.
    pub closes_itself: bool,
    /// How many bytes it takes.
    pub length: usize,
    /// Names in small letters, and values without their quotes and entities.
    attributes: Vec<(String, String)>,
}

impl Tag {
    /// Reads the tag that a text begins with. There is none where no name follows, or no `>`.
    pub fn read(text: &str) -> Option<Self> {
        let behind = text.strip_prefix('<')?;
        let is_end = behind.starts_with('/');
        let behind = behind.strip_prefix('/').unwrap_or(behind);
        let length = behind.find(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        let (name, behind) = behind.split_at(length.unwrap_or(behind.len()));
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return None;
        }
        let length = text.len() - behind.len() + end_of_tag(behind)?;
        let inner = &text[text.len() - behind.len()..length - 1];
        Some(Self {
            name: name.to_ascii_lowercase(),
            is_end,
            closes_itself: inner.ends_with('/'),
            length,
            attributes: attributes(inner),
        })
    }

    /// Returns the value of an attribute, if the tag has it.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        let mut attributes = self.attributes.iter();
        attributes
            .find(|(it, _)| it == name)
            .map(|(_, value)| value.as_str())
    }
}

/// Returns where a tag ends; a `>` in the quotes of a value does not end it.
fn end_of_tag(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some(at + 1),
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(mark), byte) if mark == byte => quote = None,
            _ => {}
        }
        // A quote that nobody closes.
        if 20_000 < at {
            break;
        }
    }
    text.find('>').map(|at| at + 1)
}

fn attributes(text: &str) -> Vec<(String, String)> {
    let apart = |c: char| c.is_whitespace() || c == '/';
    let mut attributes = Vec::new();
    let mut rest = text.trim_start_matches(apart);
    while !rest.is_empty() {
        // A name may begin with `=`, which then is no sign between name and value.
        let first = rest.chars().next().map_or(1, char::len_utf8);
        let end = rest[first..].find(|c: char| apart(c) || c == '=');
        let (name, behind) = rest.split_at(end.map_or(rest.len(), |end| first + end));
        let (value, behind) = match behind.trim_start().strip_prefix('=') {
            Some(behind) => value(behind.trim_start()),
            None => ("", behind),
        };
        attributes.push((name.to_ascii_lowercase(), entities(value)));
        rest = behind.trim_start_matches(apart);
    }
    attributes
}

/// Returns the value that a text begins with, and what is behind it.
fn value(text: &str) -> (&str, &str) {
    for quote in ['"', '\''] {
        if let Some(behind) = text.strip_prefix(quote) {
            return behind.split_once(quote).unwrap_or((behind, ""));
        }
    }
    text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()))
}

/// Returns where the end tag of an element begins that holds text only.
pub fn end_of_raw(text: &str, name: &str) -> usize {
    let is_end = |at: usize| {
        let behind = &text[at + 2..];
        let is_name = behind.get(..name.len());
        is_name.is_some_and(|it| it.eq_ignore_ascii_case(name))
            && !behind[name.len()..].starts_with(|c: char| c.is_ascii_alphanumeric())
    };
    let mut ends = text.match_indices("</").map(|(at, _)| at);
    ends.find(|at| is_end(*at)).unwrap_or(text.len())
}
