//! A queue of bounded length of what is due in some cycle each.

use super::ring::Ring;

/// At most `N` values with the cycles in which they are due, oldest first; `N` is a power
/// of two.
#[derive(Clone, Debug)]
pub(super) struct Agenda<T, const N: usize> {
    /// The cycle of the first one, or `u64::MAX` if there is none.
    next: u64,
    queue: Ring<(u64, T), N>,
}

impl<T: Copy, const N: usize> Agenda<T, N> {
    /// Makes an empty queue; `filler` is never seen.
    pub(super) fn new(filler: T) -> Self {
        Self {
            next: u64::MAX,
            queue: Ring::new((u64::MAX, filler)),
        }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    /// Returns the cycle in which the first value is due, or `u64::MAX` if there is none.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Returns the value at a place, the first one at 0, and its cycle.
    #[inline]
    pub(super) fn get(&self, idx: usize) -> Option<(u64, T)> {
        self.queue.get(idx).copied()
    }

    #[inline]
    pub(super) fn front(&self) -> Option<(u64, T)> {
        self.get(0)
    }

    /// Adds a value behind all others. Callers see to it that there is room.
    #[inline]
    pub(super) fn push_back(&mut self, at: u64, value: T) {
        if self.queue.len() == 0 {
            self.next = at;
        }
        self.queue.push_back((at, value));
    }

    /// Adds a value before those at the end that are due later. Callers see to it that
    /// there is room.
    #[inline]
    pub(super) fn insert(&mut self, at: u64, value: T) {
        self.next = self.next.min(at);
        self.queue
            .insert_before((at, value), |(other, _)| *other > at);
    }

    #[inline]
    pub(super) fn drop_front(&mut self) {
        self.queue.drop_front(1);
        self.next = self.queue.front().map_or(u64::MAX, |(at, _)| *at);
    }

    /// Takes the first value, of at least one.
    #[inline]
    pub(super) fn take(&mut self) -> T {
        let (_, value) = self.front().expect("seen before");
        self.drop_front();
        value
    }
}

#[cfg(test)]
mod tests {
    use super::Agenda;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_value_is_the_one_due_first_and_of_equals_the_oldest(
            steps in prop::collection::vec((any::<bool>(), 0u64..5), 0..60),
        ) {
            let mut agenda = Agenda::<usize, 4>::new(usize::MAX);
            let mut values: Vec<(u64, usize)> = Vec::new();
            for (number, (add, at)) in steps.into_iter().enumerate() {
                if add && values.len() < 4 {
                    agenda.insert(at, number);
                    values.push((at, number));
                    values.sort_unstable();
                } else if !values.is_empty() {
                    prop_assert_eq!(agenda.take(), values.remove(0).1);
                }
                prop_assert_eq!(agenda.len(), values.len());
                let next = values.first().map_or(u64::MAX, |(at, _)| *at);
                prop_assert_eq!(agenda.next(), next);
                for idx in 0..5 {
                    prop_assert_eq!(agenda.get(idx), values.get(idx).copied());
                }
            }
        }
    }

    #[test]
    fn what_is_added_behind_stays_there() {
        let mut agenda = Agenda::<char, 2>::new(' ');
        agenda.push_back(7, 'a');
        agenda.push_back(3, 'b');
        assert_eq!((agenda.next(), agenda.take()), (7, 'a'));
        assert_eq!((agenda.next(), agenda.take()), (3, 'b'));
        assert_eq!((agenda.next(), agenda.front()), (u64::MAX, None));
    }
}
