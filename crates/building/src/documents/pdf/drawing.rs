//! How a page is drawn: its operations, those of the forms that it shows, and the pieces of text
//! that people see when all is drawn.

use super::font::{Font, Fonts};
use super::{Piece, STREAM};
use lopdf::content::{Content, Operation};
use lopdf::{Dictionary, Document, Object, decode_text_string};
use std::rc::Rc;

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
/// How opaque is as good as not drawn.
const CLEAR: f32 = 0.05;
/// Operations of a page that are carried out at most, those of its forms among them.
const MOST_OPERATIONS: usize = 2_000_000;
/// Forms in one another that are drawn at most.
const DEEPEST: usize = 16;
/// States that are kept at most.
const MOST_KEPT: usize = 256;

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

fn moved(x: f32, y: f32) -> Matrix {
    [1.0, 0.0, 0.0, 1.0, x, y]
}

/// A rectangle: left, bottom, right, top.
pub type Area = [f32; 4];

/// Returns whether a place is in an area.
fn is_in(area: &Area, (x, y): (f32, f32)) -> bool {
    area[0] <= x && x <= area[2] && area[1] <= y && y <= area[3]
}

/// Returns whether an area is a part of another one.
fn contains(area: &Area, part: &Area) -> bool {
    is_in(area, (part[0], part[1])) && is_in(area, (part[2], part[3]))
}

/// Returns what two areas have in common; nothing is in it if they have nothing.
fn common(a: &Area, b: &Area) -> Area {
    [
        a[0].max(b[0]),
        a[1].max(b[1]),
        a[2].min(b[2]),
        a[3].min(b[3]),
    ]
}

/// Returns the smallest area with all of these places.
fn around(places: impl IntoIterator<Item = (f32, f32)>) -> Option<Area> {
    let mut places = places.into_iter();
    let (x, y) = places.next()?;
    let add =
        |it: Area, (x, y): (f32, f32)| [it[0].min(x), it[1].min(y), it[2].max(x), it[3].max(y)];
    Some(places.fold([x, y, x, y], add))
}

/// What `q` keeps and `Q` puts back.
#[derive(Clone)]
struct State<'a> {
    page: Matrix,
    /// Where what is drawn is seen.
    clip: Area,
    /// Whether what is filled is white.
    is_white: bool,
    /// How opaque it is, from 0 to 1, and how opaque strokes are.
    fill: f32,
    stroke: f32,
    font: Option<Rc<Font<'a>>>,
    size: f32,
    leading: f32,
    /// How much higher than their line letters stand.
    rise: f32,
    /// What is added behind each code, and behind each space.
    after_code: f32,
    after_space: f32,
    /// How much wider letters are than the font has them.
    stretch: f32,
    /// How letters are drawn.
    mode: i64,
}

impl State<'_> {
    /// Returns whether letters are drawn so that people see them, whatever their color is.
    fn draws_letters(&self) -> bool {
        match self.mode {
            3 | 7 => false,
            1 | 5 => CLEAR < self.stroke,
            2 | 6 => CLEAR < self.stroke || CLEAR < self.fill,
            _ => CLEAR < self.fill,
        }
    }
}

/// What stands between a mark and its end.
struct Marked {
    /// What it says, for those who cannot tell it by its letters.
    says: Option<String>,
    /// The first piece within.
    first: usize,
}

/// A page that is being drawn.
pub struct Drawing<'a, 'd> {
    document: &'a Document,
    fonts: &'d mut Fonts<'a>,
    /// Bytes that streams may still unpack to.
    left: &'d mut usize,
    /// Of what is drawn: the page, or one of its forms.
    resources: Vec<&'a Dictionary>,
    depth: usize,
    n_operations: usize,
    state: State<'a>,
    kept: Vec<State<'a>>,
    /// The path that is being made: the places that it touches, and its rectangles.
    path: Option<Area>,
    begun: Vec<Area>,
    /// Whether it is to be where all after it is seen.
    is_clip: bool,
    /// Rectangles that are filled with something that is not white.
    dark: Vec<Area>,
    /// White areas that were drawn over others.
    n_covers: usize,
    marks: Vec<Marked>,
    /// Of the text, and of the beginning of its line.
    text: Matrix,
    line: Matrix,
    /// Whether a place was told since the last piece.
    is_placed: bool,
    /// What people see.
    pub pieces: Vec<Piece>,
    /// Why something is not read.
    pub failure: Option<String>,
}

