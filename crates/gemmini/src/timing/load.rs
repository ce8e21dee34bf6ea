//! Load controller and DMA reader.
//!
//! The controller turns a command into row requests, the reader cuts rows into
//! packets, whose beats go to the merger. Zeros take a shortcut.

use super::engine::{Engine, LOAD};
use super::job::{LoadJob, Work};
use super::merger::{Arrival, ENTERED, Merging, WIDE, WideRow};
use super::ring::Ring;
use super::station::Slot;
use std::collections::VecDeque;

/// Load slots of the reservation station.
const JOBS: usize = 16;
/// Cycles that the load path works ahead of the other units at most.
const AHEAD: u64 = 7;

#[derive(Clone, Copy, Debug)]
pub(super) struct Lead {
    slot: Slot,
    tracker: usize,
    row: u32,
    /// Cycle before which the next row cannot be requested.
    next: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RowRequest {
    slot: Slot,
    tracker: usize,
    row: u32,
    at: u64,
}

/// The row that the reader works on.
#[derive(Clone, Copy, Debug)]
pub(super) struct CurrentRow {
    slot: Slot,
    tracker: usize,
    row: u32,
    address: u64,
    done: u32,
    left: u32,
    next: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tracker {
    pub(super) busy: bool,
    pub(super) slot: Slot,
    pub(super) bytes_left: u32,
    /// Rows on the way of accumulator width.
    pub(super) wide_rows: u32,
    pub(super) last_write: u64,
}

/// What a read packet is for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Packet {
    pub(super) slot: Slot,
    pub(super) tracker: usize,
    pub(super) row: u32,
    /// Bytes of the row before this packet.
    pub(super) done: u32,
    pub(super) bytes: u32,
    pub(super) size: u32,
    pub(super) shift: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ZeroFill {
    slot: Slot,
    tracker: usize,
    row: u32,
    block: u32,
    /// Copies of a pixel side by side that are still to be written.
    pixel: u32,
    next: u64,
}

#[derive(Clone, Debug)]
pub(super) struct LoadUnit {
    pub(super) queue: VecDeque<(Slot, u64)>,
    /// Issued commands by slot.
    pub(super) jobs: [LoadJob; JOBS],
    pub(super) lead: Option<Lead>,
    pub(super) lead_ready: u64,
    /// Cycles in which the first row was tried and requested.
    lead_start: u64,
    lead_first: u64,
    pub(super) rows: Ring<RowRequest, 8>,
    /// Cycles at which the reader took the last rows.
    pub(super) accepted: [u64; 8],
    pub(super) accepted_count: usize,
    pub(super) current: Option<CurrentRow>,
    pub(super) reader_free: u64,
    pub(super) packets: u32,
    pub(super) releases: VecDeque<u64>,
    pub(super) trackers: Vec<Tracker>,
    pub(super) tracker_free: u64,
    pub(super) arrivals: VecDeque<Arrival>,
    pub(super) merging: Option<Merging>,
    pub(super) merger_free: u64,
    /// Beats that the L2 has answered, those of which it is known when they enter
    /// the merger, and the cycles at which the last of these do.
    pub(super) beats_answered: usize,
    pub(super) beats_entered: usize,
    pub(super) entered: [u64; ENTERED],
    /// Until when beats that the merger does not take hold up the L2.
    pub(super) held_until: u64,
    pub(super) write_free: u64,
    pub(super) written: [u64; 8],
    pub(super) written_count: usize,
    /// Rows of accumulator width whose writes are not scheduled, how many were
    /// before them, when the last of those were written, and from when on the next
    /// one can be.
    pub(super) wide: VecDeque<WideRow>,
    pub(super) wide_count: usize,
    pub(super) wide_written: [u64; WIDE],
    pub(super) wide_free: u64,
    pub(super) zero: Option<ZeroFill>,
    /// Cycle from which zeros of the next command can be written.
    zero_free: u64,
    /// Bytes read so far.
    pub(super) bytes: u64,
}

impl LoadUnit {
    pub(super) fn new(commands: usize) -> Self {
        Self {
            queue: VecDeque::with_capacity(16),
            jobs: [LoadJob::default(); JOBS],
            lead: None,
            lead_ready: 0,
            lead_start: 0,
            lead_first: 0,
            rows: Ring::new(RowRequest::default()),
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
            beats_answered: 0,
            beats_entered: 0,
            entered: [0; ENTERED],
            held_until: 0,
            write_free: 0,
            written: [0; 8],
            written_count: 0,
            wide: VecDeque::with_capacity(WIDE),
            wide_count: 0,
            wide_written: [0; WIDE],
            wide_free: 0,
            zero: None,
            zero_free: 0,
            bytes: 0,
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

    /// Returns the cycle from which the controller sends the rows of the
    /// command under way, if it does.
    pub(super) fn sending_since(&self) -> Option<u64> {
        let lead = self.lead.filter(|lead| 0 < lead.row);
        lead.map(|_| self.lead_first + 1)
    }

    /// Returns the cycle from which the reader works on its row, if it does.
    pub(super) fn reading_since(&self) -> Option<u64> {
        self.current.map(|row| row.next)
    }

    /// Returns the cycle from which another row of accumulator width can leave the
    /// merger, or nothing if that is not known yet.
    pub(super) fn wide_taken(&self) -> Option<u64> {
        let count = self.wide_count + self.wide.len();
        match count.checked_sub(WIDE) {
            None => Some(0),
            Some(before) if before < self.wide_count => Some(self.wide_written[before % WIDE] + 1),
            Some(_) => None,
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
        if !self.load.wide.is_empty() {
            self.step_wide(now);
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
        if !self.is_merger_idle() {
            wake = wake.min(self.step_merge(now));
        }
        if !self.load.wide.is_empty() {
            wake = wake.min(self.step_wide(now));
        }
        if self.load.current.is_some()
            && self.load.packets >= self.k.read_packets
            && let Some(release) = self.load.releases.front()
        {
            wake = wake.min((*release).max(now + 1));
        }
        self.wake[LOAD] = wake;
    }

    #[inline]
    pub(super) fn load_job(&self, slot: Slot) -> &LoadJob {
        &self.load.jobs[slot as usize % JOBS]
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
                let job_rows = self.load_job(lead.slot).rows;
                let depth = self.k.row_queue;
                let mut at = lead.next;
                while lead.row < job_rows && self.load.rows.len() < depth {
                    // The slot of the row `depth` before this one is free in
                    // the cycle in which the reader takes that row.
                    let count = self.load.accepted_count + self.load.rows.len();
                    if count >= depth {
                        at = at.max(self.load.accepted[(count - depth) % 8]);
                    }
                    if lead.row == 0 {
                        self.load.lead_first = at;
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
                if lead.row < job_rows {
                    self.load.lead = Some(lead);
                    return u64::MAX;
                }
                self.load.lead = None;
                // A command of one row costs an extra cycle.
                self.load.lead_ready = lead.next + u64::from(job_rows == 1);
                let ready = self.load.lead_ready;
                if let Some(counts) = &mut self.counts {
                    let (start, first) = (self.load.lead_start, self.load.lead_first);
                    counts.loaded(start, first, ready, job_rows);
                }
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
            let (bytes_left, zero) = (job.row_bytes * job.rows, job.zero);
            let pixel = job.pixel_repeats.max(1) - 1;
            self.load.trackers[tracker] = Tracker {
                busy: true,
                slot,
                bytes_left,
                wide_rows: 0,
                last_write: 0,
            };
            if zero {
                let next = (at + self.k.zero_to_write)
                    .max(now)
                    .max(self.load.zero_free);
                self.load.zero = Some(ZeroFill {
                    slot,
                    tracker,
                    row: 0,
                    block: 0,
                    pixel,
                    next,
                });
                self.load.lead_start = at;
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
            self.load.lead_start = at;
        }
    }

    /// Sends packets that are due; returns whether there is room for rows again,
    /// and when to look again.
    fn step_reader(&mut self, now: u64) -> (bool, u64) {
        let accepted = self.load.accepted_count;
        if let Some(row) = self.load.current {
            let (left, at) = self.send_packets(row, now);
            self.load.current = left;
            if left.is_some() {
                return (false, at);
            }
        }
        while let Some(request) = self.load.rows.front().copied() {
            self.load.rows.drop_front(1);
            let row = self.take_row(&request);
            let (left, at) = self.send_packets(row, now);
            if left.is_some() {
                self.load.current = left;
                return (true, at);
            }
        }
        (self.load.accepted_count != accepted, u64::MAX)
    }

    /// Returns a row that the reader takes, as soon as it can.
    #[inline]
    fn take_row(&mut self, request: &RowRequest) -> CurrentRow {
        let taken = (request.at + 1).max(self.load.reader_free);
        let count = self.load.accepted_count;
        self.load.accepted[count % 8] = taken;
        self.load.accepted_count += 1;
        let job = self.load_job(request.slot);
        let offset = job.stride.wrapping_mul(u64::from(request.row));
        CurrentRow {
            slot: request.slot,
            tracker: request.tracker,
            row: request.row,
            address: job.dram.wrapping_add(offset),
            done: 0,
            left: job.row_bytes,
            next: taken + self.k.row_to_packet - 1,
        }
    }

    /// Sends the packets of a row that are due; returns what is left of the row,
    /// if anything is, and when to look again.
    #[inline]
    fn send_packets(&mut self, mut row: CurrentRow, now: u64) -> (Option<CurrentRow>, u64) {
        let horizon = self.load_horizon(now);
        loop {
            if row.next > horizon {
                return (Some(row), row.next);
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
                let release = self.load.releases.front();
                let again = release.map_or(u64::MAX, |release| (*release).max(now + 1));
                return (Some(row), again);
            }
            let (size, bytes, shift) =
                best_packet(row.address, row.left, self.k.beat_bytes, self.k.max_bytes);
            let beats = u64::from(size >> self.k.beat_bytes.trailing_zeros());
            self.stats.read_beats += beats;
            self.stats.read_packets += 1;
            self.load.bytes += u64::from(bytes);
            if let Some(counts) = &mut self.counts {
                counts.read(row.address, row.next, at);
            }
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
                self.load.reader_free = at;
                return (None, u64::MAX);
            }
        }
    }

    /// Writes zero rows that are due; returns when to look again.
    fn step_zero(&mut self, now: u64) -> u64 {
        let Some(mut zero) = self.load.zero else {
            return u64::MAX;
        };
        let job = *self.load_job(zero.slot);
        let blocks = job.row_bytes.div_ceil(job.block_bytes);
        while zero.next <= now {
            let row = job.row + zero.row + zero.block * job.block_stride;
            let row = row.saturating_sub(zero.pixel);
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
            if zero.pixel > 0 {
                zero.pixel -= 1;
                continue;
            }
            zero.pixel = job.pixel_repeats.max(1) - 1;
            if zero.block == 0 && zero.row + 1 == job.rows {
                // The writer and what copies pixels behind it hold a row each.
                let held = self.k.zero_to_write * u64::from(job.pixel_repeats.max(1));
                self.load.lead_ready = (at + 1).saturating_sub(held).max(self.load.lead_start + 1)
                    + u64::from(job.rows == 1);
                let ready = self.load.lead_ready;
                if let Some(counts) = &mut self.counts {
                    let start = self.load.lead_start;
                    counts.loaded(start, start, ready, job.rows);
                }
            }
            self.load.zero_free = zero.next;
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
    if left >= max && address & u64::from(max - 1) == 0 {
        return (max, max, 0);
    }
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
