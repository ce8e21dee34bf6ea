//! Parts of a target as Markdown that people and agents read, and back.

use autocomp_catalog::{Example, IsaSection, Rules};
use autocomp_core::{MenuItem, Scope};

/// Returns the ISA reference in the form of `isa.md`.
pub fn isa_text(sections: &[IsaSection]) -> String {
    let mut out = String::from("# Instructions\n");
    for section in sections {
        out += &format!("\n## {}\n<!-- id: {}", section.title, section.id);
        for (name, words) in [("symbols", &section.symbols), ("items", &section.items)] {
            if !words.is_empty() {
                out += &format!("; {name}: {}", words.join(" "));
            }
        }
        out += &format!(" -->\n{}\n", section.text);
    }
    out
}

/// Names of scopes, as they stand in a menu.
const SCOPES: [(Scope, &str); 3] = [
    (Scope::Schedule, "schedule"),
    (Scope::Combination, "combination"),
    (Scope::Translation, "translation"),
];
const APPLIES: &str = "Applies when: ";
const SCOPE: &str = "Scope: ";

/// Returns a menu as Markdown: a section for each item.
pub fn menu_text(menu: &[MenuItem]) -> String {
    let mut out = String::from("# Optimizations to choose from\n");
    for item in menu {
        out += &format!("\n## {}\n\n{}\n", item.id, item.text.trim());
        if !item.applies_when.is_empty() {
            out += &format!("\n{APPLIES}{}\n", item.applies_when);
        }
        if let Some((_, name)) = SCOPES.iter().find(|(scope, _)| *scope == item.scope) {
            let percent: Vec<String> = item.percent.iter().map(u8::to_string).collect();
            out += format!("\n{SCOPE}{name} {}", percent.join(" ")).trim_end();
            out.push('\n');
        }
    }
    out
}

/// Reads what [`menu_text`] writes.
pub fn menu_of(text: &str) -> Vec<MenuItem> {
    let sections = sections(text);
    let item = |(id, text): (&str, &str)| {
        let mut item = MenuItem {
            id: id.to_owned(),
            ..MenuItem::default()
        };
        let mut kept = Vec::new();
        for line in text.lines() {
            if let Some(when) = line.strip_prefix(APPLIES) {
                item.applies_when = when.trim().to_owned();
            } else if let Some(scope) = line.strip_prefix(SCOPE) {
                let mut words = scope.split_whitespace();
                let name = words.next().unwrap_or_default();
                let found = SCOPES.iter().find(|(_, it)| *it == name);
                item.scope = found.map_or(Scope::Step, |it| it.0);
                item.percent = words.filter_map(|it| it.parse().ok()).collect();
            } else {
                kept.push(line);
            }
        }
        item.text = kept.join("\n").trim().to_owned();
        item
    };
    sections.into_iter().map(item).collect()
}

/// Returns the parts below headings of the second level, with these.
pub fn sections(text: &str) -> Vec<(&str, &str)> {
    // What stands before the first heading is none of a section.
    let behind_first = || text.split_once("\n## ").map_or("", |it| it.1);
    let text = text.strip_prefix("## ").unwrap_or_else(behind_first);
    let parts = text.split("\n## ").filter(|it| !it.is_empty());
    let parts = parts.map(|it| it.split_once('\n').unwrap_or((it, "")));
    parts.map(|(title, text)| (title.trim(), text)).collect()
}

const RULES: [&str; 4] = ["General", "Plans", "Code", "Schedules"];

/// Returns rules as Markdown.
pub fn rules_text(rules: &Rules) -> String {
    let lists = [&rules.general, &rules.plan, &rules.code, &rules.schedule];
    let mut out = String::from("# Rules\n");
    for (name, list) in RULES.iter().zip(lists) {
        if list.is_empty() {
            continue;
        }
        out += &format!("\n## {name}\n\n");
        for rule in list {
            out += &format!("- {}\n", rule.trim().replace('\n', "\n  "));
        }
    }
    out
}

/// Reads what [`rules_text`] writes.
pub fn rules_of(text: &str) -> Rules {
    let list = |wanted: &str| -> Vec<String> {
        let sections = sections(text);
        let found = sections.into_iter().find(|(name, _)| *name == wanted);
        let text = found.map_or(String::new(), |it| format!("\n{}", it.1));
        let items = text.split("\n- ").skip(1);
        items.map(|it| it.trim().replace("\n  ", "\n")).collect()
    };
    let [general, plan, code, schedule] = RULES.map(list);
    Rules {
        general,
        plan,
        code,
        schedule,
    }
}

/// Returns an example as Markdown.
pub fn example_text(example: &Example) -> String {
    // Longer than any fence in the code.
    let fence = "`".repeat(
        longest_fence(&example.before)
            .max(longest_fence(&example.after))
            .max(2)
            + 1,
    );
    let code = |text: &str| format!("{fence}\n{}\n{fence}\n", text.trim_end_matches('\n'));
    format!(
        "# {}\n\nShows: {}\n\n{}\n\n## Before\n\n{}\n## After\n\n{}",
        example.name,
        example.menu_item,
        example.text.trim(),
        code(&example.before),
        code(&example.after),
    )
}

fn longest_fence(text: &str) -> usize {
    let lengths = text.split(|c| c != '`').map(str::len);
    lengths.max().unwrap_or(0)
}

/// Reads what [`example_text`] writes.
pub fn example_of(name: &str, text: &str) -> Option<Example> {
    let (_, behind) = text.split_once("\nShows: ")?;
    let (menu_item, behind) = behind.split_once('\n')?;
    let (words, code) = behind.split_once("\n## Before\n\n")?;
    let length = code.len() - code.trim_start_matches('`').len();
    let fence = code.get(..length).filter(|_| 3 <= length)?;
    let end = format!("\n{fence}\n");
    let mut parts = code[length..].split(&end);
    let before = parts.next()?.strip_prefix('\n')?;
    // The fence that opens the second code looks like the one that closes the first.
    parts.next().filter(|it| *it == "\n## After\n")?;
    let after = parts.next()?;
    Some(Example {
        name: name.to_owned(),
        menu_item: menu_item.trim().to_owned(),
        text: words.trim().to_owned(),
        before: format!("{before}\n"),
        after: format!("{after}\n"),
        dtypes: Vec::new(),
    })
}

/// Returns a text as a name in kebab-case of its first words, which none of `taken` is.
pub fn slug(text: &str, taken: &[String]) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|it| !it.is_empty()).take(6).collect();
    let base = match words.join("-") {
        name if name.is_empty() => "item".to_owned(),
        name => name
            .chars()
            .take(48)
            .collect::<String>()
            .trim_end_matches('-')
            .to_owned(),
    };
    let names = (1..).map(|number| match number {
        1 => base.clone(),
        _ => format!("{base}-{number}"),
    });
    let mut free = names.filter(|name| !taken.contains(name));
    free.next().unwrap_or(base)
}

/// Returns where the links of a Markdown text lead, in order.
#[must_use]
pub fn links(text: &str) -> Vec<&str> {
    let parts = text.split("](").skip(1);
    let links = parts.filter_map(|it| it.split_once(')'));
    let links = links.map(|it| it.0.trim().trim_matches(['<', '>']));
    links
        .map(|it| it.split_whitespace().next().unwrap_or_default())
        .filter(|it| !it.is_empty() && it.len() < 400)
        .collect()
}
