//! Namespaces, which C does not have.

use crate::kinds::is_of_word;

/// Returns a text whose functions lie in no namespace, and what it says of namespaces of others
/// (`using namespace nvcuda;`, `namespace cg = cooperative_groups;`). Lines stay where they are.
pub(super) fn without_namespaces(plain: &str) -> (String, Vec<String>) {
    let mut text = plain.to_owned();
    let (mut said, mut own, mut from) = (Vec::new(), Vec::new(), 0);
    while let Some(at) = text[from..].find("namespace").map(|it| from + it) {
        from = at + "namespace".len();
        if text[..at].ends_with(is_of_word) || text[from..].starts_with(is_of_word) {
            continue;
        }
        let before = text[..at].trim_end();
        let start = match before.strip_suffix("using") {
            Some(rest) if !rest.ends_with(is_of_word) => rest.len(),
            _ => at,
        };
        let Some(end) = text[from..].find(['{', ';', '}']).map(|it| from + it) else {
            break;
        };
        let name = text[from..end].trim().to_owned();
        match &text[end..=end] {
            ";" => {
                said.push(text[start..=end].to_owned());
                blank(&mut text, start..end + 1);
            }
            "{" if start == at && name.chars().all(is_of_word) => {
                let Some(close) = closing(&text[end..]).map(|it| end + it) else {
                    break;
                };
                blank(&mut text, close - 1..close);
                blank(&mut text, at..end + 1);
                if !name.is_empty() {
                    text = unqualified(&text, &name);
                    own.push(name);
                }
            }
            _ => {}
        }
    }
    let names_own = |it: &String| {
        let named = it.trim_end_matches(';').split_whitespace().last();
        own.iter().any(|own| named == Some(own))
    };
    said.retain(|it| !names_own(it));
    (text, said)
}

/// Puts blanks in place of a part of a text; lines stay.
pub(super) fn blank(text: &mut String, range: std::ops::Range<usize>) {
    let blanks: String = text[range.clone()]
        .chars()
        .map(|it| if it == '\n' { '\n' } else { ' ' })
        .collect();
    text.replace_range(range, &blanks);
}

/// Returns how far the brace that a text begins with reaches.
pub(super) fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

/// Returns a text without `NAME::`.
fn unqualified(text: &str, name: &str) -> String {
    let mut result = text.to_owned();
    let qualifier = format!("{name}::");
    let places: Vec<usize> = text
        .match_indices(&qualifier)
        .filter(|it| !text[..it.0].ends_with(|c| is_of_word(c) || c == ':'))
        .map(|it| it.0)
        .collect();
    for at in places {
        blank(&mut result, at..at + qualifier.len());
    }
    result
}