impl<'a, 'd> Drawing<'a, 'd> {
    /// Begins a page, of which people see `sheet`.
    pub fn new(
        document: &'a Document,
        fonts: &'d mut Fonts<'a>,
        left: &'d mut usize,
        resources: Vec<&'a Dictionary>,
        sheet: Area,
    ) -> Self {
        Self {
            document,
            fonts,
            left,
            resources,
            depth: 0,
            n_operations: 0,
            state: State {
                page: UNIT,
                clip: sheet,
                is_white: false,
                fill: 1.0,
                stroke: 1.0,
                font: None,
                size: 1.0,
                leading: 0.0,
                rise: 0.0,
                after_code: 0.0,
                after_space: 0.0,
                stretch: 1.0,
                mode: 0,
            },
            kept: Vec::new(),
            path: None,
            begun: Vec::new(),
            is_clip: false,
            dark: Vec::new(),
            n_covers: 0,
            marks: Vec::new(),
            text: UNIT,
            line: UNIT,
            is_placed: true,
            pieces: Vec::new(),
            failure: None,
        }
    }

    /// Carries the operations of a content out. What stands behind a broken one is lost.
    pub fn run(&mut self, content: &[u8]) {
        // How many states and marks are those of what shows this content.
        let (n_kept, n_marks) = (self.kept.len(), self.marks.len());
        // One after the other: all together may take much more memory than they are long.
        for operation in Content::decode_iter(content).map_while(Result::ok) {
            self.n_operations += 1;
            if MOST_OPERATIONS < self.n_operations {
                break;
            }
            match operation.operator.as_str() {
                "Q" if self.kept.len() <= n_kept => {}
                "EMC" if self.marks.len() <= n_marks => {}
                _ => self.operation(&operation),
            }
        }
        self.kept.truncate(n_kept);
        while n_marks < self.marks.len() {
            self.end_mark();
        }
    }

