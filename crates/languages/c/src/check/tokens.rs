//! The preprocessing tokens of a C source, without comments.
//!
//! Source: ISO C11, 5.1.1.2 (phases 1 to 3) and 6.4. Line splices and
//! digraphs are understood, so that they hide nothing.

use std::borrow::Cow;

/// The class of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Identifier or keyword.
    Word,
    /// Number.
    Number,
    /// String or character literal, also the name in `<...>` is none of these.
    Literal,
    /// One punctuation character; `#` also for the digraph `%:`.
    Mark(char),
}

/// One token.
#[derive(Clone, Debug)]
pub struct Token<'s> {
    /// The class.
    pub kind: Kind,
    /// The text, line splices removed.
    pub text: Cow<'s, str>,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Whether it is the first token of its logical line.
    pub starts_line: bool,
    /// Number of the logical line, to find the end of a directive.
    pub logical_line: u32,
}

impl Token<'_> {
    /// Returns whether this is the punctuation `mark`.
    pub fn is(&self, mark: char) -> bool {
        self.kind == Kind::Mark(mark)
    }

    /// Returns the word, or an empty text for everything else.
    pub fn word(&self) -> &str {
        if self.kind == Kind::Word {
            &self.text
        } else {
            ""
        }
    }
}

/// Characters with their places, line splices removed.
struct Characters<'s> {
    source: &'s str,
    at: usize,
    line: u32,
    column: u32,
}

impl Characters<'_> {
    fn skip_splices(&mut self) {
        loop {
            let rest = &self.source[self.at..];
            // GCC and clang accept blanks between the backslash and the end of line.
            let Some(after) = rest.strip_prefix('\\') else {
                return;
            };
            let blanks = [' ', '\t', '\r', '\x0b', '\x0c'];
            let blank = after.len() - after.trim_start_matches(blanks).len();
            if !after[blank..].starts_with('\n') {
                return;
            }
            self.at += 1 + blank + 1;
            self.line += 1;
            self.column = 1;
        }
    }

    fn peek(&mut self) -> Option<char> {
        self.skip_splices();
        self.source[self.at..].chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        if next == '\n' {
            self.line += 1;
            self.column = 1;
        } else {
            self.column += 1;
        }
        Some(next)
    }

    fn skip_comment(&mut self) -> bool {
        let (at, line, column) = (self.at, self.line, self.column);
        if self.peek() == Some('/') {
            self.next();
            match self.peek() {
                Some('/') => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.next();
                    }
                    return true;
                }
                Some('*') => {
                    self.next();
                    let mut last = ' ';
                    while let Some(c) = self.next() {
                        if last == '*' && c == '/' {
                            break;
                        }
                        last = c;
                    }
                    return true;
                }
                _ => {}
            }
        }
        (self.at, self.line, self.column) = (at, line, column);
        false
    }
}

/// Returns the tokens of `source`. Never fails: what is no C is punctuation.
pub fn tokens(source: &str) -> Vec<Token<'_>> {
    lex(source, true)
}

/// The same where comments have been taken out before: what looks like one is punctuation.
pub(super) fn tokens_without_comments(source: &str) -> Vec<Token<'_>> {
    lex(source, false)
}

fn lex(source: &str, has_comments: bool) -> Vec<Token<'_>> {
    let mut input = Characters {
        source,
        // A byte-order mark is no token, whatever the first line is.
        at: source.len() - source.trim_start_matches('\u{feff}').len(),
        line: 1,
        column: 1,
    };
    let mut tokens = Vec::new();
    let mut starts_line = true;
    let mut logical_line = 0;
    while let Some(first) = input.peek() {
        if has_comments && input.skip_comment() {
            continue;
        }
        if first == '\n' {
            starts_line = true;
            logical_line += 1;
        }
        if first.is_whitespace() {
            input.next();
            continue;
        }
        let (start, line, column) = (input.at, input.line, input.column);
        let kind = token_kind(&mut input, first);
        let raw = &source[start..input.at];
        let text = if raw.contains('\\') && raw.contains('\n') {
            Cow::Owned(without_splices(raw))
        } else {
            Cow::Borrowed(raw)
        };
        tokens.push(Token {
            kind,
            text,
            line,
            column,
            starts_line,
            logical_line,
        });
        starts_line = false;
    }
    tokens
}

fn token_kind(input: &mut Characters<'_>, first: char) -> Kind {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    input.next();
    match first {
        '"' | '\'' => {
            while let Some(c) = input.peek() {
                // An unterminated literal ends with its line.
                if c == '\n' {
                    break;
                }
                input.next();
                if c == '\\' {
                    input.next();
                } else if c == first {
                    break;
                }
            }
            Kind::Literal
        }
        '%' if input.peek() == Some(':') => {
            input.next();
            Kind::Mark('#')
        }
        '<' if input.peek() == Some('%') => {
            input.next();
            Kind::Mark('{')
        }
        '%' if input.peek() == Some('>') => {
            input.next();
            Kind::Mark('}')
        }
        '<' if input.peek() == Some(':') => {
            input.next();
            Kind::Mark('[')
        }
        ':' if input.peek() == Some('>') => {
            input.next();
            Kind::Mark(']')
        }
        c if c.is_ascii_digit() => {
            while input.peek().is_some_and(|c| is_word(c) || c == '.') {
                input.next();
            }
            Kind::Number
        }
        c if is_word(c) => {
            while input.peek().is_some_and(is_word) {
                input.next();
            }
            Kind::Word
        }
        c => Kind::Mark(c),
    }
}

fn without_splices(raw: &str) -> String {
    let mut input = Characters {
        source: raw,
        at: 0,
        line: 1,
        column: 1,
    };
    std::iter::from_fn(|| input.next()).collect()
}
