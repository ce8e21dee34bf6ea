//! Load controller and DMA reader.
//!
//! The controller turns a command into row requests, the reader cuts rows into
//! packets, whose beats go to the merger. Zeros take a shortcut.

pub(crate) mod reader;
mod zero;

use super::engine::{Engine, LOAD};
use super::job::{LoadJob, Work};
use super::merger::{Arrival, ENTERED, Merging, STAGES, UnwrittenRow, WideRow};
use super::port::PACKETS;
use super::station::Slot;
use autocomp_riscv_machine::Ring;
use reader::CurrentRow;
pub(super) use reader::best_packet;
use std::collections::VecDeque;
use zero::ZeroFill;

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

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tracker {
    pub(super) busy: bool,
    pub(super) slot: Slot,
    pub(super) bytes_left: u32,
    /// Rows that have left the merger and whose writes are not scheduled.
    pub(super) unwritten: u32,
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
    /// The row that the reader works on, if it does.
    pub(super) current: CurrentRow,
    pub(super) is_reading: bool,
    pub(super) reader_free: u64,
    pub(super) packets: u32,
    /// Cycles from which packets are outstanding no more.
    pub(super) releases: Ring<u64, PACKETS>,
    pub(super) trackers: Vec<Tracker>,
    pub(super) tracker_free: u64,
    pub(super) arrivals: VecDeque<Arrival>,
    pub(super) merging: Option<Merging>,
    pub(super) merger_free: u64,
    /// Beats that the L2 has answered, those of which it is known when they enter
    /// the merger, and the cycles at which the last of these do.
    pub(super) beats_answered: usize,
    /// Of the last answers of the L2 which were the writer's, a bit each.
    pub(super) recent: u32,
    pub(super) beats_entered: usize,
    pub(super) entered: [u64; ENTERED],
    /// Until when beats that the merger does not take hold up the L2.
    pub(super) held_until: u64,
    pub(super) write_free: u64,
    /// Rows that are not of accumulator width whose writes are not scheduled, when to
    /// look at them, how many were before them, and when the last of those were written.
    pub(super) unwritten: Ring<UnwrittenRow, STAGES>,
    pub(super) look_at_unwritten: u64,
    pub(super) written: [u64; STAGES],
    pub(super) written_count: usize,
    /// The row of accumulator width behind the merger whose writes are not scheduled, and
    /// from when on the next one can be written.
    pub(super) wide: Option<WideRow>,
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
            current: CurrentRow::default(),
            is_reading: false,
            reader_free: 0,
            packets: 0,
            releases: Ring::new(0),
            trackers: vec![Tracker::default(); commands],
            tracker_free: 0,
            arrivals: VecDeque::with_capacity(32),
            merging: None,
            merger_free: 0,
            beats_answered: 0,
            recent: 0,
            beats_entered: 0,
            entered: [0; ENTERED],
            held_until: 0,
            write_free: 0,
            unwritten: Ring::new(UnwrittenRow::default()),
            look_at_unwritten: u64::MAX,
            written: [0; STAGES],
            written_count: 0,
            wide: None,
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
        self.is_reading.then_some(self.current.next)
    }

    /// Returns whether the reader may wait until one of `most` packets is outstanding no
    /// more.
    #[inline]
    pub(super) fn waits_for_release(&self, most: u32) -> bool {
        self.is_reading && self.packets >= most
    }

    /// Returns whether packets are outstanding at `cycle`.
    pub(super) fn last_release(&self) -> u64 {
        self.releases.back().copied().unwrap_or(0)
    }
}

impl Engine {
    /// Does what the load path has to do in cycle `now`.
    pub(super) fn step_load(&mut self, now: u64) {
        if self.load.wide.is_some() {
            self.step_wide(now);
        }
        let mut wake = match self.load.zero {
            Some(_) => self.step_zero(now),
            None => u64::MAX,
        };
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
        if self.load.wide.is_some() {
            wake = wake.min(self.step_wide(now));
        }
        if self.load.waits_for_release(self.k.read_packets)
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
                unwritten: 0,
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
}
