//! Numbers and tables as people read them.

use std::time::Duration;

/// Returns `value` with commas between thousands.
#[must_use]
pub fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (idx, digit) in digits.chars().enumerate() {
        if 0 < idx && (digits.len() - idx).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns `elapsed` as minutes and seconds, or hours, minutes and seconds.
#[must_use]
pub fn clock(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if 0 < hours {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    }
}

/// Returns money given in millionths of a dollar.
#[must_use]
pub fn dollars(micros: u64) -> String {
    format!("${}.{:02}", micros / 1_000_000, micros % 1_000_000 / 10_000)
}

/// Returns rows as a table with two blanks between columns. Columns named in
/// `right` are flush right.
#[must_use]
pub fn table(rows: &[Vec<String>], right: &[usize]) -> String {
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width_of = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
    };
    let widths: Vec<usize> = (0..n_columns)
        .map(|column| width_of(column).unwrap_or(0))
        .collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let width = widths[column];
            if 0 < column {
                line.push_str("  ");
            }
            let padding = " ".repeat(width - cell.chars().count());
            if right.contains(&column) {
                line.push_str(&padding);
                line.push_str(cell);
            } else {
                line.push_str(cell);
                line.push_str(&padding);
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Returns rows, the first of which is the header, as a Markdown table.
/// Columns named in `right` are flush right.
#[must_use]
pub fn markdown_table(rows: &[Vec<String>], right: &[usize]) -> String {
    let mut text = String::new();
    for (place, row) in rows.iter().enumerate() {
        let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
        text += &format!("| {} |\n", cells.join(" | "));
        if place == 0 {
            let rule = |column| {
                if right.contains(&column) {
                    "---:"
                } else {
                    "---"
                }
            };
            let rules: Vec<&str> = (0..row.len()).map(rule).collect();
            text += &format!("| {} |\n", rules.join(" | "));
        }
    }
    text
}

/// Returns `text` broken into lines of at most `width` characters, each
/// beginning with `indent`.
#[must_use]
pub fn wrapped(text: &str, width: usize, indent: &str) -> String {
    let mut out = String::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty()
            && width < indent.len() + line.chars().count() + 1 + word.chars().count()
        {
            out.push_str(indent);
            out.push_str(&line);
            out.push('\n');
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() {
        out.push_str(indent);
        out.push_str(&line);
        out.push('\n');
    }
    out
}

/// Returns whether a terminal may take a character for a command: control characters, which
/// begin escape sequences or overwrite what stands there, and those that change the
/// direction of writing, with which text reads otherwise than it is.
#[must_use]
pub fn is_command(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{061c}')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns such a character spelled out.
#[must_use]
pub fn spelled(c: char) -> String {
    match u32::from(c) {
        code @ ..=0xff => format!("\\x{code:02x}"),
        code => format!("\\u{{{code:x}}}"),
    }
}

/// Returns a text with such characters spelled out.
#[must_use]
pub fn spelled_out(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match is_command(c) {
            true => out += &spelled(c),
            false => out.push(c),
        }
    }
    out
}
