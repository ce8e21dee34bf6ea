//! PDF: the text of its pages as people see it, lines by where letters stand, columns of prose one
//! after the other, columns of tables apart.

mod cells;
mod columns;
mod drawing;
mod font;
mod numbering;
mod scripts;

use super::Place;
use super::block::Block;
use cells::Begin;
use drawing::{Area, Drawing};
use font::Fonts;
use lopdf::{Dictionary, Document, LoadOptions, Object, ObjectId};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Bytes that one stream may unpack to.
const STREAM: usize = 16 << 20;
/// Bytes that all pages together may unpack to.
const PAGES: usize = 128 << 20;
/// Pages that are read at most.
const MOST_PAGES: u32 = 5000;
/// Returns the blocks of a PDF file.
pub fn blocks(bytes: &[u8]) -> Result<Vec<Block>, String> {
    // The library that reads the format may meet something that it did not expect.
    catch_unwind(AssertUnwindSafe(|| read(bytes)))
        .unwrap_or_else(|_| Err("it cannot be read as PDF".to_owned()))
}

fn read(bytes: &[u8]) -> Result<Vec<Block>, String> {
    let options = LoadOptions::with_max_decompressed_size(STREAM);
    let document = Document::load_mem_with_options(bytes, options)
        .map_err(|error| format!("it cannot be read as PDF: {error}"))?;
    if document.is_encrypted() {
        return Err("it is encrypted".to_owned());
    }
    let mut pages = Vec::new();
    let mut fonts = Fonts::default();
    let mut left = PAGES;
    for (number, id) in document.get_pages() {
        if MOST_PAGES < number {
            break;
        }
        let content = document
            .get_page_content_with_limit(id, STREAM.min(left))
            .map_err(|error| format!("page {number} cannot be read: {error}"))?;
        left -= content.len().min(left);
        if left == 0 {
            return Err(format!("its pages unpack to more than {} MiB", PAGES >> 20));
        }
        let resources = resources(&document, id);
        let sheet = sheet(&document, id);
        let mut drawing = Drawing::new(&document, &mut fonts, &mut left, resources, sheet);
        drawing.run(&content);
        if let Some(failure) = drawing.failure {
            return Err(format!("page {number} cannot be read: {failure}"));
        }
        pages.push((number, lines(drawing.pieces)));
    }
    numbering::leave_out(&mut pages);
    Ok(of_lines(&pages))
}

/// A piece of text at a place.
#[derive(Clone, Debug)]
struct Piece {
    x: f32,
    y: f32,
    end: f32,
    size: f32,
    /// Quarters of a turn that its letters are turned by, to the left; `x`, `y` and `end` are along
    /// and across the way in which it is read.
    turns: u8,
    /// Where on the page its middle is.
    middle: (f32, f32),
    /// Whether its place was told, and is not only that behind the piece before.
    is_placed: bool,
    text: String,
}

/// A line of a page.
#[derive(Clone, Debug)]
struct Line {
    y: f32,
    size: f32,
    turns: u8,
    text: String,
}

/// Returns the lines of a page, from top to bottom, those whose letters are turned behind the others.
fn lines(mut pieces: Vec<Piece>) -> Vec<Line> {
    let is_clear = |it: &Piece| it.x.is_finite() && it.y.is_finite() && it.end.is_finite();
    pieces.retain(|it| is_clear(it) && !it.text.trim().is_empty());
    let mut lines = Vec::new();
    for turns in 0..4 {
        let turned = pieces.iter().filter(|it| it.turns == turns);
        let mut pieces: Vec<Piece> = turned.cloned().collect();
        scripts::onto_lines(&mut pieces);
        pieces.sort_by(|a, b| b.y.total_cmp(&a.y));
        // Pieces whose feet stand nearly as high make up a line.
        let mut rows: Vec<Vec<Piece>> = Vec::new();
        for piece in pieces {
            let is_in = |row: &Vec<Piece>| (row[0].y - piece.y).abs() < 0.4 * row[0].size.max(1.0);
            match rows.last_mut() {
                Some(row) if is_in(row) => row.push(piece),
                _ => rows.push(vec![piece]),
            }
        }
        for row in &mut rows {
            row.sort_by(|a, b| a.x.total_cmp(&b.x));
        }
        let rows = columns::in_order(rows);
        let cells = cells::begins(&rows);
        let rows = rows.iter().zip(&cells);
        lines.extend(rows.map(|(row, cells)| line(row, cells)));
    }
    lines
}

