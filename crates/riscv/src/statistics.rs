//! Where a timed core spent its cycles.

/// Counts of a timed core since it was made; zero in functional mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoreStatistics {
    /// Loads, stores and atomics that missed the L1 data cache.
    pub data_misses: u64,
    /// Cycles waited for them, and for the cache while it gave up or cleaned lines
    /// that the memory system asked for.
    pub data_miss_cycles: u64,
    /// Lines fetched past the L1 instruction cache.
    pub fetch_misses: u64,
    /// Cycles waited for them.
    pub fetch_miss_cycles: u64,
    /// Branches and jumps predicted wrongly.
    pub mispredictions: u64,
    /// Cycles in which commands waited for a place in the accelerator's queue.
    pub accelerator_wait_cycles: u64,
    /// Cycles in which fences waited for the accelerator.
    pub fence_wait_cycles: u64,
}

impl CoreStatistics {
    /// Returns what was counted since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            data_misses: self.data_misses - earlier.data_misses,
            data_miss_cycles: self.data_miss_cycles - earlier.data_miss_cycles,
            fetch_misses: self.fetch_misses - earlier.fetch_misses,
            fetch_miss_cycles: self.fetch_miss_cycles - earlier.fetch_miss_cycles,
            mispredictions: self.mispredictions - earlier.mispredictions,
            accelerator_wait_cycles: self.accelerator_wait_cycles - earlier.accelerator_wait_cycles,
            fence_wait_cycles: self.fence_wait_cycles - earlier.fence_wait_cycles,
        }
    }
}
