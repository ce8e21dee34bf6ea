//! PDF: the text of its pages, lines by where letters stand, columns of tables apart.

use super::Place;
use super::block::Block;
use lopdf::{Dictionary, Document, Encoding, LoadOptions, Object, ObjectId, content::Content};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Bytes that one stream may unpack to.
const STREAM: usize = 16 << 20;
/// Bytes that all pages together may unpack to.
const PAGES: usize = 128 << 20;
/// Pages that are read at most.
const MOST_PAGES: u32 = 5000;
/// Pieces of text on a page that are read at most.
const MOST_PIECES: usize = 100_000;
/// Operations of a page that are carried out at most.
const MOST_OPERATIONS: usize = 2_000_000;

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
        pages.push((number, lines(&document, id, &content)));
    }
    Ok(of_lines(&pages))
}

/// A piece of text at a place.
#[derive(Clone, Debug)]
struct Piece {
    x: f32,
    y: f32,
    end: f32,
    size: f32,
    text: String,
}

/// A line of a page.
#[derive(Clone, Debug)]
struct Line {
    y: f32,
    size: f32,
    text: String,
}

/// A font: how its bytes are read, and how wide its characters are in thousandths of its size.
struct Font<'a> {
    encoding: Option<Encoding<'a>>,
    first: usize,
    widths: Vec<f32>,
}

impl Font<'_> {
    fn text(&self, bytes: &[u8]) -> String {
        let read = self
            .encoding
            .as_ref()
            .and_then(|it| it.bytes_to_string(bytes).ok());
        read.unwrap_or_else(|| bytes.iter().map(|byte| char::from(*byte)).collect())
    }

    fn width(&self, bytes: &[u8], n_characters: usize) -> f32 {
        if self.widths.is_empty() {
            return 500.0 * n_characters as f32;
        }
        let width = |byte: &u8| {
            let idx = usize::from(*byte).checked_sub(self.first);
            idx.and_then(|idx| self.widths.get(idx)).unwrap_or(&500.0)
        };
        bytes.iter().map(width).sum()
    }
}

fn font<'a>(document: &'a Document, dictionary: &'a Dictionary) -> Font<'a> {
    let number = |object: &Object| object.as_float().unwrap_or(500.0);
    let widths = dictionary.get_deref(b"Widths", document);
    let widths = widths.and_then(Object::as_array);
    let first = dictionary.get_deref(b"FirstChar", document);
    Font {
        encoding: dictionary
            .get_font_encoding_with_limit(document, STREAM)
            .ok(),
        first: first.and_then(Object::as_i64).unwrap_or(0).max(0) as usize,
        widths: widths.map_or_else(|_| Vec::new(), |it| it.iter().map(number).collect()),
    }
}

/// An affine map of the plane, as the format writes it.
type Matrix = [f32; 6];
const UNIT: Matrix = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];

fn times(a: &Matrix, b: &Matrix) -> Matrix {
    [
        a[0] * b[0] + a[1] * b[2],
        a[0] * b[1] + a[1] * b[3],
        a[2] * b[0] + a[3] * b[2],
        a[2] * b[1] + a[3] * b[3],
        a[4] * b[0] + a[5] * b[2] + b[4],
        a[4] * b[1] + a[5] * b[3] + b[5],
    ]
}

/// What is set while a page is drawn.
struct Drawing<'a> {
    fonts: BTreeMap<Vec<u8>, Font<'a>>,
    font: Vec<u8>,
    size: f32,
    leading: f32,
    /// Of the page, and those that are put back later.
    page: Matrix,
    kept: Vec<Matrix>,
    /// Of the text, and of the beginning of its line.
    text: Matrix,
    line: Matrix,
    pieces: Vec<Piece>,
}

