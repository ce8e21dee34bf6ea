//! Fonts: which characters the codes of a text are, and how wide they are.

use super::STREAM;
use lopdf::{Dictionary, Document, Encoding, Object};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Codes of a composite font of which widths are kept at most.
const MOST_WIDTHS: usize = 1 << 16;
/// Width of what a font tells none of, in thousandths of its size.
const USUAL: f32 = 500.0;
/// The same for composite fonts, as the format has it.
const USUAL_COMPOSITE: f32 = 1000.0;

/// A font.
pub struct Font<'a> {
    characters: Characters<'a>,
    widths: Widths,
    /// Whether codes take two bytes each, as those of composite fonts do.
    is_composite: bool,
}

/// Which characters codes are.
struct Characters<'a> {
    /// What the font says of the characters that its codes stand for.
    told: Option<Encoding<'a>>,
    /// The encoding that its codes are of.
    encoding: Option<Encoding<'a>>,
}

/// How wide characters are, in thousandths of the font's size.
enum Widths {
    /// By code, from the first on.
    Simple(usize, Vec<f32>),
    /// By the first code of a range: its last one, and the width of each; and that of all others.
    Composite(BTreeMap<u32, (u32, f32)>, f32),
    /// All the same.
    Fixed,
    /// Nothing is told.
    Guessed,
}

/// What a text in a font is.
pub struct Shown {
    pub text: String,
    /// In sizes of the font.
    pub width: f32,
    pub n_codes: usize,
    /// Codes of one byte that stand for a space, which may be spread.
    pub n_spaces: usize,
}

impl<'a> Font<'a> {
    fn new(document: &'a Document, dictionary: &'a Dictionary) -> Self {
        let name = |key| {
            dictionary
                .get_deref(key, document)
                .and_then(Object::as_name)
        };
        let is_composite = name(b"Subtype").is_ok_and(|it| it == b"Type0");
        let encoding = |of: &'a Dictionary| of.get_font_encoding_with_limit(document, STREAM).ok();
        Self {
            characters: Characters {
                told: told(document, dictionary),
                encoding: encoding(dictionary),
            },
            widths: match is_composite {
                true => composite_widths(document, dictionary),
                false => simple_widths(document, dictionary),
            },
            is_composite,
        }
    }

    /// Returns what these bytes show.
    pub fn shown(&self, bytes: &[u8]) -> Shown {
        let mut shown = Shown {
            text: String::new(),
            width: 0.0,
            n_codes: 0,
            n_spaces: 0,
        };
        for code in bytes.chunks(if self.is_composite { 2 } else { 1 }) {
            let text = self.characters.of(code);
            shown.width += self.widths.of(code, &text) / 1000.0;
            shown.n_codes += 1;
            shown.n_spaces += usize::from(code == b" ");
            shown.text += &text;
        }
        shown
    }
}

/// Returns what a font says of the characters that its codes stand for.
fn told(document: &Document, dictionary: &Dictionary) -> Option<Encoding<'static>> {
    let mut of = Dictionary::new();
    of.set("Type", Object::Name(b"Font".to_vec()));
    of.set("ToUnicode", dictionary.get(b"ToUnicode").ok()?.clone());
    // Without an encoding of its own, what it says is all that there is.
    match of.get_font_encoding_with_limit(document, STREAM) {
        Ok(Encoding::UnicodeMapEncoding(map)) => Some(Encoding::UnicodeMapEncoding(map)),
        _ => None,
    }
}

impl Characters<'_> {
    fn of(&self, code: &[u8]) -> String {
        if let Some(Encoding::UnicodeMapEncoding(map)) = &self.told {
            let number = code.iter().fold(0, |it, byte| it << 8 | u32::from(*byte));
            if let Some(units) = map.get(number, code.len() as u8) {
                return String::from_utf16_lossy(&units);
            }
        }
        let read = self.encoding.as_ref().map(|it| it.bytes_to_string(code));
        match read {
            Some(Ok(text)) => text,
            _ => code.iter().map(|byte| char::from(*byte)).collect(),
        }
    }
}

