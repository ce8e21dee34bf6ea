//! What a model says of a target, each statement with the passages that it cites, and what is
//! left of it after these were looked at.

use crate::documents::{Documents, Passage, clean};
use crate::negation::contradicts;
use crate::numbers::numbers_stand;
use crate::part::Part;
use crate::quotation::{Citation, Flaw, code_stands, name_stands, plain, sentence, valid};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Longest statement, in bytes.
const LONGEST: usize = 1000;
/// Longest title or name, in characters.
const LONGEST_TITLE: usize = 80;
/// Longest code of an example, in bytes.
const LONGEST_CODE: usize = 6000;
/// Most names that one statement explains.
const MOST_SYMBOLS: usize = 40;

/// A statement as models write it; which fields there are depends on the part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct Statement {
    /// Title of the section that it belongs to; of an example its name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub topic: String,
    /// What it says, in a sentence or two.
    pub text: String,
    /// Names in kernels that its section explains.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub symbols: Vec<String>,
    /// When an optimization applies.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub applies_when: String,
    /// What a rule is for: `general`, `plan` or `code`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub phase: String,
    /// The item of the menu that an example shows.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub item: String,
    /// Code of an example before.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub before: String,
    /// Code of an example after.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub after: String,
    /// Name of a parameter of the machine.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub parameter: String,
    /// Its value.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "text_or_number"
    )]
    pub value: String,
    /// What it rests on.
    pub cites: Vec<Citation>,
}

fn text_or_number<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(match serde_json::Value::deserialize(deserializer)? {
        serde_json::Value::String(text) => text,
        serde_json::Value::Null => String::new(),
        other => other.to_string(),
    })
}

/// Returns a text in one line, without what would mean something else in a file of a target or
/// in a prompt: comments, places for figures, fences.
pub fn in_one_line(text: &str) -> String {
    let text = clean(text)
        .replace("<!--", "")
        .replace("-->", "")
        .replace("```", "`")
        .replace("{{", "{ {")
        .replace("}}", "} }")
        .replace("{%", "{ %")
        .replace("{#", "{ #");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns code without what is not seen, and without fences around it.
fn code(text: &str) -> String {
    let text = clean(text);
    let text = text.trim_matches('\n');
    let inner = text
        .strip_prefix("```")
        .and_then(|it| it.split_once('\n'))
        .and_then(|it| it.1.trim_end().strip_suffix("```"));
    inner.unwrap_or(text).trim_matches('\n').to_owned()
}

/// Returns whether a value is one that quotations name: a number, of which the digits are looked at
/// elsewhere, a word of them, or whether something is so.
fn value_stands(value: &str, cites: &[Citation]) -> bool {
    let value = plain(value);
    let is_number = value.contains(|c: char| c.is_ascii_digit());
    let is_truth = matches!(value.as_str(), "true" | "false");
    is_number || is_truth || cites.iter().any(|it| plain(&it.quote).contains(&value))
}

impl Statement {
    /// Returns what is left of a statement: in plain form, with the citations that hold.
    ///
    /// # Errors
    /// Why it is dropped.
    pub fn checked(
        &self,
        part: Part,
        documents: &Documents,
        shown: &BTreeSet<&str>,
    ) -> Result<Self, Flaw> {
        let title = |text: &str| -> String {
            let text = in_one_line(text);
            let text = text.trim_matches(['#', ' ', '`', '*']);
            text.chars().take(LONGEST_TITLE).collect()
        };
        let mut it = Self {
            topic: title(&self.topic),
            text: in_one_line(&self.text),
            applies_when: in_one_line(&self.applies_when),
            phase: self.phase.trim().to_lowercase(),
            item: title(&self.item),
            before: code(&self.before),
            after: code(&self.after),
            parameter: title(&self.parameter),
            value: title(&self.value),
            symbols: Vec::new(),
            cites: valid(&self.cites, documents, shown)?,
        };
        let passages: Vec<&Passage> = it
            .cites
            .iter()
            .filter_map(|cite| documents.passage(&cite.id))
            .collect();
        let is_figure = part == Part::Figures;
        if !is_figure && it.text.is_empty()
            || LONGEST < it.text.len()
            || LONGEST < it.applies_when.len()
            || LONGEST_CODE < it.before.len().max(it.after.len())
        {
            return Err(Flaw::Unusable);
        }
        let said = format!("{} {} {}", it.text, it.applies_when, it.value);
        if !numbers_stand(&said, &it.cites) {
            return Err(Flaw::NumberNotQuoted);
        }
        let sentences = it.cites.iter().zip(&passages);
        let sentences: Vec<String> = sentences.filter_map(|(it, of)| sentence(it, of)).collect();
        let sentences: Vec<&str> = sentences.iter().map(String::as_str).collect();
        if contradicts(&it.text, &sentences) {
            return Err(Flaw::Denied);
        }
        let is_symbol = |it: &&String| {
            let is_part = |c: char| c.is_ascii_alphanumeric() || "_.:*".contains(c);
            (2..=LONGEST_TITLE).contains(&it.len()) && it.chars().all(is_part)
        };
        let symbols = self.symbols.iter().filter(is_symbol);
        let symbols = symbols.filter(|name| name_stands(name, &passages));
        it.symbols = symbols.take(MOST_SYMBOLS).cloned().collect();
        match part {
            Part::Isa if it.topic.is_empty() => Err(Flaw::Unusable),
            Part::Isa if it.symbols.is_empty() && !self.symbols.is_empty() => {
                Err(Flaw::NameNotInPassage)
            }
            Part::Menu | Part::Translation if it.topic.is_empty() => Err(Flaw::Unusable),
            Part::Examples => {
                if it.topic.is_empty() || it.item.is_empty() {
                    return Err(Flaw::Unusable);
                }
                let stands = |code: &str| code_stands(code, &passages);
                match stands(&it.before) && stands(&it.after) && it.before != it.after {
                    true => Ok(it),
                    false => Err(Flaw::CodeNotInPassage),
                }
            }
            Part::Figures if it.parameter.is_empty() || it.value.is_empty() => Err(Flaw::Unusable),
            Part::Figures if !value_stands(&it.value, &it.cites) => Err(Flaw::NotInPassage),
            _ => Ok(it),
        }
    }
}
