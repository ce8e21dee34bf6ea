//! What can be wrong with a folder of data, said so that a person can mend it.

use std::fmt;
use std::io;

/// Characters of a line that are shown: those before the place at fault, and all.
const BEFORE: usize = 120;
const LONGEST_LINE: usize = 240;

/// A place in a file of a target or problem that cannot be accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// Path of the file, from the root of the built-in data or as the user gave it.
    pub path: String,
    /// Line, from 1; 0 if the whole file is meant.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Characters to underline, at least 1.
    pub length: usize,
    /// The line itself.
    pub source_line: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            writeln!(f, "{}: {}", self.path, self.message)?;
        } else {
            writeln!(
                f,
                "{}:{}:{}: {}",
                self.path, self.line, self.column, self.message
            )?;
            let number = self.line.to_string();
            let first = (self.column - 1).saturating_sub(BEFORE);
            let shown = || self.source_line.chars().skip(first).take(LONGEST_LINE);
            writeln!(f, "{number} | {}", shown().collect::<String>())?;
            // Tabs are kept, so that the caret stands where the text does.
            let before: String = shown()
                .take(self.column - 1 - first)
                .map(|c| if c == '\t' { '\t' } else { ' ' })
                .collect();
            let gutter = " ".repeat(number.len());
            let carets = self
                .length
                .clamp(1, LONGEST_LINE - before.chars().count().min(BEFORE));
            writeln!(f, "{gutter} | {before}{}", "^".repeat(carets))?;
        }
        write!(f, "help: {}", self.remedy)
    }
}

/// Why a target or problem cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogError {
    /// A file is there and cannot be accepted.
    #[error("{0}")]
    Invalid(Box<Invalid>),
    /// There is nothing of that name.
    #[error("{}", unknown_message(kind, name, nearest.as_deref(), known))]
    Unknown {
        /// `target`, `problem`, `machine`, `kernel`, or `suite`.
        kind: &'static str,
        /// What was asked for.
        name: String,
        /// The most similar name, if one is similar.
        nearest: Option<String>,
        /// Every name there is.
        known: Vec<String>,
    },
    /// A folder lacks a file it must have.
    #[error("{folder}: no {file}\nhelp: {remedy}")]
    Missing {
        /// The folder.
        folder: String,
        /// The file that is not there.
        file: String,
        /// What to do about it.
        remedy: String,
    },
    /// Two folders define the same name.
    #[error("{kind} {name} is defined by {first} and by {second}\nhelp: rename one of them")]
    Duplicate {
        /// `target`, `problem` or `suite`.
        kind: &'static str,
        /// The name.
        name: String,
        /// Where it was first.
        first: String,
        /// Where it is again.
        second: String,
    },
    /// A file or folder of the user cannot be read.
    #[error("cannot read {path}: {source}\nhelp: check the path and its permissions")]
    Read {
        /// The path.
        path: String,
        /// What the system said.
        source: io::Error,
    },
}

fn unknown_message(kind: &str, name: &str, nearest: Option<&str>, known: &[String]) -> String {
    let mut text = format!("unknown {kind} `{name}`");
    if let Some(nearest) = nearest {
        text += &format!("; did you mean `{nearest}`?");
    }
    if known.is_empty() {
        text += &format!("\nhelp: there is no {kind} here");
    } else {
        text += &format!("\nhelp: there are: {}", known.join(", "));
    }
    text
}

impl CatalogError {
    /// Makes an [`Unknown`](Self::Unknown) error that suggests the nearest of `known`.
    pub(crate) fn unknown(
        kind: &'static str,
        name: &str,
        known: impl IntoIterator<Item = String>,
    ) -> Self {
        let known: Vec<String> = known.into_iter().collect();
        let nearest = nearest(name, known.iter().map(String::as_str)).map(str::to_owned);
        Self::Unknown {
            kind,
            name: name.to_owned(),
            nearest,
            known,
        }
    }
}

/// Returns the shortest of `known` whose letters and digits begin, group or not, with those of
/// the name, if a number is among them; else the most similar, of equally similar ones the
/// shortest, unless even that needs more edits than two fifths of the name.
#[must_use]
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let plain = |text: &str| -> String {
        let letters = text.chars().filter(|c| c.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect()
    };
    let begun = plain(name);
    let begins = |candidate: &&str| {
        let tail = candidate.rsplit('/').next().unwrap_or(candidate);
        begun.contains(char::is_numeric)
            && [*candidate, tail]
                .iter()
                .any(|it| plain(it).starts_with(&begun))
    };
    let begun_with = known
        .clone()
        .filter(begins)
        .min_by_key(|candidate| (candidate.len(), *candidate));
    begun_with.or_else(|| similar(name, known))
}

fn similar<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .map(|candidate| {
            // A name without its group is as good as the whole, and most of it
            // (`512x512x512`) nearly so.
            let tail = candidate.rsplit('/').next().unwrap_or(candidate);
            let mut distance = edits(name, candidate).min(edits(name, tail));
            if tail.contains(name) && name.len() * 2 > tail.len() {
                distance = distance.min(1);
            }
            (distance, candidate.len(), candidate)
        })
        .min()
        .filter(|(distance, ..)| *distance * 5 <= name.chars().count() * 2)
        .map(|(.., candidate)| candidate)
}

/// The Levenshtein distance of two texts.
pub fn edits(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (idx, a) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = idx + 1;
        for (column, b) in right.iter().enumerate() {
            let substitute = diagonal + usize::from(a != *b);
            diagonal = row[column + 1];
            row[column + 1] = substitute.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[right.len()]
}
