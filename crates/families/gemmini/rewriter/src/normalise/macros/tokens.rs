//! Pieces of C text, as macros see them.

use std::collections::BTreeMap;
use std::ops::Range;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    /// Anything else that has no blank in it.
    Mark(String),
    Blank,
}

impl Token {
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Word(text) | Self::Mark(text) => text,
            Self::Blank => " ",
        }
    }
}

/// Returns the arguments of a use whose opening parenthesis follows `idx`, and where it ends.
pub(super) fn arguments(tokens: &[Token], mut idx: usize) -> Option<(Vec<Vec<Token>>, usize)> {
    while tokens.get(idx) == Some(&Token::Blank) {
        idx += 1;
    }
    if tokens.get(idx)?.text() != "(" {
        return None;
    }
    let mut depth = 1;
    let mut arguments = vec![Vec::new()];
    loop {
        idx += 1;
        let token = tokens.get(idx)?;
        match token.text() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            "," if depth == 1 => {
                arguments.push(Vec::new());
                continue;
            }
            _ => {}
        }
        if depth == 0 {
            arguments.iter_mut().for_each(trim);
            return Some((arguments, idx + 1));
        }
        arguments.last_mut()?.push(token.clone());
    }
}

/// Puts arguments (as written, and expanded) in the places of parameters and joins what `##` joins.
pub(super) fn paste(
    body: &[Token],
    values: &BTreeMap<String, (Vec<Token>, Vec<Token>)>,
) -> Result<Vec<Token>, String> {
    let mut result: Vec<Token> = Vec::new();
    let mut join = false;
    for (idx, token) in body.iter().enumerate() {
        if token.text() == "##" {
            while result.last() == Some(&Token::Blank) {
                result.pop();
            }
            join = true;
            continue;
        }
        if token.text() == "#" && !values.is_empty() {
            return Err("a macro makes a string of its argument".to_owned());
        }
        if join && *token == Token::Blank {
            continue;
        }
        let joins_next = body[idx + 1..]
            .iter()
            .find(|next| **next != Token::Blank)
            .is_some_and(|next| next.text() == "##");
        let mut piece = match values.get(token.text()) {
            Some((raw, _)) if join || joins_next => raw.clone(),
            Some((_, full)) => full.clone(),
            None => vec![token.clone()],
        };
        if join && !piece.is_empty() {
            let right = piece.remove(0);
            let left = result
                .pop()
                .map_or_else(String::new, |left| left.text().to_owned());
            result.push(self::token(&format!("{left}{}", right.text())));
        }
        join = false;
        result.extend(piece);
    }
    Ok(result)
}

pub(super) fn token(text: &str) -> Token {
    let first = text.chars().next().unwrap_or(' ');
    if text.trim().is_empty()
        || text.starts_with("//")
        || text.starts_with("/*")
        || text.starts_with('\\')
    {
        Token::Blank
    } else if first.is_ascii_alphabetic() || first == '_' {
        Token::Word(text.to_owned())
    } else {
        Token::Mark(text.to_owned())
    }
}

pub(super) fn trim(tokens: &mut Vec<Token>) {
    while tokens.last() == Some(&Token::Blank) {
        tokens.pop();
    }
    let blanks = tokens
        .iter()
        .take_while(|token| **token == Token::Blank)
        .count();
    tokens.drain(..blanks);
}

/// Returns the range of the next piece of C text: a word, a number, a blank,
/// a line end, a comment, a literal or a mark.
pub(super) fn next_piece(source: &str, start: usize) -> Option<Range<usize>> {
    let rest = source.get(start..)?;
    let first = rest.chars().next()?;
    let run =
        |accept: &dyn Fn(char) -> bool| rest.find(|letter| !accept(letter)).unwrap_or(rest.len());
    let length = if first == '\n' {
        1
    } else if first == '\\' {
        // A line that goes on.
        let blanks = rest[1..].len() - rest[1..].trim_start_matches([' ', '\t', '\r']).len();
        match rest[1 + blanks..].starts_with('\n') {
            true => blanks + 2,
            false => 1,
        }
    } else if first.is_whitespace() {
        run(&|letter| letter.is_whitespace() && letter != '\n')
    } else if first.is_ascii_alphabetic() || first == '_' {
        run(&|letter| letter.is_ascii_alphanumeric() || letter == '_')
    } else if first.is_ascii_digit() {
        run(&|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '.')
    } else if rest.starts_with("//") {
        rest.find('\n').unwrap_or(rest.len())
    } else if rest.starts_with("/*") {
        rest.find("*/").map_or(rest.len(), |end| end + 2)
    } else if first == '"' || first == '\'' {
        let mut escaped = false;
        let close = rest[1..].find(|letter| {
            let closes = letter == first && !escaped;
            escaped = letter == '\\' && !escaped;
            closes || letter == '\n'
        });
        close.map_or(rest.len(), |close| close + 2).min(rest.len())
    } else if rest.starts_with("##") {
        2
    } else if rest.starts_with("...") {
        3
    } else {
        first.len_utf8()
    };
    let mut end = start + length;
    while !source.is_char_boundary(end) {
        end += 1;
    }
    Some(start..end)
}
