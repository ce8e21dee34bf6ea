//! From a model's reply to a kernel.

use crate::complaint::Complaint;
use crate::json_reply;
use autocomp_core::{Flaw, Language};

/// The largest reply that is looked at, in bytes.
const LARGEST_REPLY: usize = 1 << 20;

/// Words that models leak into their text when a tool call goes wrong.
const TOOL_CALL_MARKS: &[&str] = &[
    "<tool_call>",
    "</tool_call>",
    "<function=",
    "<function_calls>",
    "[TOOL_CALLS]",
    "<|tool_call",
    "<|python_tag|>",
    "<\u{ff5c}tool\u{2581}call",
];

/// Returns the text without byte-order marks, carriage returns and thoughts.
pub(crate) fn normalize(reply: &str) -> Result<String, Complaint> {
    if LARGEST_REPLY < reply.len() {
        return Err(Complaint::of("too-large", &[]));
    }
    let text = reply.replace("\r\n", "\n").replace('\r', "\n");
    let text = text.trim_start_matches('\u{feff}');
    Ok(without_thoughts(text).to_owned())
}

/// Returns what comes after a leading `<think>…</think>`; everything if it never closes.
fn without_thoughts(text: &str) -> &str {
    for (open, close) in [("<think>", "</think>"), ("<thinking>", "</thinking>")] {
        if text.trim_start().starts_with(open)
            && let Some(end) = text.find(close)
        {
            return &text[end + close.len()..];
        }
    }
    text
}

/// Returns a mark of a tool call that leaked into `text`.
#[must_use]
pub(crate) fn tool_call_mark(text: &str) -> Option<&'static str> {
    TOOL_CALL_MARKS
        .iter()
        .copied()
        .find(|mark| text.contains(mark))
}

/// Finds the kernel in a reply: the source that defines the function `entry`.
///
/// Fenced blocks come first, the last complete one if several define the
/// function; without a fence, the part of the text that looks like the file.
///
/// # Errors
/// A [`Complaint`] that says precisely what is missing.
pub fn extract_kernel(
    reply: &str,
    language: &dyn Language,
    entry: &str,
) -> Result<String, Complaint> {
    let text = normalize(reply)?;
    if text.trim().is_empty() {
        return Err(Complaint::of("empty", &[]));
    }
    let mut blocks = fenced_blocks(&text);
    for block in &mut blocks {
        block.text = without_line_numbers(&block.text);
    }
    let mut elided = false;
    let mut unbalanced = false;
    let mut leaked = None;
    let (mut broken, mut torn) = (None, None);
    for block in blocks.iter().rev() {
        if let Some(code) = code_in_json(&block.text, language, entry) {
            return Ok(finish(&code));
        }
        let flaw = language.flaw(&block.text, entry);
        if flaw == Some(Flaw::NoEntry) {
            if block.closed && is_torn(&block.text) {
                broken = broken.or(Some(block.line));
            }
            continue;
        }
        if let Some(mark) = tool_call_mark(&block.text) {
            leaked = Some(mark);
        } else if has_elision(&block.text, language) {
            elided = true;
        } else if flaw.is_none() && is_torn(&block.text) {
            broken = broken.or(Some(block.line));
            torn = torn.or(Some(block));
        } else if flaw.is_some() {
            unbalanced = true;
            if block.closed {
                broken = broken.or(Some(block.line));
            } else {
                // The reply ends here; an earlier block may be the kernel to be changed.
                break;
            }
        } else {
            return Ok(finish(&block.text));
        }
    }
    if let Some(mark) = leaked {
        return Err(Complaint::of("tool-call-in-code", &[("mark", mark)]));
    }
    if let Some(last) = broken {
        let starts = blocks.iter().map(|block| block.line);
        let mut starts: Vec<usize> = starts.filter(|start| *start <= last).collect();
        starts.sort_unstable();
        let found = starts.into_iter().rev().take(MOST_FENCES);
        let mut found = found.filter_map(|it| code_with_fences(&text, it, language, entry));
        if let Some(code) = found.next() {
            return Ok(finish(&code));
        }
    }
    if let Some(block) = torn {
        // It only looked torn.
        return Ok(finish(&block.text));
    }
    if elided {
        return Err(Complaint::of("elided", &[]));
    }
    if unbalanced {
        return Err(Complaint::of("incomplete", &[]));
    }
    if !blocks.is_empty() {
        return Err(Complaint::of("no-entry", &[("entry", entry)]));
    }
    if let Some(code) = code_in_json(&text, language, entry) {
        return Ok(finish(&code));
    }
    bare_code(&text, language, entry)
}

