//! Text of values: `str`, `repr`, f-strings.

use std::rc::Rc;

use super::interpreter::{Interpreter, MAXIMUM_DEPTH};
use super::objects::ClassKind;
use super::tree::Piece;
use super::value::{Frame, Value};
use crate::diagnostic::{Failure, FailureKind, Outcome};
use crate::foreign::Foreign;

/// Widest field of a format.
const MAXIMUM_WIDTH: usize = 1000;
/// Longest text of one value.
const MAXIMUM_TEXT: usize = 100_000;

impl<F: Foreign> Interpreter<F> {
    /// `str(value)`.
    pub(super) fn text(&mut self, value: &Value<F>, line: u32) -> Outcome<String> {
        match value {
            Value::Str(text) => Ok(text.to_string()),
            object @ Value::Object(_) => match self.special(object, "__str__", Vec::new(), line) {
                Some(text) => self.own_text(text?),
                None => self.repr(object, line),
            },
            other => self.repr(other, line),
        }
    }

    /// What a method that makes the text of an object has returned.
    fn own_text(&self, value: Value<F>) -> Outcome<String> {
        match value {
            Value::Str(text) => Ok(text.to_string()),
            _ => Err(super::interpreter::type_error(
                "the text of an object must be a string",
            )),
        }
    }

    /// `repr(value)`.
    pub(super) fn repr(&mut self, value: &Value<F>, line: u32) -> Outcome<String> {
        if let Some(text) = self.special(value, "__repr__", Vec::new(), line) {
            let text = text?;
            return self.own_text(text);
        }
        let mut out = String::new();
        write_repr(value, 0, &mut out);
        self.reserve(out.len() as u64 / 8, line)?;
        if out.len() >= MAXIMUM_TEXT {
            return Err(Failure::new(
                FailureKind::Limit,
                "memory-limit",
                "a text is too long",
                "print less",
            ));
        }
        Ok(out)
    }

    pub(super) fn format_pieces(
        &mut self,
        pieces: &[Piece<F>],
        frame: &Rc<Frame<F>>,
        line: u32,
    ) -> Outcome<Value<F>> {
        let mut out = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Value {
                    node,
                    repr,
                    debug,
                    format,
                } => {
                    let value = self.evaluate(node, frame)?;
                    if let Some(debug) = debug {
                        out.push_str(debug);
                    }
                    let text = match format {
                        Some(spec) => {
                            let spec = self.format_pieces(spec, frame, line)?;
                            let spec = self.text(&spec, line)?;
                            self.formatted(&value, &spec, line)?
                        }
                        None if *repr => self.repr(&value, line)?,
                        None => self.text(&value, line)?,
                    };
                    out.push_str(&text);
                }
            }
            self.reserve(1 + out.len() as u64 / 64, line)?;
        }
        Ok(Value::str(&out))
    }

    /// `format(value, spec)` for the usual specifications.
    pub(super) fn formatted(&mut self, value: &Value<F>, spec: &str, line: u32) -> Outcome<String> {
        let bad = || {
            Failure::unsupported(
                "unsupported-python",
                format!("the format `{spec}` is not supported"),
                "use width, precision and one of d, f, e, g, x, s, %",
            )
        };
        let mut rest = spec;
        let mut fill = ' ';
        let mut align = None;
        let mut characters = spec.chars();
        if let (Some(first), Some(second)) = (characters.next(), characters.next())
            && matches!(second, '<' | '>' | '^')
        {
            fill = first;
            align = Some(second);
            rest = characters.as_str();
        }
        if align.is_none()
            && let Some(first @ ('<' | '>' | '^')) = rest.chars().next()
        {
            align = Some(first);
            rest = &rest[1..];
        }
        let plus = rest.starts_with('+');
        rest = rest.trim_start_matches('+');
        if rest.starts_with('0') {
            fill = '0';
            rest = &rest[1..];
        }
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        rest = &rest[digits.len()..];
        let width = if digits.is_empty() {
            0
        } else {
            digits.parse::<usize>().map_err(|_| bad())?
        };
        let grouped = rest.starts_with(',');
        rest = rest.trim_start_matches(',');
        let mut precision = None;
        if let Some(after) = rest.strip_prefix('.') {
            let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
            precision = Some(digits.parse::<usize>().map_err(|_| bad())?);
            rest = &after[digits.len()..];
        }
        if width > MAXIMUM_WIDTH || precision.is_some_and(|p| p > 50) {
            return Err(Failure::new(
                FailureKind::Limit,
                "memory-limit",
                "a format is too wide",
                "use a smaller width",
            ));
        }
        let number = value.as_number();
        let mut text = match (rest, number) {
            ("d", Some(n)) | ("", Some(n)) if value.as_int().is_some() && precision.is_none() => {
                format!("{}", n as i64)
            }
            ("f", Some(n)) => format!("{n:.*}", precision.unwrap_or(6)),
            ("e", Some(n)) => format!("{n:.*e}", precision.unwrap_or(6)),
            ("g" | "", Some(n)) => match precision {
                Some(p) => format!("{n:.p$}"),
                None => self.text(&Value::Float(n), line)?,
            },
            ("%", Some(n)) => format!("{:.*}%", precision.unwrap_or(6), n * 100.0),
            ("x", Some(_)) => format!("{:x}", value.as_int().ok_or_else(bad)?),
            ("b", Some(_)) => format!("{:b}", value.as_int().ok_or_else(bad)?),
            ("s" | "", None) => {
                let text = self.text(value, line)?;
                match precision {
                    Some(p) => text.chars().take(p).collect(),
                    None => text,
                }
            }
            _ => return Err(bad()),
        };
        if plus && number.is_some_and(|n| n >= 0.0) {
            text.insert(0, '+');
        }
        if grouped {
            let (head, tail) = text
                .split_once('.')
                .map_or((text.clone(), String::new()), |(h, t)| {
                    (h.to_owned(), format!(".{t}"))
                });
            let mut with = String::new();
            for (position, character) in head.chars().enumerate() {
                if position > 0 && (head.len() - position) % 3 == 0 && character.is_ascii_digit() {
                    with.push(',');
                }
                with.push(character);
            }
            text = with + &tail;
        }
        let missing = width.saturating_sub(text.chars().count());
        let pad = |count: usize| std::iter::repeat_n(fill, count).collect::<String>();
        Ok(
            match align.unwrap_or(if number.is_some() { '>' } else { '<' }) {
                '<' => text + &pad(missing),
                '^' => pad(missing / 2) + &text + &pad(missing - missing / 2),
                _ => pad(missing) + &text,
            },
        )
    }
}

