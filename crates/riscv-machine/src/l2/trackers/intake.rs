//! How requests come to trackers.
//!
//! A request takes the lowest free tracker, or waits at the one that works on its set.
//! One is looked at per cycle; what waits at a tracker goes before what arrives.
//!
//! *Source*: SiFive's inclusive cache, `Scheduler`.

use super::{LOOKUP, NONE, SPARE, Trackers};
use crate::l2::request::{Kind, Request};

/// Cycles from one in which the L2 takes a beat to the one in which the port finds its
/// place free: each of the buffers between gives it on a cycle later.
pub const ROOM_SEEN: u64 = 4;
/// Beats that fit between the turns of reader and writer and the L2 (RTL: the
/// accelerator's buffer, the tile's, and the L2's).
const BUFFERED: usize = 5;
/// Beats of which it is kept when they were seen to be gone: more than the L2 can have
/// taken that are not.
const KEPT: usize = 8;

/// Beats that the L2 has taken: how many, and from which cycles on the port has known
/// the last ones to be gone.
#[derive(Clone, Copy, Debug, Default)]
pub struct Left {
    count: usize,
    seen: [u64; KEPT],
}

impl Left {
    /// Notes that `beats` beats are taken from cycle `now` on, one per cycle.
    #[inline]
    pub fn note(&mut self, now: u64, beats: u64) {
        for at in now..now + beats {
            self.seen[self.count % KEPT] = at + ROOM_SEEN;
            self.count = self.count.wrapping_add(1);
        }
    }

    /// Returns from which cycle on no more than so many are not known to be gone.
    #[inline]
    pub fn at_most(&self, beats: usize) -> u64 {
        self.seen[self.count.wrapping_sub(beats + 1) % KEPT]
    }
}

/// What can be done with a request that has arrived.
enum Place {
    Tracker(usize),
    Waiting(usize),
}

impl Trackers {
    /// Returns whether the port finds room for a beat in cycle `now`: those on their way to
    /// the L2 are what it has not taken, and that of which it is not seen yet.
    #[inline]
    pub(in crate::l2) fn is_open(&self, now: u64) -> bool {
        self.own_beats < BUFFERED && self.left.at_most(BUFFERED - 1 - self.own_beats) <= now
    }

    /// Returns a cycle before which the port finds no place free that it does not find
    /// free in cycle `now`, in which it has room for none, if the L2 takes nothing before
    /// cycle `taken`.
    pub(in crate::l2) fn room_from(&self, now: u64, taken: u64) -> u64 {
        let mut first = taken.saturating_add(ROOM_SEEN);
        for beats in 0..KEPT {
            match self.left.at_most(beats) {
                seen if seen > now => first = first.min(seen),
                _ => break,
            }
        }
        first
    }

    /// Takes a request that arrives in cycle `at`.
    #[inline]
    pub(in crate::l2) fn send(&mut self, at: u64, request: Request) {
        if !request.is_from_core() {
            self.own_beats += request.beats_sent() as usize;
        }
        // Of two that come at once, that of the core goes first: the accelerator
        // is more likely to have had the last turn.
        let ahead = at + u64::from(!request.is_from_core());
        if self.last_arrival >= ahead {
            return self.send_between(ahead, at, request);
        }
        self.last_arrival = at;
        self.incoming.push_back((at, request));
        self.next_input = self.next_input.min(at.max(self.input_from));
    }

    /// Takes a request that arrives in cycle `at`, before those that arrive in
    /// cycle `ahead` or later.
    #[inline(never)]
    fn send_between(&mut self, ahead: u64, at: u64, request: Request) {
        let place = self.incoming.partition_point(|(other, _)| *other < ahead);
        self.incoming.insert(place, (at, request));
        self.last_arrival = self.incoming.back().map_or(at, |(last, _)| *last);
        self.note_input();
    }

    /// Notes when the next request is looked at.
    #[inline]
    fn note_input(&mut self) {
        self.next_input = match self.incoming.front() {
            Some((at, _)) => (*at).max(self.input_from),
            None => u64::MAX,
        };
    }

    /// Takes the request that is looked at in cycle `now`, in which no transaction has
    /// ended; returns the tracker whose transaction begins and the cycle of its first
    /// step.
    #[inline]
    pub(in crate::l2) fn take_next(&mut self, now: u64) -> Option<(usize, u64)> {
        let (_, request) = self.incoming.front()?;
        match self.place(request) {
            Some(Place::Tracker(idx)) => {
                self.occupy(idx, now);
                self.note_looked_up(now);
                Some((idx, now + LOOKUP))
            }
            Some(Place::Waiting(idx)) if self.waiting < self.room => {
                self.wait_at(idx, now);
                None
            }
            _ => {
                // Only the end of a transaction makes room.
                self.look_at_input_from(u64::MAX);
                None
            }
        }
    }

