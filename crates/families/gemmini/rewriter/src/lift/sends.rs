//! Whether code that is not understood may send commands, by the names in it.

use crate::syntax::{children, syntax_tree};
use std::collections::{BTreeMap, BTreeSet};

/// Calls that send none, and words before a parenthesis that are no calls.
const HARMLESS: &[&str] = &[
    "memcpy",
    "memset",
    "memmove",
    "memcmp",
    "printf",
    "puts",
    "putchar",
    "if",
    "for",
    "while",
    "switch",
    "return",
    "sizeof",
    "_Alignof",
    "_Generic",
    "_Static_assert",
];

/// What the names of a file stand for that may stand for calls: functions and macros.
pub(super) struct Definitions<'source>(BTreeMap<&'source str, &'source str>);

impl<'source> Definitions<'source> {
    pub(super) fn of(source: &'source str) -> Self {
        let mut found = BTreeMap::new();
        let Some(tree) = syntax_tree(source) else {
            return Self(found);
        };
        for node in children(tree.root_node()) {
            let [name, text] = match node.kind() {
                "function_definition" => ["declarator", "body"],
                "preproc_def" | "preproc_function_def" => ["name", "value"],
                _ => continue,
            };
            let text = node.child_by_field_name(text);
            let text = text.map_or("", |node| &source[node.byte_range()]);
            let mut name = node.child_by_field_name(name);
            while let Some(inner) = name.and_then(|it| it.child_by_field_name("declarator")) {
                name = Some(inner);
            }
            if let Some(name) = name {
                found.insert(&source[name.byte_range()], text);
            }
        }
        Self(found)
    }

    /// Returns whether code may send commands: unless it is seen that it does not.
    pub(super) fn may_send(&self, code: &'source str) -> bool {
        let mut seen = BTreeSet::new();
        let mut waiting = vec![code];
        while let Some(code) = waiting.pop() {
            for (name, is_call) in names(code) {
                match self.0.get(name) {
                    Some(text) if seen.insert(name) => waiting.push(text),
                    Some(_) => {}
                    None if name.contains("asm") => return true,
                    None if is_call
                        && !HARMLESS.contains(&name)
                        && !name.starts_with("__builtin_") =>
                    {
                        return true;
                    }
                    None => {}
                }
            }
        }
        false
    }
}

/// Returns the names in code, and whether a parenthesis follows.
fn names(code: &str) -> impl Iterator<Item = (&str, bool)> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut rest = code;
    std::iter::from_fn(move || {
        let start = rest.find(is_part)?;
        let tail = &rest[start..];
        let end = tail.find(|letter| !is_part(letter)).unwrap_or(tail.len());
        rest = &tail[end..];
        Some((&tail[..end], rest.trim_start().starts_with('(')))
    })
}
