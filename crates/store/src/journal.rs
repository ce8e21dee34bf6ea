//! The journal: one row per event in an SQLite database.

use crate::error::StoreError;
use crate::guard::{
    Reason, STEPS_OF_CHECK, STEPS_OF_QUERY, Steps, check_files, check_schema, restrain,
};
use autocomp_core::{ContentHash, ContentHasher, Event};
use rusqlite::{Connection, OpenFlags, Row, params};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Format of run folders, major and minor. A program reads folders of its own
/// major format and older ones, and writes folders up to its own format.
///
/// 2.0 brought reservations ([`Event::Reserved`]), 3.0 runs that are extended
/// ([`Event::Extended`]) or begin with kernels of others, 4.0 texts in one file, menu items
/// that are written for kernels ([`Event::Ideas`]), and plans that take the menu item by item,
/// 5.0 kernels that are cut because they cost too much to survive, 6.0 menu items that say what
/// a kernel needs.
pub const FORMAT: (u32, u32) = (6, 0);

/// Marks the database as ours (`ACMP`).
const APPLICATION_ID: i64 = 0x4143_4d50;

pub(crate) const JOURNAL_FILE: &str = "run.sqlite";

const SCHEMA: &str = "
CREATE TABLE events (
    seq        INTEGER PRIMARY KEY,  -- from 1, without gaps
    at_ms      INTEGER NOT NULL,     -- host time, milliseconds since 1970 UTC
    elapsed_ms INTEGER NOT NULL,     -- time the run has been worked on
    kind       TEXT NOT NULL,        -- kind of event
    task       TEXT,                 -- key of the task that ended
    body       TEXT NOT NULL,        -- the event as JSON
    chain      BLOB NOT NULL         -- hash of this row and all before it
) STRICT;
CREATE TABLE safe (
    seq        INTEGER NOT NULL      -- last event whose texts, and those of all before, are on the disk
) STRICT;
INSERT INTO safe VALUES (0);
";

/// The most events of a run. Whoever looks at a run has all of them in memory.
const MOST_EVENTS: u64 = 1_000_000;

/// The most bytes of all events of a run.
const MOST_BYTES: u64 = 512 << 20;

/// The end of the year 9999, in milliseconds since 1970: no event is later, and no run lasts
/// longer.
const LAST_MS: u64 = 253_402_300_799_999;

/// An event as it stands in the journal.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// Its number, from 1.
    pub seq: u64,
    /// When it was appended, milliseconds since 1970 UTC by the host's clock.
    pub at_ms: u64,
    /// How long the run had been worked on, in milliseconds; pauses between
    /// processes do not count.
    pub elapsed_ms: u64,
    /// The event.
    pub event: Event,
}

/// Who opens a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    connection: Connection,
    /// What the query under way may still do.
    steps: Steps,
    /// Number and chain hash of the last row.
    last: (u64, ContentHash),
    /// Bytes of all bodies up to that row.
    bytes: u64,
    /// Where events are written as JSON, one after the other in the same memory.
    body: Vec<u8>,
}

impl Journal {
    /// Creates the database, or takes up one that has no event yet.
    pub(crate) fn create(folder: &Path) -> Result<Self, StoreError> {
        let path = folder.join(JOURNAL_FILE);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let mut journal = Self::with(folder, "create", true, |path| {
            Connection::open_with_flags(path, flags | PLAIN)
        })?;
        let version = FORMAT.0 * 1000 + FORMAT.1;
        let is_new = journal.pragma("application_id")? == 0;
        if is_new {
            journal.set_up_writing()?;
            journal
                .connection
                .execute_batch(&format!(
                    "BEGIN IMMEDIATE; {SCHEMA}
                     PRAGMA application_id = {APPLICATION_ID};
                     PRAGMA user_version = {version}; COMMIT;"
                ))
                .map_err(error_at("create", &path))?;
        }
        journal.check_format(folder, Access::Write)?;
        if !is_new {
            journal.set_up_writing()?;
        }
        Ok(journal)
    }