/// Returns whether a text is a whole file as it stands.
fn is_whole(code: &str, language: &dyn Language, entry: &str) -> bool {
    language.flaw(code, entry).is_none()
        && !is_torn(code)
        && tool_call_mark(code).is_none()
        && !has_elision(code, language)
}

/// Returns whether code begins or ends inside of a comment or a long string: it was torn at a
/// fence that stands there.
fn is_torn(code: &str) -> bool {
    let count = |mark: &str| code.matches(mark).count();
    let closes_first = match (code.find("*/"), code.find("/*")) {
        (Some(end), Some(start)) => end < start,
        (end, None) => end.is_some(),
        _ => false,
    };
    let ends_open = match (code.rfind("/*"), code.rfind("*/")) {
        (Some(start), Some(end)) => end < start,
        (start, None) => start.is_some(),
        _ => false,
    };
    closes_first || ends_open || count("\"\"\"") % 2 == 1 || count("'''") % 2 == 1
}

/// Returns the code that a text in JSON holds as a string.
fn code_in_json(text: &str, language: &dyn Language, entry: &str) -> Option<String> {
    if !text.trim_start().starts_with(['{', '[', '"']) {
        return None;
    }
    let strings = json_reply::strings(text).into_iter();
    strings
        .filter(|code| code.contains(entry))
        .flat_map(|code| {
            let blocks = fenced_blocks(&code).into_iter().map(|block| block.text);
            blocks.chain([code]).collect::<Vec<_>>()
        })
        .find(|code| is_whole(code, language, entry))
}

/// Fences that are tried as the end of code with fences in it.
const MOST_FENCES: usize = 32;

/// Returns the code of a block that begins behind the fence in line `start` and holds fences
/// itself, in comments or strings: up to the last fence with which it is whole.
fn code_with_fences(
    text: &str,
    start: usize,
    language: &dyn Language,
    entry: &str,
) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let is_end = |idx: &usize| fence_of(lines[*idx]).is_some_and(|(_, _, info)| info.is_empty());
    let ends = (start + 1..lines.len()).rev().filter(is_end);
    ends.take(MOST_FENCES)
        .map(|end| lines[start + 1..end].join("\n"))
        .find(|code| is_whole(code, language, entry))
}

/// Returns code without the numbers and bars that prompts put before its lines,
/// if all of its lines have them.
pub(crate) fn without_line_numbers(code: &str) -> String {
    let without = |line: &str| -> Option<String> {
        let rest = line.trim_start_matches(' ');
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let rest = rest
            .get(digits..)?
            .strip_prefix(" |")
            .filter(|_| 0 < digits)?;
        Some(rest.strip_prefix(' ').unwrap_or(rest).to_owned())
    };
    let lines: Option<Vec<String>> = code
        .lines()
        .map(|line| {
            if line.trim().is_empty() {
                Some(String::new())
            } else {
                without(line)
            }
        })
        .collect();
    match lines {
        Some(lines) if !code.trim().is_empty() => {
            let end = if code.ends_with('\n') { "\n" } else { "" };
            lines.join("\n") + end
        }
        _ => code.to_owned(),
    }
}

/// One fenced block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// What stands behind the opening fence.
    pub(crate) info: String,
    /// The lines between the fences.
    pub(crate) text: String,
    /// Whether the closing fence is there.
    pub(crate) closed: bool,
    /// Line of the opening fence, from 0.
    pub(crate) line: usize,
}

