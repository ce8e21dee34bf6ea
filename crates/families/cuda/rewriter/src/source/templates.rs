//! Templates of functions that are used with the same numbers and types everywhere.

use super::namespaces::closing;
use crate::kinds::{is_name_of_type, is_of_word, with_word};

/// Returns a text in which such functions have the numbers and types in place of their parameters.
/// Lines stay where they are. Templates that are used otherwise stay as they are.
pub(super) fn without_templates(plain: &str) -> String {
    let mut text = plain.to_owned();
    let mut from = 0;
    while let Some(at) = text[from..].find("template").map(|it| from + it) {
        match instance(&text, at) {
            // What it calls may be a template that was passed over before.
            Some(made) => (text, from) = (made, 0),
            None => from = at + 1,
        }
    }
    text
}

/// Returns the text without the template that begins at `at`.
fn instance(text: &str, at: usize) -> Option<String> {
    if text[..at].ends_with(is_of_word) {
        return None;
    }
    let behind = text[at..].strip_prefix("template")?.trim_start();
    let (list, behind) = behind.strip_prefix('<')?.split_once('>')?;
    let parameters: Vec<&str> = list.split(',').map(name_of).collect::<Option<_>>()?;
    let start = text.len() - behind.len();
    let head = behind.find(['{', ';'])?;
    if behind[head..].starts_with(';') {
        // It has no body here.
        return None;
    }
    let open = start + head;
    let end = open + closing(&text[open..])?;
    let name = function_of(&text[start..open])?;
    let arguments = arguments_of(&text[..at], &text[end..], name)?;
    if arguments.len() != parameters.len() {
        return None;
    }
    let mut function = text[start..end].to_owned();
    for (parameter, argument) in parameters.iter().zip(&arguments) {
        function = with_word(&function, parameter, argument);
    }
    let lines: String = text[at..start].chars().filter(|it| *it == '\n').collect();
    let [before, after] = [&text[..at], &text[end..]].map(|it| plainly_called(it, name));
    Some(before + &lines + &function + &after)
}

/// Returns the name of a parameter: `N` of `const int N = 4`, `T` of `typename T`.
fn name_of(parameter: &str) -> Option<&str> {
    let name = parameter.split('=').next()?.split_whitespace().last()?;
    name.chars().all(is_of_word).then_some(name)
}

/// Returns the name of the function whose head this is, up to its body.
pub(super) fn function_of(head: &str) -> Option<&str> {
    let mut rest = head;
    loop {
        let (before, behind) = rest.split_once('(')?;
        let before = before.trim_end();
        let name = &before[before.trim_end_matches(is_of_word).len()..];
        if name != "__launch_bounds__" {
            return (!name.is_empty()).then_some(name);
        }
        rest = behind.split_once(')')?.1;
    }
}

/// Returns where a name is used with arguments in `<…>`: where it begins, the arguments, and where
/// they end.
fn uses<'t>(text: &'t str, name: &str) -> Vec<(usize, &'t str, usize)> {
    let found = text.match_indices(name).filter_map(|(at, _)| {
        let behind = &text[at + name.len()..];
        let list = behind.trim_start().strip_prefix('<')?;
        let (list, rest) = list.split_once('>')?;
        let is_use = !text[..at].ends_with(is_of_word) && !list.starts_with('<');
        is_use.then_some((at, list, text.len() - rest.len()))
    });
    found.collect()
}

/// Returns the arguments that a function is used with, if they are the same numbers and types of
/// one word everywhere.
fn arguments_of<'t>(before: &'t str, after: &'t str, name: &str) -> Option<Vec<&'t str>> {
    let mut all = [before, after].into_iter().flat_map(|it| uses(it, name));
    let split = |list: &'t str| list.split(',').map(str::trim).collect::<Vec<_>>();
    let first = split(all.next()?.1);
    let is_known = |it: &&str| {
        const TYPES: &[&str] = &["float", "double", "int", "half", "true", "false"];
        it.parse::<u32>().is_ok() || TYPES.contains(it) || is_name_of_type(it)
    };
    (first.iter().all(is_known) && all.all(|it| split(it.1) == first)).then_some(first)
}

/// Returns a text in which a function is used without arguments in `<…>`.
fn plainly_called(text: &str, name: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut from = 0;
    for (at, _, end) in uses(text, name) {
        if from <= at {
            result += &text[from..at + name.len()];
            from = end;
        }
    }
    result + &text[from..]
}
