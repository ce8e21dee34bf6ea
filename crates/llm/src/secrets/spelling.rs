//! Finds a secret in a text however it is spelled there: in another case,
//! reversed, broken by white space, in hexadecimal or base64 digits, with
//! escapes of JSON, C or addresses, and in mixtures of these.
//!
//! Both sides are brought into one form and compared there. What is found too
//! much costs a word of a text; what is found too little, a key.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use std::ops::Range;

/// Secrets shorter than this are looked for as they are only: the other
/// spellings of a short word are too many.
const SHORTEST: usize = 10;

/// How often escapes are undone: an address in JSON in JSON needs three times.
const MOST_LAYERS: usize = 4;

/// A byte and the part of the text that it stands for.
#[derive(Clone, Copy)]
struct Unit {
    byte: u8,
    start: usize,
    end: usize,
}

/// A text without escapes, white space, case, and the difference of the two
/// alphabets of base64.
pub(super) struct Folded {
    bytes: Vec<u8>,
    units: Vec<Unit>,
}

impl Folded {
    pub(super) fn new(text: &[u8]) -> Self {
        let mut units: Vec<Unit> = text
            .iter()
            .enumerate()
            .map(|(start, byte)| Unit {
                byte: *byte,
                start,
                end: start + 1,
            })
            .collect();
        for _ in 0..MOST_LAYERS {
            if !units.iter().any(|unit| matches!(unit.byte, b'%' | b'\\')) {
                break;
            }
            units = without_escapes(&units);
        }
        units.retain(|unit| !unit.byte.is_ascii_whitespace());
        let fold = |byte: u8| match byte {
            b'-' => b'+',
            b'_' => b'/',
            byte => byte.to_ascii_lowercase(),
        };
        Self {
            bytes: units.iter().map(|unit| fold(unit.byte)).collect(),
            units,
        }
    }

    /// Returns the parts of the text in which `spelling` stands.
    pub(super) fn find(&self, spelling: &[u8]) -> Vec<Range<usize>> {
        let place = |at: usize| self.units[at].start..self.units[at + spelling.len() - 1].end;
        memchr::memmem::find_iter(&self.bytes, spelling)
            .map(place)
            .collect()
    }
}

/// Returns the spellings of `secret` to look for in a folded text; none if it
/// is too short.
pub(super) fn spellings(secret: &str) -> Vec<Vec<u8>> {
    let folded = Folded::new(secret.as_bytes()).bytes;
    if folded.len() < SHORTEST {
        return Vec::new();
    }
    let reversed: Vec<u8> = folded.iter().rev().copied().collect();
    let hexadecimal: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
    let mut spellings = vec![folded, reversed, hexadecimal.into_bytes()];
    // In base64, a secret within a longer text looks different at each of three
    // offsets; only digits that depend on nothing else are compared.
    for offset in 0..3 {
        let mut bytes = vec![0; offset];
        bytes.extend(secret.bytes());
        let digits = STANDARD_NO_PAD.encode(&bytes);
        let own = (offset * 8).div_ceil(6)..bytes.len() * 8 / 6;
        spellings.push(Folded::new(&digits.as_bytes()[own]).bytes);
    }
    spellings
}

/// Undoes one layer of `%41`, `\u0041`, `\x41`, `\n` and backslashes before
/// anything else.
fn without_escapes(units: &[Unit]) -> Vec<Unit> {
    let mut plain = Vec::with_capacity(units.len());
    let mut idx = 0;
    while let Some(unit) = units.get(idx) {
        let (digits, escape_end) = match unit.byte {
            b'%' => (2, idx + 1),
            b'\\' => {
                let run = units[idx..].iter().take_while(|unit| unit.byte == b'\\');
                let next = idx + run.count();
                match units.get(next).map(|unit| unit.byte) {
                    Some(b'u') => (4, next + 1),
                    Some(b'x') => (2, next + 1),
                    _ => (0, next),
                }
            }
            _ => {
                plain.push(*unit);
                idx += 1;
                continue;
            }
        };
        let code = number(&units[escape_end.min(units.len())..], digits);
        let (end, text) = match code.and_then(char::from_u32) {
            Some(char) => (escape_end + digits, char.to_string().into_bytes()),
            None if unit.byte == b'%' => (idx + 1, vec![b'%']),
            None => {
                // The backslashes, and what they protect.
                let next = idx
                    + units[idx..]
                        .iter()
                        .take_while(|unit| unit.byte == b'\\')
                        .count();
                match units.get(next).map(|unit| unit.byte) {
                    Some(b'n' | b'r' | b't') => (next + 1, vec![b' ']),
                    Some(byte) => (next + 1, vec![byte]),
                    None => (next, Vec::new()),
                }
            }
        };
        let last = units[end - 1].end;
        plain.extend(text.into_iter().map(|byte| Unit {
            byte,
            start: unit.start,
            end: last,
        }));
        idx = end;
    }
    plain
}

/// Reads a number of exactly `digits` hexadecimal digits.
fn number(units: &[Unit], digits: usize) -> Option<u32> {
    if digits == 0 || units.len() < digits {
        return None;
    }
    units[..digits].iter().try_fold(0, |value, unit| {
        Some(value * 16 + char::from(unit.byte).to_digit(16)?)
    })
}
