//! Expands the macros that a source defines.
//!
//! Directives become blank lines and every expansion stays on the line of its
//! use, so that lines keep their numbers. Only what the source itself defines
//! is expanded; names that the target's header gives are constants and
//! commands of their own.

mod conditions;
mod tokens;

use conditions::decide;
use std::collections::BTreeMap;
use std::ops::Range;
use tokens::{Token, arguments, next_piece, paste, token, trim};

/// The longest text that macros may make, in bytes.
const TEXT_LIMIT: usize = 1 << 20;
/// The deepest nesting of macros in macros.
const DEPTH_LIMIT: usize = 24;

/// Why macros could not be expanded: a line and the reason.
pub(crate) type Refusal = (usize, String);

#[derive(Clone, Debug)]
struct Macro {
    /// Absent for a macro without parentheses.
    parameters: Option<Vec<String>>,
    body: Vec<Token>,
}

/// Expands the macros of `source`; the text has as many lines.
pub fn expand(source: &str) -> Result<String, Refusal> {
    let mut expander = Expander {
        source,
        macros: BTreeMap::new(),
        result: String::with_capacity(source.len()),
        taken: Vec::new(),
    };
    expander.run()?;
    Ok(expander.result)
}

struct Expander<'source> {
    source: &'source str,
    macros: BTreeMap<String, Macro>,
    result: String,
    /// Open conditionals: whether this branch is taken, and whether one was.
    taken: Vec<(bool, bool)>,
}

