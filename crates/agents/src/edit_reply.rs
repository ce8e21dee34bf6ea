//! From a model's reply to edits, and from edits to a kernel.

use crate::code_reply::{
    extract_kernel, fenced_blocks, normalize, tool_call_mark, without_line_numbers,
};
use crate::complaint::{Complaint, text};
use crate::json_reply;
use autocomp_core::{Flaw, Language};
use autocomp_llm::ReplySchema;
use serde::Deserialize;
use serde_json::json;

/// One replacement of text that occurs exactly once.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// The text to replace.
    pub old: String,
    /// What replaces it.
    pub new: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EditList {
    edits: Vec<Edit>,
}

/// Returns the schema of a reply with edits.
#[must_use]
pub(crate) fn edits_schema() -> ReplySchema {
    let text = json!({ "type": "string" });
    ReplySchema {
        name: "edits".to_owned(),
        schema: json!({
            "type": "object",
            "properties": { "edits": { "type": "array", "items": {
                "type": "object",
                "properties": { "old": text, "new": text },
                "required": ["old", "new"],
                "additionalProperties": false,
            } } },
            "required": ["edits"],
            "additionalProperties": false,
        }),
    }
}

/// Finds the edits in a reply: search/replace blocks, or JSON of the form
/// `{"edits": [{"old": "…", "new": "…"}]}`, fenced or not.
///
/// # Errors
/// A [`Complaint`] that says precisely what is missing.
pub fn parse_edits(reply: &str) -> Result<Vec<Edit>, Complaint> {
    let text = normalize(reply)?;
    if text.trim().is_empty() {
        return Err(Complaint::of("empty", &[]));
    }
    if let Some(mark) = tool_call_mark(&text) {
        return Err(Complaint::of("tool-call", &[("mark", mark)]));
    }
    let edits = search_replace_blocks(&text)?;
    let edits = if edits.is_empty() {
        json_edits(&text)?
    } else {
        edits
    };
    if edits.is_empty() {
        return Err(Complaint::of("no-edit", &[]));
    }
    let edits: Vec<Edit> = edits
        .into_iter()
        .map(|edit| Edit {
            old: without_line_numbers(&edit.old),
            new: without_line_numbers(&edit.new),
        })
        .collect();
    for (idx, edit) in edits.iter().enumerate() {
        if edit.old.trim().is_empty() {
            let number = (idx + 1).to_string();
            return Err(Complaint::of(
                "edit-replaces-nothing",
                &[("number", &number)],
            ));
        }
        if edit.old == edit.new {
            let number = (idx + 1).to_string();
            return Err(Complaint::of(
                "edit-changes-nothing",
                &[("number", &number)],
            ));
        }
    }
    Ok(edits)
}

fn search_replace_blocks(text: &str) -> Result<Vec<Edit>, Complaint> {
    enum Part {
        Outside,
        Old(String),
        New(String, String),
    }
    let mut edits = Vec::new();
    let mut part = Part::Outside;
    let is_mark = |line: &str, mark: char, word: &str| {
        let line = line.trim();
        let signs = line.chars().take_while(|char| *char == mark).count();
        let rest = line[signs..].trim();
        5 <= signs && (rest.eq_ignore_ascii_case(word) || rest.is_empty())
    };
    let number = |edits: &Vec<Edit>| (edits.len() + 1).to_string();
    for line in text.lines() {
        part = match part {
            Part::Outside if is_mark(line, '<', "SEARCH") => Part::Old(String::new()),
            Part::Outside => Part::Outside,
            Part::Old(old) if is_mark(line, '=', "") => Part::New(old, String::new()),
            Part::Old(_) if is_mark(line, '<', "SEARCH") || is_mark(line, '>', "REPLACE") => {
                return Err(Complaint::of(
                    "edit-without-middle",
                    &[("number", &number(&edits))],
                ));
            }
            Part::Old(mut old) => {
                old.push_str(line);
                old.push('\n');
                Part::Old(old)
            }
            Part::New(old, new) if is_mark(line, '>', "REPLACE") => {
                edits.push(Edit { old, new });
                Part::Outside
            }
            Part::New(_, _) if is_mark(line, '<', "SEARCH") => {
                return Err(Complaint::of(
                    "edit-without-end",
                    &[("number", &number(&edits))],
                ));
            }
            Part::New(old, mut new) => {
                new.push_str(line);
                new.push('\n');
                Part::New(old, new)
            }
        };
    }
    match part {
        Part::Outside => Ok(edits),
        _ => Err(Complaint::of("edit-cut", &[("number", &number(&edits))])),
    }
}

fn json_edits(text: &str) -> Result<Vec<Edit>, Complaint> {
    let blocks = fenced_blocks(text);
    let candidates = blocks
        .iter()
        .map(|block| block.text.trim())
        .chain([text.trim()]);
    let mut error = None;
    for candidate in candidates {
        if !candidate.starts_with(['{', '[']) {
            continue;
        }
        let parsed = serde_json::from_str::<EditList>(candidate)
            .map(|list| list.edits)
            .or_else(|first| serde_json::from_str::<Vec<Edit>>(candidate).map_err(|_| first));
        match parsed {
            Ok(edits) => return Ok(edits),
            Err(reason) => error = Some(reason),
        }
    }
    // With prose around it, or with the usual slips.
    let lists = json_reply::find::<EditList>(text);
    if let Some(list) = lists.into_iter().next() {
        return Ok(list.edits);
    }
    let edits = json_reply::find::<Edit>(text);
    if !edits.is_empty() {
        return Ok(edits);
    }
    Err(match error {
        Some(reason) => Complaint::of("edits-not-valid", &[("reason", &reason.to_string())]),
        None => Complaint::of("no-edit-blocks", &[]),
    })
}

