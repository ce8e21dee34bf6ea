//! The L2's transaction trackers and the order in which they are served.
//!
//! A request takes the lowest free tracker, or waits at the one that works on
//! its set. Each step of a transaction needs a turn; turns go round robin over
//! the trackers that can use one, so that a request may overtake older ones.
//!
//! *Source*: SiFive's inclusive cache, `Scheduler` and `MSHR`.

pub mod intake;
mod turns;

use super::request::Request;
use crate::agenda::Agenda;
use intake::Left;
use std::collections::VecDeque;
use turns::Free;

/// Trackers that requests can use at most.
const MOST: usize = 32;
/// Trackers that only write-backs of the core can use.
const SPARE: usize = 2;
/// Cycles from the lookup of a line to the first step.
pub(super) const LOOKUP: u64 = 2;
/// In place of a tracker, if there is none.
const NONE: u8 = u8::MAX;

/// Kinds of steps.
const STEPS: usize = 6;

/// What a transaction has to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Take the victim from the core.
    Recall,
    /// Send the victim away.
    Release,
    /// Ask for the line behind the L2.
    Acquire,
    /// Take the line, or its changes, from the core.
    Probe,
    /// Hand the request to the data pipeline.
    Answer,
    /// Note the line's new state.
    Finish,
}

/// What is known of a transaction that is not a read that hits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transaction {
    /// Place of the line, and before the line comes, of its victim.
    pub(super) slot: usize,
    /// The victim, if there is one.
    pub(super) victim: Option<Victim>,
    /// The line's state changes.
    pub(super) changes: bool,
    pub(super) hit: bool,
}

/// A line that has to go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Victim {
    pub(super) line: u64,
    pub(super) dirty: bool,
    pub(super) core: bool,
    pub(super) core_dirty: bool,
}

/// A set of trackers, one bit each.
type Set = u32;

#[derive(Clone, Debug)]
pub(super) struct Trackers {
    /// Trackers that requests can use.
    count: usize,
    used: Set,
    /// By tracker, its request, and the requests that wait for it.
    requests: [Request; MOST],
    queues: Vec<VecDeque<Request>>,
    /// The tracker that works on a set, by set.
    of_set: Vec<u8>,
    set_mask: u64,
    /// Trackers with reads that hit and need nothing but the data pipeline, once
    /// they are ready, and those that will be and when, the next one first.
    hits: Set,
    coming_hits: Agenda<u8, MOST>,
    /// All other trackers in use, and a cycle before which none of them can have
    /// a turn.
    others: Set,
    next_other: u64,
    /// By step, those of them that wait for what it needs only.
    awake: [Set; STEPS],
    /// Those that will, with the cycles from which they are ready, the first one first.
    asleep: Agenda<u8, MOST>,
    /// By tracker, if it is one of the others: what is known of its transaction,
    /// its next step, from which cycle it is ready for that itself, from which cycle on
    /// the answer needs the directory (`u64::MAX` for other steps), and the cycle from
    /// which nothing is waited for any more but the answer: `u64::MAX` if the answer is
    /// not the end, or changes nothing.
    transactions: [Transaction; MOST],
    steps: [Step; MOST],
    ready: [u64; MOST],
    directory_from: [u64; MOST],
    settled: [u64; MOST],
    /// By tracker, for how many things it waits of which it is not known when they
    /// come, and from which cycle it waits for nothing else.
    awaited: [u8; MOST],
    known: [u64; MOST],
    /// By tracker, the cycle from which its answer has left the data pipeline.
    drained: [u64; MOST],
    /// The trackers that come before all others at the next turn: those above the one
    /// that has had the last one.
    above: Set,
    /// Requests that wait at trackers, and how many can.
    waiting: usize,
    room: usize,
    /// Requests on their way, with the cycle at which they arrive.
    incoming: VecDeque<(u64, Request)>,
    /// Beats of those of them that are the accelerator's.
    own_beats: usize,
    /// The accelerator's beats that were taken last.
    left: Left,
    /// The cycle at which the last request arrives, or the last one arrived.
    last_arrival: u64,
    /// Cycle from which the next one is looked at.
    input_from: u64,
    /// Cycle in which it is, or `u64::MAX` if there is none.
    next_input: u64,
    pub(super) free: Free,
    /// Cycle before which no tracker can have a turn.
    next_turn: u64,
}

impl Trackers {
    pub(super) fn new(count: usize, sets: usize) -> Self {
        let count = count.clamp(1, MOST - SPARE) + SPARE;
        let transaction = Transaction {
            slot: 0,
            victim: None,
            changes: false,
            hit: true,
        };
        Self {
            count,
            used: 0,
            requests: [Request::NONE; MOST],
            queues: vec![VecDeque::new(); count],
            of_set: vec![NONE; sets],
            set_mask: sets as u64 - 1,
            hits: 0,
            coming_hits: Agenda::new(0),
            others: 0,
            next_other: u64::MAX,
            awake: [0; STEPS],
            asleep: Agenda::new(0),
            transactions: [transaction; MOST],
            steps: [Step::Finish; MOST],
            ready: [0; MOST],
            directory_from: [0; MOST],
            settled: [0; MOST],
            awaited: [0; MOST],
            known: [0; MOST],
            drained: [0; MOST],
            above: Set::MAX,
            waiting: 0,
            // The cache is made for memories of four cycles per tracker.
            room: count.max(4 * (count - SPARE) - count),
            incoming: VecDeque::with_capacity(32),
            own_beats: 0,
            left: Left::default(),
            last_arrival: 0,
            input_from: 0,
            next_input: u64::MAX,
            free: Free::default(),
            next_turn: u64::MAX,
        }
    }