    /// Opens the database of a run.
    pub(crate) fn open(folder: &Path, access: Access) -> Result<Self, StoreError> {
        // Whether it is a link or a pipe is told below.
        if folder.join(JOURNAL_FILE).symlink_metadata().is_err() {
            let reason = if folder.is_dir() {
                format!("it has no {JOURNAL_FILE}")
            } else {
                "there is no such folder".to_owned()
            };
            return Err(StoreError::NotARun {
                path: folder.to_owned(),
                reason,
            });
        }
        let is_written = access == Access::Write;
        let mut journal = Self::with(folder, "open", is_written, |path| match access {
            Access::Write => {
                Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | PLAIN)
            }
            Access::Read => open_for_reading(path),
        })?;
        journal.check_format(folder, access)?;
        if is_written {
            journal.set_up_writing()?;
        }
        Ok(journal)
    }

    /// Has `open` open the database, by a path without links, and takes from it what could do
    /// harm.
    fn with(
        folder: &Path,
        action: &'static str,
        is_written: bool,
        open: impl FnOnce(&Path) -> Result<Connection, rusqlite::Error>,
    ) -> Result<Self, StoreError> {
        check_files(folder, is_written)?;
        let path = folder.join(JOURNAL_FILE);
        let resolved = folder
            .canonicalize()
            .map_err(|error| StoreError::from_io(action, folder, &error))?;
        let to_error = error_at(action, &path);
        let mut connection = open(&resolved.join(JOURNAL_FILE)).map_err(&to_error)?;
        connection
            .busy_timeout(Duration::from_secs(5))
            .map_err(&to_error)?;
        let steps = restrain(&mut connection).map_err(&to_error)?;
        Ok(Self {
            path,
            connection,
            steps,
            last: (0, ContentHash([0; 32])),
            bytes: 0,
            body: Vec::new(),
        })
    }

    /// Sets a database that was found to be a journal up to be written.
    fn set_up_writing(&mut self) -> Result<(), StoreError> {
        self.steps.allow(STEPS_OF_QUERY);
        // Checkpoints are taken at borders only, when the blobs are safe.
        self.connection
            .execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
                 PRAGMA wal_autocheckpoint = 0;",
            )
            .map_err(error_at("open", &self.path))
    }

    fn pragma(&self, name: &str) -> Result<i64, StoreError> {
        self.steps.allow(STEPS_OF_QUERY);
        self.connection
            .query_row(&format!("PRAGMA {name}"), [], |row| row.get(0))
            .map_err(error_at("read", &self.path))
    }

    /// Notes that the journal goes on in this program's format.
    pub(crate) fn mark_format(&self) -> Result<(), StoreError> {
        let version = i64::from(FORMAT.0 * 1000 + FORMAT.1);
        if self.pragma("user_version")? == version {
            return Ok(());
        }
        self.connection
            .pragma_update(None, "user_version", version)
            .map_err(error_at("write", &self.path))
    }

    fn check_format(&self, folder: &Path, access: Access) -> Result<(), StoreError> {
        let application_id = self.pragma("application_id")?;
        if application_id != APPLICATION_ID {
            let schema_size: i64 = self
                .connection
                .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
                .map_err(error_at("read", &self.path))?;
            if application_id == 0 && schema_size == 0 {
                return Err(StoreError::NotStarted {
                    path: folder.to_owned(),
                });
            }
            return Err(StoreError::NotARun {
                path: folder.to_owned(),
                reason: format!("its {JOURNAL_FILE} is a database of another program"),
            });
        }
        let version = u32::try_from(self.pragma("user_version")?).unwrap_or(u32::MAX);
        let found = (version / 1000, version % 1000);
        let is_known = match access {
            Access::Read => found.0 <= FORMAT.0,
            Access::Write => found <= FORMAT,
        };
        if is_known {
            self.steps.allow(STEPS_OF_QUERY);
            return check_schema(&self.connection, SCHEMA).map_err(|reason| match reason {
                Reason::Failed(error) => error_at("read", &self.path)(error),
                Reason::Other(reason) => StoreError::Corrupt {
                    path: self.path.clone(),
                    reason,
                },
            });
        }
        Err(StoreError::NewerFormat {
            path: folder.to_owned(),
            found: format!("{}.{}", found.0, found.1),
            known: format!("{}.{}", FORMAT.0, FORMAT.1),
            can: if access == Access::Read {
                "reads"
            } else {
                "writes"
            },
        })
    }

    /// Checks the structure of the database: a damaged page may hide rows.
    pub(crate) fn check_structure(&self) -> Result<(), StoreError> {
        self.steps.allow(STEPS_OF_CHECK);
        let verdict: String = self
            .connection
            .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
            .map_err(error_at("check", &self.path))?;
        if verdict == "ok" {
            return Ok(());
        }
        Err(StoreError::Corrupt {
            path: self.path.clone(),
            reason: verdict,
        })
    }

    /// Reads the events after the last one read, and checks their chain.
    pub(crate) fn read_on(&mut self) -> Result<Vec<Stored>, StoreError> {
        let mut events = Vec::new();
        self.read_each(|stored| {
            events.push(stored);
            Ok::<_, StoreError>(ControlFlow::Continue(()))
        })?;
        Ok(events)
    }

    /// Hands the events after the last one read to `take`, and checks their chain.
    /// Returns whether `take` went on to the end; the event that it did not go on
    /// from counts as not read.
    pub(crate) fn read_each<E: From<StoreError>>(
        &mut self,
        mut take: impl FnMut(Stored) -> Result<ControlFlow<()>, E>,
    ) -> Result<bool, E> {
        let to_error = error_at("read", &self.path);
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT seq, at_ms, elapsed_ms, body, chain FROM events WHERE ? < seq ORDER BY seq",
            )
            .map_err(&to_error)?;
        let mut rows = statement
            .query(params![self.last.0 as i64])
            .map_err(&to_error)?;
        let (mut last, mut bytes) = (self.last, self.bytes);
        loop {
            self.steps.allow(STEPS_OF_QUERY);
            let Some(row) = rows.next().map_err(&to_error)? else {
                break;
            };
            let (stored, chain, length) = read_row(row, last, &self.path)?;
            let seq = stored.seq;
            if MOST_EVENTS < seq || MOST_BYTES < bytes + length {
                return Err(too_many(&self.path).into());
            }
            if take(stored)?.is_break() {
                (self.last, self.bytes) = (last, bytes);
                return Ok(false);
            }
            last = (seq, chain);
            bytes += length;
        }
        (self.last, self.bytes) = (last, bytes);
        Ok(true)
    }

    /// Appends an event to the open transaction, and returns it as it will be
    /// stored when that is committed.
    pub(crate) fn append(
        &mut self,
        event: Event,
        at_ms: u64,
        elapsed_ms: u64,
    ) -> Result<Stored, StoreError> {
        let mut body = std::mem::take(&mut self.body);
        body.clear();
        serde_json::to_writer(&mut body, &event).expect("events have string keys only");
        let text = str::from_utf8(&body).expect("JSON is UTF-8");
        let seq = self.last.0 + 1;
        let bytes = self.bytes + text.len() as u64;
        if MOST_EVENTS < seq || MOST_BYTES < bytes {
            return Err(too_many(&self.path));
        }
        let chain = chain_hash(self.last.1, seq, at_ms, elapsed_ms, text);
        let task = event.key().map(|key| key.to_string());
        self.steps.allow(STEPS_OF_QUERY);
        if self.connection.is_autocommit() {
            self.execute_cached("BEGIN IMMEDIATE")?;
        }
        self.connection
            .prepare_cached("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)")
            .and_then(|mut statement| {
                statement.execute(params![
                    seq as i64,
                    at_ms as i64,
                    elapsed_ms as i64,
                    event.kind(),
                    task,
                    text,
                    chain.0.as_slice()
                ])
            })
            .map_err(error_at("append to", &self.path))?;
        self.last = (seq, chain);
        self.bytes = bytes;
        self.body = body;
        Ok(Stored {
            seq,
            at_ms,
            elapsed_ms,
            event,
        })
    }

    /// Ends the open transaction, if there is one.
    pub(crate) fn commit(&mut self) -> Result<(), StoreError> {
        if self.connection.is_autocommit() {
            return Ok(());
        }
        self.execute_cached("COMMIT")
    }

    fn execute_cached(&self, sql: &str) -> Result<(), StoreError> {
        self.steps.allow(STEPS_OF_QUERY);
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.execute([]))
            .map(|_| ())
            .map_err(error_at("append to", &self.path))
    }

    /// Removes the events after the last one read, and returns how many.
    pub(crate) fn truncate(&mut self) -> Result<usize, StoreError> {
        self.steps.allow(STEPS_OF_CHECK);
        self.connection
            .execute(
                "DELETE FROM events WHERE ? < seq",
                params![self.last.0 as i64],
            )
            .map_err(error_at("shorten", &self.path))
    }

    /// Returns the number of the last event.
    pub(crate) fn last_seq(&self) -> u64 {
        self.last.0
    }

    /// Returns the last event whose texts, and those of all before, are on the disk.
    pub(crate) fn safe_seq(&self) -> Result<u64, StoreError> {
        self.steps.allow(STEPS_OF_QUERY);
        let seq: i64 = self
            .connection
            .query_row("SELECT max(seq) FROM safe", [], |row| row.get(0))
            .map_err(error_at("read", &self.path))?;
        Ok(seq.max(0) as u64)
    }

    /// Notes that the texts of all events up to `seq` are on the disk, and
    /// forces the events there as well.
    pub(crate) fn checkpoint(&self, seq: u64) -> Result<(), StoreError> {
        self.steps.allow(STEPS_OF_QUERY);
        self.connection
            .execute("UPDATE safe SET seq = ?", params![seq as i64])
            .and_then(|_| {
                self.connection
                    .execute_batch("PRAGMA wal_checkpoint(PASSIVE)")
            })
            .map_err(error_at("sync", &self.path))
    }

    /// Forces all events to the disk, whose texts are there already, and
    /// leaves a single file behind, if no one is reading.
    pub(crate) fn close(self) -> Result<(), StoreError> {
        self.checkpoint(self.last.0)?;
        // Fails while someone reads; then the file stays in WAL mode, which is fine.
        let _ = self
            .connection
            .execute_batch("PRAGMA journal_mode = DELETE");
        self.connection
            .close()
            .map_err(|(_, error)| StoreError::from_database("close", &self.path, &error))
    }
}

