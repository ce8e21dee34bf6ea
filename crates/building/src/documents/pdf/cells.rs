//! Cells of tables whose columns are so narrow that a row's cells stand as close as words, such as
//! those of headings: they are told by the rows beside them, whose cells stand apart.

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

/// Returns for each row the pieces that begin another cell though they are close to the one before.
///
/// A row has the cells of one beside it if it has as many of them, and each of its gaps lies where
/// that one has none of its letters.
pub fn begins(rows: &[Row]) -> Vec<Vec<usize>> {
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
        let mut like = near.filter(|other| {
            let size = size(&rows[*other]);
            let is_alike = size < LIKE_SIZES * size_here && size_here < LIKE_SIZES * size;
            let is_near = (rows[*other][0].y - y).abs() < FAR * size_here;
            !own.is_empty() && distant[*other].len() == own.len() && is_alike && is_near
        });
        let is_like = like.any(|other| {
            let pairs = own.iter().zip(&distant[other]);
            pairs.into_iter().all(|(own, gap)| {
                let (left, right) = (own.end.min(own.start), own.end.max(own.start));
                gap.end - SLACK <= right && left <= gap.start + SLACK
            })
        });
        let own = own.iter().map(|it| it.at);
        if is_like { own.collect() } else { Vec::new() }
    };
    (0..rows.len()).map(begins).collect()
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
