//! PDF: the text of its pages as people see it, lines by where letters stand, columns of prose one
//! after the other, columns of tables apart.

mod cells;
mod columns;
mod scripts;

use super::Place;
use super::block::Block;
use cells::Begin;
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
/// Smallest letters that people read, in points.
const SMALLEST: f32 = 2.0;
/// Filled areas of a page that are noted at most.
const MOST_AREAS: usize = 10_000;
/// White areas whose contents are left out at most.
const MOST_COVERS: usize = 1000;
/// From how light on letters are as good as white.
const WHITE: f32 = 0.95;
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
    /// Whether its place was told, and is not only that behind the piece before.
    is_placed: bool,
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
    /// Whether all characters are as wide.
    is_fixed: bool,
}

impl Font<'_> {
    fn text(&self, bytes: &[u8]) -> String {
        let read = self
            .encoding
            .as_ref()
            .and_then(|it| it.bytes_to_string(bytes).ok());
        read.unwrap_or_else(|| bytes.iter().map(|byte| char::from(*byte)).collect())
    }

    fn width(&self, bytes: &[u8], text: &str) -> f32 {
        if self.widths.is_empty() && self.is_fixed {
            return 600.0 * text.chars().count() as f32;
        }
        if self.widths.is_empty() {
            // About as wide as in usual fonts.
            let width = |c: char| match c {
                'i' | 'j' | 'l' | 'I' | '.' | ',' | ';' | ':' | '\'' | '|' | '!' | ' ' => 260.0,
                'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | '-' => 330.0,
                'm' | 'w' | 'M' | 'W' => 780.0,
                c if c.is_uppercase() => 660.0,
                _ => 500.0,
            };
            return text.chars().map(width).sum();
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
        is_fixed: {
            let name = dictionary.get(b"BaseFont").and_then(Object::as_name);
            name.is_ok_and(|it| String::from_utf8_lossy(it).contains("Courier"))
        },
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

/// Returns whether a place is in an area.
fn is_in(area: &[f32; 4], (x, y): (f32, f32)) -> bool {
    area[0] <= x && x <= area[2] && area[1] <= y && y <= area[3]
}

/// Returns whether an area is a part of another one.
fn contains(area: &[f32; 4], part: &[f32; 4]) -> bool {
    is_in(area, (part[0], part[1])) && is_in(area, (part[2], part[3]))
}

/// What is set while a page is drawn.
struct Drawing<'a> {
    fonts: BTreeMap<Vec<u8>, Font<'a>>,
    font: Vec<u8>,
    size: f32,
    leading: f32,
    /// How much higher than their line letters stand.
    rise: f32,
    /// Where people can see something: left, bottom, right, top.
    sheet: [f32; 4],
    /// Of the page, and those that are put back later with the ink.
    page: Matrix,
    kept: Vec<(Matrix, bool)>,
    /// Whether what is filled is white, and whether letters are not drawn.
    is_white: bool,
    is_undrawn: bool,
    /// Rectangles that are to be filled, and those that are filled with something that is not white.
    begun: Vec<[f32; 4]>,
    dark: Vec<[f32; 4]>,
    /// White areas that were drawn over others.
    n_covers: usize,
    /// Of the text, and of the beginning of its line.
    text: Matrix,
    line: Matrix,
    /// Whether a place was told since the last piece.
    is_placed: bool,
    pieces: Vec<Piece>,
}

impl Drawing<'_> {
    fn next_line(&mut self, x: f32, y: f32) {
        self.line = times(&[1.0, 0.0, 0.0, 1.0, x, y], &self.line);
        self.text = self.line;
        self.is_placed = true;
    }

    fn show(&mut self, bytes: &[u8]) {
        let Some(font) = self.fonts.get(&self.font) else {
            return;
        };
        let text = font.text(bytes);
        let width = font.width(bytes, &text) / 1000.0 * self.size;
        let risen = times(&[1.0, 0.0, 0.0, 1.0, 0.0, self.rise], &self.text);
        let at = times(&risen, &self.page);
        let scale = (at[0] * at[0] + at[1] * at[1]).sqrt();
        let is_seen = self.is_seen(at[4], at[5], self.size.abs() * scale);
        if !text.trim().is_empty() && is_seen && self.pieces.len() < MOST_PIECES {
            self.pieces.push(Piece {
                x: at[4],
                y: at[5],
                end: at[4] + width * scale,
                size: self.size * scale,
                is_placed: std::mem::take(&mut self.is_placed),
                text,
            });
        }
        self.text = times(&[1.0, 0.0, 0.0, 1.0, width, 0.0], &self.text);
    }

    /// Returns whether people see letters of a size at a place.
    fn is_seen(&self, x: f32, y: f32, size: f32) -> bool {
        let has_ink = !self.is_white || self.dark.iter().any(|it| is_in(it, (x, y)));
        !self.is_undrawn && SMALLEST <= size && is_in(&self.sheet, (x, y)) && has_ink
    }

    /// Ends areas: filled ones that are not white are where white letters are seen, and white ones
    /// cover what stands there.
    fn end_areas(&mut self, is_filled: bool) {
        let begun = std::mem::take(&mut self.begun);
        if !is_filled {
            return;
        }
        for area in begun {
            if !self.is_white && self.dark.len() < MOST_AREAS {
                self.dark.push(area);
            } else if self.is_white && self.n_covers < MOST_COVERS {
                self.n_covers += 1;
                let middle = |it: &Piece| ((it.x + it.end) / 2.0, it.y + it.size / 4.0);
                self.pieces.retain(|it| !is_in(&area, middle(it)));
                self.dark.retain(|it| !contains(&area, it));
            }
        }
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
            "q" if self.kept.len() < 256 => self.kept.push((self.page, self.is_white)),
            "Q" => {
                let kept = self.kept.pop();
                (self.page, self.is_white) = kept.unwrap_or((self.page, self.is_white));
            }
            "g" | "rg" | "sc" | "scn" => {
                let all = (0..operands.len()).all(|idx| number(idx).is_some_and(|it| WHITE < it));
                self.is_white = all && !operands.is_empty();
            }
            "k" => self.is_white = (0..4).all(|idx| number(idx).is_some_and(|it| it < 1.0 - WHITE)),
            "cs" => self.is_white = false,
            "Tr" => self.is_undrawn = matches!(number(0), Some(3.0 | 7.0)),
            "re" if self.begun.len() < MOST_AREAS => {
                let [x, y, width, height] = [0, 1, 2, 3].map(|idx| number(idx).unwrap_or(0.0));
                let at = |x, y| times(&[1.0, 0.0, 0.0, 1.0, x, y], &self.page);
                let (a, b) = (at(x, y), at(x + width, y + height));
                let sorted = |a: f32, b: f32| (a.min(b), a.max(b));
                let ((left, right), (bottom, top)) = (sorted(a[4], b[4]), sorted(a[5], b[5]));
                self.begun.push([left, bottom, right, top]);
            }
            "f" | "F" | "f*" | "B" | "B*" | "b" | "b*" => self.end_areas(true),
            "S" | "s" | "n" => self.end_areas(false),
            "cm" => {
                if let Some(it) = matrix() {
                    self.page = times(&it, &self.page);
                }
            }
            "BT" => (self.text, self.line, self.is_placed) = (UNIT, UNIT, true),
            "Tf" => {
                let name = operands.first().and_then(|it| it.as_name().ok());
                self.font = name.unwrap_or_default().to_vec();
                self.size = number(1).unwrap_or(1.0);
            }
            "Ts" => self.rise = number(0).unwrap_or(0.0),
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
                    (self.text, self.line, self.is_placed) = (it, it, true);
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
        rise: 0.0,
        sheet: sheet(document, page),
        page: UNIT,
        kept: Vec::new(),
        is_white: false,
        is_undrawn: false,
        begun: Vec::new(),
        dark: Vec::new(),
        n_covers: 0,
        text: UNIT,
        line: UNIT,
        is_placed: true,
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
    scripts::onto_lines(&mut pieces);
    pieces.sort_by(|a, b| b.y.total_cmp(&a.y));
    // Pieces whose feet stand nearly as high make up a line.
    let mut rows: Vec<Vec<Piece>> = Vec::new();
    for piece in pieces {
        match rows.last_mut() {
            Some(row) if (row[0].y - piece.y).abs() < 0.4 * row[0].size.max(1.0) => row.push(piece),
            _ => rows.push(vec![piece]),
        }
    }
    for row in &mut rows {
        row.sort_by(|a, b| a.x.total_cmp(&b.x));
    }
    let rows = columns::in_order(rows);
    let cells = cells::begins(&rows);
    let lines = rows.iter().zip(&cells);
    lines.map(|(row, cells)| line(row, cells)).collect()
}

/// Returns where people can see something of a page: left, bottom, right, top.
fn sheet(document: &Document, page: ObjectId) -> [f32; 4] {
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
