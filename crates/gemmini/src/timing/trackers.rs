//! The L2's transaction trackers and the order in which they are served.
//!
//! A request takes the lowest free tracker, or waits at the one that works on
//! its set. Each step of a transaction needs a turn; turns go round robin over
//! the trackers that can use one, so that a request may overtake older ones.
//!
//! *Source*: SiFive's inclusive cache, `Scheduler` and `MSHR`.

mod intake;

use super::request::Request;
use super::ring::Ring;
use intake::Left;
use std::collections::VecDeque;

/// Trackers that requests can use at most.
const MOST: usize = 32;
/// Trackers that only write-backs of the core can use.
const SPARE: usize = 2;
/// Cycles from the lookup of a line to the first step.
const LOOKUP: u64 = 2;
/// In place of a tracker, if there is none.
const NONE: u8 = u8::MAX;

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

/// When something that steps need is free.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Free {
    /// The data pipeline.
    pub(super) pipeline: u64,
    /// The way on which victims are sent away.
    pub(super) eviction: u64,
    /// The way on which lines are asked for.
    pub(super) request: u64,
    /// The directory, to note a line's state: it looks up lines first.
    directory: u64,
}

/// What a step needs, in a form in which the cycle of every step is worked out
/// by the same operations: which step it is cannot be foreseen.
#[derive(Clone, Copy, Debug, Default)]
struct Needs {
    /// Cycle from which the tracker itself is ready.
    ready: u64,
    /// All bits set if the step needs the data pipeline, none if not.
    pipeline: u64,
    /// The same of the ways on which victims are sent away and lines asked for.
    eviction: u64,
    request: u64,
    /// Cycle from which on the step needs the directory.
    directory_from: u64,
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
    coming_hits: Ring<(u64, u8), MOST>,
    /// All other trackers in use, and a cycle before which none of them can have
    /// a turn.
    others: Set,
    next_other: u64,
    /// Those of them that wait for what their answer needs, for the directory to note a
    /// line's state, to send a victim away, to ask for a line, and for a turn only.
    answering: Set,
    finishing: Set,
    releasing: Set,
    acquiring: Set,
    asking: Set,
    /// Those that will, with the cycles from which they are ready, the first one first.
    asleep: Ring<(u64, u8), MOST>,
    /// By tracker, if it is one of the others: what is known of its transaction,
    /// its next step, what that needs, and the cycle from which nothing is waited
    /// for any more but the answer: `u64::MAX` if the answer is not the end, or
    /// changes nothing.
    transactions: [Transaction; MOST],
    steps: [Step; MOST],
    needs: [Needs; MOST],
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
    own_beats: u64,
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
            coming_hits: Ring::new((0, 0)),
            others: 0,
            next_other: u64::MAX,
            answering: 0,
            finishing: 0,
            releasing: 0,
            acquiring: 0,
            asking: 0,
            asleep: Ring::new((0, 0)),
            transactions: [transaction; MOST],
            steps: [Step::Finish; MOST],
            needs: [Needs::default(); MOST],
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

    /// Works out when the next tracker can have a turn, after cycle `now`.
    #[inline]
    fn look_ahead(&mut self, now: u64) {
        if self.next_other <= now {
            self.able_others(now);
        }
        let hit = match self.coming_hits.front() {
            _ if self.hits != 0 => self.free.pipeline,
            Some((ready, _)) => self.free.pipeline.max(*ready),
            None => u64::MAX,
        };
        self.next_turn = hit.min(self.next_other).max(now + 1);
    }

    /// A tracker cannot have a turn before cycle `ready`.
    #[inline]
    fn sleep_until(&mut self, ready: u64, idx: usize) {
        let entry = (ready, idx as u8);
        self.asleep
            .insert_before(entry, |(other, _)| *other > ready);
    }

    /// Victims can be sent away from cycle `from` on, after it was not known when; that is
    /// seen in cycle `at`.
    pub(super) fn free_eviction(&mut self, from: u64, at: u64) {
        self.free.eviction = from;
        self.releasing = self.still_awake(self.releasing, from);
        self.look_again(at);
    }

    /// The same of requests for lines, from cycle `at` on.
    pub(super) fn free_request(&mut self, at: u64) {
        self.free.request = at;
        self.acquiring = self.still_awake(self.acquiring, at);
        self.look_again(at);
    }

    fn look_again(&mut self, at: u64) {
        self.next_other = self.next_other.min(at);
        self.next_turn = self.next_turn.min(at);
    }

    /// Lets those of some trackers sleep that are ready later than what they wait for is
    /// free, from cycle `from` on; returns the others.
    fn still_awake(&mut self, waiting: Set, from: u64) -> Set {
        let (mut left, mut awake) = (waiting, waiting);
        while left != 0 {
            let idx = left.trailing_zeros() as usize;
            let ready = self.needs[idx % MOST].ready;
            if ready > from {
                awake &= !(1 << idx);
                self.sleep_until(ready, idx);
            }
            left &= left - 1;
        }
        awake
    }

