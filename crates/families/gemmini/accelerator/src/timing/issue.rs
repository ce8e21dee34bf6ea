//! Issue and completion: from the reservation station to the controllers, and
//! what is free again afterwards.

use super::engine::{ALLOCATE, ARRAY, COMPLETE, Engine, ISSUE, LOAD, STORE};
use super::job::Class;
use super::station::{Slot, class_of};

impl Engine {
    /// Returns whether the command in a slot is a configuration that only
    /// passes through its controller's queue.
    pub(super) fn config_in_queue(&self, slot: Slot) -> bool {
        slot == Slot::MAX
    }

    pub(super) fn note_store_room(&mut self, at: u64) {
        self.room_from[Class::Store as usize] = at + 1;
        self.wake[ISSUE] = self.wake[ISSUE].min(at + 1);
    }

    pub(super) fn note_execute_room(&mut self, at: u64) {
        self.room_from[Class::Execute as usize] = at + 1;
        self.wake[ISSUE] = self.wake[ISSUE].min(at + 1);
    }

    /// A command completes in cycle `at` unless another one is in the way.
    #[inline]
    pub(super) fn schedule_completion(&mut self, slot: Slot, at: u64) {
        self.completions[class_of(slot) as usize].insert(slot, at);
        self.wake[COMPLETE] = self.wake[COMPLETE].min(at);
    }

    /// Returns whether there is no room for execute commands as far as is known:
    /// what moved on may not have been noted.
    #[inline]
    pub(super) fn unroller_is_full(&self) -> bool {
        self.execute.queued() >= self.k.unroller_queue
    }

    /// Returns whether there is no room for execute commands before the array has
    /// made some in its queue.
    #[inline]
    fn unroller_is_stuck(&self) -> bool {
        self.unroller_is_full() && self.execute.commands.len() >= self.k.execute_queue
    }

    /// Looks in cycle `at`, the next one, whether a command can issue, unless none
    /// has become ready and there is no room.
    #[inline]
    pub(super) fn look_at_issue(&mut self, is_ready: bool, at: u64) {
        let may_move = self.unroller_is_full() && !self.unroller_is_stuck();
        if is_ready || may_move {
            self.wake[ISSUE] = self.wake[ISSUE].min(at);
        } else {
            self.issue_passed_over = at;
        }
    }

    /// Notes that the array has made room in its queue, so that it is worthwhile
    /// after all to look whether a command can issue.
    #[inline]
    pub(super) fn note_array_room(&mut self) {
        if self.issue_passed_over == self.now + 1 && self.unroller_is_full() {
            self.wake[ISSUE] = self.wake[ISSUE].min(self.now + 1);
        }
    }

    pub(super) fn step_issue(&mut self, now: u64) {
        let load = self.issue_next(Class::Load, now);
        let store = self.issue_next(Class::Store, now);
        let execute = self.issue_next(Class::Execute, now);
        self.wake[ISSUE] = load.min(store).min(execute);
    }

    /// Issues the oldest command of a section if it is due and there is room for
    /// it; returns when to look again.
    #[inline(always)]
    fn issue_next(&mut self, class: Class, now: u64) -> u64 {
        let Some(at) = self.station.next_issue(class) else {
            return u64::MAX;
        };
        match class {
            Class::Load => {}
            Class::Store => {
                if self.store.queued() >= self.k.store_queue {
                    return u64::MAX;
                }
            }
            Class::Execute => {
                if self.unroller_is_full() {
                    let next = self.step_unroller(now.saturating_sub(1));
                    if self.unroller_is_full() {
                        return next.max(now).saturating_add(1);
                    }
                }
            }
        }
        let at = at.max(self.room_from[class as usize]);
        if at > now {
            return at;
        }
        let slot = self.station.issue(class, now);
        if self.counts.is_some() {
            self.note_issue(slot, now);
        }
        let entry = self.station.entry(slot);
        let (is_config, origin, work) = (entry.is_config, entry.origin, &entry.work);
        if let Some(recording) = &mut self.recording {
            recording.issue(slot, entry, now);
        }
        self.stats.issued[class as usize] += 1;
        let visible = now + 1;
        match class {
            Class::Load if self.ideal.loads && !is_config => {
                self.schedule_completion(slot, visible);
            }
            Class::Store if self.ideal.stores && !is_config => {
                self.schedule_completion(slot, visible);
            }
            Class::Load => {
                self.load
                    .push(if is_config { Slot::MAX } else { slot }, work, visible);
                self.wake[LOAD] = self.wake[LOAD].min(visible);
            }
            Class::Store => {
                self.store
                    .push(if is_config { Slot::MAX } else { slot }, visible);
                self.wake[STORE] = self.wake[STORE].min(visible);
            }
            Class::Execute => {
                self.execute.push(slot, visible);
                if !self.execute.is_busy {
                    self.wake[ARRAY] = self.wake[ARRAY].min(visible);
                }
            }
        }
        let mut again = match self.station.next_issue(class) {
            Some(next) => next.max(now + 1),
            None => u64::MAX,
        };
        if class == Class::Execute {
            if again == now + 1 && self.unroller_is_stuck() {
                // The next look would find no room. Whoever makes some sees to it
                // that there is a look after all.
                self.issue_passed_over = now + 1;
                self.issue_left_out = now + 1;
                self.passed_over = now + 1;
                again = u64::MAX;
            }
        } else if is_config {
            self.busy_until = self.busy_until.max(now + 1);
            self.loop_command_done(origin, class);
            // A slot is free and dependencies are gone from the next cycle on.
            self.wake[ALLOCATE] = self.wake[ALLOCATE].min(now + 1);
            again = now + 1;
        }
        again
    }

    pub(super) fn step_complete(&mut self, now: u64) {
        // Execute commands come before loads, loads before stores; one completes
        // in a cycle.
        let _ = self.complete_next(Class::Execute, now)
            || self.complete_next(Class::Load, now)
            || self.complete_next(Class::Store, now);
        let [load, store, execute] = &self.completions;
        let next = load.next().min(store.next()).min(execute.next());
        self.wake[COMPLETE] = next.max(now + 1);
    }

    /// Completes the command of a section whose turn it is in cycle `now`, if
    /// there is one; returns whether there was.
    #[inline(always)]
    fn complete_next(&mut self, class: Class, now: u64) -> bool {
        let Some(slot) = self.completions[class as usize].take(now) else {
            return false;
        };
        let entry = self.station.entry(slot);
        let (pc, issued, origin) = (entry.pc, entry.issued, entry.origin);
        let charged = self.stats.pc(pc);
        charged.commands += 1;
        charged.in_flight += now - issued;
        if let Some(recording) = &mut self.recording {
            recording.complete(slot, now);
        }
        let waited_for = self.station.complete(slot, now);
        if self.counts.is_some() {
            self.note_completion(class, now);
        }
        match class {
            Class::Load => {
                self.load.complete(slot, now);
                self.wake[LOAD] = self.wake[LOAD].min(now + 1);
            }
            Class::Store => {
                self.store.complete(slot, now);
                self.wake[STORE] = self.wake[STORE].min(now + 1);
            }
            Class::Execute => {}
        }
        self.busy_until = self.busy_until.max(now + 1);
        self.loop_command_done(origin, class);
        self.passed_over = now + 1;
        if self.head.waits && self.head.job.class == class {
            self.wake[ALLOCATE] = self.wake[ALLOCATE].min(now + 1);
        }
        self.look_at_issue(waited_for, now + 1);
        true
    }
}
