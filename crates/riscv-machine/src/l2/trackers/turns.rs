//! Which tracker has the next turn, and when.

use super::{MOST, STEPS, Set, Step, Trackers};
use std::hint::select_unpredictable;

/// When what steps need is free.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::l2) struct Free {
    /// The way on which victims are sent away.
    eviction: u64,
    /// By step, from which cycle on all that it needs is; an answer may need the
    /// directory too.
    by_step: [u64; STEPS],
}

impl Free {
    /// The data pipeline.
    #[inline]
    pub(in crate::l2) fn pipeline(&self) -> u64 {
        self.by_step[Step::Answer as usize]
    }

    #[inline]
    pub(in crate::l2) fn set_pipeline(&mut self, from: u64) {
        self.by_step[Step::Answer as usize] = from;
    }

    /// The way on which lines are asked for.
    #[inline]
    pub(in crate::l2) fn request(&self) -> u64 {
        self.by_step[Step::Acquire as usize]
    }

    #[inline]
    pub(in crate::l2) fn set_request(&mut self, from: u64) {
        self.by_step[Step::Acquire as usize] = from;
    }

    #[inline]
    pub(in crate::l2) fn eviction(&self) -> u64 {
        self.eviction
    }

    #[inline]
    pub(in crate::l2) fn set_eviction(&mut self, from: u64) {
        self.eviction = from;
        self.by_step[Step::Release as usize] = from.max(self.directory());
    }

    /// The directory, to note a line's state: it looks up lines first.
    #[inline]
    pub(super) fn directory(&self) -> u64 {
        self.by_step[Step::Finish as usize]
    }

    #[inline]
    pub(super) fn set_directory(&mut self, from: u64) {
        self.by_step[Step::Finish as usize] = from;
        self.by_step[Step::Release as usize] = from.max(self.eviction);
    }

    /// Returns from which cycle everything is free that a step may need.
    #[inline]
    fn all_for(&self, step: Step) -> u64 {
        let directory = if step == Step::Answer {
            self.directory()
        } else {
            0
        };
        self.by_step[step as usize].max(directory)
    }
}

impl Trackers {
    /// Works out when the next tracker can have a turn, after cycle `now`.
    #[inline]
    pub(in crate::l2) fn look_ahead(&mut self, now: u64) {
        if self.next_other <= now {
            self.note_next_other(now);
        }
        let ready = if self.hits != 0 {
            0
        } else {
            self.coming_hits.next()
        };
        let hit = self.free.pipeline().max(ready);
        self.next_turn = hit.min(self.next_other).max(now + 1);
    }

    /// A tracker cannot have a turn before cycle `ready`.
    #[inline]
    pub(super) fn sleep_until(&mut self, ready: u64, idx: usize) {
        self.asleep.insert(ready, idx as u8);
    }

    /// Victims can be sent away from cycle `from` on, after it was not known when; that is
    /// seen in cycle `at`.
    pub(in crate::l2) fn free_eviction(&mut self, from: u64, at: u64) {
        self.free.set_eviction(from);
        self.let_sleep(Step::Release, from);
        self.look_again(at);
    }

    /// The same of requests for lines, from cycle `at` on.
    pub(in crate::l2) fn free_request(&mut self, at: u64) {
        self.free.set_request(at);
        self.let_sleep(Step::Acquire, at);
        self.look_again(at);
    }

    fn look_again(&mut self, at: u64) {
        self.next_other = self.next_other.min(at);
        self.next_turn = self.next_turn.min(at);
    }

    /// Lets those of the trackers with that step sleep that are ready later than what it
    /// needs is free, from cycle `from` on.
    fn let_sleep(&mut self, step: Step, from: u64) {
        let mut left = self.awake[step as usize];
        while left != 0 {
            let idx = left.trailing_zeros() as usize;
            let ready = self.ready[idx % MOST];
            if ready > from {
                self.awake[step as usize] &= !(1 << idx);
                self.sleep_until(ready, idx);
            }
            left &= left - 1;
        }
    }

