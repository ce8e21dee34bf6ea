//! Store controller, the read side of the local memories, the scale pipe and
//! the DMA writer.
//!
//! A row block passes five points: requested by the controller, read from its
//! bank, out of the order queue, into the scale pipe (or past it), taken by the
//! writer. Each waits for the one before and for room in the queue behind.

mod writer;

use super::engine::{Engine, STORE};
use super::job::Work;
use super::station::Slot;
use std::collections::VecDeque;
pub(super) use writer::best_put;

const HISTORY: usize = 32;
const GRANTS: usize = 16;

#[derive(Clone, Copy, Debug, Default)]
struct Active {
    slot: Slot,
    row: u32,
    part: u32,
    requested: u64,
}

/// What the writer has to do with a row block.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    /// Where the packet goes, if this is its last block.
    address: u64,
    bytes: u32,
    accumulator: bool,
    /// It is padding, which comes from no bank.
    padding: bool,
}

/// The packets that the writer is sending.
#[derive(Clone, Copy, Debug, Default)]
struct Sending {
    address: u64,
    left: u32,
    /// A packet is under way.
    is_leaving: bool,
    /// Cycle at which the next packet can leave, or at which the last beat of the
    /// one under way does if nothing is in the way.
    next: u64,
    /// The number of beats that have to be through the port before that beat.
    behind: u64,
}

#[derive(Clone, Debug)]
pub(super) struct StoreUnit {
    queue: VecDeque<(Slot, u64)>,
    /// The command whose rows are read, if one is.
    active: Active,
    is_active: bool,
    /// Cycles in which the first row was tried and requested.
    start: u64,
    first: u64,
    ready: u64,
    trackers: Vec<Option<Slot>>,
    tracker_free: u64,
    blocks: [Block; HISTORY],
    reads: [u64; HISTORY],
    ordered: [u64; HISTORY],
    entered: [u64; HISTORY],
    taken: [u64; HISTORY],
    n_read: usize,
    n_ordered: usize,
    n_entered: usize,
    n_taken: usize,
    /// Blocks that had been read and taken when blocks were moved along last.
    moved_at: (usize, usize),
    sending: Sending,
    is_sending: bool,
    /// Cycle from which the writer works on its row.
    sending_from: u64,
    /// Cycle from which the writer takes the next block.
    writer_ready: u64,
    /// Packets sent whose acknowledgement is not known yet.
    pub(super) unanswered: usize,
    pub(super) acks: VecDeque<u64>,
    /// Acknowledgements behind beats of the reader of which it is not known when these
    /// part from them: when they would be at the port else, and the beats answered
    /// before them.
    pub(super) behind_reads: VecDeque<(u64, usize)>,
    last_ack: u64,
    beats_sent: u64,
    beats_granted: u64,
    /// Cycles at which the last beats went through the port.
    grants: [u64; GRANTS],
    /// Bytes written so far.
    pub(super) bytes: u64,
    /// Whether configurations on their way pool, oldest first.
    pub(super) configs: VecDeque<bool>,
    /// The configuration in force pools.
    pub(super) pools: bool,
}

fn ago(values: &[u64; HISTORY], count: usize, back: usize) -> u64 {
    count
        .checked_sub(back)
        .map_or(0, |idx| values[idx % HISTORY])
}

impl StoreUnit {
    pub(super) fn new(commands: usize) -> Self {
        Self {
            queue: VecDeque::with_capacity(8),
            active: Active::default(),
            is_active: false,
            start: 0,
            first: 0,
            ready: 0,
            trackers: vec![None; commands],
            tracker_free: 0,
            blocks: [Block::default(); HISTORY],
            reads: [0; HISTORY],
            ordered: [0; HISTORY],
            entered: [0; HISTORY],
            taken: [0; HISTORY],
            n_read: 0,
            n_ordered: 0,
            n_entered: 0,
            n_taken: 0,
            moved_at: (0, 0),
            sending: Sending::default(),
            is_sending: false,
            sending_from: 0,
            writer_ready: 0,
            unanswered: 0,
            acks: VecDeque::with_capacity(32),
            behind_reads: VecDeque::new(),
            last_ack: 0,
            beats_sent: 0,
            beats_granted: 0,
            grants: [0; GRANTS],
            bytes: 0,
            configs: VecDeque::with_capacity(8),
            pools: false,
        }
    }

