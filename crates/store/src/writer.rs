//! Writing a run folder.

use crate::appending::Appending;
use crate::blobs::{BLOBS, Blobs};
use crate::error::StoreError;
use crate::files::check_folder;
use crate::journal::{Access, JOURNAL_FILE, Journal, Stored};
use crate::lock::FolderLock;
use autocomp_core::Event;
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Borders that follow sooner are left to the next one: a search of instant candidates has
/// hundreds in a second, and each would have to wait for the disk.
const BORDER_PAUSE: Duration = Duration::from_millis(500);

/// Events that wait at most while others are written.
const MOST_WAITING: usize = 4096;

/// The only writer of a run folder.
#[derive(Debug)]
pub struct RunWriter {
    folder: PathBuf,
    events: Appending,
    blobs: Blobs,
    /// Number of an event, and the thread that forces its texts and those of
    /// all before to the disk.
    syncing: Option<(u64, JoinHandle<Result<(), StoreError>>)>,
    /// When that was last begun.
    bordered: Option<Instant>,
    /// Given back last.
    _lock: FolderLock,
}

/// A run that was taken up again.
#[derive(Debug)]
pub struct Opened {
    /// The writer, ready to append.
    pub writer: RunWriter,
    /// All events of the journal.
    pub events: Vec<Stored>,
    /// Events at the journal's end that were thrown away because a power cut
    /// took their texts. They are work that will be done again.
    pub n_dropped: usize,
}