impl Expander<'_> {
    fn run(&mut self) -> Result<(), Refusal> {
        let mut position = 0;
        let mut line_begins = true;
        while let Some(piece) = next_piece(self.source, position) {
            let text = &self.source[piece.clone()];
            if line_begins && text == "#" {
                position = self.directive(piece.start)?;
                continue;
            }
            position = piece.end;
            line_begins = text == "\n" || (line_begins && text.trim().is_empty());
            if !self.taken.iter().all(|(taken, _)| *taken) {
                self.keep_lines(piece);
                continue;
            }
            match self.macros.get(text) {
                Some(_) => position = self.invocation(piece)?,
                None => self.result.push_str(text),
            }
            if TEXT_LIMIT < self.result.len() {
                return Err(self.refuse(position, "macros make more than a mebibyte of text"));
            }
        }
        Ok(())
    }

    fn keep_lines(&mut self, piece: Range<usize>) {
        let lines = self.source[piece].matches('\n').count();
        self.result.extend(std::iter::repeat_n('\n', lines));
    }

    fn refuse(&self, position: usize, reason: &str) -> Refusal {
        let before = &self.source[..position.min(self.source.len())];
        (before.matches('\n').count() + 1, reason.to_owned())
    }

    /// Reads a directive that begins at `start`; returns where it ends.
    fn directive(&mut self, start: usize) -> Result<usize, Refusal> {
        let mut end = start;
        let mut tokens = Vec::new();
        while let Some(piece) = next_piece(self.source, end) {
            let text = &self.source[piece.clone()];
            if text == "\n" {
                break;
            }
            end = piece.end;
            tokens.push(token(text));
        }
        self.keep_lines(start..end);
        tokens.remove(0);
        trim(&mut tokens);
        let keyword = tokens.first().map(|token| token.text().to_owned());
        let mut rest = tokens.get(1..).unwrap_or_default().to_vec();
        let open = self.taken.iter().all(|(taken, _)| *taken);
        match keyword.as_deref() {
            Some("define") if open => self.define(&rest),
            Some("undef") if open => {
                trim(&mut rest);
                if let Some(name) = rest.first() {
                    self.macros.remove(name.text());
                }
            }
            Some("ifdef" | "ifndef") => {
                trim(&mut rest);
                let name = rest.first().map_or("", Token::text);
                let known = self.macros.contains_key(name) || name == "DIM";
                let taken = known == (keyword.as_deref() == Some("ifdef"));
                self.taken.push((taken, taken));
            }
            Some("if") => {
                let taken = !open || self.holds(&rest, start)?;
                self.taken.push((taken, taken));
            }
            Some("elif") => {
                let Some((_, done)) = self.taken.pop() else {
                    return Err(self.refuse(start, "`#elif` without `#if`"));
                };
                let outer = self.taken.iter().all(|(taken, _)| *taken);
                let taken = !done && outer && self.holds(&rest, start)?;
                self.taken.push((taken, done || taken));
            }
            Some("else") => match self.taken.last_mut() {
                Some((taken, done)) => {
                    *taken = !*done;
                    *done = true;
                }
                None => return Err(self.refuse(start, "`#else` without `#if`")),
            },
            Some("endif") => {
                self.taken.pop();
            }
            _ => {}
        }
        Ok(end)
    }

    fn define(&mut self, rest: &[Token]) {
        let mut rest = rest.to_vec();
        while rest.first() == Some(&Token::Blank) {
            rest.remove(0);
        }
        let Some(Token::Word(name)) = rest.first().cloned() else {
            return;
        };
        rest.remove(0);
        let mut parameters = None;
        if rest.first().map(Token::text) == Some("(")
            && let Some(close) = rest.iter().position(|token| token.text() == ")")
        {
            let names = rest[1..close].iter().filter_map(|token| match token {
                Token::Word(name) => Some(name.clone()),
                Token::Mark(mark) if mark == "..." => Some("__VA_ARGS__".to_owned()),
                _ => None,
            });
            parameters = Some(names.collect());
            rest.drain(..=close);
        }
        trim(&mut rest);
        self.macros.insert(
            name,
            Macro {
                parameters,
                body: rest,
            },
        );
    }

    /// Decides the condition of an `#if`.
    fn holds(&self, condition: &[Token], start: usize) -> Result<bool, Refusal> {
        let mut plain = Vec::new();
        let mut words = condition.iter().filter(|token| **token != Token::Blank);
        while let Some(token) = words.next() {
            if token.text() != "defined" {
                plain.push(token.clone());
                continue;
            }
            let name = words.find(|token| matches!(token, Token::Word(_)));
            let known = name.is_some_and(|name| self.macros.contains_key(name.text()));
            plain.push(Token::Mark(u8::from(known).to_string()));
            if words.clone().next().map(Token::text) == Some(")") {
                words.next();
            }
        }
        let expanded = self
            .replace(&plain, &mut Vec::new())
            .map_err(|reason| self.refuse(start, &reason))?;
        let texts: Vec<&str> = expanded
            .iter()
            .map(Token::text)
            .filter(|text| *text != " ")
            .collect();
        decide(&texts)
            .ok_or_else(|| self.refuse(start, "the condition of this directive cannot be decided"))
    }

    /// Expands the macro named at `piece`; returns where its use ends.
    fn invocation(&mut self, piece: Range<usize>) -> Result<usize, Refusal> {
        let name = &self.source[piece.clone()];
        let mut end = piece.end;
        let mut tokens = vec![token(name)];
        if self.macros[name].parameters.is_some() {
            let mut depth = 0;
            let mut ahead = end;
            while let Some(next) = next_piece(self.source, ahead) {
                let text = &self.source[next.clone()];
                ahead = next.end;
                tokens.push(token(text));
                match text {
                    "(" => depth += 1,
                    ")" => depth -= 1,
                    _ if depth == 0 && !text.trim().is_empty() => break,
                    _ => {}
                }
                if depth == 0 && text == ")" {
                    end = ahead;
                    break;
                }
            }
            if end == piece.end {
                // A name without arguments is no use of the macro.
                self.result.push_str(name);
                return Ok(end);
            }
        }
        let expanded = self
            .replace(&tokens, &mut Vec::new())
            .map_err(|reason| self.refuse(piece.start, &reason))?;
        let mut blank = false;
        for token in &expanded {
            if !(blank && *token == Token::Blank) {
                self.result.push_str(token.text());
            }
            blank = *token == Token::Blank;
        }
        self.keep_lines(piece.start..end);
        Ok(end)
    }

    /// Expands every macro among `tokens` but those that are `open`.
    fn replace(&self, tokens: &[Token], open: &mut Vec<String>) -> Result<Vec<Token>, String> {
        if DEPTH_LIMIT < open.len() {
            return Err("macros nest too deeply".to_owned());
        }
        let mut result = Vec::new();
        let mut idx = 0;
        while let Some(token) = tokens.get(idx) {
            idx += 1;
            let found = match token {
                Token::Word(name) if !open.contains(name) => self.macros.get(name),
                _ => None,
            };
            let Some(found) = found else {
                result.push(token.clone());
                continue;
            };
            let body = match &found.parameters {
                None => paste(&found.body, &BTreeMap::new())?,
                Some(parameters) => {
                    let Some((arguments, after)) = arguments(tokens, idx) else {
                        result.push(token.clone());
                        continue;
                    };
                    idx = after;
                    let mut values = BTreeMap::new();
                    for (place, parameter) in parameters.iter().enumerate() {
                        let raw = if parameter == "__VA_ARGS__" {
                            arguments
                                .get(place..)
                                .unwrap_or_default()
                                .join(&Token::Mark(",".to_owned()))
                        } else {
                            arguments.get(place).cloned().unwrap_or_default()
                        };
                        let full = self.replace(&raw, open)?;
                        values.insert(parameter.clone(), (raw, full));
                    }
                    paste(&found.body, &values)?
                }
            };
            open.push(token.text().to_owned());
            let inner = self.replace(&body, open)?;
            open.pop();
            result.extend(inner);
            if TEXT_LIMIT < result.len() {
                return Err("macros make more than a mebibyte of text".to_owned());
            }
        }
        Ok(result)
    }
}
