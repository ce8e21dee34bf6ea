//! Feedback and diagnostics in the words of prompts.

use crate::prompt::PromptInput;
use autocomp_core::{Diagnostic, Evaluation, Feedback};
use std::fmt::Write as _;

/// Source lines named as the dearest ones.
const DEAREST_LINES: usize = 8;
/// The least share of the cost that a counter in its unit or a line is shown for.
const LEAST_SHARE: f64 = 0.005;
/// Characters shown of each.
const LONGEST_LINE: usize = 100;
/// Diagnostics passed on to a repair.
const MOST_DIAGNOSTICS: usize = 12;
/// Characters of diagnostics passed on to a repair.
const LONGEST_DIAGNOSTICS: usize = 8000;

/// Returns feedback as text: what limits the kernel, what was counted, and the
/// dearest lines.
pub(crate) fn describe_feedback(feedback: &Feedback, input: &PromptInput<'_>) -> String {
    let mut text = feedback.bottleneck.trim().to_owned();
    let cost = input.evaluation.and_then(Evaluation::cost);
    let least = cost.map_or(0.0, |cost| LEAST_SHARE * cost.value as f64);
    // What did not happen, or hardly, is not worth a line.
    let ending = cost.map_or_else(String::new, |cost| format!("_{}", cost.unit));
    let is_noise = |name: &str, value: f64| {
        value == 0.0 || (!ending.is_empty() && name.ends_with(&ending) && value < least)
    };
    for (name, value) in feedback
        .counters
        .iter()
        .filter(|(name, value)| !is_noise(name, **value))
    {
        let _ = write!(text, "\n{name} = {value}");
    }
    let lines: Vec<_> = feedback
        .lines
        .iter()
        .filter(|line| least <= line.cost.value as f64)
        .take(DEAREST_LINES)
        .collect();
    if !lines.is_empty() {
        text.push_str("\ndearest source lines:");
    }
    for line in lines {
        let _ = write!(text, "\n{}: {}, {}", line.location, line.cost, line.cause);
        // Models count lines badly.
        if let Some(source) = line_at(input.kernel, line.location.line) {
            let _ = write!(text, ": {source}");
        }
    }
    text.trim_start().to_owned()
}

/// Returns line `number` of the kernel, from 1, shortened.
fn line_at(kernel: &str, number: u32) -> Option<String> {
    let idx = number.checked_sub(1)? as usize;
    let line = kernel.lines().nth(idx)?.trim();
    let line: String = line.chars().take(LONGEST_LINE).collect();
    (!line.is_empty()).then_some(line)
}

/// Returns diagnostics as text, the deciding ones first.
#[must_use]
pub fn describe_diagnostics(diagnostics: &[Diagnostic]) -> String {
    let mut text = String::new();
    for diagnostic in diagnostics.iter().take(MOST_DIAGNOSTICS) {
        if let Some(location) = &diagnostic.location {
            let _ = write!(text, "{location}: ");
        }
        let _ = writeln!(text, "{} [{}]", diagnostic.message, diagnostic.code);
        for note in &diagnostic.notes {
            let _ = writeln!(text, "  {note}");
        }
        if let Some(remedy) = &diagnostic.remedy {
            let _ = writeln!(text, "  remedy: {remedy}");
        }
    }
    if MOST_DIAGNOSTICS < diagnostics.len() {
        let _ = writeln!(text, "and {} more", diagnostics.len() - MOST_DIAGNOSTICS);
    }
    if let Some((end, _)) = text.char_indices().nth(LONGEST_DIAGNOSTICS) {
        text.truncate(end);
        text.push_str("\n[cut]");
    }
    if text.is_empty() {
        "no details".to_owned()
    } else {
        text
    }
}
