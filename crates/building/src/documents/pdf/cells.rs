//! Cells of tables that the rows beside them tell: those of columns that are so narrow that a row's
//! cells stand as close as words, such as those of headings, and empty ones.

use super::Piece;
use super::columns::{Row, SLACK};

/// Gap between columns, and the least one between words, in sizes of letters.
pub const DISTANT: f32 = 1.8;
pub const SPACE: f32 = 0.15;
/// Gap between parts of a word, at most.
const TOUCHING: f32 = 0.05;
/// Rows before and behind one that may tell its cells, and how far up or down, in sizes of letters.
const NEAR: usize = 3;
const FAR: f32 = 8.0;
/// By how much letters of one table differ in size at most.
const LIKE_SIZES: f32 = 1.12;

/// Where one piece or cell ends and the next one begins, and the number of the latter's piece.
#[derive(Clone, Copy)]
struct Gap {
    end: f32,
    start: f32,
    at: usize,
}

/// The beginning of a cell.
pub struct Begin {
    /// The number of its first piece.
    pub at: usize,
    /// How many cells without letters stand before it.
    pub n_empty: usize,
}

/// Returns for each row the pieces that begin another cell though they are close to the one before,
/// or though there are empty cells between them.
///
/// A row has the cells of one beside it if it has as many of them, and each of its gaps lies where
/// that one has none of its letters. If it has fewer, those of that one's cells that lie within its
/// gaps are empty.
pub fn begins(rows: &[Row]) -> Vec<Vec<Begin>> {
    let all: Vec<Vec<Gap>> = rows.iter().map(|row| gaps(row)).collect();
    let distant: Vec<Vec<Gap>> = rows
        .iter()
        .zip(&all)
        .map(|(row, gaps)| {
            let is_distant = |it: &&Gap| DISTANT * size(row) < it.start - it.end;
            gaps.iter().filter(is_distant).copied().collect()
        })
        .collect();
    let begins = |idx: usize| {
        let own = &all[idx];
        let near = idx.saturating_sub(NEAR)..(idx + NEAR + 1).min(rows.len());
        let (size_here, y) = (size(&rows[idx]), rows[idx][0].y);
        let like: Vec<usize> = near
            .filter(|other| {
                let size = size(&rows[*other]);
                let is_alike = size < LIKE_SIZES * size_here && size_here < LIKE_SIZES * size;
                let is_near = (rows[*other][0].y - y).abs() < FAR * size_here;
                *other != idx && !own.is_empty() && is_alike && is_near
            })
            .collect();
        // Rows with as many may have the same cell empty.
        let mut with_more = like
            .iter()
            .filter(|it| distant[idx].len() < distant[**it].len());
        let with_empty = with_more.find_map(|other| with_empty(&distant[idx], &distant[*other]));
        if let Some(begins) = with_empty {
            return begins;
        }
        let mut as_many = like.iter().filter(|it| distant[**it].len() == own.len());
        let is_like = as_many.any(|other| {
            let pairs = own.iter().zip(&distant[*other]);
            pairs.into_iter().all(|(own, gap)| {
                let (left, right) = (own.end.min(own.start), own.end.max(own.start));
                gap.end - SLACK <= right && left <= gap.start + SLACK
            })
        });
        let begin = |it: &Gap| Begin {
            at: it.at,
            n_empty: 0,
        };
        match is_like {
            true => own.iter().map(begin).collect(),
            false => Vec::new(),
        }
    };
    (0..rows.len()).map(begins).collect()
}

/// Returns the cells of a row in whose gaps there are cells of another one.
fn with_empty(own: &[Gap], others: &[Gap]) -> Option<Vec<Begin>> {
    let begin = |own: &Gap| {
        let is_within =
            |it: &&[Gap]| own.end <= it[0].start + SLACK && it[1].end <= own.start + SLACK;
        Begin {
            at: own.at,
            n_empty: others.windows(2).filter(is_within).count(),
        }
    };
    let begins: Vec<Begin> = own.iter().map(begin).collect();
    let n_empty: usize = begins.iter().map(|it| it.n_empty).sum();
    (0 < n_empty && own.len() + n_empty <= others.len()).then_some(begins)
}

fn size(row: &[Piece]) -> f32 {
    row.iter().map(|it| it.size).fold(0.0, f32::max)
}

/// Returns the gaps between what of a row was put at places of its own.
fn gaps(row: &[Piece]) -> Vec<Gap> {
    let mut gaps = Vec::new();
    let mut end = f32::NEG_INFINITY;
    for (at, piece) in row.iter().enumerate() {
        let gap = piece.x - end;
        // Parts of one word touch each other, wherever they were put.
        let is_apart = piece.is_placed && TOUCHING * piece.size < gap.abs();
        if 0 < at && (is_apart || SPACE * piece.size < gap) {
            gaps.push(Gap {
                end,
                start: piece.x,
                at,
            });
        }
        end = piece.end.max(end);
    }
    gaps
}
