//! Whether a passage says what a statement has it say.

use crate::documents::{Documents, Passage};
use crate::negation::around;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Shortest quotation: so many words, or so many characters without spaces, unless it is a whole
/// line of its passage, such as a row of a table.
pub const FEWEST_WORDS: usize = 3;
/// The second of them.
pub const SHORTEST: usize = 12;

/// A passage, and words of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Citation {
    /// [`Passage::id`].
    #[serde(alias = "passage")]
    pub id: String,
    /// Words that stand in it.
    #[serde(alias = "quotation")]
    pub quote: String,
}

/// Why a statement is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flaw {
    /// It cites nothing.
    NoCitation,
    /// It cites passages that it was not shown.
    UnknownPassage,
    /// What it quotes does not stand in the passage that it cites.
    NotInPassage,
    /// What it quotes is too short to say anything.
    TooShort,
    /// It names a number that none of its quotations names.
    NumberNotQuoted,
    /// It denies what the sentences say that it quotes, or says what they deny.
    Denied,
    /// Its code stands in none of its passages.
    CodeNotInPassage,
    /// It names nothing that its passages name.
    NameNotInPassage,
    /// It says nothing, or too much for one statement.
    Unusable,
    /// It says what another one says.
    Repeated,
}

impl Flaw {
    /// Returns what is wrong, for people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::NoCitation => "cite nothing",
            Self::UnknownPassage => "cite a passage that was not shown",
            Self::NotInPassage => "quote what does not stand in the passage",
            Self::TooShort => "quote too little",
            Self::NumberNotQuoted => "name a number that they do not quote",
            Self::Denied => "deny what they quote, or say what it denies",
            Self::CodeNotInPassage => "have code that stands in none of their passages",
            Self::NameNotInPassage => "name nothing that their passages name",
            Self::Unusable => "are empty, too long or not of the form asked for",
            Self::Repeated => "repeat another one",
        }
    }
}

/// Returns a text in small letters without marks of Markdown, with one space where there were
/// several: what two texts that say the same in the same words share.
#[must_use]
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '`' | '*' | '\\' | '\u{ad}' => {}
            // Between cells of a table.
            '|' if out.ends_with(' ') || out.is_empty() => {}
            '|' => out.push(' '),
            '\u{2018}' | '\u{2019}' => out.push('\''),
            '\u{201c}' | '\u{201d}' => out.push('"'),
            '\u{2010}'..='\u{2015}' | '\u{2212}' => out.push('-'),
            c if c.is_whitespace() => {
                if !out.ends_with(' ') {
                    out.push(' ');
                }
            }
            c => out.extend(c.to_lowercase()),
        }
    }
    out.trim().to_owned()
}

/// Returns the sentences of its passage in which a quotation stands, in small letters.
#[must_use]
pub fn sentence(citation: &Citation, passage: &Passage) -> Option<String> {
    let around = |text: &str, quote: &str| around(&plain(text), &plain(quote)).map(str::to_owned);
    let (text, quote) = (&passage.text, &citation.quote);
    around(text, quote).or_else(|| around(&without_links(text), &without_links(quote)))
}

/// Returns a text with the words of links and pictures in Markdown, without where they lead.
fn without_links(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("](") {
        let (words, behind) = (&rest[..at], &rest[at + 2..]);
        let open = words.rfind('[');
        let end = end_of_link(behind);
        let (Some(open), Some(end)) = (open, end) else {
            out += &rest[..at + 2];
            rest = behind;
            continue;
        };
        out += words[..open].trim_end_matches('!');
        out += &words[open + 1..];
        rest = &behind[end + 1..];
    }
    out + rest
}

/// Returns where the address of a link ends, which has no spaces but in front of a title.
fn end_of_link(text: &str) -> Option<usize> {
    let end = text.find(')')?;
    let address = text[..end]
        .split_once(" \"")
        .map_or(&text[..end], |it| it.0);
    (!address.contains(char::is_whitespace)).then_some(end)
}

