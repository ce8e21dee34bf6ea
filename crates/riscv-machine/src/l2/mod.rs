//! The L2 and the memory behind it.
//!
//! Requests are sent with the cycle at which they are at their sender's port;
//! [`MemorySystem::advance`] works through the cycles in which something
//! happens in the L2 and returns what it answers. Replies tell the cycles of the
//! first and the last beat at the accelerator's port.
//!
//! *Source*: SiFive's inclusive cache, `MSHR`, `Directory`, `SourceD`, `SourceC`,
//! `SinkD`, `BankedStore`.

mod coherence;
mod config;
mod directory;
mod lookup;
mod misses;
mod outer;
mod pipeline;
mod request;
mod sharing;
mod trackers;
mod warming;

pub use coherence::{RUNS, Turns};
pub use config::MemoryConfig;
pub use outer::{Back, Outer};
pub use pipeline::Pipeline;
pub use request::{Client, Kind};
pub use sharing::Sharing;
pub use trackers::intake::{Left, ROOM_SEEN};

use directory::Directory;
use misses::BACK_TO_TURN;
use outer::{REQUEST_OUT, VICTIM_OUT};
use request::Request;
use trackers::{LOOKUP, Step, Trackers, Transaction};

const LINE_SHIFT: u32 = 6;
/// Banks of the L2's data array, each one beat wide.
const BANKS: usize = 4;
const BANK_BYTES: u64 = 16;
/// Beats of a line.
const BEATS: u64 = (1 << LINE_SHIFT) / BANK_BYTES;
/// Cycles from the array's read to the beat at the port.
const READ_TO_PORT: u64 = 3;
/// Cycles from a request entering the L2 to its beat at the port, if it hits
/// and nothing is in its way: lookup, then as above.
const THROUGH_L2: u64 = 2 + READ_TO_PORT;
/// Cycles from an answer at the core to the core's acknowledgement in the L2.
const GRANT_ACK: u64 = 3;
/// Cycles by which a line that is missed comes later than one that is not, if memory
/// answers in the next cycle: to the way out, there, back, and to the turn.
const MISS: u64 = 4;

impl MemoryConfig {
    /// Returns the cycles that a dirty line keeps its tracker at least, from the lookup of
    /// the line that takes its place to the acknowledgement of its write.
    #[must_use]
    pub fn write_back_cycles(&self) -> u64 {
        let line = u64::from((1 << LINE_SHIFT) / self.outer_bytes_per_cycle.max(1)).max(1);
        LOOKUP + VICTIM_OUT + line + u64::from(self.outer_write_latency)
    }

    /// Returns the cycles that a line which is read keeps its tracker at least, from its
    /// lookup to its last byte, if what it takes the place of is not dirty.
    #[must_use]
    pub fn line_read_cycles(&self) -> u64 {
        let line = u64::from((1 << LINE_SHIFT) / self.outer_bytes_per_cycle.max(1)).max(1);
        LOOKUP + REQUEST_OUT + self.read_latency() + BACK_TO_TURN + line
    }

    fn read_latency(&self) -> u64 {
        u64::from(self.miss_latency.saturating_sub(self.hit_latency)).saturating_sub(MISS)
            + u64::from(self.outer_latency)
    }
}

/// Traffic behind the L2 and at the port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryCounts {
    /// Lines read from outer memory.
    pub lines_read: u64,
    /// Lines written to outer memory.
    pub lines_written: u64,
    /// Cycles that lines read and written have kept their trackers at least, added up.
    pub tracked_cycles: u64,
    /// Requests of the accelerator that hit in the L2.
    pub hits: u64,
    /// Requests of the accelerator that missed in the L2.
    pub misses: u64,
    /// Lines that the core's L1 had to give up or clean.
    pub probes: u64,
    /// Requests of the core's L1 caches.
    pub core_requests: u64,
}

/// Answer to a request.
#[derive(Clone, Copy, Debug)]
pub struct Reply {
    /// Whom it is for.
    pub client: Client,
    /// Cycle at which the request was sent.
    pub sent: u64,
    /// Cycle of the first beat at the port, or of the acknowledgement.
    pub first: u64,
    /// Cycle of the last beat at the port.
    pub last: u64,
    /// Beats that the request asked for.
    pub beats: u64,
    /// Whether the line was in the L2.
    pub hit: bool,
}

