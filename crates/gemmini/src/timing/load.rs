//! Load controller, DMA reader, beat merger and the write side of moves in.
//!
//! The controller turns a command into row requests, the reader cuts rows into
//! packets, the beat merger puts the beats of one packet after the other
//! together to local rows. Zeros take a shortcut.

use super::engine::{Engine, LOAD};
use super::job::{LoadJob, Work};
use super::station::Slot;
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug)]
struct Lead {
    slot: Slot,
    tracker: usize,
    row: u32,
    /// Cycle before which the next row cannot be requested.
    next: u64,
}

#[derive(Clone, Copy, Debug)]
struct RowRequest {
    slot: Slot,
    tracker: usize,
    row: u32,
    at: u64,
}

/// The row that the reader works on.
#[derive(Clone, Copy, Debug)]
struct CurrentRow {
    slot: Slot,
    tracker: usize,
    row: u32,
    address: u64,
    done: u32,
    left: u32,
    next: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Tracker {
    busy: bool,
    slot: Slot,
    bytes_left: u32,
    last_write: u64,
}

/// A read packet whose beats are on their way.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    first: u64,
    spacing: u64,
    slot: Slot,
    tracker: usize,
    row: u32,
    /// Bytes of the row before this packet.
    done: u32,
    bytes: u32,
    size: u32,
    shift: u32,
}

#[derive(Clone, Copy, Debug)]
struct ZeroFill {
    slot: Slot,
    tracker: usize,
    row: u32,
    block: u32,
    next: u64,
}

#[derive(Clone, Debug)]
pub(super) struct LoadUnit {
    queue: VecDeque<(Slot, u64)>,
    lead: Option<Lead>,
    lead_ready: u64,
    rows: VecDeque<RowRequest>,
    /// Cycles at which the reader took the last rows.
    accepted: [u64; 8],
    accepted_count: usize,
    current: Option<CurrentRow>,
    reader_free: u64,
    packets: u32,
    releases: VecDeque<u64>,
    trackers: Vec<Tracker>,
    tracker_free: u64,
    arrivals: VecDeque<Arrival>,
    merger_free: u64,
    write_free: u64,
    written: [u64; 8],
    written_count: usize,
    zero: Option<ZeroFill>,
}

impl LoadUnit {
    pub(super) fn new(commands: usize) -> Self {
        Self {
            queue: VecDeque::with_capacity(16),
            lead: None,
            lead_ready: 0,
            rows: VecDeque::with_capacity(8),
            accepted: [0; 8],
            accepted_count: 0,
            current: None,
            reader_free: 0,
            packets: 0,
            releases: VecDeque::with_capacity(32),
            trackers: vec![Tracker::default(); commands],
            tracker_free: 0,
            arrivals: VecDeque::with_capacity(32),
            merger_free: 0,
            write_free: 0,
            written: [0; 8],
            written_count: 0,
            zero: None,
        }
    }

    pub(super) fn push(&mut self, slot: Slot, visible: u64) {
        self.queue.push_back((slot, visible));
    }

    /// Frees the tracker of a completed command.
    pub(super) fn complete(&mut self, slot: Slot, cycle: u64) {
        for tracker in &mut self.trackers {
            if tracker.busy && tracker.slot == slot {
                tracker.busy = false;
                self.tracker_free = cycle + 1;
            }
        }
    }

    /// Returns whether packets are outstanding at `cycle`.
    pub(super) fn last_release(&self) -> u64 {
        self.releases.back().copied().unwrap_or(0)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.queue.is_empty()
            && self.lead.is_none()
            && self.rows.is_empty()
            && self.current.is_none()
            && self.arrivals.is_empty()
            && self.zero.is_none()
    }
}

impl Engine {
    /// Does what the load path has to do in cycle `now`.
    pub(super) fn step_load(&mut self, now: u64) {
        while let Some(arrival) = self.load.arrivals.front() {
            if arrival.first > now {
                break;
            }
            let arrival = self.load.arrivals.pop_front().expect("just seen");
            self.merge(&arrival);
        }
        let mut wake = self.step_zero(now);
        loop {
            wake = wake.min(self.step_lead(now));
            let (again, at) = self.step_reader(now);
            if !again {
                wake = wake.min(at);
                break;
            }
        }
        // Packets sent in this cycle may have been answered at once.
        if let Some(arrival) = self.load.arrivals.front() {
            wake = wake.min(arrival.first);
        }
        self.wake[LOAD] = wake;
    }

