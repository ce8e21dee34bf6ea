//! Rows on their way from the merger to their writes.
//!
//! Those of accumulator width have a way of their own with room for one row, so that
//! neither kind waits for the other behind the merger. A write is scheduled once it is known
//! what goes first; what happens at the merger does not hang on when that is.
//!
//! *Source*: Gemmini, `Scratchpad`, `VectorScalarMultiplier`, of which there are two.

use super::Merging;
use crate::timing::adders::Adder;
use crate::timing::calendar::Calendar;
use crate::timing::engine::{Engine, LOAD};
use crate::timing::job::LoadJob;
use crate::timing::load::LoadUnit;
use crate::timing::station::Slot;

/// Places for rows between the merger and their writes, a power of two.
pub(in crate::timing) const STAGES: usize = 8;
/// A row that has left the merger.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::timing) struct UnwrittenRow {
    slot: Slot,
    tracker: usize,
    /// Local row, and of copies the first one.
    row: u32,
    /// Writes that are scheduled.
    writes: u32,
    /// It is the last row of its packet.
    last: bool,
    /// Cycle from which it could be written.
    from: u64,
}

/// A row of accumulator width that has left the merger and is not written.
#[derive(Clone, Copy, Debug)]
pub(in crate::timing) struct WideRow {
    slot: Slot,
    tracker: usize,
    /// First local row of the copies, and how many are to be written: the last
    /// ones go first.
    row: u32,
    left: u32,
    /// It is the last row of its packet.
    last: bool,
    /// Cycle from which the next copy could be written, and in which it came there.
    next: u64,
    from: u64,
}

impl LoadUnit {
    /// Returns the cycle from which another row of accumulator width can leave the
    /// merger, in which the one before is written, or nothing if that is not known yet.
    #[inline]
    fn wide_taken(&self) -> Option<u64> {
        match self.wide {
            None => Some(self.wide_free.saturating_sub(1)),
            Some(_) => None,
        }
    }

    /// Returns when the row was written that was `stages` before the next one of the
    /// others, or nothing if that is not known yet.
    #[inline]
    fn written_before(&self, stages: usize) -> Option<u64> {
        let count = self.written_count + self.unwritten.len();
        match count.checked_sub(stages) {
            None => Some(0),
            Some(before) if before < self.written_count => Some(self.written[before % STAGES]),
            Some(_) => None,
        }
    }
}

impl Engine {
    /// Lets the rows of a packet leave the merger as far as there is room for them;
    /// returns whether all have left.
    pub(super) fn merge_rows(&mut self, merging: &mut Merging, now: u64) -> bool {
        let packet = merging.packet;
        let job = *self.load_job(packet.slot);
        let beat_shift = self.k.beat_bytes.trailing_zeros();
        let block_bytes = u64::from(job.block_bytes);
        let (bytes, shift) = (u64::from(packet.bytes), u64::from(packet.shift));
        let last_beat = (u64::from(packet.size) >> beat_shift) - 1;
        while merging.sent < bytes {
            let taken = if job.wide {
                self.load.wide_taken()
            } else {
                let written = self.load.written_before(self.k.write_stages);
                written.map(|at| at.saturating_sub(self.k.merger_to_write - 1))
            };
            let Some(taken) = taken else {
                // A write makes room.
                return false;
            };
            let rest = block_bytes - merging.offset;
            let last = merging.sent + rest >= bytes;
            // The last byte of the row, counted from 0.
            let end = (merging.sent + block_bytes).min(bytes) + shift - 1;
            let idx = (end >> beat_shift).min(last_beat);
            let entered = (merging.start + idx).max(merging.first + idx * merging.spacing);
            let out = (merging.out + 1).max(entered + 1).max(taken);
            merging.out = out;
            let row = job.row + packet.row + merging.block * job.block_stride;
            if job.wide {
                let row = WideRow {
                    slot: packet.slot,
                    tracker: packet.tracker,
                    row,
                    left: job.repeats + 1,
                    last,
                    next: out + self.k.merger_to_acc_write,
                    from: out + self.k.merger_to_acc_write,
                };
                self.send_wide(&job, row, out, now);
            } else {
                let scale = if job.scaled { self.k.scale_latency } else { 0 };
                let row = UnwrittenRow {
                    slot: packet.slot,
                    tracker: packet.tracker,
                    row,
                    writes: 0,
                    last,
                    from: out + self.k.merger_to_write + scale,
                };
                self.send_row(&job, row, now);
            }
            merging.sent = (merging.sent + rest).min(bytes);
            merging.offset = 0;
            merging.block += 1;
        }
        true
    }

    /// Lets a row go to its writes, which are scheduled if it is known what goes first.
    #[inline]
    fn send_row(&mut self, job: &LoadJob, mut row: UnwrittenRow, now: u64) {
        if self.load.unwritten.len() == 0 {
            let again = self.write_row(job, &mut row, now);
            if again == 0 {
                return;
            }
            self.load.look_at_unwritten = again;
        }
        self.load.trackers[row.tracker].unwritten += 1;
        self.load.unwritten.push_back(row);
    }

    /// Schedules the writes of rows that have left the merger, as far as it is known what
    /// goes first.
    pub(super) fn write_unwritten(&mut self, now: u64) {
        while let Some(mut row) = self.load.unwritten.front().copied() {
            let job = *self.load_job(row.slot);
            let again = self.write_row(&job, &mut row, now);
            if again != 0 {
                self.load.look_at_unwritten = again;
                self.load.unwritten.set_front(row);
                return;
            }
            self.load.unwritten.drop_front(1);
            self.load.trackers[row.tracker].unwritten -= 1;
            self.complete_if_written(row.tracker);
        }
        self.load.look_at_unwritten = u64::MAX;
    }

