//! Static checks of a kernel: of its text, before anything is built, and of what is left
//! of it when the compiler has expanded its macros.
//!
//! They save work and explain what is not allowed; nothing depends on them
//! for safety. Syntax errors are left to the compiler, which knows the macros.

mod entry;
mod expansion;
mod rules;
pub(crate) mod tokens;

pub use expansion::{Expanded, templates};
pub use rules::is_runtime_name;

use autocomp_catalog::Problem;
use autocomp_core::{Diagnostic, Severity, SourceLocation, Stage};
use tokens::Token;

/// Largest kernel source, bytes. Fully unrolled kernels stay below 100 kB.
pub const MAX_SOURCE_BYTES: usize = 512 << 10;

/// Diagnostics kept of one check.
pub const MAX_DIAGNOSTICS: usize = 10;

/// Returns why `source` is refused; empty if it may be built.
#[must_use]
pub fn check(source: &str, file: &str, problem: &Problem) -> Vec<Diagnostic> {
    if MAX_SOURCE_BYTES < source.len() {
        let message = format!(
            "the kernel has {} bytes; at most {MAX_SOURCE_BYTES} are accepted",
            source.len()
        );
        return vec![refusal(
            "too-large",
            message,
            None,
            "unroll less, or compute tables instead of writing them out",
        )];
    }
    if let Some(at) = source.find('\0') {
        let line = 1 + source[..at].matches('\n').count() as u32;
        let location = SourceLocation {
            file: file.to_owned(),
            line,
            column: None,
        };
        return vec![refusal(
            "nul-byte",
            "the kernel contains a NUL byte".into(),
            Some(location),
            "remove it",
        )];
    }
    // Compilers disagree about whether such a line has ended.
    let lone = |at: &usize| source.as_bytes().get(at + 1) != Some(&b'\n');
    if let Some(at) = source.match_indices('\r').map(|(at, _)| at).find(lone) {
        let location = SourceLocation {
            file: file.to_owned(),
            line: 1 + source[..at].matches('\n').count() as u32,
            column: None,
        };
        return vec![refusal(
            "carriage-return",
            "a carriage return ends no line without a line feed behind it".into(),
            Some(location),
            "end lines with a line feed",
        )];
    }
    let tokens = tokens::tokens(source);
    let mut found = rules::check(&tokens, file);
    found.extend(entry::check(&tokens, file, problem));
    quote(&mut found, source);
    found
}

/// Returns what is doubtful in `source` and may be why a kernel goes wrong: one warning for
/// every line with a shift whose result is a negative `int`.
#[must_use]
pub fn doubts(source: &str, file: &str) -> Vec<Diagnostic> {
    let tokens = tokens::tokens(source);
    let mut found: Vec<Diagnostic> = Vec::new();
    for (idx, four) in tokens.windows(4).enumerate() {
        let [base, first, second, count] = four else {
            continue;
        };
        let shifts = first.is('<') && second.is('<') && second.column == first.column + 1;
        let (Some(value), Some(by), true) = (plain_int(base), plain_int(count), shifts) else {
            continue;
        };
        // A cast to a type without a sign takes the upper half away again.
        let is_cast = tokens[..idx]
            .iter()
            .rev()
            .skip_while(|token| token.is('(') || token.is(')'))
            .map(Token::word)
            .next()
            .is_some_and(|word| matches!(word, "uint32_t" | "unsigned"));
        let is_negative = by < 64 && i32::try_from(u128::from(value) << by).is_err();
        let known =
            |known: &Diagnostic| known.location.as_ref().map(|place| place.line) == Some(base.line);
        if !is_negative || is_cast || becomes_unsigned(&tokens, idx) || found.iter().any(known) {
            continue;
        }
        let text = format!("{} << {}", base.text, count.text);
        found.push(Diagnostic {
            severity: Severity::Warning,
            ..refusal(
                "sign-extended",
                format!("`{text}` is an int, and negative: as a 64-bit value all of its upper half is ones, which changes the fields above an address"),
                location(file, base),
                &format!("write `{}u << {}`, or the constant in hexadecimal", base.text, count.text),
            )
        });
    }
    quote(&mut found, source);
    found
}

