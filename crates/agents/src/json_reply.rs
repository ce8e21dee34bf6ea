//! JSON as models write it: with prose around it, in fences, in lists, inside of other objects or
//! of strings, with trailing commas, single quotes, line breaks in strings, quotes that are not
//! escaped, words of Python.
//!
//! What is strictly JSON is read as such; the rest by a reader that takes those slips for what
//! they mean. It never guesses a value that is not there: an object that breaks off is none.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Places of a reply at which a value is looked for at most.
const MOST_VALUES: usize = 512;
/// Characters that the reader looks at in all, for one reply.
const MOST_WORK: usize = 8 << 20;
/// Deepest value.
const DEEPEST: usize = 24;

/// Finds what can be read as a `T` in a reply, in the order in which it stands there: in values
/// of the text, their parts, and strings that hold JSON themselves.
#[must_use]
pub fn find<T: DeserializeOwned>(text: &str) -> Vec<T> {
    let mut found = Vec::new();
    let mut work = MOST_WORK;
    for value in values(text, &mut work) {
        collect(&value, &mut found, DEEPEST, &mut work);
    }
    found
}

/// Returns the fields of the objects that stand in a reply, for people; nothing if there is no
/// object.
pub(crate) fn fields(text: &str) -> Option<String> {
    let values = values(text, &mut MOST_WORK.clone());
    let objects: Vec<&Map<String, Value>> = values
        .iter()
        .flat_map(|value| match value {
            Value::Array(items) => items.iter().collect(),
            value => vec![value],
        })
        .filter_map(Value::as_object)
        .collect();
    if objects.is_empty() {
        return None;
    }
    let mut names: Vec<String> = objects
        .iter()
        .flat_map(|it| it.keys())
        .map(|name| format!("`{}`", name.chars().take(40).collect::<String>()))
        .collect();
    names.dedup();
    names.truncate(8);
    Some(match names.is_empty() {
        true => "no fields".to_owned(),
        false => names.join(", "),
    })
}

/// Returns the strings of all values of a reply, the outer ones first.
pub(crate) fn strings(text: &str) -> Vec<String> {
    fn add(value: &Value, out: &mut Vec<String>) {
        match value {
            Value::String(text) => out.push(text.clone()),
            Value::Array(items) => items.iter().for_each(|it| add(it, out)),
            Value::Object(fields) => fields.values().for_each(|it| add(it, out)),
            _ => {}
        }
    }
    let mut out = Vec::new();
    for value in values(text, &mut MOST_WORK.clone()) {
        add(&value, &mut out);
    }
    out
}

fn collect<T: DeserializeOwned>(value: &Value, found: &mut Vec<T>, depth: usize, work: &mut usize) {
    if depth == 0 {
        return;
    }
    if value.is_object()
        && let Ok(it) = serde_json::from_value(value.clone())
    {
        found.push(it);
        return;
    }
    match value {
        Value::Object(fields) => {
            for part in fields.values() {
                collect(part, found, depth - 1, work);
            }
        }
        Value::Array(items) => {
            for part in items {
                collect(part, found, depth - 1, work);
            }
        }
        Value::String(text) if text.contains('{') => {
            for part in values(text, work) {
                if !part.is_string() {
                    collect(&part, found, depth - 1, work);
                }
            }
        }
        _ => {}
    }
}

/// Returns the objects, lists and strings that stand in a text, outermost ones only.
fn values(text: &str, work: &mut usize) -> Vec<Value> {
    let mut values = Vec::new();
    let mut start = 0;
    // A reply that is one string holds JSON in that string; elsewhere, quotes are prose.
    let is_string = text.trim_start().starts_with('"');
    let mut n_tried = 0;
    while let Some(found) = text[start..].find(|c| matches!(c, '{' | '[') || is_string && c == '"')
    {
        let at = start + found;
        n_tried += 1;
        if MOST_VALUES < n_tried || *work == 0 {
            break;
        }
        let rest = &text[at..];
        match strict(rest).or_else(|| lenient(rest, work)) {
            Some((value, length)) => {
                values.push(value);
                start = at + length;
            }
            None => start = at + 1,
        }
    }
    values
}

