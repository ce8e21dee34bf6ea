//! Methods of texts.

use std::rc::Rc;

use super::Given;
use crate::diagnostic::Outcome;
use crate::foreign::Foreign;
use crate::interpreter::{Interpreter, type_error};
use crate::value::Value;

pub(super) const NAMES: &[&str] = &[
    "replace",
    "split",
    "join",
    "format",
    "startswith",
    "endswith",
    "upper",
    "lower",
    "strip",
    "lstrip",
    "rstrip",
    "count",
    "find",
    "isdigit",
];

impl<F: Foreign> Interpreter<F> {
    pub(super) fn string_method(
        &mut self,
        text: &Rc<str>,
        given: &mut Given<F>,
    ) -> Outcome<Value<F>> {
        let line = given.line;
        self.charge(text.len() / 8, line)?;
        Ok(match &*Rc::clone(&given.name) {
            "format" => {
                let positional: Vec<Value<F>> = given.positional.by_ref().collect();
                Value::str(&self.brace_format(text, &positional, &given.keywords, line)?)
            }
            "join" => {
                let list = given.next()?;
                let items = self.iterate(&list, line)?;
                let mut parts = Vec::new();
                let mut length = 0u64;
                for item in &items {
                    match item {
                        Value::Str(part) => {
                            length += part.len() as u64 + text.len() as u64;
                            parts.push(part.to_string());
                        }
                        _ => return Err(type_error("join takes strings")),
                    }
                }
                self.reserve(length / 8 + 1, line)?;
                Value::str(&parts.join(text))
            }
            "replace" => {
                let (from, to) = (given.text()?, given.text()?);
                if from.is_empty() {
                    return Err(given.wrong());
                }
                self.reserve((text.len() as u64 + 1) * (to.len() as u64 + 1) / 8, line)?;
                Value::str(&text.replace(&*from, &to))
            }
            "split" => {
                self.reserve(text.len() as u64, line)?;
                let parts: Vec<Value<F>> = match given.maybe_text()? {
                    Some(separator) if separator.is_empty() => return Err(given.wrong()),
                    Some(separator) => text.split(&*separator).map(Value::str).collect(),
                    None => text.split_whitespace().map(Value::str).collect(),
                };
                Value::list(parts)
            }
            name @ ("strip" | "lstrip" | "rstrip") => {
                let taken = given.maybe_text()?;
                let goes = |letter: char| match &taken {
                    Some(letters) => letters.contains(letter),
                    None => letter.is_whitespace(),
                };
                Value::str(match name {
                    "strip" => text.trim_matches(goes),
                    "lstrip" => text.trim_start_matches(goes),
                    _ => text.trim_end_matches(goes),
                })
            }
            "startswith" => Value::Bool(text.starts_with(&*given.text()?)),
            "endswith" => Value::Bool(text.ends_with(&*given.text()?)),
            "upper" => Value::str(&text.to_uppercase()),
            "lower" => Value::str(&text.to_lowercase()),
            "count" => Value::Int(text.matches(&*given.text()?).count() as i64),
            "find" => {
                let at = text.find(&*given.text()?);
                // Python counts letters.
                Value::Int(at.map_or(-1, |at| text[..at].chars().count() as i64))
            }
            "isdigit" => Value::Bool(!text.is_empty() && text.chars().all(|c| c.is_ascii_digit())),
            _ => return Err(given.wrong()),
        })
    }
}

impl<F: Foreign> Given<F> {
    /// The next argument, which must be a text.
    fn text(&mut self) -> Outcome<Rc<str>> {
        self.maybe_text()?.ok_or_else(|| self.wrong())
    }

    /// The next argument, which must be a text if there is one.
    fn maybe_text(&mut self) -> Outcome<Option<Rc<str>>> {
        match self.positional.next() {
            Some(Value::Str(text)) => Ok(Some(text)),
            Some(Value::None) | None => Ok(None),
            Some(other) => Err(type_error(&format!(
                "`{}` takes strings, not a {}",
                self.name,
                other.type_name()
            ))),
        }
    }
}
