//! Whether the kernel defines the function that is called.

use super::tokens::Token;
use super::{location, refusal};
use autocomp_catalog::Problem;
use autocomp_core::Diagnostic;

/// Returns what is wrong with the definition of the entry function.
///
/// Only what is certain without expanding macros: types are compared by the
/// compiler.
pub(super) fn check(tokens: &[Token<'_>], file: &str, problem: &Problem) -> Option<Diagnostic> {
    let entry = problem.entry.as_str();
    let remedy = format!("define `{} {{ … }}`", problem.signature);
    let definitions: Vec<(usize, usize)> = tokens
        .iter()
        .enumerate()
        .filter(|(_, token)| token.word() == entry)
        .filter_map(|(idx, _)| Some((idx, definition(&tokens[idx + 1..])?)))
        .collect();
    let Some((idx, parameters)) = definitions.first().copied() else {
        let other = functions(tokens);
        let mut message = format!("the kernel does not define the function `{entry}`");
        if !other.is_empty() {
            message += &format!("; it defines {}", other.join(", "));
        }
        return Some(refusal("no-entry", message, None, &remedy));
    };
    let place = location(file, &tokens[idx]);
    let wanted = problem.n_kernel_parameters();
    if parameters != wanted {
        let message = format!("`{entry}` has {parameters} parameters instead of {wanted}");
        return Some(refusal("entry-signature", message, place, &remedy));
    }
    if is_static(tokens, idx) {
        let message = format!("`{entry}` is static, so it cannot be called from outside");
        return Some(refusal("entry-signature", message, place, &remedy));
    }
    None
}

/// Returns whether the declaration that leads up to the token at `idx` says
/// `static`.
fn is_static(tokens: &[Token<'_>], idx: usize) -> bool {
    let directives: Vec<u32> = tokens[..idx]
        .iter()
        .filter(|token| token.starts_line && token.is('#'))
        .map(|token| token.logical_line)
        .collect();
    tokens[..idx]
        .iter()
        .rev()
        .filter(|token| directives.binary_search(&token.logical_line).is_err())
        .take_while(|token| !token.is(';') && !token.is('}'))
        .any(|token| token.word() == "static")
}

/// If a parameter list and a body follow, returns the number of parameters.
fn definition(tokens: &[Token<'_>]) -> Option<usize> {
    if !tokens.first()?.is('(') {
        return None;
    }
    let mut depth = 0_usize;
    let mut commas = 0;
    for (idx, token) in tokens.iter().enumerate() {
        if token.is('(') || token.is('[') {
            depth += 1;
        } else if token.is(')') || token.is(']') {
            depth = depth.checked_sub(1)?;
            if depth == 0 {
                let inside = &tokens[1..idx];
                let none = inside.is_empty() || (inside.len() == 1 && inside[0].word() == "void");
                // Between them there may be macros, which say something to tools.
                let mut behind = tokens[idx + 1..].iter();
                let is_body = behind
                    .find(|next| next.word().is_empty())
                    .is_some_and(|next| next.is('{'));
                return is_body.then_some(if none { 0 } else { commas + 1 });
            }
        } else if token.is(',') && depth == 1 {
            commas += 1;
        }
    }
    None
}

/// Returns the names of the functions defined at top level, at most five.
fn functions(tokens: &[Token<'_>]) -> Vec<String> {
    let mut depth = 0_i32;
    let mut names = Vec::new();
    for (idx, token) in tokens.iter().enumerate() {
        if token.is('{') {
            depth += 1;
        } else if token.is('}') {
            depth -= 1;
        } else if depth == 0 && !token.word().is_empty() && definition(&tokens[idx + 1..]).is_some()
        {
            names.push(format!("`{}`", token.text));
        }
    }
    names.truncate(5);
    names
}
