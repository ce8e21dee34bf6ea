//! What looks wrong in a target that was built.

use crate::negation::contradicts;
use autocomp_catalog::{Example, Target};
use autocomp_core::{MenuItem, Scope};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Rules that are compared with each other at most.
const MOST_RULES: usize = 300;

/// What documents say of a parameter of the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Figure {
    /// Its name, as in the machine's file.
    pub parameter: String,
    /// Its value.
    pub value: String,
    /// Where that stands.
    pub origin: String,
}

/// Something that looks wrong.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    /// Its kind: `menu-without-evidence`, `symbol-in-no-section`, `section-for-all`,
    /// `machine-says-otherwise`, `parameter-unknown`, `rules-contradict`, `example`.
    pub kind: &'static str,
    /// What, in a sentence.
    pub text: String,
}

/// What is looked at.
pub struct LintInput<'a> {
    /// The target as it is loaded.
    pub target: &'a Target,
    /// The one that it stands on, which has what documents did not give.
    pub like: &'a Target,
    /// Items of the menu that rest on passages.
    pub supported: &'a [MenuItem],
    /// Parameters of the machine by name, with their values.
    pub machine: &'a BTreeMap<String, String>,
    /// What documents say of them.
    pub figures: &'a [Figure],
    /// Says what is wrong with an example: nothing if it does what it should, or cannot be tried.
    pub example_flaw: &'a dyn Fn(&Example) -> Option<String>,
}

/// Looks at a target.
#[must_use]
pub fn lint(input: &LintInput<'_>) -> Vec<Finding> {
    let mut findings = BTreeSet::new();
    let mut add = |kind: &'static str, text: String| {
        findings.insert(Finding { kind, text });
    };
    let target = input.target;
    for item in &target.menu {
        let is_own = matches!(item.scope, Scope::Step | Scope::Translation);
        let is_supported = input.supported.iter().any(|it| it.id == item.id);
        if is_own && item.id != MenuItem::OTHER && !is_supported {
            add(
                "menu-without-evidence",
                format!("the item `{}` of the menu rests on no passage", item.id),
            );
        }
    }
    for section in &target.isa {
        let is_own = !input.like.isa.contains(section);
        if is_own && section.symbols.is_empty() {
            add(
                "section-for-all",
                format!(
                    "the section `{}` explains no name, so that every prompt has it",
                    section.id
                ),
            );
        }
    }
    let known: String = target
        .isa
        .iter()
        .map(|it| format!(" {} {} {}", it.symbols.join(" "), it.title, it.text))
        .chain(target.constants.iter().map(|it| format!(" {}", it.name)))
        .collect();
    let known: BTreeSet<&str> = words(&known).collect();
    let rules = &target.rules;
    let rules = [&rules.general, &rules.plan, &rules.code, &rules.schedule];
    let texts = [("architecture", target.architecture.as_str())]
        .into_iter()
        .chain(target.menu.iter().map(|it| ("menu", it.text.as_str())))
        .chain(rules.into_iter().flatten().map(|it| ("rules", it.as_str())));
    // What stands there in place of what documents did not give is not of the documents.
    let like = input.like;
    let like_rules = &like.rules;
    let of_like: BTreeSet<&str> = [
        &like_rules.general,
        &like_rules.plan,
        &like_rules.code,
        &like_rules.schedule,
    ]
    .into_iter()
    .flatten()
    .chain(like.menu.iter().map(|it| &it.text))
    .chain([&like.architecture])
    .map(String::as_str)
    .collect();
    let rules: Vec<&str> = rules.into_iter().flatten().map(String::as_str).collect();
    let rules = &rules[..rules.len().min(MOST_RULES)];
    for (idx, rule) in rules.iter().enumerate() {
        let is_own = !of_like.contains(rule);
        // Those of the target that it stands on are told with each other by nobody.
        for other in rules[..idx]
            .iter()
            .filter(|it| is_own || !of_like.contains(*it))
        {
            if contradicts(rule, &[other]) || contradicts(other, &[rule]) {
                add(
                    "rules-contradict",
                    format!("one rule denies another: \"{other}\" and \"{rule}\""),
                );
            }
        }
    }
    let texts = texts.filter(|(_, text)| !of_like.contains(text));
    for (part, text) in texts {
        for name in quoted_names(text) {
            if !known.contains(name) {
                add(
                    "symbol-in-no-section",
                    format!("`{name}` stands in the {part}, and no section explains it"),
                );
            }
        }
    }
    for figure in input.figures {
        match input.machine.get(&figure.parameter) {
            None => add(
                "parameter-unknown",
                format!("the machine has no parameter `{}`", figure.parameter),
            ),
            Some(value) if !is_same(value, &figure.value) => add(
                "machine-says-otherwise",
                format!(
                    "`{}` is {value} in the machine's file, and {} in {}",
                    figure.parameter, figure.value, figure.origin
                ),
            ),
            Some(_) => {}
        }
    }
    for example in &target.examples {
        if let Some(flaw) = (input.example_flaw)(example) {
            add("example", format!("the example `{}`: {flaw}", example.name));
        }
    }
    findings.into_iter().collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|it| !it.is_empty())
}

/// Returns the names of a text that stand in quotes of code, or before a bracket.
fn quoted_names(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for quoted in text.split('`').skip(1).step_by(2) {
        let name = quoted.split(['(', ' ', ',']).next().unwrap_or_default();
        // Of a name behind that of its module, the last part counts.
        let name = name.rsplit('.').next().unwrap_or_default();
        let is_name = 2 < name.len()
            && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if is_name {
            names.push(name);
        }
    }
    names
}

/// Returns whether two values say the same: as numbers if both are, else as words.
fn is_same(first: &str, second: &str) -> bool {
    let number = |text: &str| {
        let text = text.trim().trim_matches('"').replace([',', '_'], "");
        let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-'));
        text[..end.unwrap_or(text.len())].parse::<f64>().ok()
    };
    match (number(first), number(second)) {
        (Some(first), Some(second)) => (first - second).abs() <= 1e-9 * first.abs().max(1.0),
        _ => {
            let plain = |text: &str| text.trim().trim_matches('"').to_lowercase();
            plain(first) == plain(second)
        }
    }
}
