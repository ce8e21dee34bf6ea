//! Load controller, DMA reader, beat merger and the write side of moves in.
//!
//! The controller turns a command into row requests, the reader cuts rows into
//! packets, the beat merger puts the beats of one packet after the other
//! together to local rows. Zeros take a shortcut.

use super::calendar::Calendar;
use super::engine::{Engine, LOAD};
use super::job::{LoadJob, Work};
use super::station::Slot;
use std::collections::VecDeque;

/// Load slots of the reservation station.
const JOBS: usize = 16;
/// Cycles that the load path works ahead of the other units at most.
const AHEAD: u64 = 12;

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

/// What a read packet is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    slot: Slot,
    tracker: usize,
    row: u32,
    /// Bytes of the row before this packet.
    done: u32,
    bytes: u32,
    size: u32,
    shift: u32,
}

/// A read packet whose beats are on their way.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    first: u64,
    spacing: u64,
    packet: Packet,
}

/// The packet whose rows leave the beat merger.
#[derive(Clone, Copy, Debug)]
struct Merging {
    packet: Packet,
    /// Cycles at which its first and last beat enter.
    start: u64,
    last_in: u64,
    first: u64,
    spacing: u64,
    sent: u64,
    offset: u64,
    block: u32,
    out: u64,
    /// Cycle at which the row in turn could be written, once it has left.
    write_at: Option<u64>,
    /// Writes of the row in turn that are done.
    writes: u32,
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
    /// Issued commands by slot.
    jobs: [LoadJob; JOBS],
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
    merging: Option<Merging>,
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
            jobs: [LoadJob::default(); JOBS],
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
            merging: None,
            merger_free: 0,
            write_free: 0,
            written: [0; 8],
            written_count: 0,
            zero: None,
        }
    }

    pub(super) fn push(&mut self, slot: Slot, work: &Work, visible: u64) {
        if let Work::Load(job) = work {
            self.jobs[slot as usize % JOBS] = *job;
        }
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
}

impl Engine {
    /// Does what the load path has to do in cycle `now`.
    pub(super) fn step_load(&mut self, now: u64) {
        let mut wake = self.step_zero(now);
        loop {
            wake = wake.min(self.step_lead(now));
            let (again, at) = self.step_reader(now);
            if !again {
                wake = wake.min(at);
                break;
            }
        }
        wake = wake.min(self.step_merge(now));
        if self.load.current.is_some()
            && self.load.packets >= self.k.read_packets
            && let Some(release) = self.load.releases.front()
        {
            wake = wake.min((*release).max(now + 1));
        }
        self.wake[LOAD] = wake;
    }

    #[inline]
    fn load_job(&self, slot: Slot) -> LoadJob {
        self.load.jobs[slot as usize % JOBS]
    }

    /// Returns up to which cycle the load path may work ahead: with an idle
    /// writer nothing else comes to the port in the meantime.
    #[inline]
    fn load_horizon(&self, now: u64) -> u64 {
        if self.store.is_idle() && self.load.zero.is_none() {
            now + AHEAD
        } else {
            now
        }
    }