impl Drawing<'_> {
    fn next_line(&mut self, x: f32, y: f32) {
        self.line = times(&[1.0, 0.0, 0.0, 1.0, x, y], &self.line);
        self.text = self.line;
    }

    fn show(&mut self, bytes: &[u8]) {
        let Some(font) = self.fonts.get(&self.font) else {
            return;
        };
        let text = font.text(bytes);
        let width = font.width(bytes, text.chars().count()) / 1000.0 * self.size;
        let at = times(&self.text, &self.page);
        let scale = (at[0] * at[0] + at[1] * at[1]).sqrt();
        if !text.trim().is_empty() && self.pieces.len() < MOST_PIECES {
            self.pieces.push(Piece {
                x: at[4],
                y: at[5],
                end: at[4] + width * scale,
                size: self.size * scale,
                text,
            });
        }
        self.text = times(&[1.0, 0.0, 0.0, 1.0, width, 0.0], &self.text);
    }

    fn operation(&mut self, operator: &str, operands: &[Object]) {
        let number = |idx: usize| operands.get(idx).and_then(|it| it.as_float().ok());
        let matrix = || {
            let mut matrix = UNIT;
            for (idx, place) in matrix.iter_mut().enumerate() {
                *place = number(idx)?;
            }
            Some(matrix)
        };
        match operator {
            "q" if self.kept.len() < 256 => self.kept.push(self.page),
            "Q" => self.page = self.kept.pop().unwrap_or(self.page),
            "cm" => {
                if let Some(it) = matrix() {
                    self.page = times(&it, &self.page);
                }
            }
            "BT" => (self.text, self.line) = (UNIT, UNIT),
            "Tf" => {
                let name = operands.first().and_then(|it| it.as_name().ok());
                self.font = name.unwrap_or_default().to_vec();
                self.size = number(1).unwrap_or(1.0);
            }
            "TL" => self.leading = number(0).unwrap_or(0.0),
            "Td" | "TD" => {
                let (x, y) = (number(0).unwrap_or(0.0), number(1).unwrap_or(0.0));
                if operator == "TD" {
                    self.leading = -y;
                }
                self.next_line(x, y);
            }
            "Tm" => {
                if let Some(it) = matrix() {
                    (self.text, self.line) = (it, it);
                }
            }
            "T*" => self.next_line(0.0, -self.leading),
            "Tj" | "'" | "\"" => {
                if operator != "Tj" {
                    self.next_line(0.0, -self.leading);
                }
                if let Some(Object::String(bytes, _)) = operands.last() {
                    self.show(bytes);
                }
            }
            "TJ" => {
                let items = operands.first().and_then(|it| it.as_array().ok());
                for item in items.into_iter().flatten() {
                    if let Object::String(bytes, _) = item {
                        self.show(bytes);
                    } else if let Ok(back) = item.as_float() {
                        let x = -back / 1000.0 * self.size;
                        self.text = times(&[1.0, 0.0, 0.0, 1.0, x, 0.0], &self.text);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Returns the lines of a page, from top to bottom.
fn lines(document: &Document, page: ObjectId, content: &[u8]) -> Vec<Line> {
    let fonts = document.get_page_fonts(page).unwrap_or_default();
    let fonts = fonts
        .into_iter()
        .map(|(name, it)| (name, font(document, it)));
    let mut drawing = Drawing {
        fonts: fonts.collect(),
        font: Vec::new(),
        size: 1.0,
        leading: 0.0,
        page: UNIT,
        kept: Vec::new(),
        text: UNIT,
        line: UNIT,
        pieces: Vec::new(),
    };
    // One after the other: all together may take much more memory than they are long. What
    // stands behind a broken one is lost.
    let operations = Content::decode_iter(content).map_while(Result::ok);
    for operation in operations.take(MOST_OPERATIONS) {
        drawing.operation(&operation.operator, &operation.operands);
    }
    let mut pieces = drawing.pieces;
    pieces.retain(|it| it.x.is_finite() && it.y.is_finite() && it.end.is_finite());
    pieces.sort_by(|a, b| b.y.total_cmp(&a.y));
    // Pieces whose feet stand nearly as high make up a line.
    let mut rows: Vec<Vec<Piece>> = Vec::new();
    for piece in pieces {
        match rows.last_mut() {
            Some(row) if (row[0].y - piece.y).abs() < 0.4 * row[0].size.max(1.0) => row.push(piece),
            _ => rows.push(vec![piece]),
        }
    }
    rows.into_iter().map(line).collect()
}

/// Puts the pieces of a line together: close ones at once, others with a space, distant ones as
/// columns.
fn line(mut row: Vec<Piece>) -> Line {
    row.sort_by(|a, b| a.x.total_cmp(&b.x));
    let size = row.iter().map(|it| it.size).fold(0.0, f32::max);
    let mut text = String::new();
    let mut end = row[0].x;
    for piece in &row {
        let gap = piece.x - end;
        let is_apart = text.ends_with(' ') || piece.text.starts_with(' ');
        if !text.is_empty() && 1.8 * size < gap {
            text = text.trim_end().to_owned() + " | ";
        } else if !text.is_empty() && 0.15 * size < gap && !is_apart {
            text.push(' ');
        }
        text += &piece.text;
        end = piece.end.max(end);
    }
    Line {
        y: row[0].y,
        size,
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
            // The number of the page.
            if line.text.chars().all(|c| c.is_ascii_digit() || c == ' ') {
                continue;
            }
            let level = match line.size / body.max(1.0) {
                ratio if 1.6 < ratio => Some(1),
                ratio if 1.3 < ratio => Some(2),
                ratio if 1.12 < ratio => Some(3),
                _ => None,
            };
            let level = level.filter(|_| line.text.chars().count() < 100);
            let is_far = last.is_some_and(|it| 1.7 * line.size.max(1.0) < it.y - line.y);
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