impl Widths {
    fn of(&self, code: &[u8], text: &str) -> f32 {
        let number = code.iter().fold(0, |it, byte| it << 8 | u32::from(*byte));
        match self {
            Self::Simple(first, widths) => {
                let idx = (number as usize).checked_sub(*first);
                *idx.and_then(|idx| widths.get(idx)).unwrap_or(&USUAL)
            }
            Self::Composite(ranges, usual) => {
                let range = ranges.range(..=number).next_back();
                let range = range.filter(|(_, (last, _))| number <= *last);
                range.map_or(*usual, |(_, (_, width))| *width)
            }
            Self::Fixed => 600.0 * text.chars().count() as f32,
            Self::Guessed => text.chars().map(guessed).sum(),
        }
    }
}

/// Returns about how wide a character is in usual fonts.
fn guessed(c: char) -> f32 {
    match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ';' | ':' | '\'' | '|' | '!' | ' ' => 260.0,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | '-' => 330.0,
        'm' | 'w' | 'M' | 'W' => 780.0,
        c if c.is_uppercase() => 660.0,
        _ => USUAL,
    }
}

fn simple_widths(document: &Document, dictionary: &Dictionary) -> Widths {
    let widths = dictionary.get_deref(b"Widths", document);
    let widths: Vec<f32> = widths.and_then(Object::as_array).map_or_else(
        |_| Vec::new(),
        |it| it.iter().map(|it| number(document, it)).collect(),
    );
    let name = dictionary.get(b"BaseFont").and_then(Object::as_name);
    let is_fixed = name.is_ok_and(|it| String::from_utf8_lossy(it).contains("Courier"));
    let first = dictionary.get_deref(b"FirstChar", document);
    match first.and_then(Object::as_i64).unwrap_or(0).max(0) {
        first if !widths.is_empty() => Widths::Simple(first as usize, widths),
        _ if is_fixed => Widths::Fixed,
        _ => Widths::Guessed,
    }
}

fn number(document: &Document, object: &Object) -> f32 {
    let object = document.dereference(object).map_or(object, |it| it.1);
    object.as_float().unwrap_or(USUAL)
}

fn composite_widths(document: &Document, dictionary: &Dictionary) -> Widths {
    let within = dictionary.get_deref(b"DescendantFonts", document);
    let within = within.and_then(Object::as_array).ok();
    let within = within.and_then(|it| document.dereference(it.first()?).ok());
    let within = within.and_then(|it| it.1.as_dict().ok());
    let get = |key| within.and_then(|it| it.get_deref(key, document).ok());
    let usual = get(b"DW").and_then(|it| it.as_float().ok());
    let mut ranges = BTreeMap::new();
    let items = get(b"W").and_then(|it| it.as_array().ok());
    let mut items = items.into_iter().flatten();
    // A code, and the widths from it on; or the first and the last code of one width.
    while let Some(first) = items.next().and_then(|it| code(document, it)) {
        let Some(second) = items.next() else { break };
        let second = document.dereference(second).map_or(second, |it| it.1);
        if let Ok(widths) = second.as_array() {
            for (at, width) in (first..).zip(widths) {
                ranges.insert(at, (at, number(document, width)));
            }
        } else if let (Some(last), Some(width)) = (code(document, second), items.next()) {
            ranges.insert(first, (last, number(document, width)));
        }
        if MOST_WIDTHS < ranges.len() {
            break;
        }
    }
    Widths::Composite(ranges, usual.unwrap_or(USUAL_COMPOSITE))
}

fn code(document: &Document, object: &Object) -> Option<u32> {
    let object = document.dereference(object).map_or(object, |it| it.1);
    u32::try_from(object.as_i64().ok()?).ok()
}

/// The fonts of a document that were met, by where they are kept.
#[derive(Default)]
pub struct Fonts<'a>(BTreeMap<usize, Rc<Font<'a>>>);

impl<'a> Fonts<'a> {
    /// Returns the font of a dictionary.
    pub fn get(&mut self, document: &'a Document, dictionary: &'a Dictionary) -> Rc<Font<'a>> {
        let at = std::ptr::from_ref(dictionary).addr();
        let font = || Rc::new(Font::new(document, dictionary));
        Rc::clone(self.0.entry(at).or_insert_with(font))
    }
}
