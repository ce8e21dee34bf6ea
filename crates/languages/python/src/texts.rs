//! Formatting as `'%d of %s' % …` and `'{} of {:.2f}'.format(…)`.

use std::rc::Rc;

use super::dictionary::Key;
use super::interpreter::{Interpreter, type_error};
use super::value::Value;
use crate::diagnostic::{Failure, Outcome};
use crate::foreign::Foreign;

fn unknown(text: &str) -> Box<Failure> {
    Failure::unsupported(
        "unsupported-python",
        format!("the format `{text}` is not supported"),
        "use an f-string",
    )
}

impl<F: Foreign> Interpreter<F> {
    /// `text % values`.
    pub(super) fn percent_format(
        &mut self,
        text: &str,
        values: &Value<F>,
        line: u32,
    ) -> Outcome<String> {
        let several = match values {
            Value::Tuple(items) => items.0.clone(),
            other => vec![other.clone()],
        };
        let mut values_left = several.into_iter();
        let mut pieces = text.split('%');
        let mut out = pieces.next().unwrap_or_default().to_owned();
        while let Some(piece) = pieces.next() {
            self.step(line)?;
            if piece.is_empty() {
                // Two signs stand for one; what follows is text again.
                out.push('%');
                out.push_str(pieces.next().unwrap_or_default());
                continue;
            }
            let mut rest = piece;
            let mut value = None;
            if let Some((name, after)) = piece.strip_prefix('(').and_then(|it| it.split_once(')')) {
                let Value::Dict(dict) = values else {
                    return Err(type_error("names in a format need a dict"));
                };
                value = dict.borrow().get(&Key::Str(name.into())).cloned();
                if value.is_none() {
                    return Err(type_error(&format!("the dict has no key `{name}`")));
                }
                rest = after;
            }
            let length = rest.find(|c: char| c.is_ascii_alphabetic());
            let length = length.ok_or_else(|| unknown(text))?;
            let (flags, kind) = (&rest[..length], &rest[length..=length]);
            let value = match value.or_else(|| values_left.next()) {
                Some(value) => value,
                None => return Err(type_error("there are fewer values than the format needs")),
            };
            let (left, flags) = match flags.strip_prefix('-') {
                Some(flags) => ("<", flags),
                None => (">", flags),
            };
            let (value, kind) = match kind {
                "r" => (Value::str(&self.repr(&value, line)?), "s"),
                "s" => (Value::str(&self.text(&value, line)?), "s"),
                "d" | "i" | "u" => match value.as_number() {
                    Some(number) if value.as_int().is_none() => (Value::Int(number as i64), "d"),
                    _ => (value, "d"),
                },
                "f" | "e" | "g" | "x" => (value, kind),
                _ => return Err(unknown(text)),
            };
            let spec = match flags.strip_prefix('0') {
                Some(flags) => format!("0{flags}{kind}"),
                None => format!("{left}{flags}{kind}"),
            };
            out.push_str(&self.formatted(&value, &spec, line)?);
            out.push_str(&rest[length + 1..]);
            self.reserve(1 + out.len() as u64 / 64, line)?;
        }
        Ok(out)
    }

    /// `text.format(*positional, **keywords)`.
    pub(super) fn brace_format(
        &mut self,
        text: &str,
        positional: &[Value<F>],
        keywords: &[(Rc<str>, Value<F>)],
        line: u32,
    ) -> Outcome<String> {
        let mut out = String::new();
        let mut rest = text;
        let mut next = 0;
        while let Some(at) = rest.find(['{', '}']) {
            self.step(line)?;
            out.push_str(&rest[..at]);
            let sign = &rest[at..=at];
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix(sign) {
                out.push_str(sign);
                rest = after;
                continue;
            }
            let (field, after) = rest.split_once('}').ok_or_else(|| unknown(text))?;
            if sign == "}" || field.contains('{') {
                return Err(unknown(text));
            }
            rest = after;
            let (field, spec) = field.split_once(':').unwrap_or((field, ""));
            let (name, conversion) = field.split_once('!').unwrap_or((field, ""));
            let value = if name.is_empty() {
                next += 1;
                positional.get(next - 1)
            } else if let Ok(at) = name.parse::<usize>() {
                positional.get(at)
            } else {
                let found = keywords.iter().find(|(known, _)| &**known == name);
                found.map(|(_, value)| value)
            };
            let Some(value) = value.cloned() else {
                return Err(type_error(&format!(
                    "the format has no value for `{{{field}}}`"
                )));
            };
            let value = match conversion {
                "" => value,
                "r" => Value::str(&self.repr(&value, line)?),
                "s" => Value::str(&self.text(&value, line)?),
                _ => return Err(unknown(text)),
            };
            out.push_str(&match spec {
                "" => self.text(&value, line)?,
                spec => self.formatted(&value, spec, line)?,
            });
            self.reserve(1 + out.len() as u64 / 64, line)?;
        }
        out.push_str(rest);
        Ok(out)
    }
}

/// The whole number that a text spells, as `int` reads it: with blanks around it, a sign, single
/// underscores between digits, and the prefix of its base, which base 0 goes by.
pub(super) fn whole<F: Foreign>(text: &str, base: Option<i64>) -> Option<Value<F>> {
    let text = text.trim();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = digits.to_ascii_lowercase();
    let prefixed = [("0x", 16), ("0o", 8), ("0b", 2)]
        .into_iter()
        .find_map(|(prefix, radix)| Some((lower.strip_prefix(prefix)?, radix)));
    let (digits, radix) = match (prefixed, base?) {
        (Some((rest, radix)), base) if base == 0 || base == i64::from(radix) => {
            (rest.strip_prefix('_').unwrap_or(rest), radix)
        }
        (None, 0) => (&*lower, 10),
        (_, base) => (&*lower, u32::try_from(base).ok()?),
    };
    let is_digit = |it: &str| !it.is_empty() && it.chars().all(|it| it.is_digit(radix));
    if !(2..=36).contains(&radix) || !digits.split('_').all(is_digit) {
        return None;
    }
    let magnitude = i128::from_str_radix(&digits.replace('_', ""), radix).ok()?;
    let number = if negative { -magnitude } else { magnitude };
    i64::try_from(number).ok().map(Value::Int)
}