/// Returns the kernel that a reply with edits makes of `kernel`. A reply that
/// holds a whole kernel instead of edits is taken as it is.
///
/// # Errors
/// A [`Complaint`] that names what is wrong with the edits.
pub fn kernel_from_edits(
    kernel: &str,
    reply: &str,
    language: &dyn Language,
    entry: &str,
) -> Result<String, Complaint> {
    match parse_edits(reply) {
        Ok(edits) => apply_edits(kernel, &edits, language, entry),
        Err(complaint) => extract_kernel(reply, language, entry).map_err(|_| complaint),
    }
}

/// Applies edits in order to `kernel`.
///
/// Text to replace must occur exactly once. If it does not occur, lines that
/// differ in blanks at their ends only count as equal.
///
/// # Errors
/// A [`Complaint`] that names the edit, or says what the result lacks.
pub fn apply_edits(
    kernel: &str,
    edits: &[Edit],
    language: &dyn Language,
    entry: &str,
) -> Result<String, Complaint> {
    let mut text = kernel.to_owned();
    for (idx, edit) in edits.iter().enumerate() {
        let number = idx + 1;
        let (start, end) = locate(&text, &edit.old, number)?;
        text.replace_range(start..end, &edit.new);
    }
    match language.flaw(&text, entry) {
        Some(Flaw::NoEntry) => Err(Complaint::of("edits-lose-entry", &[("entry", entry)])),
        Some(Flaw::Incomplete) => Err(Complaint::of("edits-lose-brackets", &[])),
        None => Ok(text),
    }
}

fn locate(text: &str, old: &str, number: usize) -> Result<(usize, usize), Complaint> {
    let exact: Vec<_> = text
        .match_indices(old)
        .take(2)
        .map(|(start, _)| start)
        .collect();
    let number = number.to_string();
    let several = || Complaint::of("edit-not-unique", &[("number", &number)]);
    match exact[..] {
        [start] => return Ok((start, start + old.len())),
        [_, _, ..] => return Err(several()),
        [] => {}
    }
    let wanted: Vec<_> = old.trim_matches('\n').lines().map(str::trim_end).collect();
    let mut lines = Vec::new();
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        lines.push((offset, line));
        offset += line.len();
    }
    let found: Vec<_> = lines
        .windows(wanted.len().max(1))
        .filter(|window| {
            window
                .iter()
                .zip(&wanted)
                .all(|((_, line), wanted)| line.trim_end() == *wanted)
        })
        .take(2)
        .collect();
    match found[..] {
        [window] => {
            let (start, _) = window[0];
            let (last, line) = window[window.len() - 1];
            // The line end stays unless the replaced text brings its own.
            let end = if old.ends_with('\n') {
                last + line.len()
            } else {
                last + line.trim_end().len()
            };
            Ok((start, end))
        }
        [_, _, ..] => Err(several()),
        [] => {
            let lines: Vec<&str> = lines.iter().map(|(_, line)| line.trim_end()).collect();
            let difference = difference(&lines, &wanted);
            Err(Complaint::of(
                "edit-not-found",
                &[("number", &number), ("difference", &difference)],
            ))
        }
    }
}

/// Says where the part of the text that is most like `wanted` differs from it.
fn difference(lines: &[&str], wanted: &[&str]) -> String {
    let shown = |line: &str| format!("{:?}", line.chars().take(80).collect::<String>());
    let n_equal = |start: usize| {
        let pairs = lines[start..].iter().zip(wanted);
        pairs
            .filter(|(line, wanted)| line.trim() == wanted.trim() && !line.trim().is_empty())
            .count()
    };
    // The first of the best.
    let best = (0..lines.len())
        .map(|start| (n_equal(start), start))
        .max_by_key(|(count, start)| (*count, std::cmp::Reverse(*start)));
    let Some((_, start)) = best.filter(|(count, _)| 0 < *count) else {
        let first = wanted
            .iter()
            .find(|line| !line.trim().is_empty())
            .copied()
            .unwrap_or_default();
        return text("differs-everywhere", &[("line", &shown(first.trim()))]);
    };
    for (idx, wanted) in wanted.iter().enumerate() {
        match lines.get(start + idx) {
            Some(line) if line == wanted => {}
            Some(line) => {
                return text(
                    "differs-in-line",
                    &[
                        ("number", &(start + idx + 1).to_string()),
                        ("line", &shown(line)),
                        ("wanted", &shown(wanted)),
                    ],
                );
            }
            None => {
                return text(
                    "differs-at-end",
                    &[
                        ("number", &lines.len().to_string()),
                        ("wanted", &shown(wanted)),
                    ],
                );
            }
        }
    }
    text("differs-in-line-ends", &[])
}
