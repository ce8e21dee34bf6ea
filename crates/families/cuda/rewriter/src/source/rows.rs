//! Parameters of the host function that are arrays of rows, as the signature of a problem spells
//! them: `float x[4][8]` and `float (*x)[8]` become `float *x`, and `&x[0][0]`, `x[0]` and `*x` become
//! `x`. Lines and places stay where they are.

use super::launchers::{definitions, words};
use crate::kinds::{is_of_word, with_word};
use std::ops::Range;

/// Returns a text whose function `entry` has pointers to elements for arrays of rows. A text that
/// uses such an array otherwise is left as it is.
pub(super) fn without_rows(plain: &str, entry: &str) -> String {
    flattened(plain, entry).unwrap_or_else(|| plain.to_owned())
}

fn flattened(plain: &str, entry: &str) -> Option<String> {
    let (parameters, body) = parts_of(plain, entry)?;
    let mut text = plain.to_owned();
    let mut start = parameters.start;
    let mut names = Vec::new();
    for parameter in plain[parameters].split(',') {
        let range = start..start + parameter.len();
        start = range.end + 1;
        if let Some((name, n_subscripts, made)) = pointer(parameter) {
            let padded = format!("{made:width$}", width = parameter.len());
            text.replace_range(range, &padded);
            names.push((name, n_subscripts));
        }
    }
    for (name, n_subscripts) in names {
        let zeros = |count: usize| "[0]".repeat(count);
        let element = format!("&{name}{}", zeros(n_subscripts));
        let row = format!("{name}{}", zeros(n_subscripts - 1));
        for spelling in [element, row, format!("*{name}")] {
            let padded = format!("{name:width$}", width = spelling.len());
            let made = with_word(&text[body.clone()], &spelling, &padded);
            text.replace_range(body.clone(), &made);
        }
        // An element that the host function uses itself.
        let own = &text[body.clone()];
        let mut uses = words(own).filter(|it| it.1 == name);
        if uses.any(|(at, _)| own[at + name.len()..].trim_start().starts_with('[')) {
            return None;
        }
    }
    Some(text)
}

/// Returns where the parameters of a function stand, and its body.
fn parts_of(text: &str, entry: &str) -> Option<(Range<usize>, Range<usize>)> {
    let mut definitions = definitions(text).into_iter();
    let (_, head, body) = definitions.find(|it| it.0 == entry)?;
    let (before, _) = text[head.clone()].split_once('(')?;
    let list = text[head.clone()].trim_end().strip_suffix(')')?;
    Some((head.start + before.len() + 1..head.start + list.len(), body))
}

/// Returns the name of an array of rows, how many subscripts an element has, and the parameter as
/// a pointer to elements.
fn pointer(parameter: &str) -> Option<(String, usize, String)> {
    let (before, sizes) = parameter.split_at(parameter.find('[')?);
    let n_sizes = sizes.matches('[').count();
    let (kind, name, n_subscripts) = match before.trim_end().strip_suffix(')') {
        Some(before) => {
            let (kind, name) = before.split_once("(*")?;
            (kind, name.trim(), n_sizes + 1)
        }
        None => {
            let before = before.trim_end();
            let at = before.rfind(|c: char| !is_of_word(c))? + 1;
            (&before[..at], &before[at..], n_sizes)
        }
    };
    let is_rows = 1 < n_subscripts && !name.is_empty() && name.chars().all(is_of_word);
    is_rows.then(|| (name.to_owned(), n_subscripts, format!("{}*{name}", kind)))
}