    /// Returns which of the trackers that are not hits can have a turn in cycle `now`.
    #[inline]
    fn able_others(&mut self, now: u64) -> Set {
        self.wake_up(now);
        let free = &self.free.by_step;
        // Those that need nothing but the turn, and the others.
        let mut able = self.awake[Step::Recall as usize] | self.awake[Step::Probe as usize];
        for step in [Step::Release, Step::Acquire, Step::Answer, Step::Finish] {
            let is_free = free[step as usize] <= now;
            able |= select_unpredictable(is_free, self.awake[step as usize], 0);
        }
        if self.free.directory() <= now {
            return able;
        }
        let mut answering = able & self.awake[Step::Answer as usize];
        while answering != 0 {
            let idx = answering.trailing_zeros();
            if self.earliest(idx as usize) > now {
                able &= !(1 << idx);
            }
            answering &= answering - 1;
        }
        able
    }

    /// Notes from which cycle the first tracker that is not a hit can have a turn, as seen
    /// in cycle `now`.
    #[inline]
    fn note_next_other(&mut self, now: u64) {
        self.wake_up(now);
        let mut free = self.free.by_step;
        if self.free.directory() > self.free.pipeline().max(now) {
            let mut left = self.awake[Step::Answer as usize];
            let mut first = u64::MAX;
            while left != 0 {
                first = first.min(self.earliest(left.trailing_zeros() as usize));
                left &= left - 1;
            }
            free[Step::Answer as usize] = first;
        }
        let mut first = self.asleep.next();
        for step in [Step::Release, Step::Acquire, Step::Answer, Step::Finish] {
            let is_waited_for = self.awake[step as usize] != 0;
            first = first.min(select_unpredictable(
                is_waited_for,
                free[step as usize],
                u64::MAX,
            ));
        }
        let asking = self.awake[Step::Recall as usize] | self.awake[Step::Probe as usize];
        self.next_other = if asking != 0 { now } else { first };
    }

    /// Lets trackers wait for what they need that are not ready later than that or
    /// `now`.
    #[inline]
    fn wake_up(&mut self, now: u64) {
        while let Some((ready, idx)) = self.asleep.front() {
            let step = self.steps[usize::from(idx) % MOST];
            if ready > self.free.all_for(step).max(now) {
                return;
            }
            self.awake[step as usize] |= 1 << idx;
            self.asleep.drop_front();
        }
    }

    /// Returns from which cycle a tracker that is not a hit can have a turn.
    #[inline]
    pub(super) fn earliest(&self, idx: usize) -> u64 {
        let idx = idx % MOST;
        let at = self.ready[idx].max(self.free.by_step[self.steps[idx] as usize]);
        if at >= self.directory_from[idx] {
            at.max(self.free.directory())
        } else {
            at
        }
    }

    /// Returns the tracker that has the turn in cycle `now`, in which one may have it.
    #[inline]
    pub(in crate::l2) fn turn(&mut self, now: u64) -> Option<usize> {
        while self.coming_hits.next() <= now {
            self.hits |= 1 << self.coming_hits.take();
        }
        let is_free = self.free.pipeline() <= now;
        let mut able = select_unpredictable(is_free, self.hits, 0);
        if self.next_other <= now {
            let others = self.able_others(now);
            if others == 0 {
                self.note_next_other(now);
            }
            able |= others;
        }
        if able == 0 {
            self.look_ahead(now);
            return None;
        }
        let first = match able & self.above {
            0 => able,
            above => above,
        };
        self.above = !(first ^ (first - 1));
        // Until it is known what the turn changes.
        self.next_turn = 0;
        let idx = first.trailing_zeros() as usize % MOST;
        self.hits &= !(1 << idx);
        if !self.is_hit(idx) {
            self.awake[self.steps[idx] as usize] &= !(1 << idx);
        }
        Some(idx)
    }
}
