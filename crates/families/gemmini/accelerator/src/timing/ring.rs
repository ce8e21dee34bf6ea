//! A queue of bounded length that lies in one piece of memory.

/// At most `N` values, oldest first; `N` is a power of two.
#[derive(Clone, Debug)]
pub(super) struct Ring<T, const N: usize> {
    values: [T; N],
    first: usize,
    len: usize,
}

impl<T: Copy, const N: usize> Ring<T, N> {
    /// Makes an empty queue; `filler` is never seen.
    pub(super) fn new(filler: T) -> Self {
        const { assert!(N.is_power_of_two()) };
        Self {
            values: [filler; N],
            first: 0,
            len: 0,
        }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn get(&self, idx: usize) -> Option<&T> {
        (idx < self.len).then(|| &self.values[(self.first + idx) % N])
    }

    #[inline]
    pub(super) fn front(&self) -> Option<&T> {
        self.get(0)
    }

    #[inline]
    pub(super) fn back(&self) -> Option<&T> {
        self.get(self.len.checked_sub(1)?)
    }

    /// Returns the values, oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len).filter_map(|idx| self.get(idx))
    }

    /// Adds a value. Callers see to it that there is room.
    #[inline]
    pub(super) fn push_back(&mut self, value: T) {
        debug_assert!(self.len < N);
        self.values[(self.first + self.len) % N] = value;
        self.len += 1;
    }

    /// Adds a value that is still to be written; returns its place. Callers see
    /// to it that there is room.
    #[inline]
    pub(super) fn next_place(&mut self) -> &mut T {
        debug_assert!(self.len < N);
        self.len += 1;
        &mut self.values[(self.first + self.len - 1) % N]
    }

    /// Adds a value before those at the end that have to come `after` it.
    /// Callers see to it that there is room.
    #[inline]
    pub(super) fn insert_before(&mut self, value: T, after: impl Fn(&T) -> bool) {
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
    pub(super) fn set_front(&mut self, value: T) {
        debug_assert!(self.len > 0);
        self.values[self.first % N] = value;
    }

    /// Drops the oldest `count` values.
    #[inline]
    pub(super) fn drop_front(&mut self, count: usize) {
        let count = count.min(self.len);
        self.first = (self.first + count) % N;
        self.len -= count;
    }
}

#[cfg(test)]
mod tests {
    use super::Ring;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn behaves_as_a_queue(steps in prop::collection::vec((any::<bool>(), 0usize..3), 0..60)) {
            let mut ring = Ring::<usize, 4>::new(usize::MAX);
            let mut queue = VecDeque::new();
            for (number, (push, count)) in steps.into_iter().enumerate() {
                if push && queue.len() < 4 {
                    if count == 2 {
                        let place = queue.partition_point(|other| other % 3 <= number % 3);
                        let sorted = queue.iter().is_sorted_by_key(|other| other % 3);
                        if sorted {
                            ring.insert_before(number, |other| other % 3 > number % 3);
                            queue.insert(place, number);
                        }
                    } else {
                        ring.push_back(number);
                        queue.push_back(number);
                    }
                } else {
                    ring.drop_front(count);
                    queue.drain(..count.min(queue.len()));
                }
                prop_assert_eq!(ring.len(), queue.len());
                prop_assert_eq!(ring.front(), queue.front());
                prop_assert_eq!(ring.back(), queue.back());
                prop_assert!(ring.iter().eq(&queue));
                for idx in 0..5 {
                    prop_assert_eq!(ring.get(idx), queue.get(idx));
                }
            }
        }
    }
}
