//! The way from the L2 to memory and back.
//!
//! Requests for lines and victims leave the L2 through a queue each. What carries
//! data shares one way out, on which victims go first; so a request waits for all of
//! a victim's beats. Three things share the way back: what memory sends, answers to
//! clean victims and answers to requests for lines that will be written as a whole,
//! in this order. The last two never reach memory. While memory sends lines one after
//! the other, up to two of each wait, and what is behind them with them. A line, or
//! the permission to write one, also needs one of eight numbers, which is free again
//! once its transaction has used the data pipeline.
//!
//! *Source*: SiFive's inclusive cache, `SourceA`, `SourceC`, `SinkD`; Rocket Chip,
//! `TLCacheCork`, `TLArbiter`, `TLToAXI4`.

#![allow(missing_docs, reason = "public for the suite alone, see `inside`")]

mod steps;

use crate::agenda::Agenda;

/// Trackers at most.
const TRACKERS: usize = 32;
/// Requests that wait for the way out (RTL: the buffer in `SourceA`).
const REQUESTS: usize = 2;
/// Victims that wait for the way out from which on no other one may leave (RTL: the
/// queue in `SourceC`).
const VICTIMS: usize = 2;
/// Answers of either kind that wait for the way back (RTL: the queues in
/// `TLCacheCork`).
const ANSWERS: usize = 2;
/// Numbers of lines and permissions whose receipt has not been confirmed (RTL:
/// `TLCacheCork`).
const NUMBERS: usize = 8;
/// Cycles from the turn of a request to its way out (RTL: the buffer).
pub(super) const REQUEST_OUT: u64 = 1;
/// Cycles from the turn of a victim to its first beat (RTL: the bank's read and the
/// queue).
pub(super) const VICTIM_OUT: u64 = 3;
/// Cycles from a confirmation's turn until its number can be used again.
const NUMBER_BACK: u64 = 2;
/// Cycles by which it is said at most in advance when a line comes.
const FORESEEN: u64 = 512;
/// A message.
#[derive(Clone, Copy, Debug)]
struct Message {
    tracker: u8,
    /// A victim carries data; a request wants data.
    data: bool,
}

impl Message {
    const NONE: Self = Self {
        tracker: 0,
        data: false,
    };
}

/// Messages with the cycles from which they can go on.
type Queue<const N: usize> = Agenda<Message, N>;

/// What comes back in a cycle, and to which tracker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Back {
    /// The first beat of a line; the others follow.
    Line(usize),
    /// The permission to write a line.
    Permission(usize),
    /// The acknowledgement of a victim.
    Gone(usize),
}

#[derive(Clone, Debug)]
pub struct Outer {
    requests: Queue<REQUESTS>,
    victims: Queue<TRACKERS>,
    /// Answers that never reach memory.
    permissions: Queue<ANSWERS>,
    releases: Queue<ANSWERS>,
    /// What memory sends: lines, and acknowledgements of writes.
    lines: Queue<TRACKERS>,
    written: Queue<TRACKERS>,
    /// Lines of which it has been said when they come, and victims with data that
    /// wait.
    told: usize,
    dirty_victims: usize,
    /// When the way out, that of victims, and the way back are free.
    out_free: u64,
    victims_free: u64,
    back_free: u64,
    /// The cycle from which memory offers the acknowledgement in front.
    offered: u64,
    /// Numbers that are free, and when others will be.
    numbers: usize,
    coming_numbers: Agenda<(), NUMBERS>,
    /// Cycles of a line's data on either way.
    line_cycles: u64,
    /// Cycles from a request's way out to the line's first beat on its way back, and
    /// from a dirty victim's first beat to its acknowledgement, at least.
    read_cycles: u64,
    write_cycles: u64,
    /// Acknowledgements of victims that trackers wait for with nothing else to do.
    urgent: usize,
    /// The next cycle in which anything goes on, and one before which nothing does
    /// that is looked for.
    next_step: u64,
    next: u64,
}

impl Outer {
    /// Makes a way on which a line takes `line_cycles` cycles, and behind which
    /// memory takes some cycles more than one until it sends a line, or acknowledges
    /// its last beat.
    pub fn new(line_cycles: u64, read_latency: u64, write_latency: u64) -> Self {
        Self {
            requests: Queue::new(Message::NONE),
            victims: Queue::new(Message::NONE),
            permissions: Queue::new(Message::NONE),
            releases: Queue::new(Message::NONE),
            lines: Queue::new(Message::NONE),
            written: Queue::new(Message::NONE),
            told: 0,
            dirty_victims: 0,
            out_free: 0,
            victims_free: 0,
            back_free: 0,
            offered: 0,
            numbers: NUMBERS,
            coming_numbers: Agenda::new(()),
            line_cycles,
            read_cycles: read_latency + 1,
            write_cycles: line_cycles + write_latency,
            urgent: 0,
            next_step: u64::MAX,
            next: u64::MAX,
        }
    }

