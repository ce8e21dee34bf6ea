//! Columns of prose on a page, which are read one after the other. Columns of tables are not: their
//! cells are short.

use super::Piece;

/// Pieces of text whose feet stand nearly as high, from left to right.
pub type Row = Vec<Piece>;

/// Rows that a column must have on either side of the gap.
const FEWEST: usize = 6;
/// Characters that rows of prose have: half of a column's rows at least as many.
const PROSE: usize = 20;

/// Returns the rows of a page in the order in which they are read: where there are columns of
/// prose, those of the left one first, from one row over the whole width to the next.
pub fn in_order(rows: Vec<Row>) -> Vec<Row> {
    in_order_below(rows, 3)
}

fn in_order_below(rows: Vec<Row>, depth: u32) -> Vec<Row> {
    let gap = (0 < depth).then(|| gap(&rows)).flatten();
    let Some(gap) = gap else { return rows };
    let mut out = Vec::new();
    let mut sides: [Vec<Row>; 2] = [Vec::new(), Vec::new()];
    let read = |sides: &mut [Vec<Row>; 2], out: &mut Vec<Row>| {
        for side in sides {
            out.extend(in_order_below(std::mem::take(side), depth - 1));
        }
    };
    for row in rows {
        if row.iter().any(|it| crosses(it, gap)) {
            read(&mut sides, &mut out);
            out.push(row);
            continue;
        }
        let (right, left): (Row, Row) = row.into_iter().partition(|it| gap <= it.x + SLACK);
        for (side, row) in sides.iter_mut().zip([left, right]) {
            if !row.is_empty() {
                side.push(row);
            }
        }
    }
    read(&mut sides, &mut out);
    out
}

/// What a place may be off, in points.
pub const SLACK: f32 = 2.0;

/// Returns whether a piece begins before a place and ends behind it. Where a font tells no widths,
/// its end is a guess.
fn crosses(piece: &Piece, place: f32) -> bool {
    piece.x + SLACK < place && place + 2.0 * piece.size < piece.end
}

/// Returns where the right column of two begins, if there are two.
fn gap(rows: &[Row]) -> Option<f32> {
    let mut starts: Vec<f32> = rows.iter().flatten().map(|it| it.x).collect();
    starts.sort_by(f32::total_cmp);
    let mut found: Option<(usize, f32)> = None;
    let mut last = f32::NEG_INFINITY;
    for start in starts {
        if start < last + SLACK {
            continue;
        }
        last = start;
        let place = start;
        let n_crossing = rows
            .iter()
            .filter(|row| row.iter().any(|it| crosses(it, place)));
        if rows.len() < 8 * n_crossing.count() {
            continue;
        }
        // Right: rows that begin there. Left: what stands before, of rows that do not cross.
        let mut lengths: [Vec<usize>; 2] = [Vec::new(), Vec::new()];
        let mut n_at = 0;
        for row in rows
            .iter()
            .filter(|row| !row.iter().any(|it| crosses(it, place)))
        {
            let (right, left): (Vec<&Piece>, Vec<&Piece>) =
                row.iter().partition(|it| place <= it.x + SLACK);
            n_at += usize::from(right.first().is_some_and(|it| it.x < place + SLACK));
            for (lengths, side) in lengths.iter_mut().zip([left, right]) {
                let n_characters: usize = side.iter().map(|it| it.text.chars().count()).sum();
                if 0 < n_characters {
                    lengths.push(n_characters);
                }
            }
        }
        let is_prose = lengths.iter_mut().all(|it| {
            it.sort_unstable();
            FEWEST <= it.len() && PROSE <= it[it.len() / 2]
        });
        if is_prose && lengths[1].len() <= 2 * n_at && found.is_none_or(|it| it.0 < n_at) {
            found = Some((n_at, place));
        }
    }
    found.map(|it| it.1)
}
