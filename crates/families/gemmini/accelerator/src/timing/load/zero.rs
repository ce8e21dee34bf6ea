//! Rows of zeros, which are not read.

use crate::timing::adders::Adder;
use crate::timing::engine::Engine;
use crate::timing::station::Slot;

#[derive(Clone, Copy, Debug)]
pub(in crate::timing) struct ZeroFill {
    pub(super) slot: Slot,
    pub(super) tracker: usize,
    pub(super) row: u32,
    pub(super) block: u32,
    /// Copies of a pixel side by side that are still to be written.
    pub(super) pixel: u32,
    pub(super) next: u64,
}

impl Engine {
    /// Writes zero rows that are due; returns when to look again.
    pub(super) fn step_zero(&mut self, now: u64) -> u64 {
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
                        || self.load_is_at_bank(bank, zero.next)
                } else {
                    self.spad_writes[bank].is_marked(zero.next)
                };
            if busy {
                zero.next += 1;
                continue;
            }
            if !job.accumulator {
                self.spad_writes[bank].mark(zero.next);
            } else {
                let pc = self.station.entry(zero.slot).pc;
                if job.accumulate {
                    self.add_in_bank(Adder::Load, bank, (zero.next, 1), pc);
                }
                self.zeros_to_bank((bank, row), zero.next, pc);
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
