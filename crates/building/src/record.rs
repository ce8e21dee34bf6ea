//! What a build has asked and was answered: a folder with a file for each reply, named after the
//! hash of the request, and a journal of what calls may cost and have cost.

use autocomp_core::{ContentHasher, Usage};
use autocomp_llm::{Attempt, Request, ReservationError, ReservationJournal};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Longest file of a record that is read, in bytes.
const LONGEST: u64 = 256 << 20;

/// A record cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot use the record {}: {source}", path.display())]
pub struct RecordError {
    /// The file or folder.
    pub path: PathBuf,
    /// Why.
    pub source: std::io::Error,
}

/// A reply, as stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StoredReply {
    /// What was asked for.
    pub label: String,
    /// Who answered.
    pub model: String,
    /// The exact prompt.
    pub prompt: String,
    /// The exact reply.
    pub reply: String,
}

/// A line of the journal.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    /// A call is about to be sent.
    Reserved {
        number: u64,
        model: String,
        label: String,
        most: Usage,
    },
    /// A call has ended.
    Called {
        reservation: Option<u64>,
        model: String,
        label: String,
        error: Option<String>,
        used: Usage,
    },
}

/// The record of a build.
#[derive(Debug)]
pub struct Record {
    folder: PathBuf,
    journal: Mutex<Journal>,
}

#[derive(Debug)]
struct Journal {
    file: File,
    next: u64,
}

impl Record {
    /// Opens the record in `folder`, which is made if it is not there, for this process alone.
    /// Returns it with what earlier calls have cost; one whose end is unknown counts with the
    /// most that it may have cost.
    ///
    /// # Errors
    /// It cannot be read or written, or another process has it.
    pub fn open(folder: &Path) -> Result<(Self, Usage), RecordError> {
        let path = folder.join("journal.jsonl");
        let failed = |source| RecordError {
            path: path.clone(),
            source,
        };
        fs::create_dir_all(folder.join("replies")).map_err(failed)?;
        let mut file = OpenOptions::new()
            .create(true)
            .read(true)
            .append(true)
            .open(&path)
            .map_err(failed)?;
        let lock = rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive);
        lock.map_err(|error| match error {
            rustix::io::Errno::WOULDBLOCK => {
                failed(std::io::Error::other("another process builds with it"))
            }
            error => failed(error.into()),
        })?;
        let mut text = String::new();
        let read = (&file).take(LONGEST).read_to_string(&mut text);
        read.map_err(failed)?;
        if !text.is_empty() && !text.ends_with('\n') {
            // The process ended while it wrote.
            file.write_all(b"\n").map_err(failed)?;
        }
        let mut open: BTreeMap<u64, Usage> = BTreeMap::new();
        let mut spent = Usage::default();
        let mut next = 0;
        for line in text.lines() {
            match serde_json::from_str(line) {
                Ok(Line::Reserved { number, most, .. }) => {
                    open.insert(number, most);
                    next = next.max(number + 1);
                }
                Ok(Line::Called {
                    reservation, used, ..
                }) => {
                    if let Some(number) = reservation {
                        open.remove(&number);
                    }
                    spent.add(&used);
                }
                // A line that was cut off.
                Err(_) => {}
            }
        }
        for most in open.into_values() {
            spent.add(&most);
        }
        let record = Self {
            folder: folder.to_owned(),
            journal: Mutex::new(Journal { file, next }),
        };
        Ok((record, spent))
    }

    fn path(&self, request: &Request) -> PathBuf {
        let mut hasher = ContentHasher::new("building-request");
        hasher.update(request.transcript().as_bytes());
        let hash = hasher.finish().to_string();
        self.folder
            .join("replies")
            .join(format!("{}.json", &hash[..32]))
    }

    /// Returns the reply to a request, if it is there.
    #[must_use]
    pub fn reply(&self, request: &Request) -> Option<StoredReply> {
        let file = File::open(self.path(request)).ok()?;
        let mut text = String::new();
        file.take(LONGEST).read_to_string(&mut text).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Stores the reply to a request.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn store(&self, request: &Request, model: &str, reply: &str) -> Result<(), RecordError> {
        let path = self.path(request);
        let stored = StoredReply {
            label: request.label.clone(),
            model: model.to_owned(),
            prompt: request.transcript(),
            reply: reply.to_owned(),
        };
        let bytes = serde_json::to_vec_pretty(&stored).unwrap_or_default();
        // Seen whole or not at all.
        let partial = path.with_extension("partial");
        let written = fs::write(&partial, bytes).and_then(|()| fs::rename(&partial, &path));
        written.map_err(|source| RecordError { path, source })
    }

    /// Forgets the reply to a request, so that it is asked anew.
    pub fn forget(&self, request: &Request) {
        let earlier = self.earlier(request, self.n_earlier(request) + 1);
        // It may never have been answered.
        let _ = fs::rename(self.path(request), earlier);
    }

    /// Returns how many replies to a request were forgotten.
    pub(crate) fn n_earlier(&self, request: &Request) -> usize {
        (1..)
            .take_while(|number| self.earlier(request, *number).exists())
            .count()
    }

    /// Returns where a forgotten reply lies, of which 1 is the oldest.
    fn earlier(&self, request: &Request, number: usize) -> PathBuf {
        self.path(request)
            .with_extension(format!("earlier{number}"))
    }

    /// Notes calls that have ended.
    pub fn note(&self, label: &str, attempts: &[Attempt]) {
        for attempt in attempts {
            self.write(&Line::Called {
                reservation: attempt.reservation,
                model: attempt.model.clone(),
                label: label.to_owned(),
                error: attempt.error.clone(),
                used: attempt.usage(),
            });
        }
    }

    /// Writes a line; returns whether that was possible.
    fn write(&self, line: &Line) -> bool {
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(mut bytes) = serde_json::to_vec(line) else {
            return false;
        };
        bytes.push(b'\n');
        journal.file.write_all(&bytes).is_ok()
    }
}

#[async_trait::async_trait]
impl ReservationJournal for Record {
    async fn reserve(
        &self,
        model: &str,
        label: &str,
        most: &Usage,
    ) -> Result<u64, ReservationError> {
        let number = {
            let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
            journal.next += 1;
            journal.next - 1
        };
        let is_written = self.write(&Line::Reserved {
            number,
            model: model.to_owned(),
            label: label.to_owned(),
            most: *most,
        });
        match is_written {
            true => Ok(number),
            false => Err(ReservationError),
        }
    }
}
