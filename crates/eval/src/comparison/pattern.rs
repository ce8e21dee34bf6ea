//! Where wrong elements lie, in words.

use autocomp_catalog::Buffer;

/// Periods of rows, columns and tiles that are looked for.
const PERIODS: &[usize] = &[2, 4, 8];

/// The wrong elements of an output seen as a matrix: the last dimension are
/// its columns, all others together its rows.
pub(super) struct Mismatches<'w> {
    rows: usize,
    columns: usize,
    tile: usize,
    wrong: &'w [usize],
}

impl<'w> Mismatches<'w> {
    /// Takes the sorted indices of wrong elements.
    pub(super) fn new(buffer: &Buffer, wrong: &'w [usize], tile: usize) -> Self {
        let columns = buffer.shape.last().map_or(1, |columns| *columns as usize);
        Self {
            rows: buffer.elements() / columns,
            columns,
            tile: tile.max(1),
            wrong,
        }
    }

    /// Returns the pattern: `every second 16x16 tile`, `rows 16 to 31 of every 32`.
    pub(super) fn pattern(&self) -> String {
        if self.wrong.len() == self.rows * self.columns {
            return "all of them".into();
        }
        if self.wrong.len() == 1 {
            return "only this one".into();
        }
        let rows = self.marked(self.rows, |idx| idx / self.columns);
        let columns = self.marked(self.columns, |idx| idx % self.columns);
        self.tiles()
            .or_else(|| self.stripes(&rows, &columns))
            .unwrap_or_else(|| self.bounding_box(&rows, &columns))
    }

    fn marked(&self, len: usize, position: impl Fn(usize) -> usize) -> Vec<bool> {
        let mut marked = vec![false; len];
        for idx in self.wrong {
            marked[position(*idx)] = true;
        }
        marked
    }

    /// Describes whole tiles, if most elements of the tiles concerned are wrong.
    fn tiles(&self) -> Option<String> {
        let tile = self.tile;
        let (high, wide) = (self.rows.div_ceil(tile), self.columns.div_ceil(tile));
        if self.rows < tile || self.columns < tile || high * wide < 2 {
            return None;
        }
        let mut counts = vec![0_usize; high * wide];
        for idx in self.wrong {
            counts[idx / self.columns / tile * wide + idx % self.columns / tile] += 1;
        }
        let bad: Vec<usize> = (0..counts.len()).filter(|idx| 0 < counts[*idx]).collect();
        let area: usize = bad
            .iter()
            .map(|idx| self.area(*idx / wide, *idx % wide))
            .sum();
        // Wrong values are right by chance now and then, above all small ones.
        if self.wrong.len() * 4 < area * 3 {
            return None;
        }
        let name = format!("{tile}x{tile} tile");
        if bad.len() == 1 {
            let (row, column) = (bad[0] / wide * tile, bad[0] % wide * tile);
            return Some(format!("only the {name} at row {row}, column {column}"));
        }
        if bad.len() == counts.len() {
            return Some(format!("in every {name}"));
        }
        let is_bad = |row: usize, column: usize| 0 < counts[row * wide + column];
        let all = |rule: &dyn Fn(usize, usize) -> bool| {
            (0..high).all(|row| (0..wide).all(|column| is_bad(row, column) == rule(row, column)))
        };
        for parity in 0..2 {
            if 1 < high && 1 < wide && all(&|row, column| (row + column) % 2 == parity) {
                return Some(format!(
                    "every second {name}, like the {} fields of a chessboard",
                    ["even", "odd"][parity]
                ));
            }
        }
        let first = (bad[0] / wide, bad[0] % wide);
        let last = bad[bad.len() - 1];
        let last = (last / wide, last % wide);
        for period in PERIODS {
            for (direction, count) in [("column", wide), ("row", high)] {
                let pick =
                    |row: usize, column: usize| if direction == "row" { row } else { column };
                let phase = pick(first.0, first.1) % period;
                if *period < count && all(&|row, column| pick(row, column) % period == phase) {
                    return Some(format!(
                        "every {} {name} {direction}, from tile {direction} {phase}",
                        ordinal(*period)
                    ));
                }
            }
        }
        let whole_rows = first.1 == 0 && last.1 + 1 == wide;
        let top_left = bad.iter().map(|idx| idx % wide).min().unwrap_or(0);
        let right = bad.iter().map(|idx| idx % wide).max().unwrap_or(0);
        let box_tiles = (last.0 - first.0 + 1) * (right - top_left + 1);
        if box_tiles == bad.len() && !whole_rows && top_left != 0 {
            return Some(format!(
                "the {name}s of rows {} to {}, columns {} to {}",
                first.0 * tile,
                ((last.0 + 1) * tile).min(self.rows) - 1,
                top_left * tile,
                ((right + 1) * tile).min(self.columns) - 1
            ));
        }
        if box_tiles == bad.len() {
            // A stripe: said better without tiles.
            return None;
        }
        Some(format!(
            "{} of {} {name}s, first the one at row {}, column {}",
            bad.len(),
            counts.len(),
            first.0 * tile,
            first.1 * tile
        ))
    }

