//! The preprocessor of plain kernels: macros of the kernel's own text.
//!
//! Comments and lines for the preprocessor become blank, so that every line
//! keeps its number.

use super::aliases::without_aliases;
use crate::refusal::Refusal;
use std::collections::BTreeMap;

/// The longest text that macros may make, in bytes.
const TEXT_LIMIT: usize = 1 << 17;
/// How deep macros may stand in one another.
const DEPTH_LIMIT: usize = 32;

/// What a name stands for.
#[derive(Clone, Debug)]
struct Macro {
    /// Names of the arguments; none for a macro without parentheses.
    arguments: Option<Vec<String>>,
    body: String,
}

/// Returns `source` with its own macros replaced.
///
/// # Errors
/// What is not understood, with its line, in a sentence for people.
pub fn expanded(source: &str) -> Result<String, Refusal> {
    let text = without_comments(source);
    let lines: Vec<&str> = text.lines().collect();
    let mut macros = BTreeMap::new();
    // Whether each `#if` around holds.
    let mut holds: Vec<bool> = Vec::new();
    let mut result = String::new();
    let mut at = 0;
    while at < lines.len() {
        let first = at;
        let mut line = lines[at].trim_end().to_owned();
        while line.ends_with('\\') && at + 1 < lines.len() {
            line.pop();
            at += 1;
            line += lines[at].trim_end();
        }
        at += 1;
        let said = |why: &str| Refusal::at(first + 1, format!("{why}: {}", line.trim()));
        let active = holds.iter().all(|it| *it);
        if let Some(directive) = line.trim_start().strip_prefix('#') {
            directive_line(directive.trim(), active, &mut macros, &mut holds).map_err(said)?;
        } else if active {
            result += &replaced(&line, &macros, &mut Vec::new()).map_err(said)?;
        }
        for _ in first..at {
            result.push('\n');
        }
        if TEXT_LIMIT < result.len() {
            return Err(said("makes the text too long"));
        }
    }
    Ok(without_aliases(&result))
}

/// Replaces names by texts.
pub(super) fn renamed(text: &str, names: &BTreeMap<String, String>) -> String {
    let of_name = |(name, body): (&String, &String)| {
        let (arguments, body) = (None, body.clone());
        (name.clone(), Macro { arguments, body })
    };
    substituted(text, &names.iter().map(of_name).collect())
}

fn without_comments(source: &str) -> String {
    let mut result = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(at) = rest.find("/*").into_iter().chain(rest.find("//")).min() {
        result += &rest[..at];
        let is_block = rest[at..].starts_with("/*");
        let end = match is_block {
            true => rest[at + 2..].find("*/").map(|end| at + 2 + end + 2),
            false => rest[at..].find('\n').map(|end| at + end),
        };
        let end = end.unwrap_or(rest.len());
        result.push(' ');
        result.extend(rest[at..end].chars().filter(|it| *it == '\n'));
        rest = &rest[end..];
    }
    result + rest
}

fn directive_line(
    directive: &str,
    active: bool,
    macros: &mut BTreeMap<String, Macro>,
    holds: &mut Vec<bool>,
) -> Result<(), &'static str> {
    let word: String = directive
        .chars()
        .take_while(|it| it.is_alphabetic())
        .collect();
    let rest = directive[word.len()..].trim();
    let is_known = |name: &str| match macros.contains_key(name) {
        true => Ok(true),
        // The compiler may define it.
        false if name.starts_with('_') => Err("asks for a macro of the compiler"),
        false => Ok(false),
    };
    match word.as_str() {
        "if" | "ifdef" | "ifndef" if !active => holds.push(false),
        "ifdef" => holds.push(is_known(rest)?),
        "ifndef" => holds.push(!is_known(rest)?),
        "if" => match rest {
            "0" => holds.push(false),
            "1" => holds.push(true),
            _ => return Err("has a condition that is not understood"),
        },
        "else" => {
            let last = holds.last_mut().ok_or("stands outside of an #if")?;
            *last = !*last;
        }
        "endif" => {
            holds.pop().ok_or("stands outside of an #if")?;
        }
        "define" if active => {
            let name = first_name(rest);
            if name.is_empty() {
                return Err("defines nothing");
            }
            let rest = &rest[name.len()..];
            let (arguments, body) = match rest.strip_prefix('(') {
                Some(list) => {
                    let (list, body) = list.split_once(')').ok_or("is not understood")?;
                    let names = list.split(',').map(|it| it.trim().to_owned());
                    (Some(names.filter(|it| !it.is_empty()).collect()), body)
                }
                None => (None, rest),
            };
            if body.contains('#') {
                return Err("joins or quotes tokens");
            }
            let body = body.trim().to_owned();
            macros.insert(name, Macro { arguments, body });
        }
        "undef" if active => {
            macros.remove(rest);
        }
        // What pragmas ask for is what the rewriter decides itself; headers declare
        // functions that are known.
        "pragma" | "include" | "define" | "undef" => {}
        _ => return Err("is not understood"),
    }
    Ok(())
}

