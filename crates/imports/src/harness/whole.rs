//! Whether what is drawn for an element is drawn for all of its array, and for nothing less.

use super::expression::value;
use super::statements::{Array, Piece};
use super::{is_name, is_part};
use std::collections::{BTreeMap, BTreeSet};

/// Blocks around an element that are looked at, and pieces of one, at most.
const MOST_AROUND: usize = 32;
const MOST_WITHIN: usize = 64;
/// Bytes on either side of a name that are looked at.
const MOST_BYTES: usize = 2000;

/// Functions that leave the arrays as they are which they are given first; of others these words
/// in the name tell it.
const READING: [&str; 4] = [
    "tiled_matmul_outer_eigen",
    "tiled_matmul_outer_eigen_bias",
    "tiled_conv_auto",
    "sizeof",
];
const READING_WORDS: [&str; 3] = ["print", "equal", "cmp"];

/// Returns whether the loops around a piece have it write each element of an array of that shape,
/// with these indices.
pub(super) fn is_of_each(pieces: &[Piece<'_>], at: usize, indices: &[&str], shape: &[u64]) -> bool {
    let mut counters = Vec::new();
    let mut around = pieces[at].around;
    for _ in 0..MOST_AROUND {
        let Some(opener) = around else {
            return indices.len() == shape.len() && are_all(indices, shape, counters);
        };
        let Piece { text, last, .. } = pieces[opener];
        let Some(of_block) = loops(text) else {
            return false;
        };
        let within = &pieces[opener + 1..=last];
        let is_disturbed = |name: &str| within.iter().any(|it| disturbs(it.text, name));
        if !of_block.is_empty()
            && (MOST_WITHIN < within.len() || of_block.iter().any(|it| is_disturbed(it.0)))
        {
            return false;
        }
        counters.extend(of_block);
        around = pieces[opener].around;
    }
    false
}

/// Returns whether each index is a counter of its own, which takes all values that it may.
fn are_all(indices: &[&str], shape: &[u64], mut counters: Vec<(&str, u64)>) -> bool {
    indices.iter().zip(shape).all(|(index, extent)| {
        let own = counters.iter().position(|it| it == &(*index, *extent));
        own.map(|it| counters.remove(it)).is_some() || *extent == 1 && value(index) == Some(0)
    })
}

/// Returns the counters of the loops that a piece begins, and how often each turns: from 0 in steps
/// of 1. Nothing if it has a loop of another kind.
fn loops(text: &str) -> Option<Vec<(&str, u64)>> {
    let mut counters = Vec::new();
    let mut rest = text.trim();
    while let Some(header) = rest.strip_prefix("for").map(str::trim_start) {
        let Some(header) = header.strip_prefix('(') else {
            break;
        };
        let (header, behind) = header.split_at(closing(header)?);
        counters.push(counter(header)?);
        rest = behind[1..].trim_start();
    }
    let is_other = rest.split(|c| !is_part(c)).any(|it| it == "for");
    (!is_other).then_some(counters)
}

/// Returns where the parenthesis ends that is open.
pub(super) fn closing(text: &str) -> Option<usize> {
    let mut n_open = 0_usize;
    for (at, sign) in text.match_indices(['(', ')']).take(MOST_BYTES) {
        match sign {
            "(" => n_open += 1,
            _ if n_open == 0 => return Some(at),
            _ => n_open -= 1,
        }
    }
    None
}

/// Reads `size_t i = 0; i < 16; i++`.
fn counter(header: &str) -> Option<(&str, u64)> {
    let parts: Vec<&str> = header.split(';').collect();
    let [begin, condition, step] = parts[..] else {
        return None;
    };
    let (name, first) = begin.split_once('=')?;
    let name = name.trim().rsplit(|c| !is_part(c)).next()?;
    let end = condition.trim().strip_prefix(name)?.trim_start();
    let count = match (end.strip_prefix("<="), end.strip_prefix("!=")) {
        (Some(last), _) => value(last)? + 1,
        (_, Some(end)) => value(end)?,
        _ => value(end.strip_prefix('<')?)?,
    };
    let step: String = step.split_whitespace().collect();
    let by_one = [
        format!("{name}++"),
        format!("++{name}"),
        format!("{name}+=1"),
    ];
    let is_plain = is_name(name) && value(first) == Some(0) && by_one.contains(&step);
    let count = u64::try_from(count).ok().filter(|it| 0 < *it)?;
    is_plain.then_some((name, count))
}

/// Returns whether a piece leaves a loop, or may change its counter.
fn disturbs(text: &str, counter: &str) -> bool {
    let mut words = text.split(|c| !is_part(c));
    if words.any(|it| ["break", "continue", "goto", "return"].contains(&it)) {
        return true;
    }
    places(text, counter).any(|(before, behind)| {
        let is_counted = ["++", "--"]
            .iter()
            .any(|it| before.ends_with(it) || behind.starts_with(it));
        let sign = behind.trim_start_matches(|c| "+-*/%&|^<>".contains(c));
        let compares = behind.starts_with("<=") || behind.starts_with(">=");
        let is_assigned = sign.starts_with('=') && !sign.starts_with("==") && !compares;
        is_counted || is_assigned || has_address(before)
    })
}

fn has_address(before: &str) -> bool {
    before.ends_with('&') && !before.ends_with("&&")
}

/// Returns what stands before and behind each place where a text names something.
pub(super) fn places<'t>(text: &'t str, name: &str) -> impl Iterator<Item = (&'t str, &'t str)> {
    text.match_indices(name).filter_map(|(at, name)| {
        let (before, behind) = (&text[..at], &text[at + name.len()..]);
        let is_part_of_another = before.ends_with(is_part) || behind.starts_with(is_part);
        (!is_part_of_another).then(|| (before.trim_end(), behind.trim_start()))
    })
}