    fn area(&self, row: usize, column: usize) -> usize {
        let height = (self.rows - row * self.tile).min(self.tile);
        let width = (self.columns - column * self.tile).min(self.tile);
        height * width
    }

    /// Describes rows or columns that repeat.
    fn stripes(&self, rows: &[bool], columns: &[bool]) -> Option<String> {
        let parts: Vec<String> = [("rows", rows), ("columns", columns)]
            .into_iter()
            .filter(|(_, marked)| !marked.iter().all(|mark| *mark))
            .map(|(name, marked)| describe_stripes(name, marked))
            .collect::<Option<_>>()?;
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    fn bounding_box(&self, rows: &[bool], columns: &[bool]) -> String {
        let range = |marked: &[bool]| {
            let first = marked.iter().position(|mark| *mark).unwrap_or(0);
            let last = marked.iter().rposition(|mark| *mark).unwrap_or(0);
            (first, last)
        };
        let ((top, bottom), (left, right)) = (range(rows), range(columns));
        if (top, left) == (0, 0) && (bottom + 1, right + 1) == (self.rows, self.columns) {
            return "scattered over the whole matrix".into();
        }
        let span = |name: &str, first: usize, last: usize| {
            if first == last {
                format!("{name} {first}")
            } else {
                format!("{name}s {first} to {last}")
            }
        };
        format!(
            "scattered over {}, {}",
            span("row", top, bottom),
            span("column", left, right)
        )
    }
}

/// Describes marked positions that are one range, or one range that repeats
/// with a power of two.
fn describe_stripes(name: &str, marked: &[bool]) -> Option<String> {
    let first = marked.iter().position(|mark| *mark)?;
    let last = marked.iter().rposition(|mark| *mark)?;
    let singular = name.trim_end_matches('s');
    if first == last {
        return Some(format!("{singular} {first}"));
    }
    if marked[first..=last].iter().all(|mark| *mark) {
        return Some(format!("{name} {first} to {last}"));
    }
    let mut period = 2;
    while period < marked.len() {
        if marked
            .iter()
            .zip(&marked[period..])
            .all(|(one, next)| one == next)
        {
            let start = marked[..period].iter().position(|mark| *mark)?;
            let end = marked[..period].iter().rposition(|mark| *mark)?;
            let dense = marked[start..=end].iter().all(|mark| *mark);
            return dense.then(|| {
                if start == end {
                    format!("{singular} {start} of every {period}")
                } else {
                    format!("{name} {start} to {end} of every {period}")
                }
            });
        }
        period *= 2;
    }
    None
}

fn ordinal(period: usize) -> &'static str {
    match period {
        2 => "second",
        4 => "fourth",
        _ => "eighth",
    }
}
