//! Exponents and indices: small letters that stand higher or lower than those before them.

use super::Piece;
use std::collections::BTreeMap;

/// Side of the squares that a page is divided into, in points; letters before a script are looked
/// for in the square where it begins and those beside it.
const SQUARE: f32 = 16.0;
/// Pieces of a square that are looked at.
const MOST_NEAR: usize = 64;
/// How large a script is at most, in sizes of what stands before.
const SMALL: f32 = 0.85;
/// How far behind the letters it begins at most, in their sizes.
const CLOSE: f32 = 0.2;
/// How far above and below their feet it may stand, in their sizes.
const ABOVE: std::ops::Range<f32> = 0.15..0.8;
const BELOW: std::ops::Range<f32> = 0.05..0.5;

/// A piece as it was drawn.
struct Drawn {
    number: usize,
    y: f32,
}

/// Puts scripts on the line of the letters before them, with a mark: `2^10`, `x_1`.
pub fn onto_lines(pieces: &mut [Piece]) {
    let square = |place: f32| (place / SQUARE).floor() as i64;
    let mut ends: BTreeMap<(i64, i64), Vec<Drawn>> = BTreeMap::new();
    let mut order: Vec<usize> = (0..pieces.len()).collect();
    order.sort_by(|a, b| pieces[*a].x.total_cmp(&pieces[*b].x));
    for number in order {
        let Piece {
            x, y, end, size, ..
        } = pieces[number];
        let near = [-1, 0, 1].into_iter().flat_map(|column| {
            let row = square(y);
            ends.range((square(x) + column, row - 1)..=(square(x) + column, row + 1))
        });
        let touches = |it: &&Drawn| {
            let before = &pieces[it.number];
            (x - before.end).abs() < CLOSE * before.size.max(size)
        };
        let mut touched = near
            .flat_map(|(_, of)| of.iter().take(MOST_NEAR))
            .filter(touches);
        let found = touched.find_map(|it| {
            let before = &pieces[it.number];
            if it.y == y && it.y != before.y && before.size == size {
                // Goes on with a script.
                return Some((before.y, ""));
            }
            let rise = (y - before.y) / before.size;
            let is_base = size < SMALL * before.size
                && before
                    .text
                    .ends_with(|c: char| c.is_alphanumeric() || c == ')');
            let mark = match () {
                () if ABOVE.contains(&rise) => "^",
                () if BELOW.contains(&-rise) => "_",
                () => return None,
            };
            is_base.then_some((before.y, mark))
        });
        if let Some((line, mark)) = found {
            pieces[number].y = line;
            pieces[number].text.insert_str(0, mark);
        }
        let at = (square(end), square(y));
        ends.entry(at).or_default().push(Drawn { number, y });
    }
}