/// Returns what names of a page's operations stand for, the nearest first.
fn resources(document: &Document, page: ObjectId) -> Vec<&Dictionary> {
    let (own, others) = document.get_page_resources(page).unwrap_or_default();
    let others = others.into_iter();
    let others = others.filter_map(|id| document.get_dictionary(id).ok());
    own.into_iter().chain(others).collect()
}

/// Returns where people can see something of a page: left, bottom, right, top.
fn sheet(document: &Document, page: ObjectId) -> Area {
    let mut at = document.get_dictionary(page).ok();
    // The box may stand above the page; how deep pages are nested is not known.
    for _ in 0..32 {
        let Some(dictionary) = at else { break };
        for name in [b"CropBox".as_slice(), b"MediaBox"] {
            let found = dictionary.get_deref(name, document);
            let found = found.and_then(Object::as_array).map(|it| {
                let numbers = it.iter().filter_map(|it| it.as_float().ok());
                numbers.collect::<Vec<f32>>()
            });
            if let Ok(&[a, b, c, d]) = found.as_deref() {
                return [a.min(c), b.min(d), a.max(c), b.max(d)];
            }
        }
        let parent = dictionary.get(b"Parent").and_then(Object::as_reference);
        at = parent.and_then(|it| document.get_dictionary(it)).ok();
    }
    [f32::MIN, f32::MIN, f32::MAX, f32::MAX]
}

/// Puts the pieces of a line together: close ones at once, others with a space, distant ones and
/// those that begin other cells of a table as columns.
fn line(row: &[Piece], cells: &[Begin]) -> Line {
    let size = row.iter().map(|it| it.size).fold(0.0, f32::max);
    let mut text = String::new();
    let mut end = row[0].x;
    for (idx, piece) in row.iter().enumerate() {
        let gap = piece.x - end;
        let is_apart = text.ends_with(' ') || piece.text.starts_with(' ');
        let cell = cells.iter().find(|it| it.at == idx);
        let is_cell = cells::DISTANT * size < gap || cell.is_some();
        if !text.is_empty() && is_cell {
            let n_empty = cell.map_or(0, |it| it.n_empty);
            text = text.trim_end().to_owned() + " | " + &"| ".repeat(n_empty);
        } else if !text.is_empty() && cells::SPACE * size < gap && !is_apart {
            text.push(' ');
        }
        text += &piece.text;
        end = piece.end.max(end);
    }
    Line {
        y: row[0].y,
        size,
        turns: row[0].turns,
        text: text.split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

/// Makes blocks of lines: larger ones are headings, gaps end paragraphs.
fn of_lines(pages: &[(u32, Vec<Line>)]) -> Vec<Block> {
    // The size in which most letters are set.
    let mut n_letters: BTreeMap<u32, usize> = BTreeMap::new();
    for line in pages.iter().flat_map(|it| &it.1) {
        *n_letters.entry((line.size * 2.0) as u32).or_default() += line.text.len();
    }
    let most = n_letters.iter().max_by_key(|it| it.1);
    let body = most.map_or(10.0, |it| *it.0 as f32 / 2.0);
    let mut blocks = Vec::new();
    for (number, lines) in pages {
        let place = Place::Pages(*number, *number);
        let mut begun: Vec<&str> = Vec::new();
        let mut last: Option<&Line> = None;
        for line in lines {
            let level = match line.size / body.max(1.0) {
                ratio if 1.6 < ratio => Some(1),
                ratio if 1.3 < ratio => Some(2),
                ratio if 1.12 < ratio => Some(3),
                _ => None,
            };
            let level = level.filter(|_| line.text.chars().count() < 100);
            let is_far = last.is_some_and(|it| {
                it.turns != line.turns || 1.7 * line.size.max(1.0) < it.y - line.y
            });
            if !begun.is_empty() && (level.is_some() || is_far) {
                blocks.push(Block::text(std::mem::take(&mut begun).join("\n"), place));
            }
            match level {
                Some(level) => blocks.push(Block::heading(level, line.text.as_str(), place)),
                None => begun.push(&line.text),
            }
            last = Some(line);
        }
        if !begun.is_empty() {
            blocks.push(Block::text(begun.join("\n"), place));
        }
    }
    blocks
}
