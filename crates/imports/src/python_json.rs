//! JSON as Python writes it: with `NaN`, `Infinity` and `-Infinity`, which JSON does not have.

use serde_json::Value;
use std::borrow::Cow;

/// Reads a value; numbers that are none are null.
pub(crate) fn value(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(&without_strange_numbers(text))
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