/// Reads an event. Of an enumeration whose tag stands among the fields everything has to
/// be kept until the tag is known; as these are written it comes first, and tells at once
/// what is to be read.
fn parse(body: &str) -> Result<Event, serde_json::Error> {
    let tagged = body.strip_prefix("{\"event\":\"");
    let kind = tagged.and_then(|rest| rest.split_once('"')).map(|it| it.0);
    Ok(match kind {
        Some("planned") => Event::Planned(serde_json::from_str(body)?),
        Some("drafted") => Event::Drafted(serde_json::from_str(body)?),
        Some("evaluated") => Event::Evaluated(serde_json::from_str(body)?),
        Some("reserved") => Event::Reserved(serde_json::from_str(body)?),
        Some("iteration_opened") => Event::IterationOpened(serde_json::from_str(body)?),
        Some("iteration_closed") => Event::IterationClosed(serde_json::from_str(body)?),
        _ => return serde_json::from_str(body),
    })
}

/// Reads a row that follows the event with the number and the chain hash `last`.
fn read_row(
    row: &Row<'_>,
    last: (u64, ContentHash),
    path: &Path,
) -> Result<(Stored, ContentHash, u64), StoreError> {
    let seq_due = last.0 + 1;
    let corrupt = |what: String| StoreError::Corrupt {
        path: path.to_owned(),
        reason: format!("event {seq_due} {what}"),
    };
    let columns = || -> Result<_, rusqlite::Error> {
        let seq: i64 = row.get(0)?;
        let at_ms: i64 = row.get(1)?;
        let elapsed_ms: i64 = row.get(2)?;
        let body = row.get_ref(3)?.as_str()?;
        let chain = row.get_ref(4)?.as_blob()?;
        Ok((seq as u64, at_ms as u64, elapsed_ms as u64, body, chain))
    };
    let (seq, at_ms, elapsed_ms, body, chain) = columns().map_err(|error| {
        if error.sqlite_error_code().is_some() {
            error_at("read", path)(error)
        } else {
            corrupt(format!("cannot be read ({error})"))
        }
    })?;
    if seq != seq_due {
        return Err(corrupt("is missing".to_owned()));
    }
    let sum = chain_hash(last.1, seq, at_ms, elapsed_ms, body);
    if chain != sum.0 {
        return Err(corrupt("was changed after it was written".to_owned()));
    }
    if LAST_MS < at_ms.max(elapsed_ms) {
        return Err(corrupt("has a time that no clock shows".to_owned()));
    }
    let event = parse(body).map_err(|error| corrupt(format!("is not understood ({error})")))?;
    let stored = Stored {
        seq,
        at_ms,
        elapsed_ms,
        event,
    };
    Ok((stored, sum, body.len() as u64))
}