/// Types of at most 32 bits without a sign: what becomes one of them has no upper half.
const UNSIGNED: &[&str] = &["uint32_t", "uint16_t", "uint8_t", "unsigned"];

/// Returns whether the value whose first token is the one at `at` becomes that of a variable
/// without a sign, of at most 32 bits: it initialises one or is assigned to one.
fn becomes_unsigned(tokens: &[Token<'_>], at: usize) -> bool {
    let mut depth = 0usize;
    for (idx, token) in tokens[..at].iter().enumerate().rev() {
        if token.is(')') || token.is(']') {
            depth += 1;
        } else if token.is('(') || token.is('[') {
            // Within the arguments of a call, or the heading of a statement.
            let Some(outer) = depth.checked_sub(1) else {
                let called = idx.checked_sub(1).map(|before| tokens[before].word());
                if called.is_some_and(|word| !word.is_empty()) {
                    return false;
                }
                continue;
            };
            depth = outer;
        } else if depth == 0 && (token.is(';') || token.is('{') || token.is('}')) {
            return false;
        } else if depth == 0 && token.is('=') {
            // `==`, `<=` and the like compare.
            let before = idx.checked_sub(1).map(|before| &tokens[before]);
            if before.is_some_and(|it| "=<>!".chars().any(|sign| it.is(sign))) {
                return false;
            }
            let names = tokens[..idx].iter().rev().map(Token::word);
            let name = names.take(2).find(|word| !word.is_empty());
            return name.is_some_and(|name| is_unsigned(tokens, name));
        }
    }
    false
}

/// Returns whether the first declaration of `name` is one of a type without a sign.
fn is_unsigned(tokens: &[Token<'_>], name: &str) -> bool {
    let mut types: Vec<&str> = Vec::new();
    for token in tokens {
        let word = token.word();
        if token.is(';') || token.is('{') || token.is('}') || token.is('(') || token.is(')') {
            types.clear();
        } else if word == name && !types.is_empty() {
            let is = |of: &&str| UNSIGNED.contains(of);
            return types.iter().any(is) && !types.contains(&"long") && !types.contains(&"*");
        } else if token.is('*') {
            types.push("*");
        } else if !word.is_empty() {
            types.push(word);
        }
    }
    false
}

/// Returns the value of a number that is an `int`: decimal or hexadecimal, without suffix.
fn plain_int(token: &Token<'_>) -> Option<u32> {
    let text = match token.kind {
        tokens::Kind::Number => &*token.text,
        _ => return None,
    };
    match text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Keeps the first of `found` and quotes the lines of `source` that they are about.
fn quote(found: &mut Vec<Diagnostic>, source: &str) {
    found.truncate(MAX_DIAGNOSTICS);
    for diagnostic in found {
        let line = diagnostic
            .location
            .as_ref()
            .map_or(0, |location| location.line as usize);
        if let Some(text) = line.checked_sub(1).and_then(|idx| source.lines().nth(idx)) {
            let text: String = text.trim().chars().take(200).collect();
            diagnostic.notes.insert(0, format!("line {line}: {text}"));
        }
    }
}

fn refusal(
    code: &str,
    message: String,
    location: Option<SourceLocation>,
    remedy: &str,
) -> Diagnostic {
    Diagnostic {
        location,
        remedy: Some(remedy.to_owned()),
        ..Diagnostic::error(Stage::Check, code, message)
    }
}

fn location(file: &str, token: &Token<'_>) -> Option<SourceLocation> {
    Some(SourceLocation {
        file: file.to_owned(),
        line: token.line,
        column: Some(token.column),
    })
}