    fn is_plain_load(&self, slot: Slot) -> bool {
        !self.config_in_queue(slot) && !self.load_job(slot).zero
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
            if at > self.load_horizon(now) || (at > now && !self.is_plain_load(slot)) {
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
            let horizon = self.load_horizon(now);
            if row.next > horizon {
                return (false, row.next);
            }
            let mut at = row.next.max(now);
            while let Some(release) = self.load.releases.front().copied() {
                if release > at {
                    // The packet can leave as soon as another one is in.
                    if self.load.packets < self.k.read_packets || release > horizon {
                        break;
                    }
                    at = release;
                }
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
            let beats = u64::from(size / self.k.beat_bytes);
            self.stats.read_beats += beats;
            self.stats.read_packets += 1;
            self.load.packets += 1;
            let packet = Packet {
                slot: row.slot,
                tracker: row.tracker,
                row: row.row,
                done: row.done,
                bytes,
                size,
                shift,
            };
            self.request_read(row.address, beats, at + self.k.read_to_port, packet);
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

    /// Notes a packet whose first beat comes to the port in cycle `first`;
    /// `in_order` says that no packet requested later can overtake it.
    pub(super) fn note_arrival(
        &mut self,
        packet: Packet,
        first: u64,
        spacing: u64,
        in_order: bool,
    ) {
        let arrival = Arrival {
            first: first + self.k.port_to_merger,
            spacing,
            packet,
        };
        if in_order && self.load.arrivals.is_empty() && self.load.merging.is_none() {
            self.begin_merge(&arrival);
            let at = self.step_merge(self.now);
            self.wake[LOAD] = self.wake[LOAD].min(at);
            return;
        }
        let place = self
            .load
            .arrivals
            .partition_point(|other| other.first <= arrival.first);
        self.load.arrivals.insert(place, arrival);
        // No packet requested later can overtake one that comes this soon.
        let at = arrival.first.saturating_sub(self.k.lookahead);
        self.wake[LOAD] = self.wake[LOAD].min(at);
    }

    /// Puts the beats of packets together and schedules the writes of their
    /// rows as far as it is known what else writes; returns when to look again.
    fn step_merge(&mut self, now: u64) -> u64 {
        loop {
            if let Some(mut merging) = self.load.merging {
                let wake = self.merge_rows(&mut merging, now);
                if wake != 0 {
                    self.load.merging = Some(merging);
                    return wake;
                }
                self.load.merging = None;
                self.finish_packet(&merging);
            }
            let Some(arrival) = self.load.arrivals.front().copied() else {
                return u64::MAX;
            };
            if arrival.first > now + self.k.lookahead {
                return arrival.first - self.k.lookahead;
            }
            self.load.arrivals.pop_front();
            self.begin_merge(&arrival);
        }
    }

    fn begin_merge(&mut self, arrival: &Arrival) {
        let packet = arrival.packet;
        let beats = u64::from(packet.size / self.k.beat_bytes);
        let start = arrival.first.max(self.load.merger_free);
        let block_bytes = self.load_job(packet.slot).block_bytes;
        self.load.merging = Some(Merging {
            packet,
            start,
            last_in: (start + beats - 1).max(arrival.first + (beats - 1) * arrival.spacing),
            first: arrival.first,
            spacing: arrival.spacing,
            sent: 0,
            offset: u64::from(packet.done % block_bytes),
            block: packet.done / block_bytes,
            out: start,
            write_at: None,
            writes: 0,
        });
    }

    /// Lets the rows of a packet leave the merger; returns when to go on, or 0
    /// if all have left and are written.
    fn merge_rows(&mut self, merging: &mut Merging, now: u64) -> u64 {
        let packet = merging.packet;
        let job = self.load_job(packet.slot);
        let beat_shift = self.k.beat_bytes.trailing_zeros();
        let block_bytes = u64::from(job.block_bytes);
        let (bytes, shift) = (u64::from(packet.bytes), u64::from(packet.shift));
        let last_beat = (u64::from(packet.size) >> beat_shift) - 1;
        let delay = if job.wide {
            self.k.merger_to_acc_write
        } else {
            self.k.merger_to_write
        } + if job.scaled { self.k.scale_latency } else { 0 };
        while merging.sent < bytes {
            let rest = block_bytes - merging.offset;
            let last = merging.sent + rest >= bytes;
            let write_at = match merging.write_at {
                Some(at) => at,
                None => {
                    // The last byte of the row, counted from 0.
                    let end = (merging.sent + block_bytes).min(bytes) + shift - 1;
                    let idx = (end >> beat_shift).min(last_beat);
                    let entered = (merging.start + idx).max(merging.first + idx * merging.spacing);
                    let mut out = (merging.out + 1).max(entered + 1);
                    if self.load.written_count >= self.k.write_stages {
                        let idx = self.load.written_count - self.k.write_stages;
                        let before = self.load.written[idx % 8];
                        out = out.max(before.saturating_sub(self.k.merger_to_write - 1));
                    }
                    merging.out = out;
                    out + delay
                }
            };
            let wake = self.write_row(&job, merging, write_at, last, now);
            if wake != 0 {
                merging.write_at = Some(write_at);
                return wake;
            }
            merging.write_at = None;
            merging.writes = 0;
            merging.sent = (merging.sent + rest).min(bytes);
            merging.offset = 0;
            merging.block += 1;
        }
        0
    }

    fn finish_packet(&mut self, merging: &Merging) {
        let (out, last_in) = (merging.out, merging.last_in);
        self.load.merger_free = if out > last_in {
            out
        } else if out == last_in {
            last_in + 2
        } else {
            last_in + 1
        };
        self.load.releases.push_back(last_in + 1);
        let tracker = &mut self.load.trackers[merging.packet.tracker];
        tracker.bytes_left = tracker.bytes_left.saturating_sub(merging.packet.bytes);
        if tracker.bytes_left == 0 {
            let (slot, at) = (tracker.slot, tracker.last_write + 1);
            self.schedule_completion(slot, at);
        }
        self.wake[LOAD] = self.wake[LOAD].min(last_in + 1);
    }

    /// Schedules the writes of one block of a row from cycle `at` on; returns
    /// when to go on, or 0 if all are scheduled.
    fn write_row(
        &mut self,
        job: &LoadJob,
        merging: &mut Merging,
        at: u64,
        last: bool,
        now: u64,
    ) -> u64 {
        let pace = if job.scaled { self.k.scale_pace } else { 1 };
        let base = job.row + merging.packet.row + merging.block * job.block_stride;
        let writes = (job.repeats + 1) * job.pixel_repeats;
        let mut at = at;
        while merging.writes < writes {
            at = at.max(self.load.write_free);
            let target = if writes == 1 {
                base
            } else {
                // The hardware writes the copies from the last row upwards.
                let repeat = merging.writes / job.pixel_repeats;
                let pixel = job.pixel_repeats - 1 - merging.writes % job.pixel_repeats;
                (base + job.repeats - repeat).saturating_sub(pixel)
            };
            let bank = self.bank(job.accumulator, target);
            // Results of the array go first.
            let free = self.results(job.accumulator, bank).first_free(at);
            // Results of rows that the array takes from now on come later.
            let known = now + self.k.read_latency + self.k.mesh_latency;
            if free >= known {
                return free - (self.k.mesh_latency >> 1);
            }
            at = free;
            if free > now + self.k.read_latency {
                self.advance_execute(now);
                at = self.results(job.accumulator, bank).first_free(free);
                if at >= known {
                    return at - (self.k.mesh_latency >> 1);
                }
            }
            if job.accumulator {
                if job.accumulate {
                    self.acc_reads_blocked[bank].mark(at);
                }
            } else {
                self.spad_writes[bank].mark(at);
            }
            self.load.write_free = at + pace;
            merging.writes += 1;
            if merging.writes < writes {
                at += pace;
            }
        }
        if last {
            self.load_last.mark(at);
        }
        let count = self.load.written_count;
        self.load.written[count % 8] = at;
        self.load.written_count += 1;
        let tracker = &mut self.load.trackers[merging.packet.tracker];
        tracker.last_write = tracker.last_write.max(at);
        0
    }

    /// Returns when results of the array are written to a bank.
    #[inline]
    fn results(&self, accumulator: bool, bank: usize) -> &Calendar {
        if accumulator {
            &self.acc_ex_writes[bank]
        } else {
            &self.spad_ex_writes[bank]
        }
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
