//! How many threads are at work, and how many more may be.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts threads at work against the number that is wanted.
#[derive(Debug)]
pub struct ThreadCount {
    busy: AtomicUsize,
    wanted: usize,
}

/// A thread at work, until dropped.
pub struct Busy<'c>(&'c ThreadCount);

impl ThreadCount {
    /// Wants `wanted` threads to be at work.
    pub fn new(wanted: usize) -> Self {
        Self {
            busy: AtomicUsize::new(0),
            wanted,
        }
    }

    /// Counts the caller's own thread, which is at work in any case.
    pub fn take(&self) -> Busy<'_> {
        self.busy.fetch_add(1, Ordering::Relaxed);
        Busy(self)
    }

    /// Counts one more thread if fewer than wanted are at work.
    pub fn take_spare(&self) -> Option<Busy<'_>> {
        let more = |busy| (busy < self.wanted).then_some(busy + 1);
        let taken = self
            .busy
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        taken.ok().map(|_| Busy(self))
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::Relaxed);
    }
}