fn is_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

fn first_name(text: &str) -> String {
    let is_part = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
    match text.starts_with(is_start) {
        true => text.chars().take_while(is_part).collect(),
        false => String::new(),
    }
}

/// Replaces macros in a text; `inside` are those that it came from.
fn replaced(
    text: &str,
    macros: &BTreeMap<String, Macro>,
    inside: &mut Vec<String>,
) -> Result<String, &'static str> {
    if DEPTH_LIMIT < inside.len() {
        return Err("has macros within macros too deep");
    }
    let mut result = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if c.is_ascii_digit() {
            // A number with what belongs to it: `1e5f` holds no name.
            let number: String = rest
                .chars()
                .take_while(|it| it.is_ascii_alphanumeric() || *it == '.')
                .collect();
            result += &number;
            rest = &rest[number.len()..];
            continue;
        }
        let name = first_name(rest);
        if name.is_empty() {
            result.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        }
        rest = &rest[name.len()..];
        let Some(known) = macros.get(&name).filter(|_| !inside.contains(&name)) else {
            result += &name;
            continue;
        };
        let body = match &known.arguments {
            None => known.body.clone(),
            Some(names) => {
                let Some(list) = rest.trim_start().strip_prefix('(') else {
                    result += &name;
                    continue;
                };
                let (values, behind) =
                    arguments(list).ok_or("has a macro whose arguments do not end on its line")?;
                let count = if names.is_empty() { 0 } else { values.len() };
                if count != names.len() {
                    return Err("has a macro with another number of arguments");
                }
                rest = behind;
                let mut locals = BTreeMap::new();
                for (name, value) in names.iter().zip(values) {
                    let body = replaced(value.trim(), macros, inside)?;
                    locals.insert(
                        name.clone(),
                        Macro {
                            arguments: None,
                            body,
                        },
                    );
                }
                // Arguments are finished text: they hide themselves.
                substituted(&known.body, &locals)
            }
        };
        inside.push(name);
        add_apart(&mut result, &replaced(&body, macros, inside)?);
        inside.pop();
        if TEXT_LIMIT < result.len() {
            return Err("makes the text too long");
        }
    }
    Ok(result)
}

/// Adds a text in which no sign grows together with the one in front: `-N` for `-1` is no `--1`.
fn add_apart(to: &mut String, text: &str) {
    if to.ends_with(['+', '-', '&', '|', '<', '>', '=']) && to.chars().last() == text.chars().next()
    {
        to.push(' ');
    }
    to.push_str(text);
}

/// Replaces names once, without looking at what they become.
fn substituted(text: &str, values: &BTreeMap<String, Macro>) -> String {
    let mut result = String::new();
    let mut rest = text;
    let mut in_number = false;
    while let Some(c) = rest.chars().next() {
        let name = first_name(rest);
        if name.is_empty() || in_number {
            in_number = c.is_ascii_digit() || in_number && (c.is_ascii_alphanumeric() || c == '.');
            result.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        }
        rest = &rest[name.len()..];
        add_apart(&mut result, values.get(&name).map_or(&name, |it| &it.body));
    }
    result
}

/// Splits what stands behind an opening parenthesis at its commas, and returns
/// what follows the closing one.
fn arguments(text: &str) -> Option<(Vec<&str>, &str)> {
    let (mut depth, mut from, mut found) = (0, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' if depth == 0 => {
                found.push(&text[from..at]);
                return Some((found, &text[at + 1..]));
            }
            ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                found.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    None
}
