//! Tables of databases that other programs wrote, read as carefully as a journal from elsewhere.

use crate::error::StoreError;
use crate::guard::{STEPS_OF_CHECK, restrain};
use crate::journal::open_for_reading;
use rusqlite::types::ValueRef;
use std::path::Path;

/// A value of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Nothing, or bytes.
    Empty,
    /// A number.
    Number(f64),
    /// A text; what is no UTF-8 in it is replaced.
    Text(String),
}

/// Reads the rows of `table` with these columns, in their order by the columns `order`, `most` at most.
/// A column that the table does not have is empty, and orders nothing. Names are those of the caller, not of a user.
///
/// # Errors
/// The database cannot be read, or has no such table.
pub fn read_table(
    path: &Path,
    (table, order): (&str, &[&str]),
    columns: &[&str],
    most: usize,
) -> Result<Vec<Vec<Cell>>, StoreError> {
    let failed = |error| StoreError::from_database("read", path, &error);
    let mut connection = open_for_reading(path).map_err(failed)?;
    let steps = restrain(&mut connection).map_err(failed)?;
    steps.allow(STEPS_OF_CHECK);
    let mut info = connection
        .prepare(&format!("PRAGMA table_info({table})"))
        .map_err(failed)?;
    let known: Vec<String> = info
        .query_map([], |row| row.get(1))
        .and_then(Iterator::collect)
        .map_err(failed)?;
    if known.is_empty() {
        return Err(StoreError::Corrupt {
            path: path.to_owned(),
            reason: format!("it has no table `{table}`"),
        });
    }
    let is_known = |it: &&&str| known.iter().any(|name| name == **it);
    let columns: Vec<&str> = columns
        .iter()
        .map(|it| if is_known(&it) { *it } else { "NULL" })
        .collect();
    let order: Vec<&str> = order.iter().filter(is_known).copied().collect();
    let order = match order.is_empty() {
        true => String::new(),
        false => format!("ORDER BY {}", order.join(", ")),
    };
    let query = format!(
        "SELECT {} FROM {table} {order} LIMIT {most}",
        columns.join(", ")
    );
    let mut statement = connection.prepare(&query).map_err(failed)?;
    let mut rows = statement.query([]).map_err(failed)?;
    let mut out = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let cells = (0..columns.len()).map(|idx| {
            Ok(match row.get_ref(idx)? {
                ValueRef::Integer(number) => Cell::Number(number as f64),
                ValueRef::Real(number) => Cell::Number(number),
                ValueRef::Text(bytes) => Cell::Text(String::from_utf8_lossy(bytes).into_owned()),
                ValueRef::Null | ValueRef::Blob(_) => Cell::Empty,
            })
        });
        out.push(cells.collect::<Result<_, _>>().map_err(failed)?);
    }
    Ok(out)
}
