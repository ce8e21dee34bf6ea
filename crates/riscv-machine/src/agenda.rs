//! A queue of bounded length of what is due in some cycle each.

#![allow(clippy::len_without_is_empty, reason = "no caller asks")]

use crate::ring::Ring;

/// At most `N` values with the cycles in which they are due, oldest first; `N` is a power
/// of two.
#[derive(Clone, Debug)]
pub struct Agenda<T, const N: usize> {
    /// The cycle of the first one, or `u64::MAX` if there is none.
    next: u64,
    queue: Ring<(u64, T), N>,
}

impl<T: Copy, const N: usize> Agenda<T, N> {
    /// Makes an empty queue; `filler` is never seen.
    #[must_use]
    pub fn new(filler: T) -> Self {
        Self {
            next: u64::MAX,
            queue: Ring::new((u64::MAX, filler)),
        }
    }

    /// Returns the number of values.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Returns the cycle in which the first value is due, or `u64::MAX` if there is none.
    #[inline]
    #[must_use]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Returns the value at a place, the first one at 0, and its cycle.
    #[inline]
    #[must_use]
    pub fn get(&self, idx: usize) -> Option<(u64, T)> {
        self.queue.get(idx).copied()
    }

    /// Returns the first value and its cycle.
    #[inline]
    #[must_use]
    pub fn front(&self) -> Option<(u64, T)> {
        self.get(0)
    }

    /// Adds a value behind all others. Callers see to it that there is room.
    #[inline]
    pub fn push_back(&mut self, at: u64, value: T) {
        if self.queue.len() == 0 {
            self.next = at;
        }
        self.queue.push_back((at, value));
    }

    /// Adds a value before those at the end that are due later. Callers see to it that
    /// there is room.
    #[inline]
    pub fn insert(&mut self, at: u64, value: T) {
        self.next = self.next.min(at);
        self.queue
            .insert_before((at, value), |(other, _)| *other > at);
    }

    /// Drops the first value, if there is one.
    #[inline]
    pub fn drop_front(&mut self) {
        self.queue.drop_front(1);
        self.next = self.queue.front().map_or(u64::MAX, |(at, _)| *at);
    }

    /// Takes the first value, of at least one.
    #[inline]
    pub fn take(&mut self) -> T {
        let (_, value) = self.front().expect("seen before");
        self.drop_front();
        value
    }
}
