//! Definitions and conditions of a test program.

use super::comments::without_comments;
use super::expression::value;
use super::whole::{closing, places};
use super::{is_name, is_part};
use std::collections::BTreeMap;

/// How many definitions, and conditions, may stand in one another.
const DEPTH: usize = 64;

/// Greatest number of bytes that definitions may put in place of names.
const MOST_EXPANDED: usize = 1 << 20;

/// What a name is defined as: text, or nothing that is understood if it takes arguments.
type Macros = BTreeMap<String, Option<String>>;

/// A program without comments, directives and what conditions leave out, names replaced by what
/// they are defined as where they stand.
pub(super) struct Preprocessed {
    macros: Macros,
    expanded: usize,
    pub(super) text: String,
}

/// One `#if` that is open.
struct Condition {
    holds: bool,
    /// Whether none of the branches to come can hold.
    is_decided: bool,
    is_last: bool,
}

impl Preprocessed {
    /// # Errors
    /// A directive that is not understood.
    pub(super) fn of(source: &str) -> Result<Self, String> {
        let mut read = Self {
            macros: Macros::new(),
            expanded: 0,
            text: String::new(),
        };
        let mut open: Vec<Condition> = Vec::new();
        let mut n_left_out = 0_usize;
        for line in without_comments(source).lines() {
            if let Some(directive) = line.trim_start().strip_prefix('#') {
                read.directive(directive.trim(), &mut open, n_left_out == 0)?;
                n_left_out = open.iter().filter(|it| !it.holds).count();
            } else if n_left_out == 0 {
                let line = read.expanded(line)?;
                read.text += &line;
                read.text.push('\n');
            }
        }
        match open.is_empty() {
            true => Ok(read),
            false => Err("a condition is not closed by `#endif`".into()),
        }
    }

    fn directive(
        &mut self,
        directive: &str,
        open: &mut Vec<Condition>,
        is_active: bool,
    ) -> Result<(), String> {
        let (word, rest) = first_word(directive);
        match word {
            "if" | "ifdef" | "ifndef" => {
                if DEPTH < open.len() {
                    return Err(format!("more than {DEPTH} conditions stand in one another"));
                }
                let holds = is_active && self.holds(word, rest)?;
                open.push(Condition {
                    holds,
                    is_decided: holds || !is_active,
                    is_last: false,
                });
            }
            "elif" | "else" => {
                let last = open
                    .last_mut()
                    .ok_or_else(|| format!("there is an `#{word}` without an `#if`"))?;
                if last.is_last {
                    return Err(format!("there is an `#{word}` behind the `#else`"));
                }
                last.holds = !last.is_decided && (word == "else" || self.holds("if", rest)?);
                last.is_decided |= last.holds;
                last.is_last = word == "else";
            }
            "endif" => {
                let ended = open.pop();
                ended.ok_or("there is an `#endif` without an `#if`")?;
            }
            _ if !is_active => {}
            "define" => {
                let (name, behind) = first_word(rest);
                if !is_name(name) {
                    return Err(format!("`#define {rest}` defines no name"));
                }
                let text = (!behind.starts_with('(')).then(|| behind.trim().to_owned());
                self.macros.insert(name.to_owned(), text);
            }
            "undef" => drop(self.macros.remove(first_word(rest).0)),
            "" | "include" | "line" | "pragma" | "warning" => {}
            _ => return Err(format!("the directive `#{directive}` is not understood")),
        }
        Ok(())
    }

    fn holds(&mut self, word: &str, condition: &str) -> Result<bool, String> {
        if word != "if" {
            let is_defined = self.macros.contains_key(first_word(condition).0);
            return Ok(is_defined == (word == "ifdef"));
        }
        let condition = condition.trim();
        let value = value(&self.expanded(condition)?);
        let value =
            value.ok_or_else(|| format!("the condition `{condition}` is not understood"))?;
        Ok(value != 0)
    }

    /// Returns a text with what its names are defined as by now.
    ///
    /// # Errors
    /// There is no end of it.
    pub(super) fn expanded(&mut self, text: &str) -> Result<String, String> {
        let mut expansion = Expansion {
            macros: &self.macros,
            expanded: self.expanded,
            within: Vec::new(),
            result: String::new(),
        };
        expansion.add(text)?;
        self.expanded = expansion.expanded;
        Ok(expansion.result)
    }

    /// Returns whether the program gives that name of a function to something of its own.
    pub(super) fn redefines(&self, function: &str) -> bool {
        self.macros.contains_key(function) || places(&self.text, function).any(is_own)
    }

    /// Returns the definitions that are numbers or names, with what they stand for.
    ///
    /// # Errors
    /// There is no end of one.
    pub(super) fn names(&mut self) -> Result<Vec<(String, String)>, String> {
        let all: Vec<String> = self.macros.keys().cloned().collect();
        let mut plain = Vec::new();
        for name in all {
            let text = self.expanded(&name)?;
            let text = value(&text).map_or(text, |number| number.to_string());
            if text != name && !text.is_empty() && text.chars().all(is_part) {
                plain.push((name, text));
            }
        }
        Ok(plain)
    }
}

/// A text whose names are being replaced.
struct Expansion<'a> {
    macros: &'a Macros,
    expanded: usize,
    /// Names whose texts are being read: they stand for themselves there.
    within: Vec<&'a str>,
    result: String,
}

impl<'a> Expansion<'a> {
    fn add(&mut self, text: &str) -> Result<(), String> {
        let mut rest = text;
        while let Some(at) = rest.find(is_part) {
            self.result += &rest[..at];
            rest = &rest[at..];
            let (word, behind) = rest.split_at(rest.find(|c| !is_part(c)).unwrap_or(rest.len()));
            rest = behind;
            match self.macros.get_key_value(word) {
                Some((name, Some(text))) if !self.within.contains(&name.as_str()) => {
                    self.expanded += 1 + text.len();
                    if MOST_EXPANDED < self.expanded || DEPTH < self.within.len() {
                        return Err(format!(
                            "definitions that stand in one another more than {DEPTH} deep, or for more than {MOST_EXPANDED} bytes, are not read"
                        ));
                    }
                    self.within.push(name);
                    self.add(text)?;
                    self.within.pop();
                }
                _ => self.result += word,
            }
        }
        self.result += rest;
        Ok(())
    }
}

/// Returns whether what stands before and behind the name of a function shows that it is declared
/// there, and not called: a type, parameters in front of a body, or no parameters at all.
fn is_own((before, behind): (&str, &str)) -> bool {
    let word = before.rsplit(|c| !is_part(c)).next().unwrap_or_default();
    let Some(list) = behind.strip_prefix('(') else {
        return true;
    };
    let behind = closing(list).map(|it| list[it + 1..].trim_start());
    let is_body = behind.is_some_and(|it| it.starts_with(|c| c == '{' || is_part(c)));
    is_body || !word.is_empty() && !["return", "else", "do"].contains(&word)
}

/// Returns the word that a text begins with and what stands right behind it.
fn first_word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_at(text.find(|c| !is_part(c)).unwrap_or(text.len()))
}