    /// Frees the tracker that has ended its transaction in cycle `now`, unless a request
    /// waits for it or another one arrives; returns whether it did.
    #[inline]
    pub(in crate::l2) fn free_at_once(&mut self, freed: usize, now: u64) -> bool {
        if self.waiting > 0 || self.next_input <= now {
            return false;
        }
        self.free(freed);
        if self.input_from == u64::MAX {
            self.look_at_input_from(now + 1);
        }
        true
    }

    /// Frees a tracker.
    #[inline]
    fn free(&mut self, idx: usize) {
        self.others &= !(1 << idx);
        self.used &= !(1 << idx);
        self.of_set[(self.requests[idx].line & self.set_mask) as usize] = NONE;
    }

    /// Takes a request in cycle `now`, in which tracker `freed` has ended its
    /// transaction; returns the tracker whose transaction begins and the cycle
    /// of its first step. There may be two.
    #[inline]
    pub(in crate::l2) fn take_after(
        &mut self,
        now: u64,
        freed: usize,
    ) -> [Option<(usize, u64)>; 2] {
        let mut begun = [None, None];
        let mut looked_up = false;
        let mut is_left = true;
        self.others &= !(1 << freed);
        if self.waiting > 0
            && let Some(request) = self.queues[freed].pop_front()
        {
            self.waiting -= 1;
            is_left = false;
            looked_up = request.line != self.requests[freed].line;
            begun[0] = Some((freed, self.reload(freed, request, now)));
        }
        if self.next_input <= now
            && let Some((_, request)) = self.incoming.front()
        {
            match self.place(request) {
                Some(Place::Waiting(idx)) if is_left && idx == freed => {
                    is_left = false;
                    let request = *request;
                    looked_up |= request.line != self.requests[idx].line;
                    begun[0] = Some((idx, self.reload(idx, request, now)));
                    self.incoming.pop_front();
                    self.note_taken(&request, now);
                }
                Some(Place::Waiting(idx)) if self.waiting < self.room => self.wait_at(idx, now),
                Some(Place::Tracker(idx)) if !looked_up => {
                    looked_up = true;
                    self.occupy(idx, now);
                    begun[1] = Some((idx, now + LOOKUP));
                }
                _ => self.look_at_input_from(now + 1),
            }
        }
        if is_left {
            self.free(freed);
        }
        if self.input_from == u64::MAX {
            self.look_at_input_from(now + 1);
        }
        if looked_up {
            self.note_looked_up(now);
        }
        begun
    }

    /// Gives a tracker that is free to the next request.
    #[inline]
    fn occupy(&mut self, idx: usize, now: u64) {
        let (_, request) = self.incoming.pop_front().expect("seen before");
        self.used |= 1 << idx;
        self.of_set[(request.line & self.set_mask) as usize] = idx as u8;
        self.requests[idx] = request;
        self.note_taken(&request, now);
    }

    /// Lets the next request wait at a tracker.
    fn wait_at(&mut self, idx: usize, now: u64) {
        let (_, request) = self.incoming.pop_front().expect("seen before");
        self.queues[idx].push_back(request);
        self.waiting += 1;
        self.note_taken(&request, now);
    }

    /// Notes that a line is looked up in cycle `now`.
    #[inline]
    fn note_looked_up(&mut self, now: u64) {
        if self.free.directory() == now + 1 {
            // What was to be noted in this cycle has to wait.
            self.free.set_directory(now + 2);
        }
    }

    /// Notes that a request is taken in cycle `now`.
    #[inline]
    fn note_taken(&mut self, request: &Request, now: u64) {
        if !request.is_from_core() {
            self.own_beats -= request.beats_sent() as usize;
            self.left.note(now, request.beats_sent());
        }
        self.look_at_input_from(now + request.beats_sent());
    }

    #[inline]
    fn look_at_input_from(&mut self, cycle: u64) {
        self.input_from = cycle;
        self.note_input();
    }

    /// Gives a tracker that has ended its transaction the next one of its set;
    /// returns the cycle of the first step.
    fn reload(&mut self, idx: usize, request: Request, now: u64) -> u64 {
        let same = request.line == self.requests[idx].line;
        self.requests[idx] = request;
        // What is known of the same line need not be looked up.
        if same { now + 1 } else { now + LOOKUP }
    }

    /// Returns where a request could go: trackers freed in this cycle count as
    /// used.
    #[inline]
    fn place(&self, request: &Request) -> Option<Place> {
        let tracker = self.of_set[(request.line & self.set_mask) as usize];
        if tracker != NONE {
            return Some(Place::Waiting(tracker.into()));
        }
        let usable = match request.kind {
            Kind::Release => self.count,
            _ => self.count - SPARE,
        };
        let free = self.used.trailing_ones() as usize;
        (free < usable).then_some(Place::Tracker(free))
    }
}
