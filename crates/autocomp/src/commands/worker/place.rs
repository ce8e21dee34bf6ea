//! Where a worker keeps what jobs need: a folder that goes with it.

use crate::error::CliError;
use autocomp_core::ContentHash;
use autocomp_eval::cache;
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folder of workers in the cache folder.
const WORKERS: &str = "workers";

/// A folder that nobody else has, and that goes with the value.
#[derive(Debug)]
pub struct Place {
    folder: PathBuf,
    cache_folder: PathBuf,
    lock_path: PathBuf,
    _lock: File,
}

impl Place {
    /// Makes the folder, and removes those of workers that were killed.
    pub fn make(cache_folder: &Path, name: &str) -> Result<Arc<Self>, CliError> {
        let folder = std::path::absolute(cache_folder)
            .unwrap_or_else(|_| cache_folder.to_owned())
            .join(WORKERS);
        let unusable = |error: io::Error| {
            CliError::environment(format!(
                "the folder {} cannot be used: {error}",
                folder.display()
            ))
            .hint("pass `--cache-dir FOLDER` with a folder that you may write")
        };
        fs::create_dir_all(&folder).map_err(unusable)?;
        remove_left_behind(&folder);
        let lock_path = folder.join(format!("{name}.lock"));
        let lock = File::create(&lock_path).map_err(unusable)?;
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Err(CliError::usage(format!(
                "there is a worker {name} on this machine already"
            ))
            .hint("give this one another name with `--name`"));
        }
        let own = folder.join(name);
        let _ = fs::remove_dir_all(&own);
        fs::create_dir_all(&own).map_err(unusable)?;
        Ok(Arc::new(Self {
            folder: own,
            cache_folder: folder.join(".."),
            lock_path,
            _lock: lock,
        }))
    }

    /// Returns the folder.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Makes a cache folder for one bench, which shares with others only what holds nothing of
    /// kernels and problems. Returns its folder for what is temporary.
    pub fn furnish(&self, folder: &Path) -> io::Result<PathBuf> {
        let scratch = folder.join("tmp");
        fs::create_dir_all(&scratch)?;
        for shared in cache::NEUTRAL {
            let there = self.cache_folder.join(shared);
            fs::create_dir_all(&there)?;
            match symlink(there, folder.join(shared)) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                other => other?,
            }
        }
        Ok(scratch)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
        let _ = fs::remove_file(&self.lock_path);
    }
}

/// Removes the folders of workers that are not alive.
fn remove_left_behind(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let lock_path = entry.path();
        if lock_path.extension().is_none_or(|it| it != "lock") {
            continue;
        }
        let Ok(lock) = File::open(&lock_path) else {
            continue;
        };
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
            let _ = fs::remove_dir_all(lock_path.with_extension(""));
            let _ = fs::remove_file(&lock_path);
        }
    }
}

/// Returns the name of this machine.
pub fn machine_name() -> String {
    let name = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    autocomp_queue::token(&name)
}

/// Returns what this machine is called as the place of devices: its name, which others may have, and
/// the beginning of a hash of what no other one has, and what stays when its network cards change.
pub fn machine_identity() -> String {
    let read = |path: &str| fs::read(path).unwrap_or_default();
    let mut own = read("/etc/machine-id");
    if own.trim_ascii().is_empty() {
        // A container has none, as a rule.
        own = read("/proc/sys/kernel/random/boot_id");
    }
    own.extend(read("/sys/firmware/devicetree/base/serial-number"));
    let hash = ContentHash::of(&own).to_string();
    format!("{}-{}", machine_name(), &hash[..6])
}