/// Reads the value at the beginning of a text, and returns how long it is.
fn strict(text: &str) -> Option<(Value, usize)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some((with_small_names(value, DEEPEST), values.byte_offset()))
}

/// Returns a value with the names of its fields in small letters.
fn with_small_names(value: Value, depth: usize) -> Value {
    match value {
        Value::Object(fields) if 0 < depth => fields
            .into_iter()
            .map(|(name, value)| (small(&name), with_small_names(value, depth - 1)))
            .collect(),
        Value::Array(items) if 0 < depth => items
            .into_iter()
            .map(|item| with_small_names(item, depth - 1))
            .collect(),
        value => value,
    }
}

fn small(name: &str) -> String {
    name.trim().to_lowercase()
}

fn lenient(text: &str, work: &mut usize) -> Option<(Value, usize)> {
    let mut reader = Reader {
        text,
        at: 0,
        work: *work,
    };
    let value = reader.value(DEEPEST);
    *work = reader.work;
    value.map(|value| (value, reader.at))
}

/// Reads JSON with slips.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    work: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.work = self.work.checked_sub(1)?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn skip(&mut self, wanted: char) -> bool {
        let is_there = self.peek() == Some(wanted);
        if is_there {
            self.at += wanted.len_utf8();
        }
        is_there
    }

    /// Skips blanks and comments.
    fn skip_blanks(&mut self) -> Option<()> {
        loop {
            while self.peek().is_some_and(char::is_whitespace) {
                self.next()?;
            }
            let rest = &self.text[self.at..];
            let end = if rest.starts_with("//") {
                rest.find('\n')?
            } else if rest.starts_with("/*") {
                rest.find("*/")? + 2
            } else {
                return Some(());
            };
            self.work = self.work.checked_sub(end)?;
            self.at += end;
        }
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        let depth = depth.checked_sub(1)?;
        self.skip_blanks()?;
        match self.peek()? {
            '{' => self.object(depth),
            '[' => self.list(depth),
            c if closing_of(c).is_some() => self.string().map(Value::String),
            _ => self.word(),
        }
    }

    fn object(&mut self, depth: usize) -> Option<Value> {
        self.skip('{');
        let mut fields = Map::new();
        loop {
            self.skip_blanks()?;
            if self.skip('}') {
                return Some(Value::Object(fields));
            }
            if self.skip(',') {
                continue;
            }
            let name = match self.peek()? {
                c if closing_of(c).is_some() => self.string()?,
                _ => self.name()?,
            };
            self.skip_blanks()?;
            if !self.skip(':') {
                return None;
            }
            let value = self.value(depth)?;
            fields.insert(small(&name), value);
            self.skip_blanks()?;
            if !matches!(self.peek()?, ',' | '}') {
                return None;
            }
        }
    }

    fn list(&mut self, depth: usize) -> Option<Value> {
        self.skip('[');
        let mut items = Vec::new();
        loop {
            self.skip_blanks()?;
            if self.skip(']') {
                return Some(Value::Array(items));
            }
            if self.skip(',') {
                continue;
            }
            items.push(self.value(depth)?);
            self.skip_blanks()?;
            if !matches!(self.peek()?, ',' | ']') {
                return None;
            }
        }
    }

    /// Reads a name without quotes.
    fn name(&mut self) -> Option<String> {
        let start = self.at;
        while self
            .peek()
            .is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
        {
            self.next()?;
        }
        (start < self.at).then(|| self.text[start..self.at].to_owned())
    }

    /// Reads a number or a word of JSON or Python.
    fn word(&mut self) -> Option<Value> {
        let start = self.at;
        while self
            .peek()
            .is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '+' | '.'))
        {
            self.next()?;
        }
        match &self.text[start..self.at] {
            "true" | "True" => Some(Value::Bool(true)),
            "false" | "False" => Some(Value::Bool(false)),
            "null" | "None" => Some(Value::Null),
            number => serde_json::from_str(number).ok().filter(Value::is_number),
        }
    }

    /// Reads a string. It ends at its quote if what may follow a string comes after it: quotes
    /// that are not escaped stand inside of strings, too.
    fn string(&mut self) -> Option<String> {
        let tripled = ["\"\"\"", "'''"]
            .into_iter()
            .find(|mark| self.text[self.at..].starts_with(mark));
        if let Some(mark) = tripled {
            let begin = self.at + mark.len();
            let end = begin + self.text[begin..].find(mark)?;
            self.work = self.work.checked_sub(end - self.at)?;
            self.at = end + mark.len();
            return Some(self.text[begin..end].to_owned());
        }
        let closing = closing_of(self.next()?)?;
        let mut out = String::new();
        loop {
            match self.next()? {
                c if c == closing && self.is_end_of_string()? => return Some(out),
                '\\' => match self.next()? {
                    'n' => out.push('\n'),
                    't' => out.push('\t'),
                    'r' => out.push('\r'),
                    'b' => out.push('\u{8}'),
                    'f' => out.push('\u{c}'),
                    'u' => out.push(self.escaped()?),
                    // A line that goes on.
                    '\n' => {}
                    c @ ('"' | '\'' | '\\' | '/' | '`') => out.push(c),
                    c => out.extend(['\\', c]),
                },
                c => out.push(c),
            }
        }
    }

    /// Returns whether a string may end here.
    fn is_end_of_string(&mut self) -> Option<bool> {
        let rest = &self.text[self.at..];
        let after = rest.trim_start();
        self.work = self.work.checked_sub(rest.len() - after.len())?;
        Some(match after.chars().next() {
            None | Some(':' | '}' | ']') => true,
            // Another string, or the end after a comma too many.
            Some(',') => {
                let after = after[1..].trim_start();
                let next = after.chars().next();
                let is_comment = after.starts_with("//") || after.starts_with("/*");
                is_comment
                    || next.is_none_or(|c| {
                        closing_of(c).is_some()
                            || matches!(c, '{' | '[' | '}' | ']' | '-')
                            || c.is_ascii_digit()
                            || ["true", "false", "null", "True", "False", "None"]
                                .iter()
                                .any(|word| after.starts_with(word))
                            || is_name_of_field(after)
                    })
            }
            Some('/') => after.starts_with("//") || after.starts_with("/*"),
            Some(_) => false,
        })
    }

    /// Reads what follows `\u`, with the second half of a pair.
    fn escaped(&mut self) -> Option<char> {
        let first = self.four_digits()?;
        if !(0xd800..0xdc00).contains(&first) {
            return Some(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        if !self.text[self.at..].starts_with("\\u") {
            return Some(char::REPLACEMENT_CHARACTER);
        }
        self.at += 2;
        let second = self.four_digits()?;
        let pair = 0x10000 + ((first - 0xd800) << 10) + (second.wrapping_sub(0xdc00) & 0x3ff);
        Some(char::from_u32(pair).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn four_digits(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4)?;
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }
}

/// Returns whether a text begins with a name without quotes and a colon.
fn is_name_of_field(text: &str) -> bool {
    let name = text.find(|c: char| !(c.is_alphanumeric() || c == '_'));
    name.is_some_and(|end| 0 < end && end < 40 && text[end..].trim_start().starts_with(':'))
}

/// Returns the quote that ends a string which begins with `c`.
fn closing_of(c: char) -> Option<char> {
    match c {
        '"' | '\'' | '`' => Some(c),
        '\u{201c}' => Some('\u{201d}'),
        '\u{2018}' => Some('\u{2019}'),
        _ => None,
    }
}
