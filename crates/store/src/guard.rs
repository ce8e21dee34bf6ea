//! What keeps a database that somebody else has made from doing more than holding rows.
//!
//! A database is more than its rows: views and triggers run queries, queries may have no end, a
//! rollback journal names files that are deleted when it was played back. So each query has a
//! number of steps, nothing in the database is executed, and the database is used only if its
//! tables are exactly those that this program makes.

use crate::error::StoreError;
use crate::files::check_file;
use crate::journal::JOURNAL_FILE;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, Error};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Largest row, in bytes.
const LARGEST_ROW: i32 = 16 << 20;
/// Largest database file, in bytes.
const LARGEST_DATABASE: u64 = 4 << 30;
/// Steps of SQLite's machine after which it asks whether to go on.
const STEPS_AT_A_TIME: i32 = 1000;
/// Steps that a query for a row, or for what the database is, may take.
pub(crate) const STEPS_OF_QUERY: u64 = 4_000_000;
/// Steps that the check of the whole structure may take: many for each of the most rows.
pub(crate) const STEPS_OF_CHECK: u64 = 400_000_000;

/// The steps that the query under way may still take.
#[derive(Clone, Debug, Default)]
pub(crate) struct Steps(Arc<AtomicU64>);

impl Steps {
    /// Lets the next query take that many.
    pub(crate) fn allow(&self, steps: u64) {
        self.0.store(steps, Ordering::Relaxed);
    }

    /// Counts steps; returns whether there were that many left.
    fn take(&self, steps: u64) -> bool {
        let left = self.0.load(Ordering::Relaxed);
        self.0.store(left.saturating_sub(steps), Ordering::Relaxed);
        steps <= left
    }
}

/// Takes from a connection what a run's journal does not need, and bounds the rest.
pub(crate) fn restrain(connection: &mut Connection) -> Result<Steps, Error> {
    for (option, is_on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
    ] {
        connection.set_db_config(option, is_on)?;
    }
    for (limit, most) in [
        (Limit::SQLITE_LIMIT_LENGTH, LARGEST_ROW),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, 64 << 10),
        (Limit::SQLITE_LIMIT_COLUMN, 32),
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, 50),
        (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 4),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 1),
    ] {
        connection.set_limit(limit, most)?;
    }
    let steps = Steps::default();
    steps.allow(STEPS_OF_QUERY);
    let counted = steps.clone();
    let is_over = move || !counted.take(STEPS_AT_A_TIME as u64);
    connection.progress_handler(STEPS_AT_A_TIME, Some(is_over))?;
    Ok(steps)
}

/// Checks the files of a database before SQLite opens them.
pub(crate) fn check_files(folder: &Path, is_written: bool) -> Result<(), StoreError> {
    let path = folder.join(JOURNAL_FILE);
    if check_file(folder, JOURNAL_FILE, is_written)?
        && path.metadata().is_ok_and(|it| LARGEST_DATABASE < it.len())
    {
        return Err(StoreError::TooLarge {
            path,
            most: LARGEST_DATABASE,
        });
    }
    // SQLite may write the two beside the database for those who only read it, too.
    for end in ["-wal", "-shm", "-journal"] {
        check_file(folder, &format!("{JOURNAL_FILE}{end}"), true)?;
    }
    let rollback = folder.join(format!("{JOURNAL_FILE}-journal"));
    if names_other_journal(&rollback) {
        return Err(StoreError::Corrupt {
            path,
            reason: "the rollback journal beside it names another file".to_owned(),
        });
    }
    Ok(())
}

/// What a rollback journal ends with if it names the journal of a transaction over several
/// databases, which SQLite deletes after playing it back. Source: SQLite's page on its file
/// format, "The Rollback Journal", and `readSuperJournal` in its `pager.c`.
const NAMES_OTHER: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

fn names_other_journal(path: &Path) -> bool {
    let end = || {
        let mut file = File::open(path).ok()?;
        file.seek(SeekFrom::End(-8)).ok()?;
        let mut end = [0; 8];
        file.read_exact(&mut end).ok()?;
        Some(end)
    };
    end() == Some(NAMES_OTHER)
}

/// Checks that the database holds the tables of `schema` and nothing else. The second of them is
/// missing in runs of old programs.
pub(crate) fn check_schema(connection: &Connection, schema: &str) -> Result<(), Reason> {
    let wanted: Vec<String> = schema.split(';').map(plain).collect();
    let mut statement = connection
        .prepare("SELECT type, name, sql FROM sqlite_schema ORDER BY name LIMIT 3")
        .map_err(Reason::Failed)?;
    let mut rows = statement.query([]).map_err(Reason::Failed)?;
    let mut n_tables = 0;
    while let Some(row) = rows.next().map_err(Reason::Failed)? {
        let text = |idx| {
            row.get_ref(idx)
                .ok()?
                .as_str_or_null()
                .ok()?
                .map(str::to_owned)
        };
        let [kind, name, sql] = [0, 1, 2].map(|idx| text(idx).unwrap_or_default());
        let is_wanted = kind == "table" && wanted.contains(&plain(&sql));
        if !is_wanted {
            let what = match name.as_str() {
                "events" | "safe" if kind != "table" => format!("`{name}` is no table"),
                "events" | "safe" => format!("the table `{name}` is another one"),
                _ => format!(
                    "it holds the {} `{}`, which no run has",
                    shown(&kind),
                    shown(&name)
                ),
            };
            return Err(Reason::Other(what));
        }
        n_tables += 1;
    }
    match n_tables {
        0 => Err(Reason::Other("there is no table `events`".to_owned())),
        _ => Ok(()),
    }
}

/// Why a schema is not the one wanted.
pub(crate) enum Reason {
    /// It cannot be read.
    Failed(Error),
    /// It holds something else.
    Other(String),
}

/// Returns a name that somebody else has chosen, short and without control characters.
fn shown(name: &str) -> String {
    let plain = name.chars().filter(|c| !c.is_control());
    plain.take(60).collect()
}

/// Returns a statement without comments and blanks.
fn plain(sql: &str) -> String {
    let lines = sql.lines();
    let lines = lines.map(|line| line.split("--").next().unwrap_or_default());
    lines
        .flat_map(str::chars)
        .filter(|c| !c.is_whitespace())
        .collect()
}
