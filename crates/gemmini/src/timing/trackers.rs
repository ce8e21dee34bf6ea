//! The L2's transaction trackers and the order in which they are served.
//!
//! A request takes the lowest free tracker, or waits at the one that works on
//! its set. Each step of a transaction needs a turn; turns go round robin over
//! the trackers that can use one, so that a request may overtake older ones.
//!
//! *Source*: SiFive's inclusive cache, `Scheduler` and `MSHR`.

use std::collections::VecDeque;

/// Trackers that requests can use at most.
const MOST: usize = 32;
/// Trackers that only write-backs of the core can use.
const SPARE: usize = 2;
/// Cycles from the lookup of a line to the first step.
const LOOKUP: u64 = 2;

/// What a request wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A copy of some beats, without a right to keep them.
    Get,
    /// Writing some beats: `partial` if bytes in between are not written, so
    /// that they have to be read first; `whole` if the line is covered.
    Put { partial: bool, whole: bool },
    /// The line, to keep it in the core's data cache.
    Acquire { write: bool },
    /// A dirty line that the core's data cache gives back.
    Release,
}

/// Whom to answer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Client {
    /// The accelerator's reader, which knows the packet by this number.
    Reader(u8),
    Writer,
    Core,
    Nobody,
}

/// A request to the L2.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    /// Address divided by the size of a line.
    pub(super) line: u64,
    /// First beat within the line, and how many.
    pub(super) beat: u8,
    pub(super) beats: u8,
    pub(super) kind: Kind,
    pub(super) client: Client,
    /// Cycle at which it left its sender.
    pub(super) sent: u64,
}

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

/// A transaction.
#[derive(Clone, Debug)]
pub(super) struct Tracker {
    pub(super) request: Request,
    /// Place of the line, and before the line comes, of its victim.
    pub(super) slot: usize,
    /// The victim, if there is one.
    pub(super) victim: Option<Victim>,
    /// The line's state changes.
    pub(super) changes: bool,
    pub(super) hit: bool,
    waiting: VecDeque<Request>,
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
    /// The same of the way on which victims are sent away.
    eviction: u64,
    /// Cycle from which on the step needs the directory.
    directory_from: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Trackers {
    trackers: Vec<Tracker>,
    /// The trackers that are in use, one bit each.
    used: u32,
    /// By tracker, its set, its next step, what that needs, and the cycle from
    /// which nothing is waited for any more but the answer: `u64::MAX` if the
    /// answer is not the end, or changes nothing.
    sets: [u64; MOST],
    steps: [Step; MOST],
    needs: [Needs; MOST],
    settled: [u64; MOST],
    set_mask: u64,
    /// The tracker that is first to have a turn.
    first: u32,
    /// Requests that wait at trackers, and how many can.
    waiting: usize,
    room: usize,
    /// Requests on their way, with the cycle at which they arrive.
    incoming: VecDeque<(u64, Request)>,
    /// Cycle from which the next one is looked at.
    input_from: u64,
    pub(super) free: Free,
    /// Cycle before which no tracker can have a turn.
    next_turn: u64,
}

/// What can be done with a request that has arrived.
enum Place {
    Tracker(usize),
    Waiting(usize),
}

impl Trackers {
    pub(super) fn new(count: usize, set_mask: u64) -> Self {
        let count = count.clamp(1, MOST - SPARE) + SPARE;
        let nothing = Request {
            line: 0,
            beat: 0,
            beats: 1,
            kind: Kind::Get,
            client: Client::Nobody,
            sent: 0,
        };
        let tracker = Tracker {
            request: nothing,
            slot: 0,
            victim: None,
            changes: false,
            hit: true,
            waiting: VecDeque::new(),
        };
        Self {
            trackers: vec![tracker; count],
            used: 0,
            sets: [0; MOST],
            steps: [Step::Finish; MOST],
            needs: [Needs::default(); MOST],
            settled: [0; MOST],
            set_mask,
            first: 0,
            waiting: 0,
            // The cache is made for memories of four cycles per tracker.
            room: count.max(4 * (count - SPARE) - count),
            incoming: VecDeque::with_capacity(32),
            input_from: 0,
            free: Free::default(),
            next_turn: u64::MAX,
        }
    }

