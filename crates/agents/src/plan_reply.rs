//! From a model's reply to a plan.

use crate::code_reply::{fenced_blocks, normalize, tool_call_mark};
use crate::complaint::Complaint;
use crate::json_reply;
use autocomp_core::MenuItem;
use autocomp_llm::ReplySchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// The shortest description that can be carried out, in bytes.
const SHORTEST_PLAN: usize = 20;
/// The longest description that is passed on, in bytes.
const LONGEST_PLAN: usize = 64 << 10;

/// A plan as found in a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanReply {
    /// The chosen [`MenuItem::id`].
    pub menu_item: String,
    /// The description.
    pub text: String,
}

/// Finds the choice and the description in a reply.
///
/// The choice is the line `CHOICE: id`; its number in the menu, its identifier
/// in another case and decorations of Markdown are understood, too, and so is
/// JSON with `choice` and `plan`. An item of `hidden`, the part of the menu that
/// was not shown, is accepted by its identifier: whoever thought of it by itself
/// may have had a good reason.
///
/// # Errors
/// A [`Complaint`] that says precisely what is missing.
pub fn parse_plan(
    reply: &str,
    menu: &[MenuItem],
    hidden: &[MenuItem],
) -> Result<PlanReply, Complaint> {
    let resolve = |value: &str| {
        let by_name = !value.trim_start().starts_with(|c: char| c.is_ascii_digit());
        resolve(value, menu).or_else(|| resolve(value, hidden).filter(|_| by_name))
    };
    let text = normalize(reply)?;
    if text.trim().is_empty() {
        return Err(Complaint::of("empty", &[]));
    }
    if let Some(mark) = tool_call_mark(&text) {
        return Err(Complaint::of("tool-call", &[("mark", mark)]));
    }
    let structured: Vec<StructuredPlan> = json_reply::find(&text);
    if let Some(reply) = structured.first() {
        let choice = &reply.choice.0;
        if structured.iter().any(|it| it.choice != reply.choice) {
            return Err(Complaint::of("several-choices", &[]));
        }
        let item = resolve(choice).ok_or_else(|| not_in_menu(choice, menu))?;
        return checked(item, &reply.plan.0);
    }
    let mut choice: Option<&MenuItem> = None;
    let mut rest = Vec::new();
    for line in text.lines() {
        let Some(value) = choice_in(line) else {
            rest.push(line);
            continue;
        };
        let item = resolve(value).ok_or_else(|| not_in_menu(value, menu))?;
        if choice.is_some_and(|choice| choice.id != item.id) {
            return Err(Complaint::of("several-choices", &[]));
        }
        choice = Some(item);
    }
    let item = choice.ok_or_else(|| no_choice(&text))?;
    checked(item, &rest.join("\n"))
}

/// Says that a reply chooses nothing, and what it holds instead.
fn no_choice(text: &str) -> Complaint {
    let is_json = text.contains('{') && text.contains("choice");
    match json_reply::fields(text) {
        Some(fields) => Complaint::of(
            "json-without",
            &[("fields", &fields), ("wanted", "`choice` and `plan`")],
        ),
        None if is_json => Complaint::of("json-broken", &[]),
        None => Complaint::of("no-choice", &[]),
    }
}

/// Takes the description of a whole schedule from a reply: all of it. `item` is
/// the menu item that was asked for.
///
/// # Errors
/// A [`Complaint`] that says precisely what is wrong.
pub fn parse_schedule(reply: &str, item: &MenuItem) -> Result<PlanReply, Complaint> {
    let text = normalize(reply)?;
    if let Some(mark) = tool_call_mark(&text) {
        return Err(Complaint::of("tool-call", &[("mark", mark)]));
    }
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| choice_in(line).is_none())
        .collect();
    checked(item, &lines.join("\n"))
}

/// A plan as models give it that are held to a schema.
#[derive(Deserialize)]
struct StructuredPlan {
    choice: Words,
    plan: Words,
}

