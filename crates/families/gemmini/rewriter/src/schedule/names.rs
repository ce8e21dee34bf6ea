//! Keeps the variables that are written apart from arrays of the same name.

use crate::lift::Lifted;

/// Stands before the names of arrays until everything is written.
const MARK: char = '@';

/// Returns the same with marks before the names of arrays.
pub(super) fn marked(lifted: &Lifted) -> Lifted {
    let mut marked = lifted.clone();
    for memory in &mut marked.memories {
        memory.name.insert(0, MARK);
    }
    marked
}

/// Returns code without marks: a variable that has the name of an array gets another one.
pub(super) fn apart(code: &str) -> String {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let is_array = |name: &str| {
        let marked = format!("{MARK}{name}");
        code.match_indices(&marked)
            .any(|(at, _)| !code[at + marked.len()..].starts_with(is_part))
    };
    let variables = code.split("int ").skip(1);
    let variables = variables.filter_map(|rest| rest.split(|it| !is_part(it)).next());
    let taken: Vec<&str> = variables.filter(|name| is_array(name)).collect();
    let mut text = String::new();
    let mut rest = code;
    while let Some(start) = rest.find(is_part) {
        let (before, tail) = rest.split_at(start);
        let end = tail.find(|it| !is_part(it)).unwrap_or(tail.len());
        let word = &tail[..end];
        text.push_str(before.strip_suffix(MARK).unwrap_or(before));
        text.push_str(word);
        if taken.contains(&word) && !before.ends_with(MARK) {
            text.push_str("_block");
        }
        rest = &tail[end..];
    }
    text.push_str(rest);
    text
}
