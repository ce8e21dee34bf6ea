//! What is left of the statements, as knowledge of a target.

use crate::documents::{Documents, Passage};
use crate::lint::Figure;
use crate::part::Part;
use crate::quotation::Flaw;
use crate::statement::Statement;
use autocomp_catalog::Example;
use autocomp_core::{MenuItem, Scope};
use autocomp_knowledge::{Knowledge, slug};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Statements by part, and what was dropped.
#[derive(Clone, Debug, Default)]
pub struct Assembly {
    /// The statements that are left, in their order.
    pub statements: BTreeMap<Part, Vec<Statement>>,
    /// How many were dropped of each part, and why.
    pub dropped: BTreeMap<Part, BTreeMap<Flaw, usize>>,
    /// What those said that were of the form asked for.
    pub left_out: BTreeMap<(Part, Flaw), Vec<String>>,
}

impl Assembly {
    /// Counts a statement that is dropped, and keeps what it said, if that is known.
    pub(crate) fn drop(&mut self, part: Part, flaw: Flaw, statement: Option<&Statement>) {
        if let Some(statement) = statement {
            let left_out = self.left_out.entry((part, flaw)).or_default();
            left_out.push(said_by(statement));
        }
        *self
            .dropped
            .entry(part)
            .or_default()
            .entry(flaw)
            .or_default() += 1;
    }

    /// Returns how many statements were dropped.
    #[must_use]
    pub fn n_dropped(&self) -> usize {
        self.dropped.values().flat_map(BTreeMap::values).sum()
    }

    fn of(&self, part: Part) -> &[Statement] {
        self.statements.get(&part).map_or(&[], Vec::as_slice)
    }

    /// Returns the items of the menu that the statements make up.
    #[must_use]
    pub fn menu(&self) -> Vec<MenuItem> {
        let mut taken = vec![MenuItem::OTHER.to_owned()];
        let mut menu = Vec::new();
        for (part, scope) in [
            (Part::Menu, Scope::Step),
            (Part::Translation, Scope::Translation),
        ] {
            for statement in self.of(part) {
                let id = slug(&statement.topic, &taken);
                taken.push(id.clone());
                menu.push(MenuItem {
                    id,
                    text: statement.text.clone(),
                    applies_when: statement.applies_when.clone(),
                    scope,
                    ..MenuItem::default()
                });
            }
        }
        menu
    }

    /// Returns the statements as knowledge of the target `name`, described by `scope`. Parts of
    /// which nothing is known are empty.
    #[must_use]
    pub fn knowledge(&self, name: &str, scope: &str) -> Knowledge {
        let mut knowledge = Knowledge {
            name: name.to_owned(),
            description: crate::statement::in_one_line(scope),
            menu: self.menu(),
            ..Knowledge::default()
        };
        let sections = by_topic(self.of(Part::Architecture), "General");
        if !sections.is_empty() {
            knowledge.architecture = format!("# {name}\n");
            for (topic, statements) in sections {
                knowledge.architecture += &format!("\n## {topic}\n\n{}", list(&statements));
            }
        }
        let sections = by_topic(self.of(Part::Isa), "General");
        let mut taken = Vec::new();
        if !sections.is_empty() {
            knowledge.isa = "# Instructions\n".to_owned();
        }
        for (topic, statements) in sections {
            let id = slug(&topic, &taken);
            taken.push(id.clone());
            let mut symbols: Vec<&str> = Vec::new();
            for symbol in statements.iter().flat_map(|it| &it.symbols) {
                if !symbols.contains(&symbol.as_str()) {
                    symbols.push(symbol);
                }
            }
            let symbols = match symbols.is_empty() {
                true => String::new(),
                false => format!("; symbols: {}", symbols.join(" ")),
            };
            knowledge.isa += &format!(
                "\n## {topic}\n<!-- id: {id}{symbols} -->\n{}",
                list(&statements)
            );
        }
        for statement in self.of(Part::Rules) {
            let rules = &mut knowledge.rules;
            let list = match statement.phase.as_str() {
                "plan" => &mut rules.plan,
                "code" => &mut rules.code,
                _ => &mut rules.general,
            };
            list.push(statement.text.clone());
        }
        let mut taken = Vec::new();
        for statement in self.of(Part::Examples) {
            let name = slug(&statement.topic, &taken);
            taken.push(name.clone());
            knowledge.examples.push(Example {
                name,
                menu_item: slug(&statement.item, &[]),
                text: statement.text.clone(),
                before: statement.before.clone() + "\n",
                after: statement.after.clone() + "\n",
                dtypes: Vec::new(),
            });
        }
        knowledge
    }

