//! Run folders: an SQLite journal of events and content-addressed blobs.
//!
//! One folder holds one run:
//!
//! | path | what |
//! |---|---|
//! | `run.sqlite` | the journal: one row per event, in the order in which they happened |
//! | `blobs/pack` | texts by content hash, zstd-compressed, one after the other |
//! | `blobs/ab/abcd…` | the same in runs of format 3 and older, a file each |
//! | `lock` | locked while a process writes the run; names that process |
//!
//! The journal is an SQLite database in WAL mode, `synchronous=NORMAL`: the
//! death of the process loses no event, a power cut at most those after the
//! last border ([`RunWriter::border`]) that reached the disk. Each row carries the hash of itself and
//! of all rows before it, so damage is found and named. Blobs are verified on
//! every read.
//!
//! Only this crate knows SQLite.

mod appending;
mod blobs;
mod error;
mod files;
mod foreign;
mod guard;
mod history;
mod journal;
mod lock;
mod memory;
mod pack;
mod reader;
mod writer;

pub use blobs::Blobs;
pub use error::StoreError;
pub use files::{check_replaceable, read_file, replace_file};
pub use foreign::{Cell, read_table};
pub use history::{history_hash, history_lines};
pub use journal::{FORMAT, Stored};
pub use lock::{live_holder, live_process};
pub use memory::{MOST_LESSONS, Memory};
pub use reader::{RunReader, is_run_folder, list_runs};
pub use writer::{Opened, RunWriter};

/// Parts that `tests/journal` looks at one by one. Tests inside would have all of the crate
/// compiled a second time. No interface.
#[doc(hidden)]
pub mod inside {
    /// The error of a store for one of the file system.
    pub fn classified(
        action: &'static str,
        path: &std::path::Path,
        error: &std::io::Error,
    ) -> crate::StoreError {
        crate::StoreError::from_io(action, path, error)
    }
}
