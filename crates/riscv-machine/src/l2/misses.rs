//! What goes behind the L2 and comes back: victims, and lines that are missing.
//!
//! *Source*: SiFive's inclusive cache, `MSHR`, `SinkD`.

use super::MemorySystem;
use super::outer::Back;
use crate::l2::request::{Kind, Request};
use crate::l2::trackers::{Step, Victim};

/// Cycles from the way back from memory to the array (RTL: the buffer in `SinkD`), and
/// to what a tracker can do then.
const BACK_TO_ARRAY: u64 = 1;
pub(super) const BACK_TO_TURN: u64 = 2;

impl MemorySystem {
    /// Sends the victim of a tracker away in cycle `now`.
    pub(super) fn send_away(&mut self, idx: usize, victim: &Victim, now: u64) {
        self.trackers.await_more(idx);
        self.outer.release(idx, victim.dirty, now);
        let mut busy = 1;
        if victim.dirty {
            self.counts.lines_written += 1;
            self.counts.tracked_cycles += self.config.write_back_cycles();
            self.pipeline.mark_line(now);
            busy = self.line_cycles;
        }
        self.victim_free = now + busy;
        self.trackers.free.set_eviction(self.victim_free);
    }

    /// Asks for a line behind the L2 in cycle `now`, or only to write it.
    pub(super) fn fetch(&mut self, idx: usize, request: &Request, now: u64) {
        let data = !matches!(request.kind, Kind::Put { whole: true, .. });
        self.counts.lines_read += u64::from(data);
        let victim = self.trackers.transaction(idx).victim;
        if data && !victim.is_some_and(|it| it.dirty || it.core_dirty) {
            self.counts.tracked_cycles += self.config.line_read_cycles();
        }
        self.trackers.await_more(idx);
        self.trackers.go_on(idx, Step::Answer, u64::MAX);
        match self.outer.request(idx, data, now) {
            Some(start) => self.note_line(idx, start),
            None if !self.outer.takes_request() => self.trackers.free.set_request(u64::MAX),
            None => {}
        }
    }

    /// Whether a request is answered while the rest of its line is still coming.
    pub(super) fn answers_early(request: &Request) -> bool {
        request.beat == 0 || matches!(request.kind, Kind::Put { whole: true, .. })
    }

    /// Works through what happens behind the L2 up to cycle `now`.
    #[inline]
    pub(super) fn catch_up(&mut self, now: u64) {
        while self.outer.next_step() <= now {
            self.come_back(self.outer.next_step());
        }
    }

    /// Takes what comes back from behind the L2 in cycle `now`.
    #[inline(never)]
    fn come_back(&mut self, now: u64) {
        let victims = self.outer.takes_victim(now);
        let back = self.outer.step(now);
        if self.trackers.free.request() == u64::MAX && self.outer.takes_request() {
            self.trackers.free_request(now + 1);
        }
        if !self.outer.takes_victim(now + 1) {
            self.trackers.free.set_eviction(u64::MAX);
        } else if self.trackers.free.eviction() == u64::MAX || !victims {
            let from = self.victim_free.max(now + 1);
            self.trackers.free_eviction(from, now + 1);
        }
        let (array, turn) = (now + BACK_TO_ARRAY, now + BACK_TO_TURN);
        match back {
            Some(Back::Line(idx)) => self.note_line(idx, now),
            Some(Back::Permission(idx)) => {
                self.pipeline.mark_bank(0, array);
                self.trackers.note(idx, turn, Some(turn));
            }
            Some(Back::Gone(idx)) => {
                // What the pipeline still does with the line that took its place goes
                // first, and what comes back behind waits too.
                let held = self.trackers.drained(idx).saturating_sub(array);
                self.pipeline.mark_bank(0, array + held);
                if self.trackers.note(idx, turn + held, None) {
                    self.outer.found_victim();
                }
                if held > 0 {
                    self.outer.hold(array + held, now);
                }
            }
            None => {}
        }
    }

    /// Notes when a line comes back, with its first beat in cycle `start`.
    fn note_line(&mut self, idx: usize, start: u64) {
        self.pipeline.mark_line(start + BACK_TO_ARRAY);
        let turn = start + BACK_TO_TURN;
        let filled = turn + self.line_cycles - 1;
        let ready = if Self::answers_early(self.trackers.request(idx)) {
            turn
        } else {
            // The tracker confirms the receipt at once.
            self.outer.confirm(turn);
            filled
        };
        self.trackers.note(idx, filled, Some(ready));
    }
}