/// Returns all fenced blocks. A block that is never closed reaches to the end.
/// A fence with a language inside a block opens a block of its own, since
/// models wrap code into a block of Markdown.
#[must_use]
pub(crate) fn fenced_blocks(text: &str) -> Vec<Block> {
    struct Open {
        mark: char,
        len: usize,
        block: Block,
    }
    let mut open: Vec<Open> = Vec::new();
    let mut blocks = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let fence = fence_of(line);
        match fence {
            Some((mark, len, ""))
                if open
                    .last()
                    .is_some_and(|open| open.mark == mark && open.len <= len) =>
            {
                blocks.extend(open.pop().map(|open| Block {
                    closed: true,
                    ..open.block
                }));
            }
            Some((mark, len, info)) if open.is_empty() || !info.is_empty() => {
                // Inside code, it stands where the closing fence should be.
                if open
                    .last()
                    .is_some_and(|outer| !is_prose(&outer.block.info))
                {
                    blocks.extend(open.pop().map(|open| Block {
                        closed: true,
                        ..open.block
                    }));
                }
                let block = Block {
                    info: info.to_owned(),
                    text: String::new(),
                    closed: false,
                    line: number,
                };
                open.push(Open { mark, len, block });
            }
            _ => {
                if let Some(open) = open.last_mut() {
                    open.block.text.push_str(line);
                    open.block.text.push('\n');
                }
            }
        }
    }
    blocks.extend(open.into_iter().map(|open| open.block));
    blocks
}

fn is_prose(info: &str) -> bool {
    matches!(info, "" | "markdown" | "md" | "text" | "txt" | "plaintext")
}

/// Returns mark, length and info of a line that is a fence.
fn fence_of(line: &str) -> Option<(char, usize, &str)> {
    // Blocks in lists and quotations are indented or marked.
    let line = line.trim_start_matches([' ', '\t', '>']).trim_end();
    let mark = line
        .chars()
        .next()
        .filter(|mark| matches!(mark, '`' | '~'))?;
    let len = line.chars().take_while(|char| *char == mark).count();
    let info = line[len..].trim();
    (3 <= len && !info.contains('`')).then_some((mark, len, info))
}

/// Returns whether the code says that it leaves something out.
fn has_elision(code: &str, language: &dyn Language) -> bool {
    code.lines().any(|line| {
        let line = line.trim();
        let marks = language.comment_marks();
        let comment = marks.iter().any(|mark| line.starts_with(mark));
        let words = line
            .trim_start_matches(['/', '*', '#', ' '])
            .trim_end_matches(['/', '*', ' '])
            .to_ascii_lowercase();
        line == "..."
            || line == "\u{2026}"
            || comment
                && (words == "..."
                    || words == "\u{2026}"
                    || ((words.starts_with("...") || words.ends_with("..."))
                        && [
                            "rest",
                            "same",
                            "unchanged",
                            "existing",
                            "remain",
                            "omitted",
                            "as before",
                        ]
                        .iter()
                        .any(|word| words.contains(word))))
    })
}

/// Finds the file in a reply without fences: from the first line that may
/// begin a file to the last that may end it.
fn bare_code(text: &str, language: &dyn Language, entry: &str) -> Result<String, Complaint> {
    let lines: Vec<&str> = text.lines().collect();
    let start = lines
        .iter()
        .position(|line| language.may_begin(line, entry));
    let end = lines.iter().rposition(|line| language.may_end(line));
    let none = || Complaint::of("no-code", &[("entry", entry)]);
    let (Some(start), Some(end)) = (start, end) else {
        return Err(none());
    };
    if end < start {
        return Err(none());
    }
    let code = lines[start..=end].join("\n");
    let flaw = language.flaw(&code, entry);
    if flaw == Some(Flaw::NoEntry) {
        return Err(none());
    }
    if let Some(mark) = tool_call_mark(&code) {
        return Err(Complaint::of("tool-call-in-code", &[("mark", mark)]));
    }
    if has_elision(&code, language) {
        return Err(Complaint::of("elided", &[]));
    }
    if flaw.is_some() {
        return Err(Complaint::of("incomplete", &[]));
    }
    Ok(finish(&code))
}

fn finish(code: &str) -> String {
    let code = code.trim_matches('\n').trim_end();
    format!("{code}\n")
}