    pub(super) fn push(&mut self, slot: Slot, visible: u64) {
        self.queue.push_back((slot, visible));
    }

    pub(super) fn queued(&self) -> usize {
        self.queue.len()
    }

    pub(super) fn complete(&mut self, slot: Slot, cycle: u64) {
        for tracker in &mut self.trackers {
            if *tracker == Some(slot) {
                *tracker = None;
                self.tracker_free = cycle + 1;
            }
        }
    }

    /// Returns the cycle from which the controller sends the rows of the
    /// command under way, if there is one.
    pub(super) fn sending_since(&self) -> Option<u64> {
        self.is_active.then_some(self.first + 1)
    }

    /// Returns the cycle from which the writer works on its row, if it does.
    pub(super) fn writing_since(&self) -> Option<u64> {
        self.is_sending.then_some(self.sending_from)
    }

    /// Returns the cycle from which the writer has nothing outstanding.
    pub(super) fn quiet_from(&self) -> u64 {
        self.last_ack.max(self.writer_ready)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.queue.is_empty() && !self.is_active && !self.is_sending && self.n_taken == self.n_read
    }
}

impl Engine {
    /// Does what the store path has to do in cycle `now`.
    pub(super) fn step_store(&mut self, now: u64) {
        let mut written = self.step_writer(now);
        let before = self.store.n_read;
        let read = self.step_store_reads(now);
        if self.store.n_read != before {
            // What has just been read may be due at the writer.
            written = written.min(self.step_writer(now));
        }
        self.wake[STORE] = written.min(read);
    }

    /// Moves row blocks along as far as the cycles are known, if any has been read or
    /// taken since the last time.
    #[inline]
    fn propagate(&mut self) {
        let at = (self.store.n_read, self.store.n_taken);
        if self.store.moved_at != at {
            self.store.moved_at = at;
            self.move_along();
        }
    }

    /// The same, whether or not any has.
    #[inline(never)]
    fn move_along(&mut self) {
        let unit = &mut self.store;
        loop {
            let mut moved = false;
            if unit.n_ordered < unit.n_read {
                let idx = unit.n_ordered;
                let block = unit.blocks[idx % HISTORY];
                let back = self.k.norm_queue;
                if !block.accumulator || idx < back || unit.n_entered > idx - back {
                    let mut at = unit.reads[idx % HISTORY] + 1;
                    at = at.max(ago(&unit.ordered, idx, 1) + u64::from(idx > 0));
                    if block.accumulator && idx >= back {
                        at = at.max(ago(&unit.entered, idx, back) + 1);
                    }
                    unit.ordered[idx % HISTORY] = at;
                    unit.n_ordered += 1;
                    moved = true;
                }
            }
            if unit.n_entered < unit.n_ordered {
                let idx = unit.n_entered;
                let back = self.k.issue_queue;
                if idx < back || unit.n_taken > idx - back {
                    let mut at = unit.ordered[idx % HISTORY] + 1;
                    at = at.max(ago(&unit.entered, idx, 1) + u64::from(idx > 0));
                    at = at.max(ago(&unit.taken, idx, back));
                    unit.entered[idx % HISTORY] = at;
                    unit.n_entered += 1;
                    moved = true;
                }
            }
            if !moved {
                break;
            }
        }
    }

