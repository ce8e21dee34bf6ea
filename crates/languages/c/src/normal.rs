//! A form of C that kernels share which differ in nothing but comments, spaces
//! and the names of their own variables.

use std::collections::{BTreeMap, BTreeSet};

/// Signs of two and three characters, the longer ones first.
const SIGNS: [&str; 24] = [
    "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=",
    "-=", "*=", "/=", "%=", "&=", "|=", "^=", "##", "::",
];

/// Words behind which a name is used, not declared.
const USES: [&str; 9] = [
    "return", "sizeof", "else", "case", "goto", "do", "struct", "union", "enum",
];

/// Words that types are made of, besides names that end with `_t`.
const TYPES: [&str; 13] = [
    "void", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "_Bool",
    "bool", "const", "volatile",
];

/// What makes a text depend on its own lines or on the names in it.
const REFLECTIONS: [&str; 4] = ["__LINE__", "__COUNTER__", "__FILE__", "__func__"];

/// A token, or the end of a directive's line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'s> {
    Word(&'s str),
    Other(&'s str),
    LineEnd,
}

/// Returns the form of `source` that is the same for all kernels which differ
/// only in comments, in spaces and lines, and in how they call the variables that
/// they declare; nothing if the text looks at its own lines or names.
///
/// Two texts of equal form are the same program. The converse does not hold: of
/// names it only takes those for variables whose declaration is unmistakable, and
/// a name that is declared several times is one name.
pub fn normal_form(source: &str) -> Option<String> {
    let source = source.replace("\r\n", "\n").replace("\\\n", " ");
    if REFLECTIONS.iter().any(|word| source.contains(word)) {
        return None;
    }
    let tokens = tokens(&source);
    // Macros may make texts of names.
    let is_plain = |token: &Token<'_>| *token != Token::Other("##");
    let declared = if tokens.iter().all(is_plain) && !has_stringification(&tokens) {
        declared(&tokens)
    } else {
        BTreeSet::new()
    };
    let mut names: BTreeMap<&str, String> = BTreeMap::new();
    let mut form = String::with_capacity(source.len());
    for (idx, token) in tokens.iter().enumerate() {
        match token {
            Token::LineEnd => form.push('\n'),
            Token::Other(text) => push(&mut form, text),
            Token::Word(word) => {
                let is_member = idx
                    .checked_sub(1)
                    .is_some_and(|before| matches!(tokens[before], Token::Other("." | "->")));
                if is_member || !declared.contains(word) {
                    push(&mut form, word);
                    continue;
                }
                let number = names.len();
                let name = names.entry(word).or_insert_with(|| format!("${number}"));
                push(&mut form, name);
            }
        }
    }
    Some(form)
}

fn push(form: &mut String, token: &str) {
    if !form.is_empty() && !form.ends_with('\n') {
        form.push(' ');
    }
    form.push_str(token);
}

/// Returns the names whose declaration is unmistakable: a name behind another
/// one, or behind the stars of a type, that is not called.
fn declared<'s>(tokens: &[Token<'s>]) -> BTreeSet<&'s str> {
    let is_type = |word: &str| TYPES.contains(&word) || word.ends_with("_t");
    let mut declared = BTreeSet::new();
    for (idx, token) in tokens.iter().enumerate() {
        let (Token::Word(word), Some(next)) = (token, tokens.get(idx + 1)) else {
            continue;
        };
        let is_declarator = matches!(next, Token::Other("=" | ";" | "," | "[" | ")"));
        if !is_declarator || is_type(word) || word.starts_with(|c: char| c.is_ascii_digit()) {
            continue;
        }
        let before = tokens[..idx]
            .iter()
            .rposition(|it| *it != Token::Other("*"));
        let Some(Token::Word(before_word)) = before.map(|at| tokens[at]) else {
            continue;
        };
        let has_stars = before != idx.checked_sub(1);
        if (has_stars && is_type(before_word)) || (!has_stars && !USES.contains(&before_word)) {
            declared.insert(*word);
        }
    }
    // What is called anywhere may be a function or a macro of the header.
    for pair in tokens.windows(2) {
        if let [Token::Word(word), Token::Other("(")] = pair {
            declared.remove(word);
        }
    }
    // So may be what a directive defines.
    for triple in tokens.windows(3) {
        if let [Token::Other("#"), Token::Word(_), Token::Word(word)] = triple {
            declared.remove(word);
        }
    }
    declared
}

/// Returns whether a directive makes a text of something: it has a second `#`.
fn has_stringification(tokens: &[Token<'_>]) -> bool {
    let mut lines = tokens.split(|token| *token == Token::LineEnd);
    lines.any(|line| {
        let signs = line.iter().filter(|token| **token == Token::Other("#"));
        1 < signs.count()
    })
}

/// Splits a text into tokens; comments and spaces are left out, and lines end
/// only where directives begin or end.
fn tokens(source: &str) -> Vec<Token<'_>> {
    let bytes = source.as_bytes();
    let mut tokens = Vec::new();
    let mut in_directive = false;
    let mut idx = 0;
    while idx < bytes.len() {
        let rest = &source[idx..];
        let first = bytes[idx];
        if first == b'\n' && in_directive {
            tokens.push(Token::LineEnd);
            in_directive = false;
        }
        let length = if first.is_ascii_whitespace() {
            1
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.find("*/").map_or(rest.len(), |end| end + 4)
        } else if first == b'"' || first == b'\'' {
            let end = literal_end(rest.as_bytes(), first);
            tokens.push(Token::Other(&rest[..end]));
            end
        } else if first.is_ascii_alphanumeric() || first == b'_' || !first.is_ascii() {
            let is_of_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
            let is_number = first.is_ascii_digit();
            let end = rest
                .find(|c: char| c.is_ascii() && (!is_of_word(c) || (c == '.' && !is_number)))
                .unwrap_or(rest.len());
            tokens.push(Token::Word(&rest[..end]));
            end
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
            let sign = sign.map_or(&rest[..1], |sign| &rest[..sign.len()]);
            let is_first = sign == "#" && !in_directive;
            if is_first {
                if !tokens.is_empty() && tokens.last() != Some(&Token::LineEnd) {
                    tokens.push(Token::LineEnd);
                }
                in_directive = true;
            }
            tokens.push(Token::Other(sign));
            sign.len()
        };
        idx += length;
    }
    tokens
}

/// Returns the end of a literal; an unclosed one ends with its line.
fn literal_end(bytes: &[u8], quote: u8) -> usize {
    let mut idx = 1;
    while idx < bytes.len() && bytes[idx] != b'\n' {
        match bytes[idx] {
            b'\\' => idx += 2,
            byte if byte == quote => return idx + 1,
            _ => idx += 1,
        }
    }
    // Not in the middle of a character.
    let mut end = idx.min(bytes.len());
    while end < bytes.len() && bytes[end] & 0xc0 == 0x80 {
        end += 1;
    }
    end
}