    /// Returns which of the trackers that are not hits can have a turn in cycle
    /// `now`, and notes from which cycle the first one can.
    #[inline(never)]
    fn able_others(&mut self, now: u64) -> Set {
        let free = self.free;
        let mut next = self.wake_up(now);
        let mut able = 0;
        // None of those that are awake is ready later than what they wait for.
        let mut add = |set: Set, from: u64| {
            able |= if from <= now { set } else { 0 };
            next = next.min(if set == 0 { u64::MAX } else { from });
        };
        if self.finishing | self.releasing | self.acquiring | self.asking != 0 {
            add(self.finishing, free.directory);
            add(self.releasing, free.eviction.max(free.directory));
            add(self.acquiring, free.request);
            add(self.asking, now);
        }
        if free.directory <= free.pipeline.max(now) {
            add(self.answering, free.pipeline);
        } else {
            let mut left = self.answering;
            while left != 0 {
                let idx = left.trailing_zeros();
                add(1 << idx, self.earliest(idx as usize));
                left &= left - 1;
            }
        }
        self.next_other = next;
        able
    }

    /// Lets trackers wait for what they need that are not ready later than that or
    /// `now`; returns when the next one is.
    #[inline]
    fn wake_up(&mut self, now: u64) -> u64 {
        while let Some((ready, idx)) = self.asleep.front().copied() {
            let free = &self.free;
            let (waiting, from) = match self.steps[usize::from(idx) % MOST] {
                Step::Answer => (&mut self.answering, free.pipeline.max(free.directory)),
                Step::Finish => (&mut self.finishing, free.directory),
                Step::Release => (&mut self.releasing, free.eviction.max(free.directory)),
                Step::Acquire => (&mut self.acquiring, free.request),
                Step::Recall | Step::Probe => (&mut self.asking, 0),
            };
            if ready > from.max(now) {
                return ready;
            }
            *waiting |= 1 << idx;
            self.asleep.drop_front(1);
        }
        u64::MAX
    }

    /// Returns from which cycle a tracker that is not a hit can have a turn.
    #[inline]
    fn earliest(&self, idx: usize) -> u64 {
        let (needs, free) = (&self.needs[idx % MOST], &self.free);
        let at = needs
            .ready
            .max(free.pipeline & needs.pipeline)
            .max(free.eviction & needs.eviction)
            .max(free.request & needs.request);
        if at >= needs.directory_from {
            at.max(free.directory)
        } else {
            at
        }
    }

    /// Returns the tracker that has the turn in cycle `now`, in which one may have it.
    #[inline]
    pub(super) fn turn(&mut self, now: u64) -> Option<usize> {
        while let Some((ready, idx)) = self.coming_hits.front()
            && *ready <= now
        {
            self.hits |= 1 << idx;
            self.coming_hits.drop_front(1);
        }
        let mut able = if self.free.pipeline <= now {
            self.hits
        } else {
            0
        };
        if self.next_other <= now {
            able |= self.able_others(now);
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
            self.answering &= !(1 << idx);
            self.finishing &= !(1 << idx);
            self.releasing &= !(1 << idx);
            self.acquiring &= !(1 << idx);
            self.asking &= !(1 << idx);
        }
        Some(idx)
    }

    /// The tracker goes on with `step` in cycle `ready` at the earliest.
    #[inline]
    pub(super) fn go_on(&mut self, idx: usize, step: Step, ready: u64) {
        let answers = step == Step::Answer;
        let all_if = |is_needed: bool| u64::from(is_needed).wrapping_neg();
        self.steps[idx] = step;
        self.needs[idx] = Needs {
            ready,
            pipeline: all_if(answers),
            eviction: all_if(step == Step::Release),
            request: all_if(step == Step::Acquire),
            directory_from: match step {
                Step::Answer => self.settled[idx],
                Step::Release | Step::Finish => 0,
                Step::Recall | Step::Acquire | Step::Probe => u64::MAX,
            },
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
        let needs = &mut self.needs[idx % MOST];
        let slept = needs.ready == u64::MAX;
        match self.steps[idx] {
            Step::Answer => needs.directory_from = settled,
            Step::Finish => needs.ready = settled,
            _ => {}
        }
        if let Some(at) = answers {
            needs.ready = at;
        }
        let ready = needs.ready;
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
        self.coming_hits.push_back((ready, idx as u8));
        self.next_turn = self.next_turn.min(ready.max(self.free.pipeline));
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

    /// Ends cycle `now`.
    #[inline]
    pub(super) fn end(&mut self, now: u64) {
        if self.next_turn <= now {
            self.look_ahead(now);
        }
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
        self.free.directory = now + 2;
    }
}