    /// Returns whether the L2 is sure to take another request at once.
    #[inline]
    pub(super) fn has_room(&self) -> bool {
        self.used.count_ones() as usize + self.incoming.len() < self.trackers.len() - SPARE
    }

    /// Returns how many beats of requests have been sent and not been taken.
    #[inline]
    pub(super) fn queued(&self) -> u64 {
        let beats = |request: &Request| match request.kind {
            Kind::Put { .. } => request.beats,
            _ => 1,
        };
        self.incoming
            .iter()
            .map(|(_, request)| u64::from(beats(request)))
            .sum()
    }

    /// Takes a request that arrives in cycle `at`.
    #[inline]
    pub(super) fn send(&mut self, at: u64, request: Request) {
        let from_core = matches!(request.client, Client::Core | Client::Nobody);
        // Of two that come at once, that of the core goes first: the accelerator
        // is more likely to have had the last turn.
        let ahead = at + u64::from(!from_core);
        if self.incoming.back().is_none_or(|(other, _)| *other < ahead) {
            self.incoming.push_back((at, request));
        } else {
            let place = self.incoming.partition_point(|(other, _)| *other < ahead);
            self.incoming.insert(place, (at, request));
        }
    }

    #[inline]
    pub(super) fn tracker(&mut self, idx: usize) -> &mut Tracker {
        &mut self.trackers[idx]
    }

    /// Returns the next cycle in which something can happen.
    #[inline]
    pub(super) fn next_event(&self) -> u64 {
        match self.incoming.front() {
            Some((at, _)) => (*at).max(self.input_from).min(self.next_turn),
            None => self.next_turn,
        }
    }

    /// Works out when the next tracker can have a turn, after one had it in
    /// cycle `now`.
    fn look_ahead(&mut self, now: u64) {
        let mut next = u64::MAX;
        let mut used = self.used;
        while used != 0 {
            next = next.min(self.earliest(used.trailing_zeros() as usize % MOST));
            used &= used - 1;
        }
        self.next_turn = next.max(now + 1);
    }

    /// Returns from which cycle a tracker can have a turn.
    #[inline]
    fn earliest(&self, idx: usize) -> u64 {
        let (needs, free) = (&self.needs[idx], &self.free);
        let at = needs
            .ready
            .max(free.pipeline & needs.pipeline)
            .max(free.eviction & needs.eviction);
        if at >= needs.directory_from {
            at.max(free.directory)
        } else {
            at
        }
    }

    /// Returns the tracker that has the turn in cycle `now`, and its step.
    #[inline]
    pub(super) fn turn(&mut self, now: u64) -> Option<(usize, Step)> {
        if now < self.next_turn {
            return None;
        }
        let (mut used, mut able) = (self.used, 0u32);
        while used != 0 {
            let idx = used.trailing_zeros();
            able |= u32::from(self.earliest(idx as usize % MOST) <= now) << idx;
            used &= used - 1;
        }
        if able == 0 {
            self.look_ahead(now);
            return None;
        }
        let above = able & u32::MAX.checked_shl(self.first).unwrap_or(0);
        let idx = if above == 0 { able } else { above }.trailing_zeros();
        self.first = idx + 1;
        // Until it is known what the turn changes.
        self.next_turn = 0;
        Some((idx as usize, self.steps[idx as usize % MOST]))
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
            directory_from: match step {
                Step::Answer => self.settled[idx],
                Step::Release | Step::Finish => 0,
                Step::Recall | Step::Acquire | Step::Probe => u64::MAX,
            },
        };
    }

    /// Nothing but the answer is waited for from cycle `from` on.
    #[inline]
    pub(super) fn settle(&mut self, idx: usize, from: u64) {
        self.settled[idx] = self.settled[idx].max(from);
        if self.steps[idx] == Step::Answer {
            self.needs[idx].directory_from = self.settled[idx];
        }
    }

