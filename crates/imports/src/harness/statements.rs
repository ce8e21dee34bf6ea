//! Arrays of a test program and what it fills them with.

use super::expression::value;
use super::preprocessor::Preprocessed;
use super::whole::{add_handed_on, is_of_each};
use super::{is_name, is_part};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Greatest number of elements of an array.
const MOST_ELEMENTS: u64 = 1 << 26;

/// Greatest number of bytes of a value that is understood.
const LONGEST_VALUE: usize = 200;

/// Types that hold all values which [`Fill`] draws.
const TYPES: [&str; 5] = ["elem_t", "acc_t", "int8_t", "int32_t", "int"];

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

/// An array that is declared.
pub(super) struct Array {
    /// Type of its elements, as written.
    pub(super) kind: String,
    pub(super) shape: Vec<u64>,
}

/// What stands between two of `;`, `{` and `}`.
pub(super) struct Piece<'a> {
    pub(super) text: &'a str,
    /// Whether a condition decides if it is executed.
    is_conditional: bool,
    /// The sign behind it.
    end: &'a str,
    /// The piece that begins the block around it.
    pub(super) around: Option<usize>,
    /// The last piece of the block that it begins; itself if it begins none.
    pub(super) last: usize,
}

/// Returns the pieces of a program. The signs of a loop, within its parentheses, end none.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces: Vec<Piece<'_>> = Vec::new();
    // The piece that begins each block, and whether it is conditional.
    let mut blocks: Vec<(usize, bool)> = Vec::new();
    let mut n_conditional = 0_usize;
    let mut n_open = 0_usize;
    let mut begin = 0;
    for (at, end) in text.match_indices(['(', ')', ';', '{', '}']) {
        match end {
            "(" => n_open += 1,
            ")" => n_open = n_open.saturating_sub(1),
            ";" if 0 < n_open => {}
            _ => {
                let piece = text[begin..at].trim();
                begin = at + 1;
                n_open = 0;
                let number = pieces.len();
                pieces.push(Piece {
                    text: piece,
                    is_conditional: 0 < n_conditional,
                    end,
                    around: blocks.last().map(|it| it.0),
                    last: number,
                });
                if end == "{" {
                    let mut words = piece.split(|c| !is_part(c));
                    let decides = words.any(|it| ["if", "else", "switch", "while"].contains(&it));
                    blocks.push((number, decides));
                    n_conditional += usize::from(decides);
                } else if end == "}"
                    && let Some((opener, decides)) = blocks.pop()
                {
                    pieces[opener].last = number;
                    n_conditional -= usize::from(decides);
                }
            }
        }
    }
    let end = pieces.len().saturating_sub(1);
    for (opener, _) in blocks {
        pieces[opener].last = end;
    }
    pieces
}

/// Returns the arrays that are declared `static`, by their names.
///
/// # Errors
/// An extent that is no number, or a name that is declared twice.
pub(super) fn arrays(read: &Preprocessed) -> Result<BTreeMap<String, Array>, String> {
    let mut found = BTreeMap::new();
    for piece in pieces(&read.text) {
        let mut words = piece.text.split_whitespace();
        if words.next() != Some("static") {
            continue;
        }
        let declared = piece.text["static".len()..].trim_start();
        let Some((head, extents)) = declared.split_once('[') else {
            continue;
        };
        let mut words = head.split_whitespace();
        let (Some(kind), Some(name), None) = (words.next(), words.next(), words.next()) else {
            continue;
        };
        let mut shape = Vec::new();
        let mut rest = Some(extents);
        while let Some((extent, behind)) = rest.and_then(|it| it.split_once(']')) {
            let number = value(extent).and_then(|it| u64::try_from(it).ok());
            let number = number.filter(|it| 0 < *it);
            shape.push(number.ok_or_else(|| format!("`{extent}` of `{name}` is no extent"))?);
            rest = behind.trim_start().strip_prefix('[');
        }
        let elements = shape.iter().try_fold(1_u64, |all, it| all.checked_mul(*it));
        if elements.is_none_or(|it| MOST_ELEMENTS < it) {
            return Err(format!("`{name}` has more than {MOST_ELEMENTS} elements"));
        }
        let array = Array {
            kind: kind.to_owned(),
            shape,
        };
        if found.insert(name.to_owned(), array).is_some() {
            return Err(format!("it declares `{name}` twice"));
        }
    }
    Ok(found)
}

