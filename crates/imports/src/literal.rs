//! Candidates as the original Autocomp writes them down: Python expressions, which are parsed
//! and never executed.
//!
//! Plan and code stand between triple apostrophes with nothing escaped but apostrophes, so a
//! backslash there is a backslash. All other strings are what Python's `repr` makes.

use std::fmt;

/// Deepest nesting of candidates and lists.
const DEEPEST: usize = 400;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `None`.
    None,
    /// `True` and `False`.
    Bool(bool),
    /// A number, `inf` and `nan` included.
    Number(f64),
    /// A text.
    Text(String),
    /// A list or a tuple.
    List(Vec<Value>),
    /// A dictionary.
    Dict(Vec<(Value, Value)>),
    /// A candidate: names and values of its fields.
    Candidate(Vec<(String, Value)>),
}

impl Value {
    /// Returns the text, if it is one.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the number, if it is one.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns the value of a field of a candidate.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Value> {
        let Self::Candidate(fields) = self else {
            return None;
        };
        fields.iter().find(|(it, _)| it == name).map(|it| &it.1)
    }

    /// Takes a field of a candidate out of it.
    pub fn take(&mut self, name: &str) -> Option<Value> {
        let Self::Candidate(fields) = self else {
            return None;
        };
        let at = fields.iter().position(|(it, _)| it == name)?;
        Some(fields.swap_remove(at).1)
    }
}

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct LiteralError {
    /// Line, from 1.
    pub line: usize,
    /// What was expected.
    pub message: String,
}

impl fmt::Display for LiteralError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

/// The call that a candidate is written as.
pub const CANDIDATE: &str = "CodeCandidate(";

