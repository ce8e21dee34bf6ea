//! JSON as Python writes it: with `NaN`, `Infinity` and `-Infinity`, and with halves of characters
//! (`\ud800`), none of which JSON has.

use serde_json::Value;
use std::borrow::Cow;

/// Reads a value; numbers that are none are null, and characters that are none U+FFFD.
pub(crate) fn value(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(&without_halves(&without_strange_numbers(text)))
}

/// Returns a text in which no half of a pair of UTF-16 stands alone.
fn without_halves(text: &str) -> Cow<'_, str> {
    if !text.contains("\\ud") && !text.contains("\\uD") {
        return text.into();
    }
    // What an escape is for: `\ud800` is a first half.
    let unit = |text: &str| {
        let digits = text.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut result = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        result += &rest[..at];
        rest = &rest[at..];
        let is_second = |it: &u16| (0xdc00..0xe000).contains(it);
        let (made, length) = match unit(rest) {
            Some(0xd800..0xdc00)
                if rest.get(6..).and_then(unit).as_ref().is_some_and(is_second) =>
            {
                (&rest[..12], 12)
            }
            Some(0xd800..0xe000) => ("\u{fffd}", 6),
            _ => {
                let length = 1 + rest[1..].chars().next().map_or(0, char::len_utf8);
                (&rest[..length], length)
            }
        };
        result += made;
        rest = &rest[length..];
    }
    (result + rest).into()
}

fn without_strange_numbers(text: &str) -> Cow<'_, str> {
    const NAMES: [&str; 3] = ["NaN", "-Infinity", "Infinity"];
    if !NAMES.iter().any(|name| text.contains(name)) {
        return text.into();
    }
    let mut result = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['"', 'N', '-', 'I']) {
        result += &rest[..at];
        rest = &rest[at..];
        let name = NAMES.iter().find(|name| rest.starts_with(**name));
        let length = match name {
            Some(name) => {
                result += "null";
                rest = &rest[name.len()..];
                continue;
            }
            None if rest.starts_with('"') => length_of_string(rest),
            None => 1,
        };
        result += &rest[..length];
        rest = &rest[length..];
    }
    (result + rest).into()
}

/// Returns how many bytes the string has that a text begins with, both quotes included.
fn length_of_string(text: &str) -> usize {
    let mut bytes = text.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}
