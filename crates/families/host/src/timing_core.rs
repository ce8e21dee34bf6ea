//! The core that kernels are timed on, one at a time.

use autocomp_core::Seed;
use autocomp_eval::EvalError;
use rustix::fs::{FlockOperation, flock};
use rustix::rand::{GetRandomFlags, getrandom};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::fs::File;
use std::path::Path;

/// A core that nobody else of this user times kernels on. The calling thread
/// stays on it too: what it writes for a worker is in that core's caches.
#[derive(Debug)]
pub(crate) struct TimingCore {
    core: Option<usize>,
    before: Option<CpuSet>,
    seed: Seed,
    /// Locked until it is closed.
    _lock: File,
}

impl TimingCore {
    /// Waits until the core is free, and takes it.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if the folder for the lock cannot be written.
    pub(crate) fn take(cache_folder: &Path) -> Result<Self, EvalError> {
        let path = cache_folder.join("host-timing.lock");
        let unusable = |error: std::io::Error| EvalError::Environment {
            message: format!("cannot lock {}: {error}", path.display()),
            remedies: vec!["make room, or set AUTOCOMP_CACHE_DIR to another folder".into()],
        };
        std::fs::create_dir_all(cache_folder).map_err(unusable)?;
        let lock = File::create(&path).map_err(unusable)?;
        flock(&lock, FlockOperation::LockExclusive).map_err(|error| unusable(error.into()))?;
        let before = sched_getaffinity(None).ok();
        // The last core: the first ones take most interrupts.
        let core =
            before.and_then(|cores| (0..CpuSet::MAX_CPU).rev().find(|core| cores.is_set(*core)));
        if let Some(core) = core {
            let mut only = CpuSet::new();
            only.set(core);
            // Where that is not allowed, times are noisier and intervals wider.
            let _ = sched_setaffinity(None, &only);
        }
        let mut random = [0; 8];
        let seed = match getrandom(&mut random, GetRandomFlags::empty()) {
            Ok(8) => u64::from_ne_bytes(random),
            _ => std::process::id().into(),
        };
        Ok(Self {
            core,
            before,
            seed: Seed(seed),
            _lock: lock,
        })
    }

    /// Returns the number of the core, if threads can be kept on one.
    pub(crate) fn core(&self) -> Option<usize> {
        self.core
    }

    /// Returns a seed for the order of measurements, another one every time.
    pub(crate) fn seed(&self) -> Seed {
        self.seed
    }
}

impl Drop for TimingCore {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = sched_setaffinity(None, before);
        }
    }
}
