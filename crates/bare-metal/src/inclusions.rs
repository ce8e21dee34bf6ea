//! Headers that kernels may include although they see all of them, or get them by a macro.

use std::collections::BTreeSet;

/// A kernel without the inclusions that mean nothing more.
#[derive(Debug, PartialEq, Eq)]
pub struct Without {
    /// The text, in which lines that include one of the headers are empty.
    pub text: String,
    /// Macros that say which ones were included.
    pub macros: Vec<(String, String)>,
}

/// Leaves the lines of `source` empty that include one of `headers`; those `given` count as included.
pub fn without<'a>(source: &'a str, headers: &[&str], given: &[&'a str]) -> Without {
    let mut included: BTreeSet<&str> = given.iter().copied().collect();
    let mut text = String::with_capacity(source.len());
    for line in source.split_inclusive('\n') {
        match included_by(line).filter(|name| headers.contains(name)) {
            Some(name) => {
                included.insert(name);
                text.extend(line.chars().filter(|it| matches!(it, '\r' | '\n')));
            }
            None => text.push_str(line),
        }
    }
    let macros = included
        .into_iter()
        .map(|name| (macro_of(name), "1".into()));
    Without {
        text,
        macros: macros.collect(),
    }
}

/// Returns the macro that the runtime's headers are told an inclusion by.
fn macro_of(header: &str) -> String {
    let name: String = header
        .chars()
        .map(|it| match it {
            '.' => '_',
            other => other.to_ascii_uppercase(),
        })
        .collect();
    format!("AUTOCOMP_WITH_{name}")
}

/// Returns the header that a line includes and does nothing else.
fn included_by(line: &str) -> Option<&str> {
    let rest = line.trim().strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("include")?.trim_start();
    let (name, rest) = match rest.strip_prefix('<') {
        Some(name) => name.split_once('>')?,
        None => rest.strip_prefix('"')?.split_once('"')?,
    };
    let rest = rest.trim();
    // What is behind may be anything but a line that goes on.
    let is_note = match rest.strip_prefix("/*") {
        Some(note) => note.find("*/").is_some_and(|it| it + 2 == note.len()),
        None => rest.starts_with("//") && !rest.ends_with('\\'),
    };
    (rest.is_empty() || is_note).then_some(name.trim())
}

/// Returns what to do about another inclusion, where there are such headers.
pub fn remedy(headers: &[&str]) -> Option<String> {
    let names: Vec<String> = headers.iter().map(|name| format!("<{name}>")).collect();
    (!names.is_empty()).then(|| {
        format!(
            "remove the line; what there is stands in {}",
            names.join(", ")
        )
    })
}
