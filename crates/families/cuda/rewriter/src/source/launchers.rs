//! Functions of the host that launch, which become parts of the host function that calls them.

use super::namespaces::{blank, closing};
use super::templates::function_of;
use crate::kinds::is_of_word;
use std::ops::Range;

/// How many calls become what they call.
const MOST: usize = 16;

/// A function of the host that launches.
struct Launcher {
    name: String,
    /// From its type to its last brace.
    all: Range<usize>,
    /// Between its braces.
    body: Range<usize>,
    parameters: Vec<Parameter>,
}

struct Parameter {
    name: String,
    is_array: bool,
    is_float: bool,
}

/// Returns a text whose function `entry` holds what other functions of the host launch, each call
/// in braces of its own. Lines stay where they are. A text with a call that cannot become what it
/// calls is left as it is.
pub(super) fn without_launchers(plain: &str, entry: &str) -> String {
    dissolved(plain, entry).unwrap_or_else(|| plain.to_owned())
}

fn dissolved(plain: &str, entry: &str) -> Option<String> {
    let mut text = plain.to_owned();
    for _ in 0..MOST {
        let functions = functions(&text);
        let own = functions.iter().find(|it| it.name == entry)?;
        let mut calls = functions
            .iter()
            .filter(|it| it.name != entry)
            .filter_map(|it| Some((it, call_of(&text, own.body.clone(), &it.name)?)));
        let Some((launcher, (call, arguments))) = calls.next() else {
            return Some(without_unused(text, entry));
        };
        let body = launcher.with(&text[launcher.body.clone()], &arguments)?;
        let lines = text[call.clone()].matches('\n').count();
        let made = format!("{{ {} }}{}", body.replace('\n', " "), "\n".repeat(lines));
        text.replace_range(call, &made);
    }
    None
}

/// Returns a text without functions of the host that nobody calls: what they launch may be gone.
fn without_unused(mut text: String, entry: &str) -> String {
    loop {
        let functions = functions(&text);
        let unused = functions.into_iter().find(|own| {
            let mut names = words(&text);
            own.name != entry && !names.any(|it| it.1 == own.name && !own.all.contains(&it.0))
        });
        match unused {
            Some(own) => blank(&mut text, own.all),
            None => return text,
        }
    }
}

/// Returns the functions of a file that are no kernels.
fn functions(text: &str) -> Vec<Launcher> {
    let of_device = ["__global__", "__device__", "template", "="];
    let launcher = |(name, head, body): (&str, Range<usize>, Range<usize>)| {
        let all = head.start..body.end + 1;
        let head = &text[head];
        if of_device.iter().any(|it| head.contains(it)) {
            return None;
        }
        Some(Launcher {
            name: name.to_owned(),
            all,
            body,
            parameters: parameters(head, name)?,
        })
    };
    definitions(text).into_iter().filter_map(launcher).collect()
}

/// Returns the functions that a file defines: names, heads, and what stands between their braces.
pub(super) fn definitions(text: &str) -> Vec<(&str, Range<usize>, Range<usize>)> {
    let mut found = Vec::new();
    let (mut start, mut at) = (0, 0);
    while let Some(next) = text[at..].find(['{', ';', '}']).map(|it| at + it) {
        at = next + 1;
        if text[next..].starts_with('{') {
            let Some(end) = closing(&text[next..]).map(|it| next + it) else {
                break;
            };
            at = end;
            let head = &text[start..next];
            let start = start + head.len() - head.trim_start().len();
            if let Some(name) = function_of(head) {
                found.push((name, start..next, next + 1..end - 1));
            }
        }
        start = at;
    }
    found
}

/// Reads the parameters of the function `name` in its head.
fn parameters(head: &str, name: &str) -> Option<Vec<Parameter>> {
    let (_, list) = head.split_once(name)?.1.split_once('(')?;
    let list = list.trim_end().strip_suffix(')')?;
    let of = |text: &str| {
        let name = text.trim_end_matches(['[', ']', ' ']);
        let name = &name[name.trim_end_matches(is_of_word).len()..];
        let is_array = text.contains(['*', '[']);
        let is_float = !is_array && words(text).any(|it| ["float", "double"].contains(&it.1));
        (!name.is_empty() && !text.contains(['(', '&', '='])).then(|| Parameter {
            name: name.to_owned(),
            is_array,
            is_float,
        })
    };
    match list.trim() {
        "" | "void" => Some(Vec::new()),
        list => list.split(',').map(of).collect(),
    }
}

