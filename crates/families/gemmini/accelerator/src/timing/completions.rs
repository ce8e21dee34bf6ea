//! Which commands complete when.

use super::station::Slot;
use autocomp_riscv_machine::Ring;

/// Commands of a section that complete and when, the first one first.
#[derive(Clone, Debug)]
pub(super) struct Completions(Ring<(u64, Slot), 32>);

impl Completions {
    pub(super) fn new() -> Self {
        Self(Ring::new((0, 0)))
    }

    /// Notes that a command completes in cycle `at`, after those that do so
    /// then or earlier.
    #[inline]
    pub(super) fn insert(&mut self, slot: Slot, at: u64) {
        self.0.insert_before((at, slot), |(other, _)| *other > at);
    }

    /// Returns the cycle in which the first one completes.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        self.0.front().map_or(u64::MAX, |(at, _)| *at)
    }

    /// Takes the first one if it completes in cycle `now` or earlier.
    #[inline]
    pub(super) fn take(&mut self, now: u64) -> Option<Slot> {
        let (_, slot) = *self.0.front().filter(|(at, _)| *at <= now)?;
        self.0.drop_front(1);
        Some(slot)
    }
}