fn write_repr<F: Foreign>(value: &Value<F>, depth: u32, out: &mut String) {
    use std::fmt::Write as _;
    if depth > MAXIMUM_DEPTH || out.len() > MAXIMUM_TEXT {
        out.push('…');
        return;
    }
    let several = |items: &[Value<F>], open: &str, close: &str, out: &mut String| {
        out.push_str(open);
        for (position, item) in items.iter().enumerate() {
            if position > 0 {
                out.push_str(", ");
            }
            write_repr(item, depth + 1, out);
            if out.len() > MAXIMUM_TEXT {
                break;
            }
        }
        out.push_str(close);
    };
    let written = match value {
        Value::None => write!(out, "None"),
        Value::Bool(value) => write!(out, "{}", if *value { "True" } else { "False" }),
        Value::Int(value) => write!(out, "{value}"),
        Value::Float(value) => {
            if value.is_finite() && value.fract() == 0.0 && value.abs() < 1e16 {
                write!(out, "{value:.1}")
            } else if value.is_nan() {
                write!(out, "nan")
            } else if value.is_infinite() {
                write!(out, "{}inf", if *value < 0.0 { "-" } else { "" })
            } else if value.abs() < 1e-4 || value.abs() >= 1e16 {
                write!(out, "{value:e}")
            } else {
                write!(out, "{value}")
            }
        }
        Value::Str(text) => write!(out, "'{}'", text.get(..MAXIMUM_TEXT).unwrap_or(text)),
        Value::List(list) => {
            several(&list.borrow().0, "[", "]", out);
            Ok(())
        }
        Value::Tuple(items) => {
            several(
                &items.0,
                "(",
                if items.0.len() == 1 { ",)" } else { ")" },
                out,
            );
            Ok(())
        }
        Value::Dict(dict) => {
            out.push('{');
            for (position, (key, value)) in dict.borrow().entries.iter().enumerate() {
                if position > 0 {
                    out.push_str(", ");
                }
                write_repr(key, depth + 1, out);
                out.push_str(": ");
                write_repr(value, depth + 1, out);
                if out.len() > MAXIMUM_TEXT {
                    break;
                }
            }
            out.push('}');
            Ok(())
        }
        Value::Range(range, _) => write!(out, "range({}, {}, {})", range.0, range.1, range.2),
        Value::Object(object) if matches!(object.class.kind, ClassKind::Enumeration(_)) => {
            let name = super::classes::get(object, &"name".into());
            let name = match &name {
                Some(Value::Str(name)) => name,
                _ => "?",
            };
            write!(out, "{}.{name}", object.class.name)
        }
        Value::Object(object) => {
            let fields = object.fields.borrow();
            out.push_str(&object.class.name);
            out.push('(');
            for (position, (key, value)) in fields.entries.iter().enumerate() {
                out.push_str(if position > 0 { ", " } else { "" });
                if let Value::Str(key) = key {
                    out.push_str(key);
                }
                out.push('=');
                write_repr(value, depth + 1, out);
                if out.len() > MAXIMUM_TEXT {
                    break;
                }
            }
            out.push(')');
            Ok(())
        }
        Value::Foreign(value) => match value.text() {
            Some(text) => write!(out, "{text}"),
            None => write!(out, "<{}>", value.type_name()),
        },
        other => write!(out, "<{}>", other.type_name()),
    };
    // Writing to a string cannot fail.
    debug_assert!(written.is_ok());
}
