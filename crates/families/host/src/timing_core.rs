//! The core that kernels are timed on, one at a time.

#[cfg(target_os = "linux")]
#[path = "timing_core/linux.rs"]
mod cores;
#[cfg(not(target_os = "linux"))]
#[path = "timing_core/other.rs"]
mod cores;

use autocomp_core::Seed;
use autocomp_eval::EvalError;
use autocomp_measuring::Lease;
use std::path::Path;

/// A core that nobody else of this user times kernels on. The calling thread
/// stays on it too: what it writes for a worker is in that core's caches.
#[derive(Debug)]
pub(crate) struct TimingCore {
    core: Option<usize>,
    before: Option<cores::Cores>,
    lease: Lease,
}

impl TimingCore {
    /// Waits until the core is free, and takes it.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if the folder for the lock cannot be written.
    pub(crate) fn take(cache_folder: &Path) -> Result<Self, EvalError> {
        let lease = Lease::take(cache_folder, "host")?;
        let before = cores::allowed();
        // The last core: the first ones take most interrupts.
        let core = before.as_ref().and_then(cores::last);
        if let Some(core) = core {
            cores::stay_on(core);
        }
        Ok(Self {
            core,
            before,
            lease,
        })
    }

    /// Returns the number of the core, if threads can be kept on one.
    pub(crate) fn core(&self) -> Option<usize> {
        self.core
    }

    /// Returns a seed for the order of measurements, another one every time.
    pub(crate) fn seed(&self) -> Seed {
        self.lease.seed()
    }
}

impl Drop for TimingCore {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            cores::allow(before);
        }
    }
}
