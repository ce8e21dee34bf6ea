//! Feedback and diagnostics for prompts: what matters of them, bounded, as data.
//! The words stand in templates.

use crate::facts::PromptFacts;
use crate::prompt::PromptInput;
use autocomp_core::{Diagnostic, Evaluation, Feedback, Language, Severity};
use serde::Serialize;
use std::collections::BTreeMap;

/// Source lines named as the dearest ones.
const DEAREST_LINES: usize = 8;
/// The least share of the whole cost that a counter of cost or a line is shown for.
const LEAST_SHARE: f64 = 0.005;
/// Characters shown of a source line, and of what a macro stands for.
const LONGEST_LINE: usize = 100;
const LONGEST_MACRO: usize = 160;
/// Macros named for one line.
const MOST_MACROS: usize = 2;
/// Warnings about a right kernel.
const MOST_WARNINGS: usize = 4;
/// Diagnostics passed on to a repair.
const MOST_DIAGNOSTICS: usize = 12;
/// Characters of diagnostics passed on to a repair.
const LONGEST_DIAGNOSTICS: usize = 8000;

/// A counter with its meaning.
#[derive(Clone, Debug, Serialize)]
struct CounterFacts {
    name: String,
    value: f64,
    text: String,
}

/// A macro that a line calls.
#[derive(Clone, Debug, Serialize)]
struct MacroFacts {
    name: String,
    line: u32,
    body: String,
}

/// A dear line.
#[derive(Clone, Debug, Serialize)]
struct LineFacts {
    location: String,
    cost: u64,
    cause: String,
    source: Option<String>,
    macros: Vec<MacroFacts>,
}

/// What a prompt says about a measurement.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct FeedbackFacts {
    bottleneck: String,
    counters: Vec<CounterFacts>,
    lines: Vec<LineFacts>,
    /// What is doubtful about a kernel that is right.
    warnings: Vec<String>,
}

impl FeedbackFacts {
    /// Takes what matters of `feedback`: counters that have a meaning and are
    /// not next to nothing, and the dearest lines. `None` if nothing is left.
    pub(crate) fn of(
        feedback: &Feedback,
        facts: &PromptFacts,
        input: &PromptInput<'_>,
    ) -> Option<Self> {
        let meanings = &facts.counters;
        let cost = input.evaluation.and_then(Evaluation::cost);
        let least = cost.map_or(0.0, |cost| LEAST_SHARE * cost.value as f64);
        let ending = format!("_{}", facts.unit);
        // What did not happen, or hardly, is not worth a line.
        let is_noise =
            |name: &str, value: f64| value == 0.0 || (name.ends_with(&ending) && value < least);
        let counters = feedback
            .counters
            .iter()
            .filter(|(name, value)| !is_noise(name, **value))
            .filter_map(|(name, value)| {
                Some(CounterFacts {
                    name: name.clone(),
                    value: *value,
                    text: meaning(meanings, name)?.to_owned(),
                })
            });
        let lines = feedback
            .lines
            .iter()
            .filter(|line| least <= line.cost.value as f64)
            .take(DEAREST_LINES)
            .map(|line| {
                let (source, macros) = line_at(input.kernel, line.location.line, facts.syntax);
                LineFacts {
                    location: line.location.to_string(),
                    cost: line.cost.value,
                    cause: line.cause.clone(),
                    source,
                    macros,
                }
            });
        let warned = input.evaluation.map_or(&[][..], |it| &it.diagnostics);
        let warned = warned.iter().filter(|it| it.severity == Severity::Warning);
        let facts = Self {
            warnings: warned.take(MOST_WARNINGS).map(warning).collect(),
            bottleneck: feedback.bottleneck.trim().to_owned(),
            counters: counters.collect(),
            lines: lines.collect(),
        };
        let is_empty = facts.bottleneck.is_empty()
            && facts.counters.is_empty()
            && facts.lines.is_empty()
            && facts.warnings.is_empty();
        (!is_empty).then_some(facts)
    }
}

