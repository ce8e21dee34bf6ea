//! A device that is measured on by one process at a time.

#[cfg(target_os = "linux")]
#[path = "lease/linux.rs"]
mod system;
#[cfg(not(target_os = "linux"))]
#[path = "lease/other.rs"]
mod system;

use autocomp_core::Seed;
use autocomp_eval::EvalError;
use autocomp_eval::cache::LEASES;
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::path::Path;

/// A device that nobody else on this machine measures on while this value lives.
#[derive(Debug)]
pub struct Lease {
    seed: Seed,
    /// Locked until it is closed.
    _lock: File,
    /// The machine gives its name to nobody else until it is closed.
    _name: system::Name,
}

impl Lease {
    /// Waits until `device` is free, and takes it. The name is the caller's. Processes that give
    /// the same name wait for each other: those with one cache folder in line, and those with a
    /// folder each by a name on the machine, which is one for each network namespace. Only Linux
    /// has such names.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if the folder for the lock cannot be written, or the machine
    /// has no names to give.
    pub fn take(cache_folder: &Path, device: &str) -> Result<Self, EvalError> {
        let folder = cache_folder.join(LEASES);
        let path = folder.join(format!("{device}-timing.lock"));
        let unusable = |error: std::io::Error| EvalError::Environment {
            message: format!("cannot lock {}: {error}", path.display()),
            remedies: vec!["make room, or set AUTOCOMP_CACHE_DIR to another folder".into()],
        };
        std::fs::create_dir_all(&folder).map_err(unusable)?;
        let lock = File::create(&path).map_err(unusable)?;
        flock(&lock, FlockOperation::LockExclusive).map_err(|error| unusable(error.into()))?;
        let name = system::named(device).map_err(unusable)?;
        let seed = system::random().unwrap_or_else(|| std::process::id().into());
        Ok(Self {
            seed: Seed(seed),
            _lock: lock,
            _name: name,
        })
    }

    /// Returns a seed for the order of measurements, another one for each lease.
    #[must_use]
    pub fn seed(&self) -> Seed {
        self.seed
    }
}
