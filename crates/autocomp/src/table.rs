//! Tables for people: with a header, within the width of the terminal, coloured where it
//! helps.

use crate::output::{BOLD, Style};

/// Columns are not made narrower than this while there are others to leave out.
const EASY: usize = 16;
/// Columns are not made narrower than this.
const LEAST: usize = 8;

/// A cell of a table.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    text: String,
    style: Option<Style>,
}

impl Cell {
    /// Returns the same cell in a style.
    #[must_use]
    pub fn styled(self, style: Style) -> Self {
        Self {
            style: Some(style),
            ..self
        }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self {
            text: text.into(),
            style: None,
        }
    }
}

/// A table: its header, and how its columns stand.
#[derive(Debug)]
pub struct Table {
    /// The header.
    pub head: &'static [&'static str],
    /// Columns that are flush right.
    pub right: &'static [usize],
    /// Columns that are cut where there is no room, with an ellipsis.
    pub flexible: &'static [usize],
    /// Columns that are left out, the first one first, where the flexible ones would become
    /// narrower than is easy to read.
    pub optional: &'static [usize],
}

impl Table {
    /// Returns the table as text of at most `width` columns, if there is a limit and the
    /// flexible columns allow it.
    #[must_use]
    pub fn text(&self, rows: &[Vec<Cell>], width: Option<usize>, coloured: bool) -> String {
        let length = |text: &str| text.chars().count();
        let mut widths: Vec<usize> = self.head.iter().map(|name| length(name)).collect();
        for row in rows {
            for (column, cell) in row.iter().enumerate().take(widths.len()) {
                widths[column] = widths[column].max(length(&cell.text));
            }
        }
        let mut columns: Vec<usize> = (0..widths.len()).collect();
        if let Some(width) = width {
            let mut optional = self.optional.iter();
            let mut least = EASY;
            loop {
                let gaps = 2 * columns.len().saturating_sub(1);
                if gaps + columns.iter().map(|it| widths[*it]).sum::<usize>() <= width {
                    break;
                }
                let flexible = self.flexible.iter().filter(|it| columns.contains(it));
                match flexible.max_by_key(|column| widths[**column]) {
                    Some(column) if least < widths[*column] => widths[*column] -= 1,
                    _ => match optional.next() {
                        Some(left_out) => columns.retain(|it| it != left_out),
                        None if LEAST < least => least = LEAST,
                        None => break,
                    },
                }
            }
        }
        let head: Vec<Cell> = self.head.iter().map(|name| Cell::from(*name)).collect();
        let mut out = String::new();
        for (place, row) in std::iter::once(&head).chain(rows).enumerate() {
            let mut line = String::new();
            for (idx, &column) in columns.iter().enumerate() {
                let Some(cell) = row.get(column) else { break };
                if 0 < idx {
                    line.push_str("  ");
                }
                let text = cut(&cell.text, widths[column]);
                let padding = " ".repeat(widths[column] - length(&text));
                let style = if place == 0 { Some(BOLD) } else { cell.style };
                let text = match style.filter(|_| coloured && !text.is_empty()) {
                    Some(style) => style.paint(&text, true),
                    None => text,
                };
                if self.right.contains(&column) {
                    line += &padding;
                    line += &text;
                } else {
                    line += &text;
                    line += &padding;
                }
            }
            out += line.trim_end();
            out.push('\n');
        }
        out
    }
}

/// Returns the beginning of a text in at most `width` characters, with an ellipsis if that is
/// not all of it.
pub fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept = text.chars().take(width.saturating_sub(1));
    kept.chain(std::iter::once('…')).collect()
}