fn too_many(path: &Path) -> StoreError {
    StoreError::TooMany {
        path: path.to_owned(),
        events: MOST_EVENTS,
        bytes: MOST_BYTES,
    }
}

fn error_at(action: &'static str, path: &Path) -> impl Fn(rusqlite::Error) -> StoreError + use<> {
    let path = path.to_owned();
    move |error| StoreError::from_database(action, &path, &error)
}

/// No link is followed, no lock of SQLite's own is needed: a journal is used by one thread at a
/// time.
const PLAIN: OpenFlags = OpenFlags::SQLITE_OPEN_NO_MUTEX.union(OpenFlags::SQLITE_OPEN_NOFOLLOW);

/// Opens a database for reading. On read-only media a database in WAL mode
/// cannot be opened in the ordinary way; if it has no WAL, it cannot change
/// and is opened as it is.
pub(crate) fn open_for_reading(path: &Path) -> Result<Connection, rusqlite::Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | PLAIN;
    let opened = Connection::open_with_flags(path, flags).and_then(|mut connection| {
        restrain(&mut connection)?;
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        Ok(connection)
    });
    let error = match opened {
        Ok(connection) => return Ok(connection),
        Err(error) => error,
    };
    let wal = path.with_file_name(format!("{JOURNAL_FILE}-wal"));
    let has_wal = wal.metadata().is_ok_and(|metadata| 0 < metadata.len());
    let is_media = matches!(
        error.sqlite_error_code(),
        Some(rusqlite::ErrorCode::CannotOpen | rusqlite::ErrorCode::ReadOnly)
    );
    if has_wal || !is_media {
        return Err(error);
    }
    let name: String = path
        .to_string_lossy()
        .chars()
        .map(|c| match c {
            '%' => "%25".to_owned(),
            '?' => "%3f".to_owned(),
            '#' => "%23".to_owned(),
            c => c.to_string(),
        })
        .collect();
    let uri = format!("file:{name}?immutable=1");
    Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI)
}

fn chain_hash(
    before: ContentHash,
    seq: u64,
    at_ms: u64,
    elapsed_ms: u64,
    body: &str,
) -> ContentHash {
    let mut hasher = ContentHasher::new("journal-event");
    hasher.update(&before.0);
    hasher.update(&seq.to_le_bytes());
    hasher.update(&at_ms.to_le_bytes());
    hasher.update(&elapsed_ms.to_le_bytes());
    hasher.update(body.as_bytes());
    hasher.finish()
}