    /// Returns a cycle before which nothing happens that is looked for.
    #[inline]
    pub(super) fn next_event(&self) -> u64 {
        self.next
    }

    /// Returns the next cycle in which anything happens.
    #[inline]
    pub fn next_step(&self) -> u64 {
        self.next_step
    }

    /// Notes that a tracker does nothing from cycle `now` on but wait for the acknowledgement of
    /// its victim.
    pub(super) fn look_for_victim(&mut self, now: u64) {
        self.urgent += 1;
        self.look_ahead(now);
    }

    /// Notes that a tracker has the acknowledgement that [`look_for_victim`](Self::look_for_victim)
    /// was called for.
    pub(super) fn found_victim(&mut self) {
        self.urgent -= 1;
    }

    /// Returns whether there is room for another request.
    #[inline]
    pub(super) fn takes_request(&self) -> bool {
        self.requests.len() < REQUESTS
    }

    /// Returns whether another victim may leave in cycle `now`.
    #[inline]
    pub fn takes_victim(&self, now: u64) -> bool {
        let waits = |(from, _): (u64, Message)| from <= now;
        !self.victims.get(VICTIMS - 1).is_some_and(waits)
    }

    /// A tracker asks for a line, or only to write it, in cycle `now`, before which
    /// everything has been worked through. Returns when the line comes back if that is
    /// known: as long as no victim has to be written.
    pub fn request(&mut self, tracker: usize, data: bool, now: u64) -> Option<u64> {
        let from = now + REQUEST_OUT;
        let request = Message {
            tracker: tracker as u8,
            data,
        };
        let waits = self.requests.len() > 0 || self.out_free > from;
        if waits || !data || self.writes_victims() {
            self.requests.push_back(from, request);
            self.look_ahead(now);
            return None;
        }
        // Nothing else can go out then.
        self.out_free = from + 1;
        let from = from + self.read_cycles;
        let (mut free, mut numbers) = (self.back_free, self.numbers);
        for idx in 0..self.lines.len() {
            let (from, _) = self.lines.get(idx).expect("within its length");
            free = free.max(from) + self.line_cycles;
            numbers = numbers.saturating_sub(1);
        }
        let start = from.max(free);
        // Acknowledgements that come before may hold it up.
        let is_alone = self.releases.len() + self.victims.len() == 0;
        let told = is_alone
            && numbers > self.permissions.len() + self.requests.len()
            && start < now + FORESEEN
            && self.lines.len() == self.told;
        self.told += usize::from(told);
        self.lines.push_back(from, request);
        if told {
            self.next_step = self.next_step.min(start);
        } else {
            self.look_ahead(now);
        }
        told.then_some(start)
    }

    /// Whether a victim is being written or will be.
    fn writes_victims(&self) -> bool {
        self.written.len() + self.dirty_victims > 0
    }

    /// The victim of a tracker leaves in cycle `now`, with its data if it is dirty.
    pub fn release(&mut self, tracker: usize, data: bool, now: u64) {
        let from = now + VICTIM_OUT;
        let victim = Message {
            tracker: tracker as u8,
            data,
        };
        let waits = self.victims.len() > 0 || self.victims_free > from;
        if data || waits || self.releases.len() == ANSWERS {
            self.dirty_victims += usize::from(data);
            self.victims.push_back(from, victim);
            self.look_ahead(now);
            return;
        }
        // Nothing else can go out then.
        self.victims_free = from + 1;
        let from = from + 1;
        self.releases.push_back(from, victim);
        let back = from.max(self.back_free);
        self.next_step = self.next_step.min(back);
        if self.urgent > 0 {
            self.next = self.next.min(back);
        }
    }

    /// The receipt of a line or permission is confirmed in cycle `now`.
    pub fn confirm(&mut self, now: u64) {
        self.coming_numbers.insert(now + NUMBER_BACK, ());
        if self.numbers == 0 {
            self.look_ahead(now);
        }
    }

    /// Nothing comes back before cycle `until`, but for lines of which it has been said
    /// when they do; everything up to cycle `now` has been worked through.
    pub fn hold(&mut self, until: u64, now: u64) {
        if self.told == 0 {
            self.back_free = self.back_free.max(until);
            self.look_ahead(now);
        }
    }
}