    fn step_store_reads(&mut self, now: u64) -> u64 {
        loop {
            if !self.store.is_active {
                let Some((slot, visible)) = self.store.queue.front().copied() else {
                    return u64::MAX;
                };
                let at = visible.max(self.store.ready);
                if at > now {
                    return at;
                }
                if self.config_in_queue(slot) {
                    self.store.queue.pop_front();
                    self.store.ready = at + 1;
                    let pools = self.store.configs.pop_front();
                    self.store.pools = pools.unwrap_or(self.store.pools);
                    if let Some(counts) = &mut self.counts {
                        counts.pooling.set(self.store.pools, at + 1);
                    }
                    self.note_store_room(at);
                    continue;
                }
                let Some(tracker) = self.store.trackers.iter().position(Option::is_none) else {
                    return u64::MAX;
                };
                if self.store.tracker_free > now {
                    return self.store.tracker_free;
                }
                self.store.trackers[tracker] = Some(slot);
                let requested = self.request(at);
                self.store.is_active = true;
                self.store.active = Active {
                    slot,
                    row: 0,
                    part: 0,
                    requested,
                };
                (self.store.start, self.store.first) = (at, requested);
            }
            self.propagate();
            let unit = &self.store;
            let active = &unit.active;
            let idx = unit.n_read;
            let mut at = active.requested + 1;
            at = at.max(ago(&unit.reads, idx, 1) + u64::from(idx > 0));
            // The bank's response register has to be taken in time; room in
            // the queues behind is only known once the writer has gone on.
            if idx > 0 {
                if unit.n_ordered < idx {
                    return u64::MAX;
                }
                at = at.max(ago(&unit.ordered, idx, 1));
            }
            let depth = self.k.spad_read_latency as usize;
            if idx >= depth && !unit.blocks[(idx - depth) % HISTORY].accumulator {
                if unit.n_taken <= idx - depth {
                    return u64::MAX;
                }
                at = at.max(ago(&unit.taken, idx, depth));
            }
            if at > now {
                return at;
            }
            let Work::Store(job) = &self.station.entry(active.slot).work else {
                return u64::MAX;
            };
            let accumulator = job.accumulator;
            let row = if job.pooled {
                job.row
            } else {
                job.row + active.row + active.part * job.part_stride
            };
            let bank = self.bank(accumulator, row);
            if job.is_padding(active.row, active.part) {
                // Waits for no bank.
            } else if accumulator {
                let free = self.acc_reads_blocked[bank].first_free(now);
                if free > now {
                    return free;
                }
            } else {
                self.advance_execute(now + 1);
                if self.spad_writes[bank].is_marked(now) || self.spad_reads[bank].is_marked(now) {
                    return now + 1;
                }
            }
            self.read_block(now);
        }
    }

    /// Returns when a row block is requested, at `earliest` or later.
    fn request(&self, earliest: u64) -> u64 {
        let unit = &self.store;
        if unit.n_read < self.k.dispatch_queue {
            return earliest;
        }
        earliest.max(ago(&unit.reads, unit.n_read, self.k.dispatch_queue) + 1)
    }

    /// Reads a row block in cycle `now`.
    fn read_block(&mut self, now: u64) {
        let mut active = self.store.active;
        let Work::Store(job) = &self.station.entry(active.slot).work else {
            return;
        };
        let last_part = active.part + 1 == job.parts;
        let unit = &mut self.store;
        let idx = unit.n_read;
        unit.reads[idx % HISTORY] = now;
        unit.blocks[idx % HISTORY] = Block {
            address: job.address(active.row),
            bytes: if last_part && job.writes {
                job.bytes
            } else {
                0
            },
            accumulator: job.accumulator,
            padding: job.is_padding(active.row, active.part),
        };
        unit.n_read += 1;
        active.part += 1;
        if last_part {
            active.part = 0;
            active.row += 1;
        }
        if active.row == job.rows {
            // A command of one request costs an extra cycle.
            let single = u64::from(job.rows == 1 && job.parts == 1);
            let done = active.requested + single;
            self.store.ready = done + 1;
            if let Some(counts) = &mut self.counts {
                let requests = job.rows.saturating_mul(job.parts);
                counts.stored(self.store.start, self.store.first, done + 1, requests);
            }
            self.store.is_active = false;
            self.store.queue.pop_front();
            self.note_store_room(done);
            self.schedule_completion(active.slot, now + 1);
        } else {
            active.requested = self.request(active.requested + 1);
            self.store.active = active;
        }
    }
}