/// Returns what the program fills arrays with, by the names of those that it writes; nothing for
/// one that is filled in a way that is not understood, or of which only a part is.
pub(super) fn fills(
    read: &Preprocessed,
    arrays: &BTreeMap<String, Array>,
) -> BTreeMap<String, Option<Fill>> {
    let mut found: BTreeMap<String, Option<Fill>> = BTreeMap::new();
    // What the piece before has left in a variable.
    let mut variable: Option<(&str, Option<Fill>)> = None;
    let draws = !read.redefines("rand");
    let mut handed_on = BTreeSet::new();
    let pieces = pieces(&read.text);
    for (at, piece) in pieces.iter().enumerate() {
        add_handed_on(piece.text, arrays, &mut handed_on);
        let before = variable.take();
        let assigned = assignment(piece.text);
        let drawn = |value: &str| match &before {
            Some((name, fill)) if value == *name => fill.clone(),
            _ => drawn(value),
        };
        let fill = assigned
            .filter(|_| draws && !piece.is_conditional)
            .and_then(|(_, value)| drawn(value));
        let to = assigned.map(|it| it.0);
        let element = to.and_then(element);
        let whole = element.as_ref().filter(|(name, indices)| {
            let shape = arrays.get(*name).map(|it| it.shape.as_slice());
            shape.is_some_and(|it| is_of_each(&pieces, at, indices, it))
        });
        for name in written(piece.text) {
            let fill = fill
                .clone()
                .filter(|_| whole.is_some_and(|it| it.0 == name));
            let known = found.entry(name.to_owned()).or_insert_with(|| fill.clone());
            if *known != fill {
                *known = None;
            }
        }
        if let Some(to) = to.filter(|_| element.is_none() && piece.end == ";") {
            let mut words = to.split_whitespace();
            if let (Some(kind), Some(name), None) = (words.next(), words.next(), words.next()) {
                variable = Some((name, fill.filter(|_| TYPES.contains(&kind))));
            }
        }
    }
    found.extend(handed_on.into_iter().map(|it| (it.to_owned(), None)));
    found
}

/// Reads `to = value`.
fn assignment(text: &str) -> Option<(&str, &str)> {
    let at = assigning(text).next()?;
    let (to, value) = (&text[..at], &text[at + 1..]);
    let computes = to.ends_with(|c: char| !is_part(c) && c != ']' && !c.is_whitespace());
    (!computes).then(|| (to.trim(), value.trim()))
}

/// Returns where the signs that assign stand, with an operator in front or without.
fn assigning(text: &str) -> impl DoubleEndedIterator<Item = usize> {
    let bytes = text.as_bytes();
    text.match_indices('=').map(|it| it.0).filter(move |at| {
        let before = bytes[..*at].iter().rev().take(2).collect::<Vec<_>>();
        let compares = match before[..] {
            [b'=' | b'!', ..] => true,
            [sign @ (b'<' | b'>'), other] => sign != other,
            [b'<' | b'>'] => true,
            _ => false,
        };
        !compares && bytes.get(at + 1) != Some(&b'=')
    })
}

/// Returns the array of which `text` is an element and nothing else, and its indices.
fn element(text: &str) -> Option<(&str, Vec<&str>)> {
    let (name, mut rest) = text.split_once('[')?;
    let mut indices = Vec::new();
    loop {
        let (index, behind) = rest.split_once(']')?;
        if index.contains('[') {
            return None;
        }
        indices.push(index.trim());
        match behind.trim_start() {
            "" => return is_name(name.trim()).then(|| (name.trim(), indices)),
            behind => rest = behind.strip_prefix('[')?,
        }
    }
}

/// Returns the names of the arrays whose elements a piece may write: all but those that it is
/// sure to read.
fn written(text: &str) -> Vec<&str> {
    let counts = text.contains("++") || text.contains("--");
    let last_sign = match counts {
        true => text.len(),
        false => assigning(text).next_back().unwrap_or(0),
    };
    let elements = text[..last_sign].match_indices('[');
    let names = elements.filter_map(|(at, _)| {
        let mut words = text[..at].trim_end().rsplit(|c| !is_part(c));
        words.next().filter(|it| is_name(it))
    });
    names.collect()
}

/// Reads `(elem_t) (rand() % 8 == 0)` or `rand() % 2`, and nothing around it.
fn drawn(text: &str) -> Option<Fill> {
    if LONGEST_VALUE < text.len() {
        return None;
    }
    let text = unwrapped(text);
    if let Some((kind, inner)) = text.strip_prefix('(').and_then(|it| it.split_once(')'))
        && TYPES.contains(&kind.trim())
    {
        // A cast is of what stands next to it, which is narrower if that is the drawn number.
        let inner = inner.trim();
        return (unwrapped(inner) != inner).then(|| drawn(inner))?;
    }
    if let Some((left, zero)) = text.rsplit_once("==") {
        let Some(Fill::Below(modulus)) = (zero.trim() == "0").then(|| drawn(left))? else {
            return None;
        };
        return Some(Fill::OneIn(modulus));
    }
    let (random, modulus) = text.split_once('%')?;
    if random.split_whitespace().collect::<String>() != "rand()" {
        return None;
    }
    let modulus = modulus.trim();
    let inner = unwrapped(modulus);
    let is_atom = inner != modulus || modulus.chars().all(is_part);
    let number = value(inner).filter(|it| is_atom && (1..=128).contains(it));
    number.map(Fill::Below)
}

/// Returns a text without the parentheses that it stands in.
fn unwrapped(text: &str) -> &str {
    let text = text.trim();
    let Some(inner) = text.strip_prefix('(').and_then(|it| it.strip_suffix(')')) else {
        return text;
    };
    let mut n_open = 0_usize;
    for sign in inner.chars() {
        match sign {
            '(' => n_open += 1,
            ')' if n_open == 0 => return text,
            ')' => n_open -= 1,
            _ => {}
        }
    }
    unwrapped(inner)
}
