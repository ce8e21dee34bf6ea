//! Constructs that a kernel must not use.

use super::tokens::{Kind, Token};
use super::{location, refusal};
use autocomp_core::Diagnostic;

/// Names of the runtime that a kernel has no business with.
const RUNTIME_NAMES: &[&str] = &[
    "tohost",
    "fromhost",
    "_start",
    "__stack_top",
    "__stack_bottom",
];

/// Attributes that place code or data, or run it outside the call.
const BANNED_ATTRIBUTES: &[&str] = &[
    "alias",
    "constructor",
    "destructor",
    "ifunc",
    "init_priority",
    "interrupt",
    "naked",
    "section",
    "weakref",
];

/// Pragmas that only advise the optimizer.
const ALLOWED_PRAGMAS: &[&[&str]] = &[
    &["unroll"],
    &["nounroll"],
    &["clang", "loop"],
    // Freedoms of arithmetic within a block; the tolerance decides what they may change.
    &["clang", "fp"],
    &["GCC", "unroll"],
    &["GCC", "ivdep"],
    &["once"],
];

/// Returns a diagnostic for every banned construct.
pub(super) fn check(tokens: &[Token<'_>], file: &str) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (idx, token) in tokens.iter().enumerate() {
        if token.starts_line && token.is('#') {
            let line = &tokens[idx + 1..];
            let end = line
                .iter()
                .take_while(|next| next.logical_line == token.logical_line)
                .count();
            found.extend(directive(token, &line[..end], file));
        }
        found.extend(word(tokens, idx, file));
    }
    found
}

fn directive(hash: &Token<'_>, rest: &[Token<'_>], file: &str) -> Option<Diagnostic> {
    let name = rest.first()?;
    let (code, message, remedy) = match name.word() {
        "include" | "include_next" | "import" => (
            "include",
            "a kernel cannot include files".to_owned(),
            "remove the line; the target's header is already included",
        ),
        "embed" => (
            "include",
            "a kernel cannot embed files".to_owned(),
            "remove the line and compute the data or write it out",
        ),
        "line" => (
            "line-directive",
            "line directives are not allowed".to_owned(),
            "remove the line",
        ),
        _ if name.kind == Kind::Number => (
            "line-directive",
            "line markers are not allowed".to_owned(),
            "remove the line",
        ),
        "pragma" => {
            let words: Vec<&str> = rest[1..].iter().map(Token::word).collect();
            if ALLOWED_PRAGMAS
                .iter()
                .any(|allowed| words.starts_with(allowed))
            {
                return None;
            }
            (
                "pragma",
                format!("the pragma `{}` is not allowed", words.join(" ").trim()),
                "remove the line; `#pragma unroll` and `#pragma clang loop` are allowed",
            )
        }
        _ => return None,
    };
    Some(refusal(code, message, location(file, hash), remedy))
}

fn word(tokens: &[Token<'_>], idx: usize, file: &str) -> Option<Diagnostic> {
    let token = &tokens[idx];
    let (code, message, remedy) = match token.word() {
        "asm" | "__asm" | "__asm__" => (
            "inline-assembly",
            format!("inline assembly (`{}`) is not allowed", token.text),
            "use the macros of the target's header",
        ),
        "_Pragma" | "__pragma" => (
            "pragma",
            format!("`{}` is not allowed", token.text),
            "write a `#pragma unroll` line instead",
        ),
        "__has_include" | "__has_include_next" | "__has_embed" => (
            "include",
            format!("`{}` is not allowed", token.text),
            "remove it; a kernel cannot include files",
        ),
        "__attribute__" | "__attribute" => return attribute(&tokens[idx..], '(', ')', file),
        name if RUNTIME_NAMES.contains(&name) || name.starts_with("autocomp_") => (
            "runtime-name",
            format!("`{name}` belongs to the runtime"),
            "use another name; a kernel returns from its entry function and does nothing else to end",
        ),
        _ if token.is('[') && tokens.get(idx + 1).is_some_and(|next| next.is('[')) => {
            return attribute(&tokens[idx..], '[', ']', file);
        }
        _ => return None,
    };
    Some(refusal(code, message, location(file, token), remedy))
}

/// Checks the bracketed list that follows the start of `tokens`.
fn attribute(tokens: &[Token<'_>], open: char, close: char, file: &str) -> Option<Diagnostic> {
    let mut depth = 0_usize;
    for token in tokens {
        if token.is(open) {
            depth += 1;
        } else if token.is(close) {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return None;
            }
        }
        let name = token.word().trim_matches('_');
        if BANNED_ATTRIBUTES.contains(&name) {
            return Some(refusal(
                "attribute",
                format!("the attribute `{name}` is not allowed"),
                location(file, token),
                "remove it; `aligned`, `unused`, `always_inline` and the like are allowed",
            ));
        }
    }
    None
}
