//! Definitions and conditions of a test program.

use std::collections::BTreeMap;

/// How many definitions may stand in one another.
const DEPTH: usize = 16;

/// A program without comments, directives and what conditions leave out.
pub(super) struct Preprocessed {
    macros: BTreeMap<String, String>,
    pub(super) text: String,
}

impl Preprocessed {
    /// # Errors
    /// A condition that is not understood.
    pub(super) fn of(source: &str) -> Result<Self, String> {
        let mut read = Self {
            macros: BTreeMap::new(),
            text: String::new(),
        };
        let mut holds: Vec<bool> = Vec::new();
        for line in without_comments(source).lines() {
            let active = holds.iter().all(|it| *it);
            let Some(directive) = line.trim_start().strip_prefix('#') else {
                if active {
                    read.text += line;
                    read.text.push('\n');
                }
                continue;
            };
            let (word, rest) = first_word(directive.trim());
            match word {
                "if" if !active => holds.push(false),
                "if" => {
                    let value = read.number(rest);
                    let value =
                        value.ok_or_else(|| format!("the condition `{rest}` is not understood"))?;
                    holds.push(value != 0);
                }
                "ifdef" => holds.push(read.macros.contains_key(rest.trim())),
                "ifndef" => holds.push(!read.macros.contains_key(rest.trim())),
                "else" => {
                    if let Some(last) = holds.last_mut() {
                        *last = !*last;
                    }
                }
                "endif" => drop(holds.pop()),
                "define" if active => {
                    let (name, value) = first_word(rest);
                    if !value.starts_with('(') || rest[name.len()..].starts_with(' ') {
                        read.macros.insert(name.to_owned(), value.trim().to_owned());
                    }
                }
                "undef" if active => drop(read.macros.remove(rest.trim())),
                _ => {}
            }
        }
        Ok(read)
    }

    /// Returns what a name stands for, itself if it is not defined.
    pub(super) fn word(&self, name: &str) -> String {
        let mut name = name.trim();
        for _ in 0..DEPTH {
            match self.macros.get(name) {
                Some(value) => name = value,
                None => break,
            }
        }
        name.to_owned()
    }

    /// Returns the value of an expression of whole numbers.
    pub(super) fn number(&self, text: &str) -> Option<i64> {
        let mut expression = Expression {
            macros: &self.macros,
            rest: text,
            depth: 0,
        };
        let value = expression.equality()?;
        expression.rest.trim().is_empty().then_some(value)
    }

    /// Returns the definitions that are numbers or names, with what they stand for.
    pub(super) fn names(&self) -> impl Iterator<Item = (&str, String)> {
        let all = self.macros.iter();
        all.filter_map(|(name, value)| {
            let stands_for = match self.number(value) {
                Some(number) => number.to_string(),
                None => self.word(value),
            };
            let is_plain = !stands_for.is_empty() && stands_for.chars().all(is_part);
            is_plain.then_some((name.as_str(), stands_for))
        })
    }
}

fn without_comments(source: &str) -> String {
    let source = source.replace("\\\n", " ");
    let mut result = String::new();
    let mut rest = source.as_str();
    while let Some(at) = rest.find("/*").into_iter().chain(rest.find("//")).min() {
        result += &rest[..at];
        let (mark, skipped) = match rest[at..].starts_with("/*") {
            true => ("*/", 2),
            false => ("\n", 0),
        };
        rest = rest[at + 2..].split_once(mark).map_or("", |it| it.1);
        result.push(if skipped == 0 { '\n' } else { ' ' });
    }
    result + rest
}

fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn first_word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

/// What is left of an expression.
struct Expression<'a> {
    macros: &'a BTreeMap<String, String>,
    rest: &'a str,
    depth: usize,
}

impl Expression<'_> {
    fn takes(&mut self, sign: &str) -> bool {
        let rest = self.rest.trim_start();
        match rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn equality(&mut self) -> Option<i64> {
        let mut value = self.shift()?;
        while self.takes("==") {
            value = i64::from(value == self.shift()?);
        }
        Some(value)
    }

    fn shift(&mut self) -> Option<i64> {
        let mut value = self.sum()?;
        while self.takes("<<") {
            value = value.checked_shl(self.sum()?.try_into().ok()?)?;
        }
        Some(value)
    }

    fn sum(&mut self) -> Option<i64> {
        let mut value = self.product()?;
        loop {
            value = if self.takes("+") {
                value.checked_add(self.product()?)?
            } else if self.takes("-") {
                value.checked_sub(self.product()?)?
            } else {
                return Some(value);
            };
        }
    }

    fn product(&mut self) -> Option<i64> {
        let mut value = self.atom()?;
        loop {
            value = if self.takes("*") {
                value.checked_mul(self.atom()?)?
            } else if self.takes("/") {
                value.checked_div(self.atom()?)?
            } else {
                return Some(value);
            };
        }
    }

    fn atom(&mut self) -> Option<i64> {
        self.depth += 1;
        if DEPTH * DEPTH < self.depth {
            return None;
        }
        if self.takes("(") {
            let value = self.equality()?;
            return self.takes(")").then_some(value);
        }
        let (word, rest) = first_word(self.rest);
        self.rest = rest;
        if let Ok(number) = word.parse() {
            return Some(number);
        }
        let mut inner = Expression {
            macros: self.macros,
            rest: self.macros.get(word)?,
            depth: self.depth,
        };
        let value = inner.equality()?;
        self.depth = inner.depth;
        inner.rest.trim().is_empty().then_some(value)
    }
}
