//! Store controller, the read side of the local memories, the scale pipe and
//! the DMA writer.
//!
//! A row block passes five points: requested by the controller, read from its
//! bank, out of the order queue, into the scale pipe (or past it), taken by the
//! writer. Each waits for the one before and for room in the queue behind.

use super::engine::{Engine, STORE};
use super::job::{StoreJob, Work};
use super::request::Kind;
use super::station::Slot;
use std::collections::VecDeque;

const HISTORY: usize = 32;
const GRANTS: usize = 16;

#[derive(Clone, Copy, Debug)]
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
#[derive(Clone, Copy, Debug)]
struct Sending {
    address: u64,
    left: u32,
    next: u64,
    /// Cycle at which the last beat of the packet under way leaves if nothing
    /// is in the way, and the beat that has to be through the port before.
    leaving: Option<(u64, Option<u64>)>,
}

#[derive(Clone, Debug)]
pub(super) struct StoreUnit {
    queue: VecDeque<(Slot, u64)>,
    active: Option<Active>,
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
    sending: Option<Sending>,
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
            active: None,
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
            sending: None,
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
        self.active.map(|_| self.first + 1)
    }

    /// Returns the cycle from which the writer works on its row, if it does.
    pub(super) fn writing_since(&self) -> Option<u64> {
        self.sending.map(|_| self.sending_from)
    }

    /// Returns the cycle from which the writer has nothing outstanding.
    pub(super) fn quiet_from(&self) -> u64 {
        self.last_ack.max(self.writer_ready)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.queue.is_empty()
            && self.active.is_none()
            && self.sending.is_none()
            && self.n_taken == self.n_read
    }
}

impl Engine {
    /// Notes that a packet goes through the port from cycle `port` on.
    pub(super) fn note_write(&mut self, port: u64, beats: u64) {
        for beat in 0..beats {
            let idx = self.store.beats_granted as usize % GRANTS;
            self.store.grants[idx] = port + beat;
            self.store.beats_granted += 1;
        }
        self.store.unanswered += 1;
        self.wake[STORE] = self.wake[STORE].min(port.saturating_sub(self.k.write_to_port));
    }

    /// Notes that a packet is acknowledged at the port in cycle `ack`, or behind the one
    /// before it.
    pub(super) fn acknowledge(&mut self, ack: u64) {
        let ack = (ack + self.k.port_to_writer).max(self.store.last_ack + 1);
        self.store.unanswered -= 1;
        if let Some(counts) = &mut self.counts {
            counts.writes.end(ack);
        }
        self.store.acks.push_back(ack);
        self.store.last_ack = ack;
        self.wake[STORE] = self.wake[STORE].min(ack + 1);
    }

    fn store_job(&self, slot: Slot) -> StoreJob {
        match self.station.entry(slot).work {
            Work::Store(job) => job,
            _ => StoreJob::default(),
        }
    }

    /// Does what the store path has to do in cycle `now`.
    pub(super) fn step_store(&mut self, now: u64) {
        let mut wake = self.step_writer(now);
        wake = wake.min(self.step_store_reads(now));
        // What has just been read may be due at the writer.
        wake = wake.min(self.step_writer(now));
        self.wake[STORE] = wake;
    }