/// Adds the names of arrays of which a piece hands on a pointer, but to functions that are known to
/// read alone.
pub(super) fn add_handed_on<'a>(
    text: &str,
    arrays: &'a BTreeMap<String, Array>,
    to: &mut BTreeSet<&'a str>,
) {
    let mut at = 0;
    while let Some(begin) = text[at..].find(is_part).map(|it| at + it) {
        let length = text[begin..].find(|c| !is_part(c));
        at = length.map_or(text.len(), |it| begin + it);
        let Some((name, array)) = arrays.get_key_value(&text[begin..at]) else {
            continue;
        };
        let before = text[..begin].trim_end();
        let is_element = n_indices(&text[at..]) == array.shape.len() && !has_address(before);
        if !is_element && !is_read(before) {
            to.insert(name);
        }
    }
}

/// Returns how many indices a text begins with.
fn n_indices(text: &str) -> usize {
    let (mut count, mut n_open) = (0, 0_usize);
    for byte in text.bytes().take(MOST_BYTES) {
        match byte {
            b'[' => n_open += 1,
            b']' if n_open == 1 => (count, n_open) = (count + 1, 0),
            b']' => n_open = n_open.saturating_sub(1),
            _ if n_open == 0 && !byte.is_ascii_whitespace() => break,
            _ => {}
        }
    }
    count
}

/// Returns whether what stands behind a text is an argument of a function that reads alone.
fn is_read(before: &str) -> bool {
    let mut n_closed = 0_usize;
    if before.ends_with("sizeof") {
        return true;
    }
    for (at, byte) in before.bytes().enumerate().rev().take(MOST_BYTES) {
        match byte {
            b')' => n_closed += 1,
            b'(' if n_closed == 0 => {
                let callee = before[..at].trim_end().rsplit(|c| !is_part(c)).next();
                let callee = callee.unwrap_or_default();
                if !callee.is_empty() {
                    let lower = callee.to_ascii_lowercase();
                    return READING.contains(&callee)
                        || READING_WORDS.iter().any(|it| lower.contains(it));
                }
            }
            b'(' => n_closed -= 1,
            _ => {}
        }
    }
    false
}