/// The L2 with its directory, trackers and data pipeline, and the memory behind it.
#[derive(Clone, Debug)]
pub struct MemorySystem {
    directory: Directory,
    trackers: Trackers,
    outer: Outer,
    pipeline: Pipeline,
    /// When the next victim can be sent away, if not too many wait behind.
    victim_free: u64,
    probe_free: u64,
    /// When the core's data cache has no turn for the core.
    turns: Turns,
    /// Pages that both the core and the accelerator use.
    pub sharing: Sharing,
    probes: Vec<(u64, bool)>,
    config: MemoryConfig,
    /// Cycles of a line on either way behind the L2.
    line_cycles: u64,
    /// Traffic so far; callers may set it back.
    pub counts: MemoryCounts,
}

impl MemorySystem {
    /// Makes an empty L2.
    #[must_use]
    pub fn new(config: &MemoryConfig) -> Self {
        let lines = (config.l2_kib as usize * 1024) >> LINE_SHIFT;
        let directory = Directory::new(lines, config.l2_ways as usize);
        let line_cycles = u64::from((1 << LINE_SHIFT) / config.outer_bytes_per_cycle.max(1)).max(1);
        let read_latency = config.read_latency();
        Self {
            trackers: Trackers::new(config.l2_mshrs as usize, directory.sets()),
            directory,
            outer: Outer::new(line_cycles, read_latency, config.outer_write_latency.into()),
            pipeline: Pipeline::new(line_cycles),
            victim_free: 0,
            probe_free: 0,
            turns: Turns::default(),
            sharing: Sharing::new(),
            probes: Vec::new(),
            line_cycles,
            config: config.clone(),
            counts: MemoryCounts::default(),
        }
    }

    /// Returns whether the port finds room for a beat on the way to the L2 in cycle `now`.
    #[inline]
    #[must_use]
    pub fn is_open(&self, now: u64) -> bool {
        self.trackers.is_open(now)
    }

    /// Returns the next cycle behind `now`, in which there is none, in which there may be.
    #[inline]
    #[must_use]
    pub fn room_from(&self, now: u64) -> u64 {
        let taken = self.next_event();
        self.trackers.room_from(now, taken).max(now + 1)
    }

    /// The accelerator sends a request for `beats` beats from `address` on,
    /// which is at its port in cycle `at`.
    #[inline]
    pub fn send(&mut self, address: u64, beats: u64, at: u64, kind: Kind, client: Client) {
        let within = address & ((1 << LINE_SHIFT) - 1) & !(beats * BANK_BYTES - 1);
        let request = Request {
            line: address >> LINE_SHIFT,
            beat: (within / BANK_BYTES) as u8,
            beats: beats.min(BEATS) as u8,
            kind,
            client,
            sent: at,
        };
        let delay = u64::from(self.config.hit_latency).saturating_sub(THROUGH_L2);
        self.trackers.send(at + delay, request);
    }

    /// Returns the next cycle in which something happens in the L2.
    #[inline]
    #[must_use]
    pub fn next_event(&self) -> u64 {
        self.trackers.next_event().min(self.outer.next_event())
    }

    /// Lets nothing through the data pipeline before cycle `until`.
    #[inline]
    pub fn hold_answers(&mut self, until: u64) {
        let free = &mut self.trackers.free;
        free.set_pipeline(until.max(free.pipeline()));
    }

    /// Works through cycle `now`; returns what has been answered.
    #[inline]
    pub fn advance(&mut self, now: u64) -> Option<Reply> {
        if self.outer.next_event() <= now {
            self.catch_up(now);
        }
        if self.trackers.is_turn_due(now) {
            return self.serve(now);
        }
        self.take_next(now);
        None
    }

    /// Works through cycle `now`, in which a tracker may have a turn; returns what
    /// has been answered.
    fn serve(&mut self, now: u64) -> Option<Reply> {
        self.catch_up(now);
        let free = self.pipeline.follow(now);
        self.hold_answers(free);
        let Some(idx) = self.trackers.turn(now) else {
            self.take_next(now);
            return None;
        };
        let (reply, ended) = if self.trackers.is_hit(idx) {
            (Some(self.answer_hit(idx, now)), true)
        } else {
            self.go_on(idx, now)
        };
        if !ended {
            self.take_next(now);
        } else if !self.trackers.free_at_once(idx, now) {
            self.take_after(idx, now);
        }
        self.trackers.look_ahead(now);
        reply
    }

    /// Lets a tracker take the request that is looked at in cycle `now`, if there is one
    /// and one does.
    #[inline]
    fn take_next(&mut self, now: u64) {
        if self.trackers.next_input() <= now
            && let Some((idx, ready)) = self.trackers.take_next(now)
        {
            self.directory.note_lookup();
            self.plan(idx, ready);
        }
    }