    /// Returns whether a tracker may have a turn in cycle `now`.
    #[inline]
    pub(super) fn is_turn_due(&self, now: u64) -> bool {
        self.next_turn <= now
    }

    /// Returns the request that a tracker works on.
    #[inline]
    pub(super) fn request(&self, idx: usize) -> &Request {
        &self.requests[idx % MOST]
    }

    /// Returns whether a tracker in use has a read that hits and needs nothing
    /// but the data pipeline.
    #[inline]
    pub(super) fn is_hit(&self, idx: usize) -> bool {
        self.others >> idx & 1 == 0
    }

    /// The transaction of a tracker. Reads that hit have none.
    #[inline]
    pub(super) fn transaction(&self, idx: usize) -> &Transaction {
        &self.transactions[idx % MOST]
    }

    /// The next step of a tracker that has a transaction.
    #[inline]
    pub(super) fn step(&self, idx: usize) -> Step {
        self.steps[idx % MOST]
    }

    /// Returns the next cycle in which something can happen.
    #[inline]
    pub(super) fn next_event(&self) -> u64 {
        self.next_input.min(self.next_turn)
    }

    /// Returns the cycle in which the next request is looked at.
    #[inline]
    pub(super) fn next_input(&self) -> u64 {
        self.next_input
    }

    /// The tracker goes on with `step` in cycle `ready` at the earliest.
    #[inline]
    pub(super) fn go_on(&mut self, idx: usize, step: Step, ready: u64) {
        self.steps[idx] = step;
        self.ready[idx] = ready;
        self.directory_from[idx] = match step {
            Step::Answer => self.settled[idx],
            _ => u64::MAX,
        };
        if ready == u64::MAX {
            // Whatever is awaited wakes it.
            return;
        }
        self.sleep_until(ready, idx);
        self.next_other = self.next_other.min(self.earliest(idx));
    }

    /// The tracker waits for something of which it is not known when it comes.
    #[inline]
    pub(super) fn await_more(&mut self, idx: usize) {
        self.awaited[idx] += 1;
        self.settled[idx] = u64::MAX;
    }

    /// Notes from which cycle on the answer of a tracker has left the data pipeline.
    #[inline]
    pub(super) fn drain(&mut self, idx: usize, from: u64) {
        self.drained[idx] = from;
    }

    /// Returns that cycle, or one that is past if it has not answered.
    #[inline]
    pub(super) fn drained(&self, idx: usize) -> u64 {
        self.drained[idx]
    }

    /// Nothing that has been known before is waited for from cycle `from` on.
    #[inline]
    pub(super) fn settle(&mut self, idx: usize, from: u64) {
        self.known[idx] = self.known[idx].max(from);
        if self.awaited[idx] == 0 {
            self.settled[idx] = self.known[idx];
        }
    }

    /// Something that the tracker has waited for is there from cycle `from` on. If
    /// it waits with its answer for that, it can give it from cycle `answers` on.
    /// Returns whether it had nothing to do any more but to wait.
    pub(super) fn note(&mut self, idx: usize, from: u64, answers: Option<u64>) -> bool {
        self.awaited[idx] -= 1;
        self.settle(idx, from);
        let settled = self.settled[idx];
        let slept = self.ready[idx] == u64::MAX;
        match self.steps[idx] {
            Step::Answer => self.directory_from[idx] = settled,
            Step::Finish => self.ready[idx] = settled,
            _ => {}
        }
        if let Some(at) = answers {
            self.ready[idx] = at;
        }
        let ready = self.ready[idx];
        if slept && ready != u64::MAX {
            self.sleep_until(ready, idx);
        }
        let earliest = self.earliest(idx);
        self.next_other = self.next_other.min(earliest);
        self.next_turn = self.next_turn.min(earliest);
        self.steps[idx] == Step::Finish
    }

    /// Begins the transaction of a read that hits and needs nothing but the data
    /// pipeline from cycle `ready` on, than which none before was ready later: no
    /// cycle begins one that is ready later than those of the next.
    #[inline]
    pub(super) fn begin_hit(&mut self, idx: usize, ready: u64) {
        self.coming_hits.push_back(ready, idx as u8);
        self.next_turn = self.next_turn.min(ready.max(self.free.pipeline()));
    }

    /// Begins a transaction whose answer ends it if nothing else is waited for,
    /// and with the line's state noted if that changes.
    #[inline]
    pub(super) fn begin(&mut self, idx: usize, transaction: Transaction, step: Step, ready: u64) {
        self.others |= 1 << idx;
        self.settled[idx] = if transaction.changes { 0 } else { u64::MAX };
        self.awaited[idx] = 0;
        self.known[idx] = 0;
        self.drained[idx] = 0;
        self.transactions[idx] = transaction;
        self.go_on(idx, step, ready);
        self.next_turn = self.next_turn.min(self.earliest(idx));
    }

    /// Returns from when nothing but the answer is waited for.
    #[inline]
    pub(super) fn settled(&self, idx: usize) -> u64 {
        if self.transactions[idx].changes {
            self.settled[idx]
        } else {
            0
        }
    }

    /// A line's state is noted in cycle `now`.
    #[inline]
    pub(super) fn note_state(&mut self, now: u64) {
        self.free.set_directory(now + 2);
    }
}