    fn resource(&self, kind: &[u8], name: &[u8]) -> Option<&'a Object> {
        let document = self.document;
        self.resources.iter().find_map(|it| {
            let of_kind = it.get_deref(kind, document).and_then(Object::as_dict);
            of_kind.and_then(|it| it.get_deref(name, document)).ok()
        })
    }

    /// Draws a form: a part of a page with operations of its own.
    fn form(&mut self, name: &[u8]) {
        let stream = self.resource(b"XObject", name);
        let Some(stream) = stream.and_then(|it| it.as_stream().ok()) else {
            return;
        };
        let get = |key: &[u8]| stream.dict.get_deref(key, self.document).ok();
        let kind = get(b"Subtype").and_then(|it| it.as_name().ok());
        if kind != Some(b"Form") || DEEPEST <= self.depth || self.failure.is_some() {
            return;
        }
        let content = match stream.get_plain_content_with_limit(STREAM.min(*self.left)) {
            Ok(content) => content,
            Err(error) => {
                self.failure = Some(format!("a form on it cannot be read: {error}"));
                return;
            }
        };
        *self.left -= content.len().min(*self.left);
        let numbers = |key: &[u8]| {
            let array = get(key).and_then(|it| it.as_array().ok())?;
            let number = |it: &Object| it.as_float().ok();
            array.iter().map(number).collect::<Option<Vec<f32>>>()
        };
        let matrix = numbers(b"Matrix").and_then(|it| Matrix::try_from(it).ok());
        let edge = numbers(b"BBox").and_then(|it| Area::try_from(it).ok());
        let own = get(b"Resources").and_then(|it| it.as_dict().ok());
        let state = self.state.clone();
        let text = (self.text, self.line);
        self.state.page = times(&matrix.unwrap_or(UNIT), &state.page);
        if let Some([left, bottom, right, top]) = edge {
            let corners = [(left, bottom), (left, top), (right, bottom), (right, top)];
            let corners = corners.map(|(x, y)| self.on_page(x, y));
            self.state.clip = around(corners).map_or(state.clip, |it| common(&it, &state.clip));
        }
        // Without resources of its own it has those of the page.
        let resources = own.map(|own| std::mem::replace(&mut self.resources, vec![own]));
        self.depth += 1;
        self.run(&content);
        self.depth -= 1;
        if let Some(resources) = resources {
            self.resources = resources;
        }
        (self.text, self.line) = text;
        self.state = state;
    }

    fn on_page(&self, x: f32, y: f32) -> (f32, f32) {
        let at = times(&moved(x, y), &self.state.page);
        (at[4], at[5])
    }

    fn next_line(&mut self, x: f32, y: f32) {
        self.line = times(&moved(x, y), &self.line);
        self.text = self.line;
        self.is_placed = true;
    }

    fn show(&mut self, bytes: &[u8]) {
        let state = &self.state;
        let Some(font) = &state.font else { return };
        let shown = font.shown(bytes);
        let added = shown.n_codes as f32 * state.after_code;
        let added = added + shown.n_spaces as f32 * state.after_space;
        let width = (shown.width * state.size + added) * state.stretch;
        let at = times(&times(&moved(0.0, state.rise), &self.text), &state.page);
        let scale = at[0].hypot(at[1]);
        let size = state.size.abs() * scale;
        let middle = (
            at[4] + at[0] * width / 2.0 + at[2] * state.size / 4.0,
            at[5] + at[1] * width / 2.0 + at[3] * state.size / 4.0,
        );
        // Read along the way that its letters stand: to the right, up, to the left or down.
        let is_upright = at[1].abs() <= at[0].abs();
        let (turns, x, y) = match (is_upright, 0.0 <= at[0], 0.0 <= at[1]) {
            (true, true, _) => (0, at[4], at[5]),
            (false, _, true) => (1, at[5], -at[4]),
            (true, false, _) => (2, -at[4], -at[5]),
            (false, _, false) => (3, -at[5], at[4]),
        };
        let is_seen = SMALLEST <= size && self.is_seen(middle);
        if !shown.text.trim().is_empty() && is_seen && self.pieces.len() < MOST_PIECES {
            self.pieces.push(Piece {
                x,
                y,
                end: x + width * scale,
                size,
                turns,
                middle,
                is_placed: std::mem::take(&mut self.is_placed),
                text: shown.text,
            });
        }
        self.text = times(&moved(width, 0.0), &self.text);
    }

    /// Returns whether people see letters at a place.
    fn is_seen(&self, at: (f32, f32)) -> bool {
        let has_ink = !self.state.is_white || self.dark.iter().any(|it| is_in(it, at));
        self.state.draws_letters() && is_in(&self.state.clip, at) && has_ink
    }

    /// Ends what is marked: what it says counts where its letters do not tell what they are.
    fn end_mark(&mut self) {
        let Some(mark) = self.marks.pop() else { return };
        let Some(says) = mark.says else { return };
        let within = self.pieces.get_mut(mark.first..).unwrap_or_default();
        let is_unknown = |c: char| matches!(c, '\u{fffd}' | '\u{e000}'..='\u{f8ff}');
        let mut letters = within.iter().flat_map(|it| it.text.chars());
        if !letters.all(|c| is_unknown(c) || c.is_control() || c == ' ') {
            return;
        }
        let end = within.iter().map(|it| it.end).fold(f32::MIN, f32::max);
        within.iter_mut().for_each(|it| it.text.clear());
        if let Some(first) = within.first_mut() {
            (first.text, first.end) = (says, end);
        }
    }

    /// Returns what a mark says of what stands behind it.
    fn says(&self, properties: Option<&Object>) -> Option<String> {
        let properties = match properties? {
            Object::Name(name) => self.resource(b"Properties", name)?,
            properties => properties,
        };
        let properties = properties.as_dict().ok()?;
        let says = properties.get_deref(b"ActualText", self.document).ok()?;
        decode_text_string(says).ok()
    }

    /// Adds places to the path.
    fn touch(&mut self, places: &[(f32, f32)]) {
        let old = self.path.map(|it| [(it[0], it[1]), (it[2], it[3])]);
        let new = places.iter().map(|(x, y)| self.on_page(*x, *y));
        self.path = around(old.into_iter().flatten().chain(new));
    }

    /// Ends the path: filled areas that are not white are where white letters are seen, and white
    /// ones cover what stands there.
    fn end_path(&mut self, is_filled: bool) {
        let begun = std::mem::take(&mut self.begun);
        let path = self.path.take();
        let clip = self.state.clip;
        if std::mem::take(&mut self.is_clip)
            && let Some(path) = path
        {
            self.state.clip = common(&clip, &path);
        }
        if !is_filled || self.state.fill <= CLEAR {
            return;
        }
        for area in begun {
            let area = common(&area, &clip);
            if !self.state.is_white && self.dark.len() < MOST_AREAS {
                self.dark.push(area);
            } else if self.state.is_white && self.n_covers < MOST_COVERS {
                self.n_covers += 1;
                // Pieces of a mark that is open keep their numbers.
                let covered = self.pieces.iter_mut().filter(|it| is_in(&area, it.middle));
                covered.for_each(|it| it.text.clear());
                self.dark.retain(|it| !contains(&area, it));
            }
        }
    }

    fn graphics_state(&mut self, name: &[u8]) {
        let found = self.resource(b"ExtGState", name);
        let Some(found) = found.and_then(|it| it.as_dict().ok()) else {
            return;
        };
        let number = |key| {
            let found = found.get_deref(key, self.document).ok();
            found.and_then(|it| it.as_float().ok())
        };
        let (fill, stroke) = (number(b"ca"), number(b"CA"));
        self.state.fill = fill.unwrap_or(self.state.fill);
        self.state.stroke = stroke.unwrap_or(self.state.stroke);
    }

    fn operation(&mut self, operation: &Operation) {
        let Operation { operator, operands } = operation;
        let number = |idx: usize| operands.get(idx).and_then(|it| it.as_float().ok());
        let or_zero = |idx: usize| number(idx).unwrap_or(0.0);
        let name = |idx: usize| operands.get(idx).and_then(|it| it.as_name().ok());
        let matrix = || {
            let mut matrix = UNIT;
            for (idx, place) in matrix.iter_mut().enumerate() {
                *place = number(idx)?;
            }
            Some(matrix)
        };
        match operator.as_str() {
            "q" if self.kept.len() < MOST_KEPT => self.kept.push(self.state.clone()),
            "Q" => {
                if let Some(kept) = self.kept.pop() {
                    self.state = kept;
                }
            }
            "g" | "rg" | "sc" | "scn" => {
                let all = (0..operands.len()).all(|idx| number(idx).is_some_and(|it| WHITE < it));
                self.state.is_white = all && !operands.is_empty();
            }
            "k" => {
                let is_light = |idx| number(idx).is_some_and(|it| it < 1.0 - WHITE);
                self.state.is_white = (0..4).all(is_light);
            }
            "cs" => self.state.is_white = false,
            "gs" => self.graphics_state(name(0).unwrap_or_default()),
            "Do" => self.form(name(0).unwrap_or_default()),
            "BMC" | "BDC" => {
                let says = self.says(operands.get(1));
                let first = self.pieces.len();
                self.marks.push(Marked { says, first });
            }
            "EMC" => self.end_mark(),
            "m" | "l" | "c" | "v" | "y" => {
                let pairs =
                    (0..operands.len() / 2).map(|it| (or_zero(2 * it), or_zero(2 * it + 1)));
                self.touch(&pairs.collect::<Vec<_>>());
            }
            "re" => {
                let [x, y, width, height] = [0, 1, 2, 3].map(or_zero);
                let (right, top) = (x + width, y + height);
                let corners = [(x, y), (x, top), (right, y), (right, top)];
                self.touch(&corners);
                let area = around(corners.map(|(x, y)| self.on_page(x, y)));
                if let Some(area) = area.filter(|_| self.begun.len() < MOST_AREAS) {
                    self.begun.push(area);
                }
            }
            "W" | "W*" => self.is_clip = true,
            "f" | "F" | "f*" | "B" | "B*" | "b" | "b*" => self.end_path(true),
            "S" | "s" | "n" => self.end_path(false),
            "cm" => {
                if let Some(it) = matrix() {
                    self.state.page = times(&it, &self.state.page);
                }
            }
            _ => self.text_operation(operation),
        }
    }

    fn text_operation(&mut self, operation: &Operation) {
        let Operation { operator, operands } = operation;
        let number = |idx: usize| operands.get(idx).and_then(|it| it.as_float().ok());
        let or_zero = |idx: usize| number(idx).unwrap_or(0.0);
        match operator.as_str() {
            "BT" => (self.text, self.line, self.is_placed) = (UNIT, UNIT, true),
            "Tf" => {
                let name = operands.first().and_then(|it| it.as_name().ok());
                let font = self.resource(b"Font", name.unwrap_or_default());
                let font = font.and_then(|it| it.as_dict().ok());
                self.state.font = font.map(|it| self.fonts.get(self.document, it));
                self.state.size = number(1).unwrap_or(1.0);
            }
            "Tr" => {
                let mode = operands.first().and_then(|it| it.as_float().ok());
                self.state.mode = mode.map_or(0, |it| it as i64);
            }
            "Tc" => self.state.after_code = or_zero(0),
            "Tw" => self.state.after_space = or_zero(0),
            "Tz" => self.state.stretch = number(0).map_or(1.0, |it| it / 100.0),
            "Ts" => self.state.rise = or_zero(0),
            "TL" => self.state.leading = or_zero(0),
            "Td" | "TD" => {
                if operator == "TD" {
                    self.state.leading = -or_zero(1);
                }
                self.next_line(or_zero(0), or_zero(1));
            }
            "Tm" => {
                let mut it = UNIT;
                if (0..6).all(|idx| number(idx).map(|value| it[idx] = value).is_some()) {
                    (self.text, self.line, self.is_placed) = (it, it, true);
                }
            }
            "T*" => self.next_line(0.0, -self.state.leading),
            "Tj" | "'" | "\"" => {
                if operator == "\"" {
                    (self.state.after_space, self.state.after_code) = (or_zero(0), or_zero(1));
                }
                if operator != "Tj" {
                    self.next_line(0.0, -self.state.leading);
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
                        let x = -back / 1000.0 * self.state.size * self.state.stretch;
                        self.text = times(&moved(x, 0.0), &self.text);
                    }
                }
            }
            _ => {}
        }
    }
}