    /// Moves row blocks along as far as the cycles are known.
    fn propagate(&mut self) {
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

    fn step_writer(&mut self, now: u64) -> u64 {
        loop {
            if let Some(mut sending) = self.store.sending {
                if let Some((natural, behind)) = sending.leaving {
                    // The stages up to the port hold a few beats.
                    let mut at = natural;
                    if let Some(beat) = behind {
                        if self.store.beats_granted <= beat {
                            return u64::MAX;
                        }
                        at = at.max(self.store.grants[beat as usize % GRANTS]);
                    }
                    sending.leaving = None;
                    sending.next = at + 1;
                    if sending.left == 0 {
                        // The next block is taken in the cycle of the last beat.
                        self.store.sending = None;
                        self.store.writer_ready = at;
                        if let Some(counts) = &mut self.counts {
                            counts.writer_active.add(self.store.sending_from, at + 1);
                        }
                    } else {
                        self.store.sending = Some(sending);
                    }
                    continue;
                }
                if sending.next > now {
                    return sending.next;
                }
                while self.store.acks.front().is_some_and(|ack| *ack <= now) {
                    self.store.acks.pop_front();
                }
                if self.store.acks.len() + self.store.unanswered + self.writes_waiting()
                    >= self.k.write_packets
                {
                    return self
                        .store
                        .acks
                        .front()
                        .map_or(u64::MAX, |ack| (*ack).max(now) + 1);
                }
                let beat = self.k.beat_bytes;
                let (size, bytes, kind) =
                    best_put(sending.address, sending.left, beat, self.k.max_bytes);
                let beats = u64::from(size / beat);
                self.stats.write_beats += beats;
                self.stats.write_packets += 1;
                self.store.bytes += u64::from(bytes);
                if let Some(counts) = &mut self.counts {
                    counts.write(sending.address, beats, now);
                }
                let last_beat = self.store.beats_sent + beats - 1;
                self.store.beats_sent += beats;
                sending.leaving = Some((
                    now + beats - 1,
                    last_beat.checked_sub(self.k.write_to_port.max(1)),
                ));
                self.request_write(sending.address, kind, beats, now + self.k.write_to_port);
                sending.address = sending.address.wrapping_add(u64::from(bytes));
                sending.left -= bytes;
                self.store.sending = Some(sending);
                continue;
            }
            self.propagate();
            let unit = &mut self.store;
            if unit.n_taken == unit.n_entered {
                return u64::MAX;
            }
            let idx = unit.n_taken;
            let block = unit.blocks[idx % HISTORY];
            let entered = unit.entered[idx % HISTORY];
            let arrives = if block.padding {
                entered + 1
            } else if block.accumulator {
                entered + self.k.acc_scale_latency
            } else {
                (entered + 1).max(unit.reads[idx % HISTORY] + self.k.spad_read_latency)
            };
            let at = arrives
                .max(unit.writer_ready)
                .max(ago(&unit.taken, idx, 1) + u64::from(idx > 0));
            if at > now {
                return at;
            }
            unit.taken[idx % HISTORY] = at;
            unit.n_taken += 1;
            unit.writer_ready = at + 1;
            if block.bytes > 0 {
                unit.sending_from = at + 1;
                unit.sending = Some(Sending {
                    address: block.address,
                    left: block.bytes,
                    next: at + 1,
                    leaving: None,
                });
            }
        }
    }

    fn step_store_reads(&mut self, now: u64) -> u64 {
        loop {
            if self.store.active.is_none() {
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
                self.store.active = Some(Active {
                    slot,
                    row: 0,
                    part: 0,
                    requested,
                });
                (self.store.start, self.store.first) = (at, requested);
            }
            let mut active = self.store.active.expect("just set");
            self.propagate();
            let unit = &self.store;
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
            let job = self.store_job(active.slot);
            let row = if job.pooled {
                job.row
            } else {
                job.row + active.row + active.part * job.part_stride
            };
            let bank = self.bank(job.accumulator, row);
            if job.is_padding(active.row, active.part) {
                // Waits for no bank.
            } else if job.accumulator {
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
            self.read_block(&mut active, &job, now);
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
    fn read_block(&mut self, active: &mut Active, job: &StoreJob, now: u64) {
        let last_part = active.part + 1 == job.parts;
        let pixel = if job.pooled {
            u64::from(active.row / job.pocols) * u64::from(job.out_dim)
                + u64::from(active.row % job.pocols)
        } else {
            u64::from(active.row)
        };
        let unit = &mut self.store;
        let idx = unit.n_read;
        unit.reads[idx % HISTORY] = now;
        unit.blocks[idx % HISTORY] = Block {
            address: job.dram.wrapping_add(job.stride.wrapping_mul(pixel)),
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
            self.store.active = None;
            self.store.queue.pop_front();
            self.note_store_room(done);
            self.schedule_completion(active.slot, now + 1);
        } else {
            active.requested = self.request(active.requested + 1);
            self.store.active = Some(*active);
        }
    }
}

/// Returns size and useful bytes of the packet that covers most of the next
/// bytes, of equals the smallest, and what it does to its line.
fn best_put(address: u64, left: u32, beat: u32, max: u32) -> (u32, u32, Kind) {
    let mut best = (beat, 0);
    let mut size = beat;
    while size <= max {
        let shift = (address & u64::from(size - 1)) as u32;
        let bytes = (size - shift).min(left);
        if bytes > best.1 {
            best = (size, bytes);
        }
        size *= 2;
    }
    let (size, bytes) = best;
    let first = (address & 63) as u32 / beat;
    let last = ((address & 63) as u32 + bytes.max(1) - 1) / beat;
    let kind = Kind::Put {
        partial: bytes < size,
        whole: bytes == 64,
        written: ((2 << last) - (1 << first)) as u8,
    };
    (size, bytes, kind)
}
