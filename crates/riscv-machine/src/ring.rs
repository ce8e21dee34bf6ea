//! A queue of bounded length that lies in one piece of memory.

#![allow(clippy::len_without_is_empty, reason = "no caller asks")]

/// At most `N` values, oldest first; `N` is a power of two.
#[derive(Clone, Debug)]
pub struct Ring<T, const N: usize> {
    values: [T; N],
    first: usize,
    len: usize,
}

impl<T: Copy, const N: usize> Ring<T, N> {
    /// Makes an empty queue; `filler` is never seen.
    #[must_use]
    pub fn new(filler: T) -> Self {
        const { assert!(N.is_power_of_two()) };
        Self {
            values: [filler; N],
            first: 0,
            len: 0,
        }
    }

    /// Returns the number of values.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns the value at a place, the oldest one at 0.
    #[inline]
    #[must_use]
    pub fn get(&self, idx: usize) -> Option<&T> {
        (idx < self.len).then(|| &self.values[(self.first + idx) % N])
    }

    /// Returns the oldest value.
    #[inline]
    #[must_use]
    pub fn front(&self) -> Option<&T> {
        self.get(0)
    }

    /// Returns the newest value.
    #[inline]
    #[must_use]
    pub fn back(&self) -> Option<&T> {
        self.get(self.len.checked_sub(1)?)
    }

    /// Returns the values, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len).filter_map(|idx| self.get(idx))
    }

    /// Adds a value. Callers see to it that there is room.
    #[inline]
    pub fn push_back(&mut self, value: T) {
        debug_assert!(self.len < N);
        self.values[(self.first + self.len) % N] = value;
        self.len += 1;
    }

    /// Adds a value that is still to be written; returns its place. Callers see
    /// to it that there is room.
    #[inline]
    pub fn next_place(&mut self) -> &mut T {
        debug_assert!(self.len < N);
        self.len += 1;
        &mut self.values[(self.first + self.len - 1) % N]
    }

    /// Adds a value before those at the end that have to come `after` it.
    /// Callers see to it that there is room.
    #[inline]
    pub fn insert_before(&mut self, value: T, after: impl Fn(&T) -> bool) {
        debug_assert!(self.len < N);
        let mut place = self.first + self.len;
        while place > self.first {
            let other = self.values[(place - 1) % N];
            if !after(&other) {
                break;
            }
            self.values[place % N] = other;
            place -= 1;
        }
        self.values[place % N] = value;
        self.len += 1;
    }

    /// Replaces the oldest value. Callers see to it that there is one.
    #[inline]
    pub fn set_front(&mut self, value: T) {
        debug_assert!(self.len > 0);
        self.values[self.first % N] = value;
    }

    /// Drops the oldest `count` values.
    #[inline]
    pub fn drop_front(&mut self, count: usize) {
        let count = count.min(self.len);
        self.first = (self.first + count) % N;
        self.len -= count;
    }
}