    /// Begins a transaction whose answer ends it if nothing else is waited for,
    /// and with the line's state noted if that `changes`.
    #[inline]
    pub(super) fn begin(&mut self, idx: usize, step: Step, ready: u64, changes: bool) {
        self.settled[idx] = if changes { 0 } else { u64::MAX };
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
        if self.trackers[idx].changes {
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

    /// Takes a request in cycle `now`, in which tracker `freed` has ended its
    /// transaction; returns the tracker whose transaction begins and the cycle
    /// of its first step. There may be two.
    pub(super) fn take(&mut self, now: u64, freed: Option<usize>) -> [Option<(usize, u64)>; 2] {
        let mut begun = [None, None];
        let mut looked_up = false;
        let mut left = freed;
        if let Some(idx) = freed
            && self.waiting > 0
            && let Some(request) = self.trackers[idx].waiting.pop_front()
        {
            self.waiting -= 1;
            left = None;
            looked_up = request.line != self.trackers[idx].request.line;
            begun[0] = Some((idx, self.reload(idx, request, now)));
        }
        if let Some((at, request)) = self.incoming.front()
            && *at <= now
            && self.input_from <= now
        {
            let request = *request;
            match self.place(&request) {
                Some(Place::Waiting(idx)) if left == Some(idx) => {
                    left = None;
                    looked_up |= request.line != self.trackers[idx].request.line;
                    begun[0] = Some((idx, self.reload(idx, request, now)));
                    self.taken(now, &request);
                }
                Some(Place::Waiting(idx)) if self.waiting < self.room => {
                    self.trackers[idx].waiting.push_back(request);
                    self.waiting += 1;
                    self.taken(now, &request);
                }
                Some(Place::Tracker(idx)) if !looked_up => {
                    looked_up = true;
                    self.used |= 1 << idx;
                    self.sets[idx] = request.line & self.set_mask;
                    self.trackers[idx].request = request;
                    begun[1] = Some((idx, now + LOOKUP));
                    self.taken(now, &request);
                }
                _ if freed.is_some() => self.input_from = now + 1,
                // Only the end of a transaction makes room.
                _ => self.input_from = u64::MAX,
            }
        }
        if let Some(idx) = left {
            self.used &= !(1 << idx);
        }
        if freed.is_some() && self.input_from == u64::MAX {
            self.input_from = now + 1;
        }
        if looked_up && self.free.directory == now + 1 {
            // What was to be noted in this cycle has to wait.
            self.free.directory += 1;
        }
        begun
    }

    fn taken(&mut self, now: u64, request: &Request) {
        self.incoming.pop_front();
        self.input_from = match request.kind {
            Kind::Put { .. } => now + u64::from(request.beats),
            _ => now + 1,
        };
    }

    /// Gives a tracker that has ended its transaction the next one of its set;
    /// returns the cycle of the first step.
    fn reload(&mut self, idx: usize, request: Request, now: u64) -> u64 {
        let same = request.line == self.trackers[idx].request.line;
        self.trackers[idx].request = request;
        // What is known of the same line need not be looked up.
        if same { now + 1 } else { now + LOOKUP }
    }

    /// Returns where a request could go: trackers freed in this cycle count as
    /// used.
    #[inline]
    fn place(&self, request: &Request) -> Option<Place> {
        let set = request.line & self.set_mask;
        let mut used = self.used;
        while used != 0 {
            let idx = used.trailing_zeros() as usize % MOST;
            if self.sets[idx] == set {
                return Some(Place::Waiting(idx));
            }
            used &= used - 1;
        }
        let usable = match request.kind {
            Kind::Release => self.trackers.len(),
            _ => self.trackers.len() - SPARE,
        };
        let free = self.used.trailing_ones() as usize;
        (free < usable).then_some(Place::Tracker(free))
    }
}