    fn load_job(&self, slot: Slot) -> LoadJob {
        match self.station.entry(slot).work {
            Work::Load(job) => job,
            _ => LoadJob::default(),
        }
    }

    /// Requests rows as far as the row queue has room; returns when to look
    /// again.
    fn step_lead(&mut self, now: u64) -> u64 {
        loop {
            if let Some(mut lead) = self.load.lead {
                let job = self.load_job(lead.slot);
                let depth = self.k.row_queue;
                let mut at = lead.next;
                while lead.row < job.rows && self.load.rows.len() < depth {
                    // The slot of the row `depth` before this one is free in
                    // the cycle in which the reader takes that row.
                    let count = self.load.accepted_count + self.load.rows.len();
                    if count >= depth {
                        at = at.max(self.load.accepted[(count - depth) % 8]);
                    }
                    self.load.rows.push_back(RowRequest {
                        slot: lead.slot,
                        tracker: lead.tracker,
                        row: lead.row,
                        at,
                    });
                    lead.row += 1;
                    lead.next = at + 1;
                    at += 1;
                }
                if lead.row < job.rows {
                    self.load.lead = Some(lead);
                    return u64::MAX;
                }
                self.load.lead = None;
                // A command of one row costs an extra cycle.
                self.load.lead_ready = lead.next + u64::from(job.rows == 1);
            }
            if self.load.zero.is_some() {
                return u64::MAX;
            }
            let Some((slot, visible)) = self.load.queue.front().copied() else {
                return u64::MAX;
            };
            let at = visible.max(self.load.lead_ready);
            if at > now {
                return at;
            }
            if self.config_in_queue(slot) {
                self.load.queue.pop_front();
                self.load.lead_ready = at + 1;
                continue;
            }
            let Some(tracker) = self.load.trackers.iter().position(|tracker| !tracker.busy) else {
                return u64::MAX;
            };
            let at = at.max(self.load.tracker_free.min(now));
            if self.load.tracker_free > now {
                return self.load.tracker_free;
            }
            self.load.queue.pop_front();
            let job = self.load_job(slot);
            self.load.trackers[tracker] = Tracker {
                busy: true,
                slot,
                bytes_left: job.row_bytes * job.rows,
                last_write: 0,
            };
            if job.zero {
                let next = (at + self.k.zero_to_write).max(now);
                self.load.zero = Some(ZeroFill {
                    slot,
                    tracker,
                    row: 0,
                    block: 0,
                    next,
                });
                self.wake[LOAD] = self.wake[LOAD].min(next);
                if next <= now {
                    let again = self.step_zero(now);
                    if again != u64::MAX {
                        return again;
                    }
                    continue;
                }
                return next;
            }
            self.load.lead = Some(Lead {
                slot,
                tracker,
                row: 0,
                next: at,
            });
        }
    }

