//! Arrays of a test program and what it fills them with.

use super::preprocessor::Preprocessed;
use std::collections::BTreeMap;
use std::fmt;

/// Greatest number of elements of an array.
const MOST_ELEMENTS: u64 = 1 << 28;

/// Values that a program draws.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fill {
    /// Whole numbers from 0, below this one.
    Below(i64),
    /// One in so many elements is 1, the others are 0.
    OneIn(i64),
}

impl fmt::Display for Fill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Below(most) => {
                write!(f, "{{ kind = \"uniform\", low = 0, high = {} }}", most - 1)
            }
            Self::OneIn(count) => {
                write!(f, "{{ kind = \"sparse\", values = [1], one_in = {count} }}")
            }
        }
    }
}

/// Returns types and shapes of the arrays that are declared `static`, by their names.
///
/// # Errors
/// An extent that is no number.
pub(super) fn arrays(read: &Preprocessed) -> Result<BTreeMap<String, (String, Vec<u64>)>, String> {
    let mut found = BTreeMap::new();
    for statement in read.text.split(';') {
        let Some((_, declared)) = statement.rsplit_once("static ") else {
            continue;
        };
        let Some((head, extents)) = declared.split_once('[') else {
            continue;
        };
        let mut words = head.split_whitespace();
        let (Some(kind), Some(name), None) = (words.next(), words.next(), words.next()) else {
            continue;
        };
        let name = read.word(name);
        let mut shape = Vec::new();
        for extent in format!("[{extents}")
            .split(']')
            .filter_map(|it| it.trim().strip_prefix('['))
        {
            let number = read.number(extent).and_then(|it| u64::try_from(it).ok());
            let number = number.filter(|it| 0 < *it);
            shape.push(number.ok_or_else(|| format!("`{extent}` of `{name}` is no extent"))?);
        }
        let elements = shape.iter().try_fold(1_u64, |all, it| all.checked_mul(*it));
        if elements.is_none_or(|it| MOST_ELEMENTS < it) {
            return Err(format!("`{name}` has more than {MOST_ELEMENTS} elements"));
        }
        found.insert(name, (kind.to_owned(), shape));
    }
    Ok(found)
}

/// Returns what the program fills arrays with, by their names; nothing of what is not understood.
pub(super) fn fills(read: &Preprocessed) -> BTreeMap<String, Option<Fill>> {
    let mut found = BTreeMap::new();
    let mut variable: Option<(&str, Option<Fill>)> = None;
    for statement in read.text.split(';') {
        let statement = statement.rsplit(['{', '}']).next().unwrap_or_default();
        let Some((to, value)) = statement.split_once('=') else {
            continue;
        };
        let fill = match &variable {
            Some((name, fill)) if value.trim() == *name => fill.clone(),
            _ if value.contains('%') => drawn(read, value),
            _ => continue,
        };
        match to.split_once('[') {
            Some((name, _)) => drop(found.insert(read.word(name), fill)),
            None => {
                let name = to.split_whitespace().last().unwrap_or_default();
                variable = Some((name, fill));
            }
        }
    }
    found
}

/// Reads `(elem_t) (RAND % 8 == 0)` or `RAND % 2`.
fn drawn(read: &Preprocessed, value: &str) -> Option<Fill> {
    let (random, behind) = value.split_once('%')?;
    let random = random.rsplit([' ', '(', ')']).find(|it| !it.is_empty())?;
    if !matches!(read.word(random).as_str(), "rand()" | "rand") {
        return None;
    }
    let (modulus, is_compared) = match behind.split_once("==") {
        Some((modulus, zero)) if zero.trim().trim_end_matches(')') == "0" => (modulus, true),
        Some(_) => return None,
        None => (behind, false),
    };
    // Parentheses that were opened before the value.
    let opened = modulus.matches('(').count();
    let mut modulus = modulus.trim();
    while opened < modulus.matches(')').count() {
        modulus = modulus.strip_suffix(')')?.trim_end();
    }
    let number = read.number(modulus).filter(|it| (1..=128).contains(it))?;
    Some(match is_compared {
        true => Fill::OneIn(number),
        false => Fill::Below(number),
    })
}