/// Returns a warning on one line.
fn warning(found: &Diagnostic) -> String {
    let place = found.location.as_ref();
    let place = place.map_or_else(String::new, |place| format!("{place}: "));
    let remedy = found.remedy.as_ref();
    let remedy = remedy.map_or_else(String::new, |remedy| format!(" ({remedy})"));
    format!("{place}{}{remedy}", found.message)
}

/// Returns what a counter means: by its name, or by the beginning of its name.
fn meaning<'facts>(meanings: &'facts BTreeMap<String, String>, name: &str) -> Option<&'facts str> {
    let stands_for = |pattern: &str| {
        pattern
            .strip_suffix('*')
            .is_some_and(|beginning| name.starts_with(beginning))
    };
    let by_name = meanings.get(name);
    let by_beginning = || meanings.iter().find(|(pattern, _)| stands_for(pattern));
    by_name
        .or_else(|| by_beginning().map(|(_, text)| text))
        .map(String::as_str)
}

/// Returns line `number` of the kernel, from 1, shortened, and the macros of the
/// kernel that it calls: what the line costs is spent in what they stand for.
fn line_at(
    kernel: &str,
    number: u32,
    language: &dyn Language,
) -> (Option<String>, Vec<MacroFacts>) {
    let idx = number.saturating_sub(1) as usize;
    let line = kernel.lines().nth(idx).unwrap_or_default().trim();
    if line.is_empty() {
        return (None, Vec::new());
    }
    let defined = language.expansions(kernel);
    let mut called: Vec<MacroFacts> = Vec::new();
    for word in line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')) {
        let Some(found) = defined
            .iter()
            .find(|it| it.name == word && it.line != number)
        else {
            continue;
        };
        let is_known = called.iter().any(|it| it.name == found.name);
        if !is_known && called.len() < MOST_MACROS {
            called.push(MacroFacts {
                name: found.name.clone(),
                line: found.line,
                body: shortened(&found.body, LONGEST_MACRO),
            });
        }
    }
    (Some(shortened(line, LONGEST_LINE)), called)
}

/// Returns the first characters of a text, up to the end of a word where one ends in their second
/// half.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    let Some((end, next)) = text.char_indices().nth(most) else {
        return text.to_owned();
    };
    let cut = &text[..end];
    let whole = match next.is_whitespace() {
        true => cut,
        false => cut.rsplit_once(char::is_whitespace).map_or(cut, |it| it.0),
    };
    let kept = if whole.len() < end / 2 { cut } else { whole };
    format!("{}…", kept.trim_end())
}

/// One finding.
#[derive(Clone, Debug, Serialize)]
struct DiagnosticText {
    location: Option<String>,
    message: String,
    code: String,
    notes: Vec<String>,
    remedy: Option<String>,
}

/// The diagnostics of a draft that failed, the deciding ones first.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct DiagnosticFacts {
    list: Vec<DiagnosticText>,
    /// How many were left out.
    more: usize,
}

impl DiagnosticFacts {
    pub(crate) fn of(diagnostics: &[Diagnostic]) -> Self {
        let mut left = LONGEST_DIAGNOSTICS;
        let mut list = Vec::new();
        for diagnostic in diagnostics.iter().take(MOST_DIAGNOSTICS) {
            if left == 0 {
                break;
            }
            let mut take = |text: &str| {
                let text = shortened(text, left);
                left = left.saturating_sub(text.chars().count());
                text
            };
            list.push(DiagnosticText {
                location: diagnostic.location.as_ref().map(ToString::to_string),
                message: take(&diagnostic.message),
                code: diagnostic.code.clone(),
                remedy: diagnostic.remedy.as_deref().map(&mut take),
                notes: diagnostic.notes.iter().map(|note| take(note)).collect(),
            });
        }
        Self {
            more: diagnostics.len() - list.len(),
            list,
        }
    }
}

/// Returns a number with the digits that matter: whole ones all, and four in all where it is less.
pub(crate) fn number(value: f64) -> String {
    let size = value.abs().max(1.0).log10().floor() as i32;
    let scale = 10_f64.powi((3 - size).max(0));
    match value.abs() < 0.1 {
        // Nothing but digits behind the point: the first of them that say something.
        true => format!("{:.2e}", value).parse().unwrap_or(value),
        false => (value * scale).round() / scale,
    }
    .to_string()
}
