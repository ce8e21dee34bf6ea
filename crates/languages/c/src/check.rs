//! Static checks of a kernel, before anything is built.
//!
//! They save work and explain what is not allowed; nothing depends on them
//! for safety. Syntax errors are left to the compiler, which knows the macros.

mod entry;
mod rules;
mod tokens;

use autocomp_catalog::Problem;
use autocomp_core::{Diagnostic, Severity, SourceLocation, Stage};
use tokens::Token;

/// Largest kernel source, bytes. Fully unrolled kernels stay below 100 kB.
pub const MAX_SOURCE_BYTES: usize = 512 << 10;

/// Diagnostics kept of one check.
const MAX_DIAGNOSTICS: usize = 10;

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
    let tokens = tokens::tokens(source);
    let mut found = rules::check(&tokens, file);
    found.extend(entry::check(&tokens, file, problem));
    found.truncate(MAX_DIAGNOSTICS);
    for diagnostic in &mut found {
        let line = diagnostic
            .location
            .as_ref()
            .map_or(0, |location| location.line as usize);
        if let Some(text) = line.checked_sub(1).and_then(|idx| source.lines().nth(idx)) {
            let text: String = text.trim().chars().take(200).collect();
            diagnostic.notes.insert(0, format!("line {line}: {text}"));
        }
    }
    found
}

fn refusal(
    code: &str,
    message: String,
    location: Option<SourceLocation>,
    remedy: &str,
) -> Diagnostic {
    Diagnostic {
        stage: Stage::Check,
        severity: Severity::Error,
        code: code.to_owned(),
        message,
        location,
        notes: Vec::new(),
        remedy: Some(remedy.to_owned()),
    }
}

fn location(file: &str, token: &Token<'_>) -> Option<SourceLocation> {
    Some(SourceLocation {
        file: file.to_owned(),
        line: token.line,
        column: Some(token.column),
    })
}

#[cfg(test)]
mod tests {
    use super::check;
    use autocomp_catalog::Catalog;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_text_is_survived(
            text in "(solution|void|static|#include|#pragma|__attribute__|asm|\\(|\\)|\\{|\\}|\\[|\\]|,|;|\n|\\\\|\"|/\\*|é|.){0,60}",
        ) {
            let problem = Catalog::built_in().and_then(|catalog| catalog.problem("gemmini/gemm-512x512x512"));
            let found = check(&text, "kernel.c", &problem.expect("built-in data"));
            prop_assert!(found.len() <= super::MAX_DIAGNOSTICS);
        }
    }

    #[test]
    fn known_kernels_pass() {
        let catalog = Catalog::built_in().expect("built-in data");
        for name in catalog.problem_names() {
            let problem = catalog.problem(name).expect("built-in data");
            for (kernel, source) in &problem.kernels {
                assert_eq!(check(source, "kernel.c", &problem), [], "{name} {kernel}");
            }
        }
    }
}
