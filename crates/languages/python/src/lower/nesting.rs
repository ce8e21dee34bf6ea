//! Refuses text whose nesting could exhaust the stack of the parser.

use super::MAXIMUM_DEPTH;
use crate::diagnostic::{Failure, FailureKind, Outcome};

/// Refuses text whose nesting could exhaust the stack of the parser, before it is parsed.
pub(super) fn check_nesting(source: &str) -> Outcome<()> {
    let mut brackets = 0u32;
    for (number, line) in source.lines().enumerate() {
        let bytes = line.as_bytes();
        for byte in bytes {
            match byte {
                b'(' | b'[' | b'{' => brackets += 1,
                b')' | b']' | b'}' => brackets = brackets.saturating_sub(1),
                _ => {}
            }
            if brackets > MAXIMUM_DEPTH {
                break;
            }
        }
        // Everything else that is too much needs a line this long.
        if brackets <= MAXIMUM_DEPTH && bytes.len() <= 200 {
            continue;
        }
        let indent = bytes
            .iter()
            .take_while(|b| **b == b' ' || **b == b'\t')
            .count();
        let mut words = 0u32;
        for word in line.split_ascii_whitespace() {
            if matches!(
                word,
                "not" | "lambda" | "lambda:" | "await" | "else" | "-" | "~" | "+"
            ) {
                words += 1;
            }
        }
        let mut run = 0u32;
        let mut longest = 0u32;
        for byte in bytes {
            if matches!(byte, b'-' | b'~' | b'+') {
                run += 1;
                longest = longest.max(run);
            } else if !byte.is_ascii_whitespace() {
                run = 0;
            }
        }
        if brackets > MAXIMUM_DEPTH || indent > 800 || words > 400 || longest > 200 {
            // Lines of dashes are common in comments and headings.
            if line.trim_start().starts_with('#') && brackets <= MAXIMUM_DEPTH {
                continue;
            }
            if longest > 200
                && words <= 400
                && brackets <= MAXIMUM_DEPTH
                && indent <= 800
                && (line.contains('#') || line.contains('"') || line.contains('\''))
            {
                continue;
            }
            return Err(too_deep(number as u32 + 1));
        }
    }
    Ok(())
}

pub(super) fn too_deep(line: u32) -> Box<Failure> {
    Failure::new(
        FailureKind::Syntax,
        "nesting-too-deep",
        "brackets, blocks or operators are nested too deeply",
        "flatten the expression",
    )
    .at(line)
}
