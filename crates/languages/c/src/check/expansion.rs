//! A kernel behind the preprocessor: what pasting, macros and inclusion made of it.
//!
//! The compiler writes this text; a kernel can make it say anything but cannot keep from
//! it what is compiled. So nothing in it is trusted, line markers neither: the rules hold
//! for the header's part, too. Source: the output formats of GCC ("Preprocessor Output")
//! and clang, which agree.

use super::rules::{self, Assembly};
use super::tokens::{Kind, Token, tokens, tokens_without_comments};
use super::{MAX_DIAGNOSTICS, location, quote, refusal};
use autocomp_core::{Diagnostic, SourceLocation};
use std::collections::BTreeSet;

/// What the rules need to know about a kernel.
#[derive(Clone, Copy)]
pub struct Expanded<'a> {
    /// Name of the kernel's file.
    pub file: &'a str,
    /// Its own text, to quote from.
    pub source: &'a str,
    /// The templates of assembly in the target's headers.
    pub templates: &'a BTreeSet<String>,
}

/// Returns the templates of all assembly in `header`.
pub fn templates(header: &str) -> BTreeSet<String> {
    // Macros go over several lines; their ends are no part of a literal.
    let tokens = tokens(header);
    let is_keyword = |token: &Token<'_>| matches!(token.word(), "asm" | "__asm" | "__asm__");
    let found = tokens
        .iter()
        .enumerate()
        .filter(|(_, token)| is_keyword(token));
    found
        .filter_map(|(idx, _)| rules::template(&tokens[idx + 1..]))
        .map(str::to_owned)
        .collect()
}

/// Where a line of the text comes from.
#[derive(Clone)]
struct Origin {
    file: String,
    /// Line there of the line behind the marker.
    line: u32,
    /// Line of the marker.
    marker: u32,
}

impl Expanded<'_> {
    /// Returns why the kernel is refused whose `text` the preprocessor has left; empty if
    /// it may be compiled.
    pub fn check(&self, text: &str) -> Vec<Diagnostic> {
        let tokens = tokens_without_comments(text);
        let mut found = Vec::new();
        let mut origin = Origin {
            file: String::new(),
            line: 1,
            marker: 0,
        };
        // The kernel's text begins where its file is named for the second time: first the
        // header is included.
        let mut begun = 0;
        let mut skip_line = None;
        for (idx, token) in tokens.iter().enumerate() {
            if MAX_DIAGNOSTICS <= found.len() {
                break;
            }
            if skip_line == Some(token.logical_line) {
                continue;
            }
            let mut one = if token.starts_line && token.is('#') {
                let line = &tokens[idx + 1..];
                let end = line
                    .iter()
                    .take_while(|next| next.logical_line == token.logical_line)
                    .count();
                let line = &line[..end];
                if let Some(marked) = marker(token, line) {
                    skip_line = Some(token.logical_line);
                    let enters = line[2..].iter().any(|flag| flag.text == "1");
                    let is_own = marked.file == self.file;
                    begun += u32::from(is_own && !enters && marked.line <= 1);
                    origin = marked;
                    (2 <= begun && (enters || !is_own)).then(|| {
                        refusal(
                            "include",
                            "a kernel cannot include files".to_owned(),
                            location(self.file, token),
                            "remove the line; the target's header is already included",
                        )
                    })
                } else if line.first().is_some_and(|name| name.word() == "pragma") {
                    rules::pragma(token, &line[1..], self.file)
                } else {
                    Some(refusal(
                        "directive",
                        "a directive is left behind the preprocessor".to_owned(),
                        location(self.file, token),
                        "remove the line, and macros that make a `#`",
                    ))
                }
            } else if !is_whole(token) {
                Some(refusal(
                    "unended-literal",
                    "a string or character literal does not end on its line".to_owned(),
                    location(self.file, token),
                    "end it",
                ))
            } else if token.is('/')
                && tokens.get(idx + 1).is_some_and(|next| {
                    (next.is('/') || next.is('*'))
                        && (next.line, next.column) == (token.line, token.column + 1)
                })
            {
                // No comment is left; what looks like one would hide what is behind it.
                Some(refusal(
                    "comment",
                    "a comment is left behind the preprocessor".to_owned(),
                    location(self.file, token),
                    "remove the macros that make it",
                ))
            } else {
                rules::word(&tokens, idx, self.file, Assembly::Only(self.templates))
                    .or_else(|| rules::attributes(&tokens, idx, self.file))
            };
            if let Some(one) = &mut one {
                self.locate(one, token, &origin);
            }
            found.extend(one);
        }
        quote(&mut found, self.source);
        found
    }

    /// Says where in the kernel the finding is about, if it is in the kernel.
    fn locate(&self, found: &mut Diagnostic, token: &Token<'_>, origin: &Origin) {
        let line = (origin.line + token.line).checked_sub(origin.marker + 1);
        found.location = line
            .filter(|line| origin.file == self.file && 0 < *line)
            .map(|line| SourceLocation {
                file: self.file.to_owned(),
                line,
                column: None,
            });
        let note = match found.location {
            Some(_) => "found where macros are expanded",
            None => {
                "found where macros are expanded, in what a header or an inclusion makes of them"
            }
        };
        found.notes.push(note.to_owned());
    }
}

/// Returns what a line marker says; nothing if it is none.
fn marker(hash: &Token<'_>, line: &[Token<'_>]) -> Option<Origin> {
    let [number, name, ..] = line else {
        return None;
    };
    let number = match number.kind {
        Kind::Number => number.text.parse().ok()?,
        _ => return None,
    };
    let file = name.text.strip_prefix('"')?.strip_suffix('"')?;
    Some(Origin {
        file: file.to_owned(),
        line: number,
        marker: hash.line,
    })
}

/// Returns whether a literal ends where it must.
fn is_whole(token: &Token<'_>) -> bool {
    let Some(quote) = token
        .text
        .chars()
        .next()
        .filter(|_| token.kind == Kind::Literal)
    else {
        return true;
    };
    let inner = token.text[1..].strip_suffix(quote);
    // The last quote must not be escaped.
    inner.is_some_and(|inner| {
        let backslashes = inner.len() - inner.trim_end_matches('\\').len();
        backslashes % 2 == 0
    })
}
