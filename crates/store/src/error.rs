//! What can go wrong with a run folder, and what to do about it.

use autocomp_core::ContentHash;
use std::io;
use std::path::{Path, PathBuf};

/// A run folder cannot be created, read or written. Nothing that was in it is
/// lost by the error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A run is to be created where something is.
    #[error("{} exists and is not empty", path.display())]
    Exists {
        /// The folder.
        path: PathBuf,
    },
    /// There is no run in the folder.
    #[error("{} is not a run folder: {reason}", path.display())]
    NotARun {
        /// The folder.
        path: PathBuf,
        /// What is missing.
        reason: String,
    },
    /// The run was created but never started.
    #[error("the run in {} was never started", path.display())]
    NotStarted {
        /// The folder.
        path: PathBuf,
    },
    /// A file or a folder of the run is none, but a link, a pipe or a device.
    #[error("{} is {kind}, and a run folder is used only as far as it is made of plain files and folders", path.display())]
    NotPlain {
        /// The file.
        path: PathBuf,
        /// What it is.
        kind: &'static str,
    },
    /// A file of the run is not there.
    #[error("there is no {}", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// A file of the run is larger than what is read.
    #[error("{} is larger than the {most} bytes that are read at most", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Bytes that are read at most.
        most: u64,
    },
    /// Another process writes the run.
    #[error("the run in {} is being written by {holder}", path.display())]
    Locked {
        /// The folder.
        path: PathBuf,
        /// Which process.
        holder: String,
    },
    /// The run has a format that this program does not know.
    #[error("the run in {} has format {found}, but this program {can} only formats up to {known}", path.display())]
    NewerFormat {
        /// The folder.
        path: PathBuf,
        /// The format of the run.
        found: String,
        /// The newest format known.
        known: String,
        /// `reads` or `writes`.
        can: &'static str,
    },
    /// The journal is damaged.
    #[error("the journal {} is damaged: {reason}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        reason: String,
    },
    /// The journal holds more than whoever looks at it could have in memory.
    #[error("the journal {} holds more than a run may have: {events} events of {bytes} bytes", path.display())]
    TooMany {
        /// The file.
        path: PathBuf,
        /// The most events.
        events: u64,
        /// The most bytes of all of them.
        bytes: u64,
    },
    /// A text is missing or damaged.
    #[error("the text {} of the run is damaged: {reason}", path.display())]
    CorruptBlob {
        /// The file.
        path: PathBuf,
        /// Its name.
        hash: ContentHash,
        /// What is wrong.
        reason: String,
    },
    /// The disk, or the quota, is full.
    #[error("no room left to write {}", path.display())]
    NoRoom {
        /// What was being written.
        path: PathBuf,
    },
    /// The folder may not be written.
    #[error("{} cannot be written: {reason}", path.display())]
    NotWritable {
        /// What was being written.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// The file of lessons cannot be used.
    #[error("the memory {}: {reason}", path.display())]
    Memory {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        reason: String,
    },
    /// Something else.
    #[error("failed to {action} {}: {reason}", path.display())]
    Io {
        /// What was being done.
        action: &'static str,
        /// To what.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
}

impl StoreError {
    /// Returns what the user can do.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            Self::Exists { .. } => {
                "choose another folder, or resume the run if it holds one".to_owned()
            }
            Self::NotARun { .. } => {
                "give the folder that a run has printed; list the runs to find it".to_owned()
            }
            Self::NotStarted { .. } => {
                "nothing was done in it yet: start the run again in the same folder".to_owned()
            }
            Self::NotPlain { .. } => {
                "nothing was read or written through it; remove it, or put a copy of the file that you trust in its place".to_owned()
            }
            Self::Missing { .. } => "give the folder that a run has printed".to_owned(),
            Self::TooLarge { .. } => {
                "remove the file, or put a right one in its place".to_owned()
            }
            Self::Locked { .. } => {
                "wait for that process or end it, then try again; reading the run is possible meanwhile"
                    .to_owned()
            }
            Self::NewerFormat { .. } => {
                "use the version of the program that wrote the run, or a newer one".to_owned()
            }
            Self::Corrupt { .. } => {
                "restore the folder from a copy, or start the run anew with the same seed in another folder; the texts in `blobs` are intact".to_owned()
            }
            Self::TooMany { .. } => {
                "start a new run; with `--from` it begins with this one's kernels".to_owned()
            }
            Self::CorruptBlob { .. } => {
                "restore the file from a copy, or start the run anew with the same seed in another folder".to_owned()
            }
            Self::Memory { .. } => {
                "mend or remove the line, or name another file; runs do without it".to_owned()
            }
            Self::NoRoom { .. } => {
                "free some space, then resume the run; everything up to the last event is kept"
                    .to_owned()
            }
            Self::NotWritable { .. } => {
                "choose a folder that you may write, or change its permissions, then try again"
                    .to_owned()
            }
            Self::Io { .. } => "check the folder and the disk, then try again".to_owned(),
        }
    }

    /// Classifies an error of the file system.
    pub(crate) fn from_io(action: &'static str, path: &Path, error: &io::Error) -> Self {
        let path = path.to_owned();
        match error.kind() {
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => Self::NoRoom { path },
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::NotWritable {
                    path,
                    reason: error.to_string(),
                }
            }
            _ => Self::Io {
                action,
                path,
                reason: error.to_string(),
            },
        }
    }

    /// Classifies an error of the database.
    pub(crate) fn from_database(
        action: &'static str,
        path: &Path,
        error: &rusqlite::Error,
    ) -> Self {
        use rusqlite::ErrorCode;
        let path = path.to_owned();
        let reason = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::NoRoom { path },
            // SQLite does not tell why it could not make its auxiliary files.
            Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) if is_full(&path) => {
                Self::NoRoom { path }
            }
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                Self::NotWritable { path, reason }
            }
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::TooBig) => {
                Self::Corrupt { path, reason }
            }
            Some(ErrorCode::OperationInterrupted) => Self::Corrupt {
                path,
                reason: "reading it has no end".to_owned(),
            },
            _ => Self::Io {
                action,
                path,
                reason,
            },
        }
    }
}

/// Room below which SQLite cannot make its auxiliary files, in bytes.
const LEAST_ROOM_BYTES: u64 = 64 << 10;

/// Returns whether the file system that holds `path` has no room to speak of.
fn is_full(path: &Path) -> bool {
    let folder = path.parent().unwrap_or(path);
    rustix::fs::statvfs(folder).is_ok_and(|it| it.f_bavail * it.f_frsize < LEAST_ROOM_BYTES)
}