    /// Sends packets that are due; returns whether the controller should look
    /// again, and when to look again.
    fn step_reader(&mut self, now: u64) -> (bool, u64) {
        loop {
            let Some(mut row) = self.load.current else {
                let Some(request) = self.load.rows.pop_front() else {
                    return (false, u64::MAX);
                };
                let taken = (request.at + 1).max(self.load.reader_free);
                let count = self.load.accepted_count;
                self.load.accepted[count % 8] = taken;
                self.load.accepted_count += 1;
                let job = self.load_job(request.slot);
                self.load.current = Some(CurrentRow {
                    slot: request.slot,
                    tracker: request.tracker,
                    row: request.row,
                    address: job
                        .dram
                        .wrapping_add(job.stride.wrapping_mul(u64::from(request.row))),
                    done: 0,
                    left: job.row_bytes,
                    next: taken + self.k.row_to_packet - 1,
                });
                return (true, now);
            };
            if row.next > now {
                return (false, row.next);
            }
            while self
                .load
                .releases
                .front()
                .is_some_and(|release| *release <= row.next.max(now))
            {
                self.load.releases.pop_front();
                self.load.packets -= 1;
            }
            if self.load.packets >= self.k.read_packets {
                return (
                    false,
                    self.load
                        .releases
                        .front()
                        .map_or(u64::MAX, |release| (*release).max(now + 1)),
                );
            }
            let (size, bytes, shift) =
                best_packet(row.address, row.left, self.k.beat_bytes, self.k.max_bytes);
            let at = row.next.max(now);
            let port = (at + self.k.read_to_port).max(self.port_free);
            let beats = u64::from(size / self.k.beat_bytes);
            let reply = self.memory.read(row.address, beats, port);
            self.port_free = (port + 1).max(reply.blocked_until);
            self.stats.read_beats += beats;
            self.stats.read_packets += 1;
            self.load.packets += 1;
            let arrival = Arrival {
                first: reply.first + self.k.port_to_merger,
                spacing: reply.spacing,
                slot: row.slot,
                tracker: row.tracker,
                row: row.row,
                done: row.done,
                bytes,
                size,
                shift,
            };
            if reply.hit && self.load.arrivals.is_empty() {
                self.merge(&arrival);
            } else {
                let place = self
                    .load
                    .arrivals
                    .partition_point(|other| other.first <= arrival.first);
                self.load.arrivals.insert(place, arrival);
            }
            row.address = row.address.wrapping_add(u64::from(bytes));
            row.done += bytes;
            row.left -= bytes;
            row.next = at + 1;
            if row.left == 0 {
                self.load.current = None;
                self.load.reader_free = at;
                return (true, now);
            }
            self.load.current = Some(row);
        }
    }

    /// Puts the beats of a packet together and schedules the writes.
    fn merge(&mut self, packet: &Arrival) {
        let job = self.load_job(packet.slot);
        let beat = u64::from(self.k.beat_bytes);
        let beats = u64::from(packet.size) / beat;
        let start = packet.first.max(self.load.merger_free);
        let enter = |idx: u64| (start + idx).max(packet.first + idx * packet.spacing);
        let last_in = enter(beats - 1);
        let block_bytes = u64::from(job.block_bytes);
        let (bytes, shift) = (u64::from(packet.bytes), u64::from(packet.shift));
        let mut offset = u64::from(packet.done) % block_bytes;
        let mut block = u64::from(packet.done) / block_bytes;
        let mut sent = 0;
        let mut out = start;
        let mut last_write = 0;
        while sent < bytes {
            let need = (sent + block_bytes).min(bytes) + shift;
            let idx = need.div_ceil(beat).max(1) - 1;
            out = (out + 1).max(enter(idx.min(beats - 1)) + 1);
            if self.load.written_count >= self.k.write_stages {
                let before = self.load.written[(self.load.written_count - self.k.write_stages) % 8];
                out = out.max(before.saturating_sub(self.k.merger_to_write - 1));
            }
            let last = sent + (block_bytes - offset) >= bytes;
            last_write = self.write_row(&job, packet.row, block as u32, out, last);
            sent = (sent + block_bytes - offset).min(bytes);
            offset = 0;
            block += 1;
        }
        self.load.merger_free = if out > last_in {
            out
        } else if out == last_in {
            last_in + 2
        } else {
            last_in + 1
        };
        self.load.releases.push_back(last_in + 1);
        let tracker = &mut self.load.trackers[packet.tracker];
        tracker.bytes_left = tracker.bytes_left.saturating_sub(packet.bytes);
        tracker.last_write = tracker.last_write.max(last_write);
        if tracker.bytes_left == 0 {
            let (slot, at) = (tracker.slot, tracker.last_write + 1);
            self.schedule_completion(slot, at);
        }
    }

