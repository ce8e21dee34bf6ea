//! What is known of one target and not of another one.

use crate::Knowledge;
use crate::markdown::sections;
use autocomp_core::MenuItem;
use serde::Serialize;

/// What differs in one part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// `architecture`, `isa`, `menu`, `rules` or `examples`.
    pub part: &'static str,
    /// Names that the first has alone; of rules, their texts.
    pub only_first: Vec<String>,
    /// The same of the second.
    pub only_second: Vec<String>,
    /// Names that both have, with other contents.
    pub changed: Vec<String>,
}

/// Returns what differs, part by part; nothing for parts that are equal.
#[must_use]
pub fn differences(first: &Knowledge, second: &Knowledge) -> Vec<Difference> {
    let of_parts = [
        (
            "architecture",
            parts(&first.architecture),
            parts(&second.architecture),
        ),
        ("isa", parts(&first.isa), parts(&second.isa)),
        ("menu", menu(&first.menu), menu(&second.menu)),
        ("rules", rules(first), rules(second)),
        ("examples", examples(first), examples(second)),
    ];
    let differences = of_parts.into_iter().map(|(part, first, second)| {
        let only = |these: &[(String, String)], those: &[(String, String)]| {
            let names = these.iter().map(|it| &it.0);
            let alone = names.filter(|name| those.iter().all(|it| it.0 != **name));
            alone.cloned().collect::<Vec<_>>()
        };
        let in_both = first
            .iter()
            .filter(|(name, text)| second.iter().any(|(other, it)| other == name && it != text));
        Difference {
            part,
            only_first: only(&first, &second),
            only_second: only(&second, &first),
            changed: in_both.map(|it| it.0.clone()).collect(),
        }
    });
    let is_some = |it: &Difference| {
        let lists = [&it.only_first, &it.only_second, &it.changed];
        lists.into_iter().any(|it| !it.is_empty())
    };
    differences.filter(is_some).collect()
}

/// Returns the sections of a text by their headings; what stands before the first is a section
/// without one.
fn parts(text: &str) -> Vec<(String, String)> {
    let before = match text.starts_with("## ") {
        true => "",
        false => text.split("\n## ").next().unwrap_or_default(),
    };
    let before = (!before.trim().is_empty()).then_some(("(beginning)", before));
    let parts = before.into_iter().chain(sections(text));
    parts
        .map(|(title, text)| (title.to_owned(), text.trim().to_owned()))
        .collect()
}

fn menu(menu: &[MenuItem]) -> Vec<(String, String)> {
    let item = |it: &MenuItem| {
        let rest = (&it.applies_when, it.scope, &it.percent);
        (it.id.clone(), format!("{} {rest:?}", it.text.trim()))
    };
    menu.iter().map(item).collect()
}

fn rules(of: &Knowledge) -> Vec<(String, String)> {
    let rules = &of.rules;
    let lists = [&rules.general, &rules.plan, &rules.code, &rules.schedule];
    let all = lists.into_iter().flatten();
    all.map(|it| (it.clone(), String::new())).collect()
}

fn examples(of: &Knowledge) -> Vec<(String, String)> {
    // Where a text ends makes no difference.
    let example = |it: &autocomp_catalog::Example| {
        let texts = [&it.menu_item, &it.text, &it.before, &it.after].map(|it| it.trim());
        (it.name.clone(), texts.join("\0"))
    };
    of.examples.iter().map(example).collect()
}