/// Reads a candidate, with nothing but blanks around it.
///
/// # Errors
/// The text is another expression, is cut off or nested too deeply.
pub fn candidate(text: &str) -> Result<Value, LiteralError> {
    let mut parser = Parser { text, at: 0 };
    parser.blanks();
    if !parser.rest().starts_with(CANDIDATE) {
        return Err(parser.error("it does not begin with a candidate"));
    }
    let value = parser.value(0)?;
    parser.blanks();
    match parser.rest() {
        "" => Ok(value),
        _ => Err(parser.error("something stands behind the candidate")),
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn error(&self, message: impl Into<String>) -> LiteralError {
        LiteralError {
            line: 1 + self.text[..self.at].matches('\n').count(),
            message: message.into(),
        }
    }

    fn blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn takes(&mut self, sign: &str) -> bool {
        let is_there = self.rest().starts_with(sign);
        if is_there {
            self.at += sign.len();
        }
        is_there
    }

    fn expect(&mut self, sign: &str) -> Result<(), LiteralError> {
        self.blanks();
        match self.takes(sign) {
            true => Ok(()),
            false => Err(self.error(format!("`{sign}` was expected"))),
        }
    }

    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let is_part = |c: char| c.is_ascii_alphanumeric() || "_.+-".contains(c);
        let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn value(&mut self, depth: usize) -> Result<Value, LiteralError> {
        if DEEPEST < depth {
            return Err(self.error(format!("it is nested more than {DEEPEST} times")));
        }
        self.blanks();
        if self.takes(CANDIDATE) {
            return self.fields(depth);
        }
        for quote in ["'''", "\"\"\"", "'", "\""] {
            if self.takes(quote) {
                return self.text_until(quote).map(Value::Text);
            }
        }
        for (open, close) in [("[", "]"), ("(", ")")] {
            if self.takes(open) {
                return self.items(close, |it| it.value(depth + 1)).map(Value::List);
            }
        }
        if self.takes("{") {
            let entry = |it: &mut Self| {
                let key = it.value(depth + 1)?;
                it.expect(":")?;
                Ok((key, it.value(depth + 1)?))
            };
            return self.items("}", entry).map(Value::Dict);
        }
        let before = self.at;
        let word = self.word();
        match word {
            "None" => Ok(Value::None),
            "True" => Ok(Value::Bool(true)),
            "False" => Ok(Value::Bool(false)),
            _ => word.parse().map(Value::Number).map_err(|_| {
                self.at = before;
                self.error("a value was expected")
            }),
        }
    }

    fn items<T>(
        &mut self,
        close: &str,
        mut item: impl FnMut(&mut Self) -> Result<T, LiteralError>,
    ) -> Result<Vec<T>, LiteralError> {
        let mut items = Vec::new();
        loop {
            self.blanks();
            if self.takes(close) {
                return Ok(items);
            }
            items.push(item(self)?);
            self.blanks();
            if !self.takes(",") {
                self.expect(close)?;
                return Ok(items);
            }
        }
    }

    fn fields(&mut self, depth: usize) -> Result<Value, LiteralError> {
        let field = |it: &mut Self| {
            let name = it.word().to_owned();
            it.expect("=")?;
            it.blanks();
            let is_raw = matches!(name.as_str(), "plan" | "code") && it.takes("'''");
            let value = match is_raw {
                true => Value::Text(it.raw_text()?),
                false => it.value(depth + 1)?,
            };
            Ok((name, value))
        };
        let fields = self.items(")", field)?;
        let is_twice = |at: usize| fields[..at].iter().any(|it| it.0 == fields[at].0);
        match (0..fields.len()).find(|at| is_twice(*at)) {
            Some(at) => Err(self.error(format!("`{}` is given twice", fields[at].0))),
            None => Ok(Value::Candidate(fields)),
        }
    }

    /// Reads on to the end of a text in which apostrophes alone are escaped.
    fn raw_text(&mut self) -> Result<String, LiteralError> {
        let mut out = String::new();
        // Whether the last character was an apostrophe with a backslash before it.
        let mut was_escaped = false;
        loop {
            let rest = self.rest();
            let Some(found) = rest.find('\'') else {
                return Err(self.error("a text does not end"));
            };
            if 0 < found {
                was_escaped = false;
            }
            let before = &rest[..found];
            let from = &rest[found..];
            if let Some(before) = before.strip_suffix('\\') {
                out.push_str(before);
                out.push('\'');
                was_escaped = true;
                self.at += found + 1;
                continue;
            }
            out.push_str(before);
            self.at += found;
            if self.takes("'''") {
                return Ok(out);
            }
            // A text that ends with a backslash looks as if its end were escaped.
            if was_escaped && from.starts_with("''") && !from.starts_with("'''") {
                self.at += 2;
                out.pop();
                out.push('\\');
                return Ok(out);
            }
            self.at += 1;
            out.push('\'');
            was_escaped = false;
        }
    }

    /// Reads on to the end of a text, escapes as in Python.
    fn text_until(&mut self, quote: &str) -> Result<String, LiteralError> {
        let rest = self.rest();
        let mut at = 0;
        while at < rest.len() {
            if rest[at..].starts_with(quote) {
                self.at += at + quote.len();
                return Ok(unescaped(&rest[..at]));
            }
            let mut chars = rest[at..].chars();
            let first = chars.next().unwrap_or_default();
            at += first.len_utf8();
            if first == '\\' {
                at += chars.next().map_or(0, char::len_utf8);
            }
        }
        Err(self.error("a text does not end"))
    }
}

/// Returns what Python makes of the text between quotes: escapes that it knows are carried out,
/// others stay.
#[must_use]
pub fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(sign) = rest.chars().next() else {
            out.push('\\');
            break;
        };
        let behind = &rest[sign.len_utf8()..];
        let simple = match sign {
            '\n' => Some(""),
            '\\' => Some("\\"),
            '\'' => Some("'"),
            '"' => Some("\""),
            'a' => Some("\x07"),
            'b' => Some("\x08"),
            'f' => Some("\x0c"),
            'n' => Some("\n"),
            'r' => Some("\r"),
            't' => Some("\t"),
            'v' => Some("\x0b"),
            _ => None,
        };
        if let Some(simple) = simple {
            out.push_str(simple);
            rest = behind;
            continue;
        }
        let coded = match sign {
            'x' => coded(behind, 16, 2, 2),
            'u' => coded(behind, 16, 4, 4),
            'U' => coded(behind, 16, 8, 8),
            '0'..='7' => coded(rest, 8, 1, 3).map(|(c, length)| (c, length - 1)),
            _ => None,
        };
        match coded {
            Some((c, length)) => {
                out.push(c);
                rest = &behind[length..];
            }
            None => {
                out.push('\\');
                out.push(sign);
                rest = behind;
            }
        }
    }
    out.push_str(rest);
    out
}

/// Reads the code of a character of `least` to `most` digits; returns how many there are.
fn coded(text: &str, radix: u32, least: usize, most: usize) -> Option<(char, usize)> {
    let digits = text.bytes().take(most);
    let length = digits
        .take_while(|it| char::from(*it).is_digit(radix))
        .count();
    if length < least {
        return None;
    }
    let code = u32::from_str_radix(&text[..length], radix).ok()?;
    // Halves of a pair stand alone in no text of ours.
    Some((char::from_u32(code).unwrap_or('\u{fffd}'), length))
}
