//! Operations in the array whose results have not all left.

use super::job::Operand;
use super::station::Slot;
use std::collections::VecDeque;

/// An operation in the array whose result has a place to go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tag {
    /// Operation with whose rows the result leaves; never less than that of
    /// the tag before.
    pub(super) id: u64,
    pub(super) dest: Operand,
    pub(super) stride: u32,
    pub(super) slot: Option<Slot>,
    pub(super) entered: u64,
    /// Cycle of the last result row; unknown as long as it is the maximum.
    pub(super) done: u64,
}

/// The tags of the operations in the array, oldest first.
#[derive(Clone, Debug)]
pub(super) struct Tags {
    tags: VecDeque<Tag>,
    /// Tags at the front whose last row is known.
    known: usize,
    /// Tags with a destination in the scratchpad and in the accumulator.
    writing: [u32; 2],
}

impl Tags {
    pub(super) fn new() -> Self {
        Self {
            tags: VecDeque::with_capacity(16),
            known: 0,
            writing: [0; 2],
        }
    }

    /// Adds the tag of the youngest operation.
    #[inline]
    pub(super) fn push(&mut self, tag: Tag) {
        if !tag.dest.is_none() {
            self.writing[usize::from(tag.dest.in_accumulator())] += 1;
        }
        self.tags.push_back(tag);
    }

    /// Forgets operations whose results have left before cycle `now`.
    #[inline]
    pub(super) fn forget(&mut self, now: u64) {
        while let Some(tag) = self.tags.front()
            && tag.done < now
        {
            if !tag.dest.is_none() {
                self.writing[usize::from(tag.dest.in_accumulator())] -= 1;
            }
            self.known -= 1;
            self.tags.pop_front();
        }
    }

    /// Returns whether a command's results are on their way in cycle `now`.
    pub(super) fn are_pending(&self, now: u64) -> bool {
        self.pending_from(now) == now
    }

    /// Returns the first cycle, `now` or later, in which a command's results are on
    /// their way, as far as operations have begun.
    pub(super) fn pending_from(&self, now: u64) -> u64 {
        let commands = self.tags.iter().filter(|tag| tag.slot.is_some());
        let cycles = commands.map(|tag| (now.max(tag.entered + 1), tag.done));
        let pending = cycles.filter(|(first, last)| first <= last);
        pending.map(|(first, _)| first).min().unwrap_or(u64::MAX)
    }

    /// Returns the cycle from which no operation in the array writes to one of
    /// the `operands`, if one does in cycle `now`.
    #[inline]
    pub(super) fn hazard(&self, operands: [&Operand; 3], now: u64) -> Option<u64> {
        let reads = |accumulator: bool| {
            let writing = self.writing[usize::from(accumulator)] != 0;
            let in_memory =
                |operand: &&Operand| !operand.is_none() & (operand.in_accumulator() == accumulator);
            writing && operands.iter().any(in_memory)
        };
        if !reads(false) && !reads(true) {
            return None;
        }
        let keys = operands.map(Operand::key);
        let mut until = None;
        for tag in &self.tags {
            if keys.contains(&tag.dest.key())
                && !tag.dest.is_none()
                && tag.entered < now
                && now <= tag.done
            {
                until = until.max(Some(tag.done.saturating_add(1)));
            }
        }
        until
    }

    /// Returns the cycle, `at` or later, in which one of `places` for tags is
    /// free, as far as is known.
    #[inline]
    pub(super) fn room(&self, places: usize, at: u64) -> u64 {
        let Some(oldest) = self.tags.len().checked_sub(places) else {
            return at;
        };
        let live = self.tags.iter().filter(|tag| tag.done >= at).count();
        match self.tags[oldest].done {
            done if live >= places && done != u64::MAX => at.max(done + 1),
            _ => at,
        }
    }

    /// Returns the destination of the rows that leave with operation `id`, and
    /// its stride.
    #[inline]
    pub(super) fn leaving(&self, id: u64) -> (Operand, u32) {
        let mut place = self.known;
        while let Some(tag) = self.tags.get(place).filter(|tag| tag.id <= id) {
            if tag.id == id && !tag.dest.is_none() {
                return (tag.dest, tag.stride);
            }
            place += 1;
        }
        (Operand::none(), 0)
    }

    /// Returns the next command whose results leave with operation `id`, after
    /// noting that they are out at `done`; `None` inside stands for a result of
    /// no command.
    #[inline]
    pub(super) fn leave(&mut self, id: u64, done: u64) -> Option<Option<Slot>> {
        let tag = self.tags.get_mut(self.known).filter(|tag| tag.id <= id)?;
        tag.done = done;
        self.known += 1;
        Some(tag.slot)
    }
}

#[cfg(test)]
mod tests {
    use super::{Tag, Tags};
    use crate::timing::job::Operand;

    fn tag(id: u64, entered: u64) -> Tag {
        Tag {
            id,
            dest: Operand::none(),
            stride: 0,
            slot: Some(7),
            entered,
            done: u64::MAX,
        }
    }

    #[test]
    fn results_are_pending_from_the_cycle_after_they_enter_up_to_the_last_row() {
        let mut tags = Tags::new();
        tags.push(tag(5, 10));
        assert_eq!(
            [10, 11, 1000].map(|now| tags.are_pending(now)),
            [false, true, true]
        );
        assert_eq!(
            (tags.leave(4, 15), tags.leave(5, 20)),
            (None, Some(Some(7)))
        );
        assert_eq!(
            [11, 20, 21].map(|now| tags.are_pending(now)),
            [true, true, false]
        );
        tags.forget(20);
        assert!(tags.are_pending(20));
        tags.forget(21);
        assert!(!tags.are_pending(20));
    }

    #[test]
    fn a_place_is_free_in_the_cycle_after_the_oldest_result_has_left() {
        let mut tags = Tags::new();
        for id in 0..3 {
            tags.push(tag(id, 10));
        }
        assert_eq!(tags.room(4, 30), 30);
        // When the oldest result leaves is not known yet, then it is.
        assert_eq!(tags.room(3, 30), 30);
        tags.leave(0, 40);
        assert_eq!([30, 40, 41].map(|at| tags.room(3, at)), [41, 41, 41]);
        assert_eq!(tags.room(4, 30), 30);
    }
}