/// A text, as models give it: a string, a number, or a list of lines or steps.
#[derive(PartialEq)]
struct Words(String);

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        fn words(value: &Value) -> Option<String> {
            match value {
                Value::String(text) => Some(text.clone()),
                Value::Number(number) => Some(number.to_string()),
                Value::Array(items) => {
                    let lines: Option<Vec<String>> = items.iter().map(words).collect();
                    lines.map(|lines| lines.join("\n"))
                }
                _ => None,
            }
        }
        let value = Value::deserialize(deserializer)?;
        let words = words(&value).ok_or_else(|| serde::de::Error::custom("no text"))?;
        Ok(Self(words))
    }
}

/// Returns the script in a plan: the last fenced block called so.
pub(crate) fn script_in(text: &str) -> Option<String> {
    let blocks = fenced_blocks(text).into_iter();
    let mut scripts = blocks.filter(|it| it.info.trim().eq_ignore_ascii_case("script"));
    scripts.next_back().map(|it| it.text)
}

/// Returns the schema of a plan that chooses from `menu`.
#[must_use]
pub(crate) fn plan_schema(menu: &[MenuItem]) -> ReplySchema {
    let ids: Vec<&str> = menu.iter().map(|item| item.id.as_str()).collect();
    ReplySchema {
        name: "plan".to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "choice": { "type": "string", "enum": ids },
                "plan": { "type": "string" },
            },
            "required": ["choice", "plan"],
            "additionalProperties": false,
        }),
    }
}

pub(crate) fn not_in_menu(value: &str, menu: &[MenuItem]) -> Complaint {
    let ids: Vec<_> = menu.iter().map(|item| item.id.as_str()).collect();
    let (value, items) = (format!("{value:?}"), ids.join(", "));
    Complaint::of("choice-unknown", &[("value", &value), ("items", &items)])
}

fn checked(item: &MenuItem, text: &str) -> Result<PlanReply, Complaint> {
    let text = text.trim().to_owned();
    if text.len() < SHORTEST_PLAN {
        return Err(Complaint::of("plan-missing", &[]));
    }
    if LONGEST_PLAN < text.len() {
        return Err(Complaint::of("plan-too-long", &[]));
    }
    Ok(PlanReply {
        menu_item: item.id.clone(),
        text,
    })
}

/// Returns the value of a line such as `CHOICE: x`, `**Choice:** x` or `## CHOICE: x`.
pub(crate) fn choice_in(line: &str) -> Option<&str> {
    let decoration = |c: char| {
        matches!(
            c,
            '*' | '#' | '`' | '_' | '"' | '\'' | ' ' | '\t' | '>' | '-' | '<' | '[' | '('
        )
    };
    let line = line.trim_start_matches(decoration);
    let word = line.get(..6)?;
    if !word.eq_ignore_ascii_case("choice") {
        return None;
    }
    let rest = line[6..].trim_start_matches(decoration);
    let value = rest.strip_prefix([':', '=', '\u{ff1a}'])?;
    let value =
        value.trim_matches(|c: char| decoration(c) || matches!(c, '>' | ']' | ')' | '.' | ','));
    Some(value)
}

pub(crate) fn resolve<'menu>(value: &str, menu: &'menu [MenuItem]) -> Option<&'menu MenuItem> {
    let by_id = |value: &str| menu.iter().find(|item| item.id.eq_ignore_ascii_case(value));
    if let Some(item) = by_id(value) {
        return Some(item);
    }
    // "3", "3. double-buffer", "double-buffer (overlap loads)", "double buffer".
    let first = value
        .split(|c: char| c.is_whitespace() || matches!(c, '.' | ':' | ')' | '(' | ','))
        .next()?;
    if let Ok(number) = first.parse::<usize>() {
        let rest = value[first.len()..].trim_matches(|c: char| !c.is_ascii_alphanumeric());
        return match (
            rest.is_empty(),
            number.checked_sub(1).and_then(|idx| menu.get(idx)),
        ) {
            (true, item) => item,
            (false, item) => by_id(rest).or(item),
        };
    }
    by_id(first.trim_matches(['`', '*', '_', '"']))
        .or_else(|| by_id(&value.replace([' ', '_'], "-")))
}
