//! The account of the simulator's memory: whatever a kernel makes it allocate is asked for here
//! first.

use std::cell::Cell;

use crate::diagnostic::{Failure, FailureKind, Outcome};

/// Bytes in use, and how many may be.
#[derive(Debug)]
pub(crate) struct Account {
    used: Cell<u64>,
    limit: u64,
}

impl Account {
    pub(crate) const fn new(limit: u64) -> Self {
        Self {
            used: Cell::new(0),
            limit,
        }
    }

    /// Takes `bytes` for something that stays until they are given back.
    pub(crate) fn hold(&self, bytes: u64) -> Outcome<()> {
        self.room(bytes)?;
        self.used.set(self.used.get() + bytes);
        Ok(())
    }

    /// Gives back what was held.
    pub(crate) fn release(&self, bytes: u64) {
        self.used.set(self.used.get().saturating_sub(bytes));
    }

    /// Whether `bytes` could be taken now: for values on their way through one instruction.
    pub(crate) fn room(&self, bytes: u64) -> Outcome<()> {
        if self.used.get().saturating_add(bytes) <= self.limit {
            return Ok(());
        }
        Err(Failure::new(
            FailureKind::Limit,
            "memory-limit",
            format!(
                "the kernel's tensors take more than {} MiB",
                self.limit >> 20
            ),
            "allocate fewer or smaller tensors, or raise the limit",
        ))
    }
}