    /// Schedules the writes of one block of a row that leaves the merger in
    /// cycle `out`; returns the cycle of the last one.
    fn write_row(&mut self, job: &LoadJob, row: u32, block: u32, out: u64, last: bool) -> u64 {
        let delay = if job.wide {
            self.k.merger_to_acc_write
        } else {
            self.k.merger_to_write
        };
        let mut at = out + delay;
        let mut pace = 1;
        if job.scaled {
            at += self.k.scale_latency;
            pace = self.k.scale_pace;
        }
        let base = job.row + row + block * job.block_stride;
        for repeat in 0..=job.repeats {
            // The hardware writes the copies from the last row upwards.
            let target = base + job.repeats - repeat;
            for pixel in (0..job.pixel_repeats).rev() {
                at = at.max(self.load.write_free);
                let target = target.saturating_sub(pixel);
                let bank = self.bank(job.accumulator, target);
                if job.accumulator {
                    at = self.acc_ex_writes[bank].first_free(at);
                    if job.accumulate {
                        self.acc_reads_blocked[bank].mark(at);
                    }
                } else {
                    at = self.spad_ex_writes[bank].first_free(at);
                    self.spad_writes[bank].mark(at);
                }
                self.load.write_free = at + pace;
            }
        }
        if last {
            self.load_last.mark(at);
        }
        let count = self.load.written_count;
        self.load.written[count % 8] = at;
        self.load.written_count += 1;
        at
    }

    /// Writes zero rows that are due; returns when to look again.
    fn step_zero(&mut self, now: u64) -> u64 {
        let Some(mut zero) = self.load.zero else {
            return u64::MAX;
        };
        let job = self.load_job(zero.slot);
        let blocks = job.row_bytes.div_ceil(job.block_bytes);
        while zero.next <= now {
            let row = job.row + zero.row + zero.block * job.block_stride;
            let bank = self.bank(job.accumulator, row);
            let busy = self.load_last.is_marked(zero.next)
                || if job.accumulator {
                    self.acc_ex_writes[bank].is_marked(zero.next)
                } else {
                    self.spad_writes[bank].is_marked(zero.next)
                };
            if busy {
                zero.next += 1;
                continue;
            }
            if !job.accumulator {
                self.spad_writes[bank].mark(zero.next);
            } else if job.accumulate {
                self.acc_reads_blocked[bank].mark(zero.next);
            }
            let at = zero.next;
            zero.next += 1;
            if zero.block == 0 && zero.row + 1 == job.rows {
                self.load.lead_ready =
                    (at + 1).saturating_sub(self.k.zero_to_write) + u64::from(job.rows == 1);
            }
            zero.block += 1;
            if zero.block == blocks {
                zero.block = 0;
                zero.row += 1;
            }
            if zero.row == job.rows {
                self.load.zero = None;
                self.load.trackers[zero.tracker].bytes_left = 0;
                self.schedule_completion(zero.slot, at + 1);
                return u64::MAX;
            }
        }
        self.load.zero = Some(zero);
        zero.next
    }
}

/// Returns size, useful bytes and offset of the packet that covers most of a
/// row's next bytes; of equals the smallest.
fn best_packet(address: u64, left: u32, beat: u32, max: u32) -> (u32, u32, u32) {
    let mut best = (beat, 0, 0);
    let mut size = beat;
    while size <= max {
        let shift = (address & u64::from(size - 1)) as u32;
        let bytes = (size - shift).min(left);
        if bytes > best.1 {
            best = (size, bytes, shift);
        }
        size *= 2;
    }
    best
}

#[cfg(test)]
mod tests {
    use super::best_packet;

    #[test]
    fn packets_cover_most_bytes_and_are_small() {
        assert_eq!(best_packet(0, 64, 16, 64), (64, 64, 0));
        assert_eq!(best_packet(0, 16, 16, 64), (16, 16, 0));
        assert_eq!(best_packet(0, 48, 16, 64), (64, 48, 0));
        assert_eq!(best_packet(16, 64, 16, 64), (64, 48, 16));
        assert_eq!(best_packet(48, 64, 16, 64), (16, 16, 48 & 15));
        assert_eq!(best_packet(8, 16, 16, 64), (32, 16, 8));
        assert_eq!(best_packet(60, 16, 16, 64), (16, 4, 12));
    }
}
