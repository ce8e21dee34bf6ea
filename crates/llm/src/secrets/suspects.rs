//! Finds words that look like keys, for texts of the user's own: a model string
//! or a line of a settings file should hold none.

use std::ops::Range;

/// Shorter words are not taken for keys.
const SHORTEST: usize = 16;

/// How keys of well-known services begin.
const BEGINNINGS: &[&str] = &[
    "sk-",
    "sk_",
    "rk_",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "gsk_",
    "xai-",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "hf_",
    "nvapi-",
    "pplx-",
    "r8_",
    "tgp_",
    "eyJ",
];

/// Parts of names after which a key stands.
const NAMES: &[&str] = &[
    "key",
    "token",
    "secret",
    "passw",
    "credential",
    "authorization",
    "bearer",
    "auth",
];

/// Ends of names after which something else stands, whatever the rest says.
const HARMLESS_ENDS: &[&str] = &["file", "path", "dir", "name", "env", "id", "url"];

/// Returns the words of `text` that look like keys.
pub(super) fn suspects(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = None;
    let ends = text.char_indices().chain([(text.len(), ' ')]);
    for (idx, char) in ends {
        let is_word = char.is_ascii_alphanumeric() || "-_.+/~".contains(char);
        match (start, is_word) {
            (None, true) => start = Some(idx),
            (Some(begin), false) => {
                if is_suspect(text, begin..idx) {
                    found.push(begin..idx);
                }
                start = None;
            }
            _ => {}
        }
    }
    found
}

fn is_suspect(text: &str, word: Range<usize>) -> bool {
    let before = &text[..word.start];
    let word = &text[word];
    if word.len() < SHORTEST || word.starts_with(['/', '.', '~']) {
        return false;
    }
    if BEGINNINGS
        .iter()
        .any(|beginning| word.starts_with(beginning))
    {
        return true;
    }
    let has = |is: fn(&char) -> bool| word.chars().any(|char| is(&char));
    has(char::is_ascii_digit) && has(char::is_ascii_alphabetic) && names_a_key(before)
}

/// Returns whether the text ends with the name of a key, as in `--api-key=`,
/// `token: "` and `Bearer `.
fn names_a_key(before: &str) -> bool {
    let before =
        before.trim_end_matches(|char: char| char.is_whitespace() || "=:\"'".contains(char));
    let begin = before
        .rfind(|char: char| !(char.is_ascii_alphanumeric() || "-_".contains(char)))
        .map_or(0, |at| at + 1);
    // `rfind` may have stopped at a character of several bytes.
    let name = before.get(begin..).unwrap_or_default().to_ascii_lowercase();
    NAMES.iter().any(|part| name.contains(part))
        && !HARMLESS_ENDS.iter().any(|end| name.ends_with(end))
}