    /// Schedules the writes of a row; returns when to go on, or 0 if all are scheduled.
    #[inline]
    fn write_row(&mut self, job: &LoadJob, row: &mut UnwrittenRow, now: u64) -> u64 {
        let pace = if job.scaled { self.k.scale_pace } else { 1 };
        let writes = (job.repeats + 1) * job.pixel_repeats;
        let mut at = row.from;
        while row.writes < writes {
            at = at.max(self.load.write_free);
            let target = if writes == 1 {
                row.row
            } else {
                // The hardware writes the copies from the last row upwards.
                let repeat = row.writes / job.pixel_repeats;
                let pixel = job.pixel_repeats - 1 - row.writes % job.pixel_repeats;
                (row.row + job.repeats - repeat).saturating_sub(pixel)
            };
            let bank = self.bank(job.accumulator, target);
            let arrived = at;
            loop {
                match self.free_of_results((job.accumulator, bank), at, now) {
                    Ok(free) => at = free,
                    Err(again) => return again,
                }
                if !(job.accumulator & job.accumulate) {
                    break;
                }
                let free = self.shared.row_free(target, at);
                if free == at {
                    break;
                }
                at = free;
            }
            if job.accumulator {
                let pc = self.station.entry(row.slot).pc;
                if job.accumulate {
                    self.add_in_bank(Adder::Load, bank, (at, 1), pc);
                }
                self.load_to_bank((bank, target), arrived, at, pc);
            } else {
                self.spad_writes[bank].mark(at);
            }
            self.load.write_free = at + pace;
            row.writes += 1;
            if row.writes < writes {
                at += pace;
            }
        }
        if row.last {
            self.load_last.mark(at);
        }
        let count = self.load.written_count;
        self.load.written[count % STAGES] = at;
        self.load.written_count += 1;
        let tracker = &mut self.load.trackers[row.tracker];
        tracker.last_write = tracker.last_write.max(at);
        0
    }

    /// Returns the first cycle from `at` on in which the array writes no results to a
    /// bank, which go first, or when to look again if that is not known yet.
    #[inline]
    fn free_of_results(
        &mut self,
        (accumulator, bank): (bool, usize),
        at: u64,
        now: u64,
    ) -> Result<u64, u64> {
        let free = self.results(accumulator, bank).first_free(at);
        // Results of rows that the array takes from now on come later.
        let known = now + self.k.read_latency + self.k.mesh_latency;
        if free >= known {
            return Err(free - (self.k.mesh_latency >> 1));
        }
        if free > now + self.k.read_latency && self.follow_results(accumulator, now) {
            let free = self.results(accumulator, bank).first_free(free);
            if free >= known {
                return Err(free - (self.k.mesh_latency >> 1));
            }
            return Ok(free);
        }
        Ok(free)
    }

    /// Lets a row of accumulator width, which leaves the merger in cycle `out`, go to its
    /// writes.
    #[inline]
    fn send_wide(&mut self, job: &LoadJob, row: WideRow, out: u64, now: u64) {
        // Rows behind it that could be reported before it leave the merger later.
        let behind = out + 1 + self.k.merger_to_write;
        if row.left == 1 && self.load.unwritten.len() == 0 {
            let bank = self.bank(true, row.row);
            if let Ok(at) = self.free_of_results((true, bank), row.next, now)
                && at < behind
                && !self.load_last.is_marked(at)
                && !(job.accumulate && self.shared.row_free(row.row, at) > at)
            {
                self.write_wide(job, &row, bank, at);
                return;
            }
        }
        self.wake[LOAD] = self.wake[LOAD].min(row.next);
        self.load.wide = Some(row);
        self.load.trackers[row.tracker].unwritten += 1;
    }

    /// Writes a copy of a row of accumulator width in cycle `at`.
    #[inline]
    fn write_wide(&mut self, job: &LoadJob, row: &WideRow, bank: usize, at: u64) {
        let pc = self.station.entry(row.slot).pc;
        if job.accumulate {
            self.add_in_bank(Adder::Load, bank, (at, 1), pc);
        }
        self.load_to_bank((bank, row.row + row.left - 1), row.from, at, pc);
        self.load.wide_free = at + 1;
        if row.left > 1 {
            return;
        }
        if row.last {
            self.load_last.mark(at);
        }
        let tracker = &mut self.load.trackers[row.tracker];
        tracker.last_write = tracker.last_write.max(at);
    }

    /// Writes the copies of a row of accumulator width that are due; returns when to look
    /// again.
    pub(in crate::timing) fn step_wide(&mut self, now: u64) -> u64 {
        let Some(mut row) = self.load.wide else {
            return u64::MAX;
        };
        let job = *self.load_job(row.slot);
        while row.next <= now {
            let at = row.next;
            let bank = self.bank(true, row.row + row.left - 1);
            let mut free = self.acc_ex_writes[bank].first_free(at);
            if job.accumulate {
                free = self.shared.row_free(row.row + row.left - 1, free);
            }
            // Results go first, and so does what is the last row of another packet:
            // only one can be reported in a cycle.
            if free > at || self.load_last.is_marked(at) {
                row.next = free.max(at + 1);
                continue;
            }
            self.write_wide(&job, &row, bank, at);
            row.left -= 1;
            (row.next, row.from) = (at + 1, at + 1);
            if row.left == 0 {
                self.load.wide = None;
                self.load.trackers[row.tracker].unwritten -= 1;
                self.complete_if_written(row.tracker);
                return u64::MAX;
            }
        }
        self.load.wide = Some(row);
        row.next
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
}
