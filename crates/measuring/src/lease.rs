//! A device that is measured on by one process at a time.

use autocomp_core::Seed;
use autocomp_eval::EvalError;
use autocomp_eval::cache::LEASES;
use rustix::fs::{FlockOperation, flock};
use rustix::rand::{GetRandomFlags, getrandom};
use std::fs::File;
use std::path::Path;

/// A device that nobody else of this user measures on while this value lives.
#[derive(Debug)]
pub struct Lease {
    seed: Seed,
    /// Locked until it is closed.
    _lock: File,
}

impl Lease {
    /// Waits until `device` is free, and takes it. The name is the caller's; processes with
    /// one cache folder that give the same name wait for each other.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if the folder for the lock cannot be written.
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
        let mut random = [0; 8];
        let seed = match getrandom(&mut random, GetRandomFlags::empty()) {
            Ok(8) => u64::from_ne_bytes(random),
            _ => std::process::id().into(),
        };
        Ok(Self {
            seed: Seed(seed),
            _lock: lock,
        })
    }

    /// Returns a seed for the order of measurements, another one for each lease.
    #[must_use]
    pub fn seed(&self) -> Seed {
        self.seed
    }
}