    /// The same, if tracker `freed` has ended its transaction in this cycle.
    #[inline(never)]
    fn take_after(&mut self, freed: usize, now: u64) {
        let [reloaded, taken] = self.trackers.take_after(now, freed);
        if let Some((idx, ready)) = reloaded {
            if ready > now + 1 {
                self.directory.note_lookup();
            }
            self.plan(idx, ready);
        }
        if let Some((idx, ready)) = taken {
            self.directory.note_lookup();
            self.plan(idx, ready);
        }
    }

    /// Does the next step of a transaction that is not a read that hits; returns
    /// what has been answered and whether the transaction has ended.
    fn go_on(&mut self, idx: usize, now: u64) -> (Option<Reply>, bool) {
        let request = *self.trackers.request(idx);
        let transaction = self.trackers.transaction(idx);
        match (self.trackers.step(idx), transaction.victim) {
            (Step::Answer, _) => return self.answer_and_settle(idx, &request, now),
            (Step::Finish, _) => {
                self.trackers.note_state(now);
                return (None, true);
            }
            (Step::Recall, Some(victim)) => {
                let back = self.ask_core(victim.line, victim.core_dirty, true, now);
                self.trackers.go_on(idx, Step::Release, back);
            }
            (Step::Release, Some(victim)) => {
                self.trackers.note_state(now);
                self.send_away(idx, &victim, now);
                self.trackers.go_on(idx, Step::Acquire, now + 1);
            }
            (Step::Probe, _) => self.probe(idx, &request, transaction.slot, now),
            _ => self.fetch(idx, &request, now),
        }
        (None, false)
    }

    /// Answers a request whose transaction may have to wait for more; returns
    /// the answer and whether the transaction has ended.
    fn answer_and_settle(
        &mut self,
        idx: usize,
        request: &Request,
        now: u64,
    ) -> (Option<Reply>, bool) {
        let Transaction { changes, hit, .. } = *self.trackers.transaction(idx);
        let reply = self.answer(idx, hit, now);
        self.trackers.drain(idx, reply.last + 1);
        if !hit && request.kind != Kind::Release && Self::answers_early(request) {
            self.outer.confirm(now);
        }
        let settled = self.trackers.settled(idx);
        let ended = if let Kind::Acquire { .. } = request.kind {
            self.trackers.settle(idx, reply.first + GRANT_ACK);
            self.finish_later(idx, now);
            false
        } else if now < settled {
            self.finish_later(idx, now);
            false
        } else {
            if changes {
                self.trackers.note_state(now);
            }
            true
        };
        (Some(reply), ended)
    }

    /// Lets a tracker note the line's state once it waits for nothing any more.
    fn finish_later(&mut self, idx: usize, now: u64) {
        let settled = self.trackers.settled(idx);
        self.trackers.go_on(idx, Step::Finish, settled);
        if settled == u64::MAX {
            self.outer.look_for_victim(now);
        }
    }

    /// Hands a tracker's read that hits to the data pipeline in cycle `now`; returns the
    /// answer.
    #[inline]
    fn answer_hit(&mut self, idx: usize, now: u64) -> Reply {
        let request = self.trackers.request(idx);
        if !self.pipeline.is_clear() {
            return self.answer(idx, true, now);
        }
        let place = request.line * BEATS + u64::from(request.beat);
        let (first, last) = self.pipeline.read((place, request.beats), now);
        let reply = answered(request, first, last, true);
        self.trackers.free.set_pipeline(last + 1);
        reply
    }

    /// Hands a request to the data pipeline in cycle `now`; returns the answer.
    fn answer(&mut self, idx: usize, hit: bool, now: u64) -> Reply {
        let request = self.trackers.request(idx);
        let (reads, writes) = match request.kind {
            Kind::Get | Kind::Acquire { .. } => (true, 0),
            Kind::Put {
                partial, written, ..
            } => (partial, written >> request.beat),
            Kind::Release => (false, u8::MAX),
        };
        let place = request.line * BEATS + u64::from(request.beat);
        let beats = (place, request.beats);
        let (first, last, end) = self.pipeline.take(beats, reads, writes, now);
        let reply = answered(request, first, last, hit);
        self.trackers.free.set_pipeline(end);
        reply
    }
}

/// Returns the answer to a request whose first and last beat are in the first stage of
/// the data pipeline in the cycles given.
#[inline]
fn answered(request: &Request, first: u64, last: u64, hit: bool) -> Reply {
    Reply {
        client: request.client,
        sent: request.sent,
        first: first + READ_TO_PORT,
        last: last + READ_TO_PORT,
        beats: request.beats.into(),
        hit,
    }
}
