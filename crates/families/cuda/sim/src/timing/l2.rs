//! What the L2 holds from one launch of a call to the next.

use super::machine::Machine;
use crate::decode::RANGE;
use std::collections::BTreeMap;

/// Bytes of each range of addresses, each once.
pub(super) type Ranges = BTreeMap<u64, f64>;

/// The L2 while the launches of a call follow each other.
#[derive(Clone, Debug)]
pub struct L2 {
    /// Bytes that calls touch over and over, if there were calls before.
    footprint: Option<u64>,
    /// What each launch so far has touched.
    touched: Vec<Ranges>,
    /// What was written and is not yet in memory.
    dirty: Ranges,
}

impl L2 {
    /// Returns one that holds nothing of what a call needs.
    #[must_use]
    pub fn cold() -> Self {
        Self {
            footprint: None,
            touched: Vec::new(),
            dirty: Ranges::new(),
        }
    }

    /// Returns one that holds what it can of the `footprint` bytes that all launches of a call
    /// touch, since the same call has been made before.
    #[must_use]
    pub fn warm(footprint: u64) -> Self {
        Self {
            footprint: Some(footprint),
            ..Self::cold()
        }
    }

    /// Returns the part of `bytes` bytes of a range that it does not hold for a launch that
    /// touches `own` bytes in all.
    pub(super) fn missing(&self, machine: &Machine, range: u64, bytes: f64, own: f64) -> f64 {
        let capacity = machine.l2_bytes as f64;
        if let Some(footprint) = self.footprint {
            return machine.caches.gone(footprint as f64, capacity);
        }
        let mut between = 0.0;
        let mut held: f64 = 0.0;
        for touched in self.touched.iter().rev() {
            let all: f64 = touched.values().sum();
            if let Some(had) = touched.get(&range) {
                // Both go over it from its begin to its end.
                let passed = between + f64::midpoint(all, own);
                held = held
                    .max((had / bytes).min(1.0) * (1.0 - machine.caches.gone(passed, capacity)));
            }
            between += all;
        }
        1.0 - held
    }

    /// Notes what a launch has read and written, and returns the bytes that go to memory
    /// meanwhile.
    pub(super) fn launch(&mut self, machine: &Machine, read: Ranges, written: &Ranges) -> f64 {
        let mut touched = read;
        for (range, bytes) in written {
            let sum = touched.entry(*range).or_default();
            *sum = sum.max(*bytes);
        }
        self.touched.push(touched);
        let capacity = machine.l2_bytes as f64;
        let new: f64 = written.values().sum();
        if let Some(footprint) = self.footprint {
            // What a call leaves there, the next one writes to memory.
            return new * machine.caches.gone(footprint as f64, capacity);
        }
        let most = machine.caches.dirty_share * capacity;
        let again = 1.0 - machine.caches.gone(new, most);
        for (range, bytes) in written {
            let dirty = self.dirty.entry(*range).or_default();
            *dirty += bytes - dirty.min(*bytes) * again;
        }
        let all: f64 = self.dirty.values().sum();
        let out = (all - most).max(0.0);
        let stays = (all - out) / all.max(1.0);
        self.dirty.values_mut().for_each(|it| *it *= stays);
        out
    }

    /// Notes that the host function sets or copies `bytes` bytes at an address, and returns the
    /// nanoseconds that it takes.
    pub fn transfer(&mut self, machine: &Machine, from: Option<u64>, to: u64, bytes: u64) -> f64 {
        let bytes = bytes as f64;
        let ranges = |address: u64| Ranges::from([(address / RANGE, bytes)]);
        let own = bytes * if from.is_some() { 2.0 } else { 1.0 };
        let read = from.map_or_else(Ranges::new, ranges);
        let of_memory: f64 = read
            .keys()
            .map(|range| bytes * self.missing(machine, *range, bytes, own))
            .sum();
        let of_l2: f64 = read.values().sum();
        let out = self.launch(machine, read, &ranges(to));
        let longest = [
            of_memory / machine.dram_bytes_per_ns + out / machine.dram_write_bytes_per_ns(),
            of_l2 / machine.l2_bytes_per_ns,
            bytes / machine.l2_write_bytes_per_ns(),
        ];
        machine.launch_ns + longest.into_iter().fold(0.0, f64::max)
    }

    /// The same for bytes from the computer.
    pub fn put(&mut self, machine: &Machine, to: u64, bytes: u64) -> f64 {
        let link = machine.launch_ns + bytes as f64 / machine.host_bytes_per_ns;
        self.transfer(machine, None, to, bytes).max(link)
    }
}