/// Returns the citations of a statement that hold, of passages that were `shown`.
///
/// # Errors
/// What is wrong with the first of them, if none does.
pub fn valid(
    citations: &[Citation],
    documents: &Documents,
    shown: &BTreeSet<&str>,
) -> Result<Vec<Citation>, Flaw> {
    let mut flaw = Flaw::NoCitation;
    let mut valid = Vec::new();
    for citation in citations {
        match check(citation, documents, shown) {
            Ok(()) => valid.push(Citation {
                id: citation.id.trim().to_owned(),
                quote: crate::statement::in_one_line(&citation.quote),
            }),
            Err(it) if flaw == Flaw::NoCitation => flaw = it,
            Err(_) => {}
        }
    }
    match valid.is_empty() {
        true => Err(flaw),
        false => Ok(valid),
    }
}

fn check(citation: &Citation, documents: &Documents, shown: &BTreeSet<&str>) -> Result<(), Flaw> {
    let id = citation.id.trim();
    let passage = shown
        .contains(id)
        .then(|| documents.passage(id))
        .flatten()
        .ok_or(Flaw::UnknownPassage)?;
    let quote = plain(&citation.quote);
    let text = plain(&passage.text);
    if !is_long_enough(&quote, passage) {
        return Err(Flaw::TooShort);
    }
    let bare = without_links(&citation.quote);
    let bare = plain(&bare);
    let has =
        |text: &str| plain(text).contains(&quote) || plain(&without_links(text)).contains(&bare);
    // Words that are divided at the ends of lines are quoted as one.
    let undivided = undivided(&passage.text);
    let stands = text.contains(&quote) || has(&passage.text) || undivided.iter().any(|it| has(it));
    match stands {
        true => Ok(()),
        false => Err(Flaw::NotInPassage),
    }
}

/// Returns whether a quotation, in plain form, is long enough to say something: what prompts ask
/// for.
fn is_long_enough(quote: &str, passage: &Passage) -> bool {
    let is_word = |it: &&str| it.contains(char::is_alphanumeric);
    let n_words = quote.split_whitespace().filter(is_word).count();
    let n_characters = quote.chars().filter(|c| !c.is_whitespace()).count();
    let is_line = || passage.text.lines().any(|it| plain(it) == quote);
    FEWEST_WORDS <= n_words || SHORTEST <= n_characters || 0 < n_words && is_line()
}

/// Returns a text with the words as one that a hyphen divides at the end of a line: without the
/// hyphen, and with it. Nothing, if there are none.
fn undivided(text: &str) -> Vec<String> {
    let mut whole = [String::new(), String::new()];
    let mut rest = text;
    while let Some(at) = rest.find("-\n") {
        let (before, behind) = (&rest[..at], &rest[at + 2..]);
        let is_word = before.ends_with(char::is_alphabetic)
            && behind.trim_start().starts_with(char::is_lowercase);
        for (out, mark) in whole.iter_mut().zip(["", "-"]) {
            *out += before;
            *out += if is_word { mark } else { "-\n" };
        }
        rest = if is_word { behind.trim_start() } else { behind };
    }
    if rest.len() == text.len() {
        return Vec::new();
    }
    whole.map(|it| it + rest).into()
}

/// Returns whether a name stands in one of the passages, and is not only a part of a longer one.
#[must_use]
pub fn name_stands(name: &str, passages: &[&Passage]) -> bool {
    let bare = name.trim_end_matches('*');
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let stands = |text: &str| {
        text.match_indices(bare).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let behind = text[at + bare.len()..].chars().next();
            let is_open = bare != name;
            !before.is_some_and(is_part) && (is_open || !behind.is_some_and(is_part))
        })
    };
    !bare.is_empty()
        && passages
            .iter()
            .any(|it| stands(&it.text) || stands(&it.heading))
}

/// Returns whether code stands in one of the passages, spaces aside.
#[must_use]
pub fn code_stands(code: &str, passages: &[&Passage]) -> bool {
    let dense = |text: &str| -> String { text.chars().filter(|c| !c.is_whitespace()).collect() };
    let code = dense(code);
    SHORTEST <= code.len() && passages.iter().any(|it| dense(&it.text).contains(&code))
}