    /// Returns what documents say of the parameters of the machine.
    #[must_use]
    pub fn figures(&self, documents: &Documents) -> Vec<Figure> {
        let figure = |it: &Statement| Figure {
            parameter: it.parameter.clone(),
            value: it.value.clone(),
            origin: it
                .cites
                .iter()
                .find_map(|cite| documents.passage(&cite.id))
                .map_or_else(String::new, Passage::origin),
        };
        self.of(Part::Figures).iter().map(figure).collect()
    }
}

/// Puts statements of one topic together, in the order in which topics appear.
fn by_topic<'a>(statements: &'a [Statement], without: &str) -> Vec<(String, Vec<&'a Statement>)> {
    let mut topics: Vec<(String, Vec<&Statement>)> = Vec::new();
    for statement in statements {
        let topic = match statement.topic.as_str() {
            "" => without,
            topic => topic,
        };
        let known = topics
            .iter_mut()
            .find(|(it, _)| it.eq_ignore_ascii_case(topic));
        match known {
            Some((_, list)) => list.push(statement),
            None => topics.push((topic.to_owned(), vec![statement])),
        }
    }
    topics
}

/// Returns the statements as a list. One that explains names and says none of them begins with
/// them.
fn list(statements: &[&Statement]) -> String {
    let line = |it: &&Statement| {
        let is_said = it
            .symbols
            .iter()
            .any(|name| it.text.contains(name.as_str()));
        let names: Vec<String> = match is_said {
            true => Vec::new(),
            false => it.symbols.iter().map(|name| format!("`{name}`")).collect(),
        };
        let colon = if names.is_empty() { "" } else { ": " };
        format!("- {}{colon}{}\n", names.join(", "), it.text)
    };
    statements.iter().map(line).collect()
}

/// Returns the statements with what they rest on, for people.
#[must_use]
pub fn evidence_text(assembly: &Assembly, documents: &Documents) -> String {
    let mut out = String::from("# What this target rests on\n");
    for (part, statements) in &assembly.statements {
        if statements.is_empty() {
            continue;
        }
        // Writing to a string cannot fail.
        let _ = write!(out, "\n## {}\n", part.name());
        for statement in statements {
            let _ = write!(out, "\n- {}\n", said_by(statement));
            for cite in &statement.cites {
                let origin = documents
                    .passage(&cite.id)
                    .map_or_else(String::new, Passage::origin);
                let _ = writeln!(out, "  - \"{}\" ({}, {origin})", cite.quote, cite.id);
            }
        }
    }
    for ((part, flaw), said) in &assembly.left_out {
        let (part, why) = (part.name(), flaw.words());
        let _ = write!(out, "\n## Left out of {part}, since they {why}\n\n");
        for said in said {
            let _ = writeln!(out, "- {said}");
        }
    }
    out
}

/// Returns what a statement says, behind its topic, in one line.
fn said_by(statement: &Statement) -> String {
    let said = match (statement.text.as_str(), statement.value.as_str()) {
        (text, "") => text.to_owned(),
        (_, value) => format!("{} = {value}", statement.parameter),
    };
    let topic = match statement.topic.as_str() {
        "" => String::new(),
        topic => format!("[{topic}] "),
    };
    crate::statement::in_one_line(&format!("{topic}{said}"))
}
