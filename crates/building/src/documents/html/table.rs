//! Tables: rows of cells, of which some reach over several rows or columns.

use super::tag::Tag;

/// Columns that are told from each other at most.
const MOST_COLUMNS: usize = 256;
/// Rows that a cell reaches over at most.
const MOST_ROWS: usize = 1000;
/// Bytes of cells that are written again in later rows, of one table at most.
const MOST_REPEATED: usize = 64 << 10;

/// A table that is read.
#[derive(Debug)]
pub struct Table {
    /// The line in which it begins.
    pub first: u32,
    rows: Vec<String>,
    row: Vec<String>,
    /// How far the cell that is read reaches, in columns and rows.
    reach: (usize, usize),
    /// What is carried on in each column, for how many rows, and whether it is written there.
    carried: Vec<(usize, String)>,
    repeated: usize,
}

impl Table {
    pub fn new(first: u32) -> Self {
        Self {
            first,
            rows: Vec::new(),
            row: Vec::new(),
            reach: (0, 0),
            carried: Vec::new(),
            repeated: 0,
        }
    }

    /// Begins a cell; `before` is the text since the one before.
    pub fn begin_cell(&mut self, tag: &Tag, before: &str) {
        self.end_cell(before);
        let number = |name: &str| tag.attribute(name).and_then(|it| it.trim().parse().ok());
        // 0 is the rest of the table.
        let rows = match number("rowspan") {
            Some(0) => MOST_ROWS,
            rows => rows.unwrap_or(1).min(MOST_ROWS),
        };
        self.reach = (number("colspan").unwrap_or(1).clamp(1, MOST_COLUMNS), rows);
    }

    fn end_cell(&mut self, text: &str) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (columns, rows) = std::mem::take(&mut self.reach);
        if columns == 0 && text.is_empty() {
            return;
        }
        self.carry_on();
        for column in 0..columns.max(1) {
            let at = self.row.len();
            if MOST_COLUMNS <= at {
                break;
            }
            let text = if column == 0 { text.as_str() } else { "" };
            if 1 < rows {
                self.carried
                    .resize(self.carried.len().max(at + 1), (0, String::new()));
                self.carried[at] = (rows - 1, text.to_owned());
            }
            self.row.push(text.to_owned());
        }
    }

    /// Adds the cells of earlier rows that reach into the row at hand, from its end on.
    fn carry_on(&mut self) {
        while let Some((left, text)) = self.carried.get_mut(self.row.len())
            && 0 < *left
            && self.repeated + text.len() <= MOST_REPEATED
        {
            *left -= 1;
            self.repeated += text.len();
            self.row.push(text.clone());
        }
    }

    /// Ends a row; `before` is the text since the last cell began.
    pub fn end_row(&mut self, before: &str) {
        self.end_cell(before);
        if self.row.is_empty() {
            return;
        }
        self.carry_on();
        let row = std::mem::take(&mut self.row);
        if row.iter().any(|it| !it.is_empty()) {
            let row = row.join(" | ");
            self.rows
                .push(row.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }

    /// Ends the table, and returns its rows.
    pub fn end(mut self, before: &str) -> Vec<String> {
        self.end_row(before);
        self.rows
    }
}
