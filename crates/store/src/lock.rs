//! The lock of a run folder: one writer at a time.

use crate::error::StoreError;
use crate::files::{Use, open_file, read_file};
use std::fs::{File, TryLockError};
use std::io::{Seek, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

const LOCK_FILE: &str = "lock";

/// How often a taken lock is tried again, 20 ms apart: a reader that looks
/// whether a run is live holds the lock for a moment.
const N_TRIES: u32 = 10;

/// An exclusive lock on a run folder, given back when dropped and, by the
/// kernel, when the process dies in whatever way.
#[derive(Debug)]
pub(crate) struct FolderLock {
    _file: File,
}

impl FolderLock {
    /// Takes the lock, and writes the own process into the lock file.
    pub(crate) fn take(folder: &Path) -> Result<Self, StoreError> {
        let path = folder.join(LOCK_FILE);
        let to_error = |action| {
            let path = path.clone();
            move |error: std::io::Error| StoreError::from_io(action, &path, &error)
        };
        let mut file = open_file(folder, LOCK_FILE, Use::Make)?;
        for n_try in 1.. {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if n_try < N_TRIES => {
                    thread::sleep(Duration::from_millis(20));
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(StoreError::Locked {
                        path: folder.to_owned(),
                        holder: holder(folder),
                    });
                }
                Err(TryLockError::Error(error)) => return Err(to_error("lock")(error)),
            }
        }
        let uname = rustix::system::uname();
        let host = uname.nodename().to_string_lossy();
        let owner = format!("process {} on {host}\n", std::process::id());
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(owner.as_bytes()))
            .map_err(to_error("write"))?;
        Ok(Self { _file: file })
    }
}

/// Returns the process that writes the run in `folder`, if one does, in words.
#[must_use]
pub fn live_holder(folder: &Path) -> Option<String> {
    let file = open_file(folder, LOCK_FILE, Use::Read).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Some(holder(folder)),
        _ => None,
    }
}

/// Returns the number of the process that writes the run in `folder`, if one of this machine
/// does. The lock file only names it: that it holds the lock is seen from its open files.
#[must_use]
pub fn live_process(folder: &Path) -> Option<u32> {
    let words = live_holder(folder)?;
    let number = words.strip_prefix("process ")?.split(' ').next()?;
    let process: u32 = number.parse().ok()?;
    let lock = folder.join(LOCK_FILE).canonicalize().ok()?;
    let files = std::fs::read_dir(format!("/proc/{process}/fd")).ok()?;
    let mut files = files.filter_map(|it| std::fs::read_link(it.ok()?.path()).ok());
    files.any(|file| file == lock).then_some(process)
}

fn holder(folder: &Path) -> String {
    // The file is a line or two; a longer one is not ours.
    let text = read_file(folder, LOCK_FILE, 500).ok().flatten();
    let text = text.and_then(|text| String::from_utf8(text).ok());
    match text.as_deref().map(str::trim) {
        None | Some("") => "another process".to_owned(),
        Some(text) => text.to_owned(),
    }
}
