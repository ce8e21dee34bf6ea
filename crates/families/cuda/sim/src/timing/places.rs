//! Work that goes to the place that is free first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Places that do one thing after the other.
pub(super) struct Places {
    /// When each is free, as bits: those of times have the same order.
    free: BinaryHeap<Reverse<u64>>,
}

impl Places {
    /// Returns places that are free from these times on.
    pub(super) fn new(free: impl IntoIterator<Item = f64>) -> Self {
        let free = free.into_iter().map(|it| Reverse(it.max(0.0).to_bits()));
        Self {
            free: free.collect(),
        }
    }

    /// Gives `cycles` of work to the place that is free first, and returns when it begins.
    pub(super) fn take(&mut self, cycles: f64) -> f64 {
        let Some(mut first) = self.free.peek_mut() else {
            return 0.0;
        };
        let begin = f64::from_bits(first.0);
        first.0 = (begin + cycles.max(0.0)).to_bits();
        begin
    }

    /// Returns when all are free.
    pub(super) fn end(self) -> f64 {
        let latest = self.free.into_iter().map(|it| it.0).max();
        latest.map_or(0.0, f64::from_bits)
    }
}
