//! Documents as passages: pieces of a few paragraphs, each with an identifier that stays the same
//! as long as its text and its place do.

mod block;
mod gather;
mod html;
mod markdown;
mod notebook;
mod pdf;
mod source;

use autocomp_core::ContentHasher;
use block::Block;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

/// Longest passage that is put together of smaller pieces, in bytes.
const LONG_ENOUGH: usize = 1800;
/// Longest passage, in bytes.
const LONGEST: usize = 6000;

/// What is read at most.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of a text file.
    pub text_bytes: u64,
    /// Bytes of a PDF file.
    pub pdf_bytes: u64,
    /// Bytes of text in all.
    pub all_bytes: usize,
    /// Files in all.
    pub files: usize,
    /// Folders in one another.
    pub depth: usize,
}

impl Limits {
    /// Returns what is read unless something else is asked for.
    #[must_use]
    pub fn standard() -> Self {
        Self {
            text_bytes: 16 << 20,
            pdf_bytes: 64 << 20,
            all_bytes: 64 << 20,
            files: 10_000,
            depth: 24,
        }
    }
}

/// Where a passage stands in its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// From a line to a line, from 1.
    Lines(u32, u32),
    /// From a page to a page, from 1.
    Pages(u32, u32),
    /// In a cell of a notebook, from 1.
    Cell(u32),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lines(first, last) if first == last => write!(f, "line {first}"),
            Self::Lines(first, last) => write!(f, "lines {first}-{last}"),
            Self::Pages(first, last) if first == last => write!(f, "page {first}"),
            Self::Pages(first, last) => write!(f, "pages {first}-{last}"),
            Self::Cell(cell) => write!(f, "cell {cell}"),
        }
    }
}

/// A piece of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passage {
    /// Identifier: ten hexadecimal digits.
    pub id: String,
    /// Name of the document, with `/` between folders.
    pub file: String,
    /// Headings that it stands below, from the outermost on; empty if there are none.
    pub heading: String,
    /// Where it stands.
    pub place: Place,
    /// What it says.
    pub text: String,
}

impl Passage {
    /// Returns where it stands, for people: document, place, headings.
    #[must_use]
    pub fn origin(&self) -> String {
        match self.heading.as_str() {
            "" => format!("{}, {}", self.file, self.place),
            heading => format!("{}, {}: {heading}", self.file, self.place),
        }
    }
}

/// What was read.
#[derive(Clone, Debug, Default)]
pub struct Documents {
    /// All passages, in the order of the documents.
    pub passages: Vec<Passage>,
    /// Names of the documents with text.
    pub files: Vec<String>,
    /// What was not read, one line each.
    pub unread: Vec<String>,
}

impl Documents {
    /// Returns the passage of an identifier.
    #[must_use]
    pub fn passage(&self, id: &str) -> Option<&Passage> {
        self.passages.iter().find(|it| it.id == id)
    }

    /// Changes all that is shown and written of the documents, such as to leave keys out. The
    /// identifiers of passages stay.
    pub fn masked(&mut self, mask: impl Fn(&str) -> String) {
        for passage in &mut self.passages {
            for text in [&mut passage.file, &mut passage.heading, &mut passage.text] {
                *text = mask(text);
            }
        }
        for text in self.files.iter_mut().chain(&mut self.unread) {
            *text = mask(text);
        }
    }
}

/// Nothing can be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}", path.display())]
pub struct ReadError {
    /// Where.
    pub path: PathBuf,
    /// Why.
    pub message: String,
}

/// Reads the documents at `paths`: files, and all files in folders. Links are not followed,
/// neither those of the file system nor those in documents that lead out of the document's
/// folder, and nothing is fetched.
///
/// # Errors
/// One of the paths is not there, or no document is. What is unreadable below a folder is listed.
pub fn read_documents(paths: &[PathBuf], limits: &Limits) -> Result<Documents, ReadError> {
    let gathered = gather::gather(paths, limits)?;
    let mut documents = Documents {
        unread: gathered.unread,
        ..Documents::default()
    };
    let mut ids = BTreeSet::new();
    let mut texts = BTreeSet::new();
    let mut n_repeated = 0;
    let mut n_bytes = 0;
    for file in gathered.files {
        let blocks = match file.blocks(limits) {
            Ok(blocks) => blocks,
            Err(message) => {
                documents.unread.push(format!("{}: {message}", file.name));
                continue;
            }
        };
        let mut has_text = false;
        for mut passage in passages(&file.name, blocks) {
            has_text = true;
            n_bytes += passage.text.len();
            if limits.all_bytes < n_bytes {
                break;
            }
            // Menus and notes of a site stand on each of its pages.
            if !texts.insert(crate::quotation::plain(&passage.text)) {
                n_repeated += 1;
                continue;
            }
            passage.id = identifier(&passage, &mut ids);
            documents.passages.push(passage);
        }
        if limits.all_bytes < n_bytes {
            documents.unread.push(format!(
                "{} from some place on, and all documents after it: there is more than {} MiB of text",
                file.name,
                limits.all_bytes >> 20
            ));
            break;
        }
        match has_text {
            true => documents.files.push(file.name),
            false => documents
                .unread
                .push(format!("{}: it has no text", file.name)),
        }
    }
    if 0 < n_repeated {
        let passages = match n_repeated {
            1 => "1 passage that repeats another one".to_owned(),
            n => format!("{n} passages that repeat others"),
        };
        documents.unread.push(passages);
    }
    if documents.passages.is_empty() {
        let path = paths.first().cloned().unwrap_or_default();
        let message = match documents.unread.first() {
            Some(first) => format!("there is no document with text ({first})"),
            None => "there is no document with text".to_owned(),
        };
        return Err(ReadError { path, message });
    }
    Ok(documents)
}

