//! From characters to words.

use super::PtxError;

/// Bytes of the longest text that is read.
const MOST_BYTES: usize = 32 << 20;

/// What a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name, an operation or a number; dots inside belong to it.
    Word,
    /// A word that begins with a dot.
    Directive,
    /// A text in quotes.
    Text,
    /// One character.
    Mark(u8),
    /// Where a call that the compiler dissolved stood (`@[ kernel.cu:7:18 ]`).
    Caller,
}

/// A word with its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind,
    pub(super) text: &'t str,
    pub(super) line: u32,
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'%' | b'.')
}

/// Takes `text` apart.
pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, PtxError> {
    if MOST_BYTES < text.len() {
        return Err(PtxError::unsupported(
            1,
            format!(
                "the text has {} bytes, of which it may have {MOST_BYTES}",
                text.len()
            ),
        ));
    }
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let (mut at, mut line) = (0, 1);
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        match byte {
            b'\n' => {
                line += 1;
                at += 1;
            }
            _ if byte.is_ascii_whitespace() => at += 1,
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                while bytes.get(at).is_some_and(|it| *it != b'\n') {
                    at += 1;
                }
                let comment = text.get(start..at).unwrap_or_default();
                if let Some(place) = comment.rfind("@[ ") {
                    found.push(Token {
                        kind: Kind::Caller,
                        text: comment.get(place + 3..).unwrap_or_default(),
                        line,
                    });
                }
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at += 2;
                while at < bytes.len() && bytes.get(at..at + 2) != Some(b"*/") {
                    line += u32::from(bytes[at] == b'\n');
                    at += 1;
                }
                at += 2;
            }
            b'"' => {
                at += 1;
                while bytes.get(at).is_some_and(|it| *it != b'"') {
                    line += u32::from(bytes[at] == b'\n');
                    at += 1;
                }
                at += 1;
                found.push(Token {
                    kind: Kind::Text,
                    text: text.get(start + 1..at - 1).unwrap_or_default(),
                    line,
                });
            }
            _ if is_word(byte) => {
                loop {
                    match bytes.get(at) {
                        Some(it) if is_word(*it) => at += 1,
                        Some(b':') if bytes.get(at + 1) == Some(&b':') => at += 2,
                        _ => break,
                    }
                }
                found.push(Token {
                    kind: if byte == b'.' {
                        Kind::Directive
                    } else {
                        Kind::Word
                    },
                    text: text.get(start..at).unwrap_or_default(),
                    line,
                });
            }
            _ if byte.is_ascii() => {
                at += 1;
                found.push(Token {
                    kind: Kind::Mark(byte),
                    text: text.get(start..at).unwrap_or_default(),
                    line,
                });
            }
            _ => {
                return Err(PtxError::new(line, "a character that is not ASCII"));
            }
        }
    }
    Ok(found)
}