/// Returns where a statement in `body` calls a function, and with what.
fn call_of(text: &str, body: Range<usize>, name: &str) -> Option<(Range<usize>, Vec<String>)> {
    let within = words(text).filter(|it| body.contains(&it.0) && it.1 == name);
    let mut calls = within.filter_map(|(at, _)| {
        let is_statement = text[..at].trim_end().ends_with(['{', ';', '}']);
        let behind = text[at + name.len()..].trim_start().strip_prefix('(')?;
        let (mut depth, mut arguments, mut own) = (0, Vec::new(), String::new());
        let mut length = None;
        for (at, c) in behind.char_indices() {
            match c {
                ')' if depth == 0 => {
                    length = Some(at);
                    break;
                }
                ',' if depth == 0 => arguments.push(std::mem::take(&mut own)),
                _ => {
                    depth += i32::from(c == '(') - i32::from(c == ')');
                    own.push(c);
                }
            }
        }
        arguments.push(own);
        let rest = behind[length? + 1..].trim_start().strip_prefix(';')?;
        let arguments = arguments.iter().map(|it| it.trim().to_owned());
        is_statement.then(|| {
            let arguments = arguments.filter(|it| !it.is_empty()).collect();
            (at..text.len() - rest.len(), arguments)
        })
    });
    calls.next()
}

impl Launcher {
    /// Returns its body with arguments in place of its parameters.
    fn with(&self, body: &str, arguments: &[String]) -> Option<String> {
        if arguments.len() != self.parameters.len() {
            return None;
        }
        let mut values = Vec::new();
        for (parameter, argument) in self.parameters.iter().zip(arguments) {
            let is_word = argument.chars().all(is_of_word);
            let is_number = argument.parse::<i64>().is_ok();
            let is_literal = argument.contains(['.', 'e'])
                && argument.trim_end_matches(['f', 'F']).parse::<f64>().is_ok();
            let uncast = argument.strip_prefix('(').and_then(|it| it.split_once(')'));
            let is_cast = uncast.is_some_and(|(kind, name)| {
                let name = name.trim();
                kind.trim_end().ends_with('*') && !name.is_empty() && name.chars().all(is_of_word)
            });
            // A whole number in place of one of floats would be divided otherwise.
            let is_plain = match parameter {
                Parameter { is_array: true, .. } => is_word && !is_number || is_cast,
                Parameter { is_float: true, .. } => is_word && !is_number || is_literal,
                _ => !argument.contains(['.', '"']),
            };
            if !is_plain || words(argument).any(|it| self.declares(body, it.1)) {
                return None;
            }
            values.push(match is_word || is_literal || is_cast {
                true => argument.clone(),
                false => format!("({argument})"),
            });
        }
        let (mut made, mut from) = (String::new(), 0);
        for (at, word) in words(body) {
            let is_field = body[..at].trim_end().ends_with(['.', '>']) && {
                let before = body[..at].trim_end();
                before.ends_with('.') || before.ends_with("->")
            };
            let place = self.parameters.iter().position(|it| it.name == word);
            if let (Some(place), false) = (place, is_field) {
                made += &body[from..at];
                made += &values[place];
                from = at + word.len();
            }
        }
        Some(made + &body[from..])
    }

    /// Returns whether a variable of its body has a name.
    fn declares(&self, body: &str, name: &str) -> bool {
        let is_parameter = self.parameters.iter().any(|it| it.name == name);
        let mut places = words(body).filter(|it| it.1 == name);
        !is_parameter
            && places.any(|(at, _)| {
                let before = body[..at].trim_end();
                let behind = body[at + name.len()..].trim_start();
                before.ends_with(|it| is_of_word(it) || it == '*')
                    || before.ends_with(',') && behind.starts_with('=')
            })
    }
}

/// Returns the names in a text, and where each is.
pub(super) fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        at += text[at..].find(is_of_word)?;
        let length = text[at..].find(|it| !is_of_word(it));
        let start = at;
        at = length.map_or(text.len(), |it| start + it);
        Some((start, &text[start..at]))
    })
    .filter(|it| !it.1.starts_with(|c: char| c.is_ascii_digit()))
}