impl RunWriter {
    /// Checks that a run could be created in `folder`: it is absent, or holds
    /// nothing but what a run that never started leaves behind. Changes nothing.
    ///
    /// # Errors
    /// The folder holds something else, or cannot be read.
    pub fn check_vacant(folder: &Path) -> Result<(), StoreError> {
        let entries = match fs::read_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries.map_err(|error| StoreError::from_io("read", folder, &error))?,
        };
        for entry in entries {
            let entry = entry.map_err(|error| StoreError::from_io("read", folder, &error))?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name != "lock" && name != "blobs" && !name.starts_with(JOURNAL_FILE) {
                return Err(StoreError::Exists {
                    path: folder.to_owned(),
                });
            }
        }
        Ok(())
    }

    /// Creates a run folder, with its parents. A folder in which a run was
    /// created but never started is taken over.
    ///
    /// # Errors
    /// The folder holds something, may not be written, or is locked.
    pub fn create(folder: &Path) -> Result<Self, StoreError> {
        Self::check_vacant(folder)?;
        fs::create_dir_all(folder)
            .map_err(|error| StoreError::from_io("create", folder, &error))?;
        let lock = FolderLock::take(folder)?;
        let mut journal = Journal::create(folder)?;
        if !journal.read_on()?.is_empty() {
            return Err(StoreError::Exists {
                path: folder.to_owned(),
            });
        }
        let root = folder.join(BLOBS);
        if !check_folder(folder, BLOBS)? {
            fs::create_dir(&root).map_err(|error| StoreError::from_io("create", &root, &error))?;
        }
        let blobs = Blobs::new(folder, true)?;
        Ok(Self {
            folder: folder.to_owned(),
            events: Appending::new(journal, blobs.clone()),
            blobs,
            syncing: None,
            bordered: None,
            _lock: lock,
        })
    }

    /// Takes a run up again, all events in memory.
    ///
    /// # Errors
    /// As [`RunWriter::open_with`].
    pub fn open(folder: &Path) -> Result<Opened, StoreError> {
        let mut events = Vec::new();
        let (writer, n_dropped) = Self::open_with(folder, |stored| {
            events.push(stored);
            Ok::<_, StoreError>(())
        })?;
        Ok(Opened {
            writer,
            events,
            n_dropped,
        })
    }

    /// Takes a run up again, and hands each of its events to `take`. Returns how
    /// many events at the journal's end were thrown away because a power cut took
    /// their texts; they are work that will be done again.
    ///
    /// # Errors
    /// The folder holds no run, is locked, damaged, of a newer format, or may
    /// not be written; or what `take` says.
    pub fn open_with<E: From<StoreError>>(
        folder: &Path,
        mut take: impl FnMut(Stored) -> Result<(), E>,
    ) -> Result<(Self, usize), E> {
        // Look before locking, so that a wrong path does not get a lock file.
        drop(Journal::open(folder, Access::Read)?);
        let lock = FolderLock::take(folder)?;
        let mut journal = Journal::open(folder, Access::Write)?;
        journal.check_structure()?;
        let n_safe = journal.safe_seq()?;
        let blobs = Blobs::new(folder, true)?;
        blobs.read_on()?;
        let mut is_empty = true;
        let is_whole = journal.read_each(|stored| {
            is_empty = false;
            if !is_sound(&stored, n_safe, &blobs)? {
                return Ok(ControlFlow::Break(()));
            }
            take(stored)?;
            Ok::<_, E>(ControlFlow::Continue(()))
        })?;
        if is_empty {
            return Err(StoreError::NotStarted {
                path: folder.to_owned(),
            }
            .into());
        }
        let n_dropped = if is_whole { 0 } else { journal.truncate()? };
        blobs.cut()?;
        journal.mark_format()?;
        let writer = Self {
            folder: folder.to_owned(),
            events: Appending::new(journal, blobs.clone()),
            blobs,
            syncing: None,
            bordered: None,
            _lock: lock,
        };
        Ok((writer, n_dropped))
    }

    /// Returns the folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the texts of the run.
    #[must_use]
    pub fn blobs(&self) -> &Blobs {
        &self.blobs
    }

    /// Appends an event. `elapsed_ms` is how long the run has been worked on.
    ///
    /// The texts that the event refers to must have been put before.
    ///
    /// # Errors
    /// No room, or the folder can no longer be written. What was appended
    /// before is kept.
    pub fn append(&mut self, event: &Event, elapsed_ms: u64) -> Result<Stored, StoreError> {
        self.append_later(event.clone(), elapsed_ms)?;
        self.commit()?;
        let stored = self.events.take_last();
        Ok(stored.expect("a commit without an error writes all events"))
    }

    /// Appends an event that is kept, and that readers see, from the next
    /// [`RunWriter::commit`] on: a commit for many events costs little more than
    /// one for a single event.
    ///
    /// # Errors
    /// No room for what an earlier border began to force.
    pub fn append_later(&mut self, event: Event, elapsed_ms: u64) -> Result<(), StoreError> {
        if self
            .syncing
            .as_ref()
            .is_some_and(|(_, thread)| thread.is_finished())
        {
            self.end_sync()?;
        }
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        self.events
            .append(event, now.as_millis() as u64, elapsed_ms);
        Ok(())
    }

    /// Keeps what was appended.
    ///
    /// # Errors
    /// As [`RunWriter::append`].
    pub fn commit(&mut self) -> Result<(), StoreError> {
        self.events.finish()
    }

    /// Begins to keep what was appended, and returns while a thread does it. Until it is
    /// done, further calls only look whether it is.
    ///
    /// # Errors
    /// As [`RunWriter::append`], of events that were appended before an earlier call.
    pub fn commit_behind(&mut self) -> Result<(), StoreError> {
        if MOST_WAITING <= self.events.n_waiting() {
            return self.events.finish();
        }
        self.events.begin()
    }

    /// Returns the events that were kept since the last call.
    pub fn take_kept(&mut self) -> Vec<Stored> {
        self.events.take_written()
    }

    /// Returns whether everything that was appended is kept.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.events.is_idle()
    }

    /// Begins to force everything so far to the disk, so that even a power cut
    /// cannot take it. Returns at once; the disk needs some milliseconds, and the
    /// work goes on meanwhile. Soon after another border, the next one does it.
    ///
    /// # Errors
    /// No room for what an earlier border began to force.
    pub fn border(&mut self) -> Result<(), StoreError> {
        if self.bordered.is_some_and(|it| it.elapsed() < BORDER_PAUSE) {
            return Ok(());
        }
        self.commit()?;
        self.bordered = Some(Instant::now());
        if let Some((_, thread)) = &self.syncing {
            if !thread.is_finished() {
                // The next border takes the rest.
                return Ok(());
            }
            self.end_sync()?;
        }
        let blobs = self.blobs.clone();
        let thread = thread::spawn(move || blobs.sync());
        self.syncing = Some((self.events.last_seq(), thread));
        Ok(())
    }

    fn end_sync(&mut self) -> Result<(), StoreError> {
        let Some((seq, thread)) = self.syncing.take() else {
            return Ok(());
        };
        thread
            .join()
            .expect("forcing files to the disk does not panic")?;
        self.events.note_safe(seq);
        Ok(())
    }

    /// Forces everything to the disk and closes the folder.
    ///
    /// # Errors
    /// As [`RunWriter::append`].
    pub fn close(mut self) -> Result<(), StoreError> {
        self.commit()?;
        self.end_sync()?;
        self.blobs.sync()?;
        self.events.close()
    }
}

/// Returns whether an event has all its texts.
///
/// Texts of the events up to number `n_safe` were forced to the disk; one of those
/// missing is damage. After them, a missing text is what a power cut leaves behind.
fn is_sound(stored: &Stored, n_safe: u64, blobs: &Blobs) -> Result<bool, StoreError> {
    let hashes = stored.event.blobs();
    if stored.seq <= n_safe {
        for hash in hashes {
            if !blobs.has(hash) {
                blobs.get(hash)?;
            }
        }
        return Ok(true);
    }
    if hashes.iter().any(|hash| blobs.get(*hash).is_err()) {
        return Ok(false);
    }
    hashes.into_iter().for_each(|hash| blobs.note(hash));
    Ok(true)
}