/// Returns the identifier of a passage, which is added to `taken`.
fn identifier(passage: &Passage, taken: &mut BTreeSet<String>) -> String {
    for number in 0_u32.. {
        let mut hasher = ContentHasher::new("passage");
        for field in [&passage.file, &passage.heading, &passage.text] {
            hasher.update(field.as_bytes());
        }
        hasher.update(&number.to_le_bytes());
        let id = hasher.finish().to_string()[..10].to_owned();
        if taken.insert(id.clone()) {
            return id;
        }
    }
    unreachable!("one of four thousand million identifiers is free")
}

/// Puts blocks together that stand below the same headings.
fn passages(file: &str, blocks: Vec<Block>) -> Vec<Passage> {
    let mut headings: Vec<(u8, String)> = Vec::new();
    let mut out: Vec<Passage> = Vec::new();
    let mut may_add = false;
    for block in blocks {
        let text = clean(&block.text);
        if let Some(level) = block.level {
            headings.retain(|(other, _)| *other < level);
            let title = text.split_whitespace().collect::<Vec<_>>().join(" ");
            headings.push((level, title.chars().take(120).collect()));
            may_add = false;
            continue;
        }
        if text.trim().is_empty() {
            continue;
        }
        let heading: Vec<&str> = headings.iter().map(|it| it.1.as_str()).collect();
        let heading = heading.join(" > ");
        for piece in pieces(&text) {
            match out.last_mut() {
                Some(last) if may_add && last.text.len() + piece.len() < LONG_ENOUGH => {
                    last.text += "\n\n";
                    last.text += piece;
                    last.place = joined(last.place, block.place);
                }
                _ => out.push(Passage {
                    id: String::new(),
                    file: file.to_owned(),
                    heading: heading.clone(),
                    place: block.place,
                    text: piece.to_owned(),
                }),
            }
            may_add = true;
        }
    }
    out
}

fn joined(first: Place, second: Place) -> Place {
    match (first, second) {
        (Place::Lines(first, _), Place::Lines(_, last)) => Place::Lines(first, last),
        (Place::Pages(first, _), Place::Pages(_, last)) => Place::Pages(first, last),
        (first, _) => first,
    }
}

/// Cuts a text into pieces that are not too long, at ends of lines if there are any.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text.trim_matches('\n');
    while LONGEST < rest.len() {
        let end = (0..=LONGEST).rev().find(|at| rest.is_char_boundary(*at));
        let end = end.unwrap_or(0).max(1);
        let cut = rest[..end].rfind('\n').filter(|at| LONGEST / 4 < *at);
        let cut = cut.or_else(|| rest[..end].rfind(' ').filter(|at| LONGEST / 4 < *at));
        let (piece, behind) = rest.split_at(cut.unwrap_or(end));
        pieces.push(piece);
        rest = behind.trim_start_matches('\n');
    }
    if !rest.trim().is_empty() {
        pieces.push(rest);
    }
    pieces
}

/// Returns a text without what people do not see: controls, marks that change the direction of
/// writing, characters without width, tags.
pub(crate) fn clean(text: &str) -> String {
    let is_seen = |c: &char| match c {
        '\n' | '\t' => true,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' => false,
        '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff0}'..='\u{fff8}' => false,
        '\u{e0000}'..='\u{e0fff}' => false,
        c => !c.is_control(),
    };
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut out = String::with_capacity(text.len());
    for c in text.chars().filter(is_seen) {
        match ligature(c) {
            Some(letters) => out += letters,
            None => out.push(c),
        }
    }
    out
}

/// Returns the letters of a ligature.
fn ligature(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{fb00}' => "ff",
        '\u{fb01}' => "fi",
        '\u{fb02}' => "fl",
        '\u{fb03}' => "ffi",
        '\u{fb04}' => "ffl",
        '\u{fb05}' | '\u{fb06}' => "st",
        _ => return None,
    })
}
