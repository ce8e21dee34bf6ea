//! Operations in the array whose results have not all left.

#![allow(
    missing_docs,
    clippy::new_without_default,
    reason = "public for the suite alone, see `inside`"
)]

use super::job::Operand;
use super::station::Slot;
use std::collections::VecDeque;

/// An operation in the array whose result has a place to go.
#[derive(Clone, Copy, Debug)]
pub struct Tag {
    /// Operation with whose rows the result leaves; never less than that of
    /// the tag before.
    pub id: u64,
    pub dest: Operand,
    pub stride: u32,
    /// Instruction that names the destination.
    pub pc: u64,
    pub slot: Option<Slot>,
    pub entered: u64,
    /// Cycle of the last result row; unknown as long as it is the maximum.
    pub done: u64,
}

/// The tags of the operations in the array, oldest first.
#[derive(Clone, Debug)]
pub struct Tags {
    tags: VecDeque<Tag>,
    /// Tags at the front whose last row is known.
    known: usize,
    /// Tags with a destination in the scratchpad and in the accumulator.
    writing: [u32; 2],
}

impl Tags {
    pub fn new() -> Self {
        Self {
            tags: VecDeque::with_capacity(16),
            known: 0,
            writing: [0; 2],
        }
    }

    /// Adds the tag of the youngest operation.
    #[inline]
    pub fn push(&mut self, tag: Tag) {
        if !tag.dest.is_none() {
            self.writing[usize::from(tag.dest.in_accumulator())] += 1;
        }
        self.tags.push_back(tag);
    }

    /// Forgets operations whose results have left before cycle `now`.
    #[inline]
    pub fn forget(&mut self, now: u64) {
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
    pub fn are_pending(&self, now: u64) -> bool {
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
    pub fn room(&self, places: usize, at: u64) -> u64 {
        let Some(oldest) = self.tags.len().checked_sub(places) else {
            return at;
        };
        let live = self.tags.iter().filter(|tag| tag.done >= at).count();
        match self.tags[oldest].done {
            done if live >= places && done != u64::MAX => at.max(done + 1),
            _ => at,
        }
    }

    /// Returns the destination of the rows that leave with operation `id`, its
    /// stride, and the instruction that names it.
    #[inline]
    pub(super) fn leaving(&self, id: u64) -> (Operand, u32, u64) {
        let mut place = self.known;
        while let Some(tag) = self.tags.get(place).filter(|tag| tag.id <= id) {
            if tag.id == id && !tag.dest.is_none() {
                return (tag.dest, tag.stride, tag.pc);
            }
            place += 1;
        }
        (Operand::none(), 0, 0)
    }

    /// Returns the next command whose results leave with operation `id`, after
    /// noting that they are out at `done`; `None` inside stands for a result of
    /// no command.
    #[inline]
    pub fn leave(&mut self, id: u64, done: u64) -> Option<Option<Slot>> {
        let tag = self.tags.get_mut(self.known).filter(|tag| tag.id <= id)?;
        tag.done = done;
        self.known += 1;
        Some(tag.slot)
    }
}
