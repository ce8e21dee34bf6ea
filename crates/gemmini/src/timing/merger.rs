//! Beat merger: puts the beats of one packet after the other together to local
//! rows and writes them.

mod whole;

use super::calendar::Calendar;
use super::engine::{Engine, LOAD};
use super::job::LoadJob;
use super::load::{LoadUnit, Packet};
use super::port::PACKETS;
use super::station::Slot;

/// Answers that the way on which those to reader and writer come holds, with those in
/// the stages of the data pipeline of the L2, and beats behind where they part, in the
/// reader's own buffer.
const SHARED: usize = 6;
const OWN: usize = 2;
/// Beats of which it is kept when they enter the merger.
pub(super) const ENTERED: usize = 16;
/// Cycles from where the reader's answers and the writer's part, counted at the port,
/// to the next turn of the data pipeline: those from its array to the port, and one until
/// the room is seen at the other end of the buffers.
const PARTED_TO_TURN: u64 = 2;
/// Cycles by which the merger may lag before anything stops.
const LAG: u64 = 2;

/// A read packet whose beats are on their way: its number, when the first one is
/// at the merger, and the cycles from beat to beat.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    first: u64,
    spacing: u64,
    number: u8,
}

/// The packet whose rows leave the beat merger.
#[derive(Clone, Copy, Debug)]
pub(super) struct Merging {
    number: u8,
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

/// Rows of accumulator width between the merger and their writes (RTL: the queue
/// and the register of `VectorScalarMultiplier`).
pub(super) const WIDE: usize = 3;

/// A row of accumulator width that is repeated, or behind one that is: what comes
/// behind it for the scratchpad has a way of its own and does not wait for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct WideRow {
    slot: Slot,
    tracker: usize,
    /// First local row of the copies, and how many are to be written: the last
    /// ones go first.
    row: u32,
    left: u32,
    /// It is the last row of its packet.
    last: bool,
    /// Cycle from which the next copy could be written.
    next: u64,
}

impl LoadUnit {
    /// Returns the cycle, as counted at the port, from which on what comes behind all beats
    /// answered but the last `since` ones finds that they have parted: the last of them
    /// has found room in the reader's buffer. `u64::MAX` if that is not known yet.
    #[inline]
    fn parted(&self, since: usize, port_to_merger: u64) -> u64 {
        match self.beats_answered.checked_sub(since + 1 + OWN) {
            None => 0,
            Some(beat) if beat >= self.beats_entered => u64::MAX,
            Some(beat) => (self.entered[beat % ENTERED] + 3).saturating_sub(port_to_merger),
        }
    }

    /// Returns whether nothing keeps an answer to the writer that is at the port in
    /// cycle `at`.
    #[inline]
    fn is_behind_all(&self, at: u64, port_to_merger: u64) -> bool {
        self.parted(0, port_to_merger) <= at
    }
}

impl Engine {
    /// Notes the packet of that number, whose first beat comes to the port in
    /// cycle `first`, later than those of all packets noted before.
    pub(super) fn note_arrival(&mut self, number: u8, first: u64, spacing: u64) {
        let arrival = Arrival {
            first: first + self.k.port_to_merger,
            spacing,
            number,
        };
        let size = self.port.packets[usize::from(number) % PACKETS].size;
        let beats = (size >> self.k.beat_bytes.trailing_zeros()) as usize;
        self.load.beats_answered += beats;
        self.load.recent <<= beats;
        if !self.is_merger_idle() || !self.merge_whole(&arrival) {
            self.merge_by_rows(arrival);
        }
    }

    /// Lets the merger take a packet, once it can, and its rows leave one by one.
    #[inline(never)]
    fn merge_by_rows(&mut self, arrival: Arrival) {
        if self.is_merger_idle() {
            let merging = self.begin_merge(&arrival);
            let at = self.merge(merging, self.now);
            self.wake[LOAD] = self.wake[LOAD].min(at);
            return;
        }
        self.load.arrivals.push_back(arrival);
        self.note_held();
        // What is written then is not known earlier.
        let at = arrival.first.saturating_sub(self.k.lookahead);
        self.wake[LOAD] = self.wake[LOAD].min(at);
    }

    /// Lets the data pipeline of the L2 go on behind what it has answered the reader only
    /// once it can, as seen in cycle `now`: beats that the merger does not take stay in the
    /// buffers on the way, then in the pipeline, and everything else waits behind them,
    /// writes and the core's reads too. While it is not known when it can, not before the
    /// next cycle.
    ///
    /// *Source*: RTL: `SourceD`, in which a beat that the port does not take stalls
    /// all stages; the number of beats fitted.
    #[inline]
    pub(super) fn hold_answers(&mut self, now: u64) {
        let until = self.load.held_until;
        if until > now + LAG {
            let until = if until == u64::MAX { now + 1 } else { until };
            self.memory.hold_answers(until);
        }
    }

    /// Notes until when beats that the merger does not take hold up the L2, or
    /// `u64::MAX` if that is not known yet.
    #[inline]
    pub(super) fn note_held(&mut self) {
        let load = &mut self.load;
        // The next answer finds room once the one that many before it has parted; of
        // those since, the writer's are no beats.
        let beats = match load.recent % (1 << (SHARED - 1)) {
            0 => SHARED - 1,
            writers => SHARED - 1 - writers.count_ones() as usize,
        };
        let is_writers = load.recent >> (SHARED - 1) & 1;
        load.held_until = match load.parted(beats, self.k.port_to_merger) {
            u64::MAX => u64::MAX,
            parted => parted + PARTED_TO_TURN + u64::from(is_writers),
        };
        if !self.store.behind_reads.is_empty() {
            self.let_acknowledgements_pass();
        }
    }

    /// Notes that the L2 has answered the writer, and that the answer is at the port
    /// in cycle `at` if nothing is in its way: it waits for the beats before it until
    /// they have parted from it.
    pub(super) fn note_acknowledgement(&mut self, at: u64) {
        self.load.recent = self.load.recent << 1 | 1;
        if self.load.is_behind_all(at, self.k.port_to_merger) && self.store.behind_reads.is_empty()
        {
            self.acknowledge(at);
            return;
        }
        self.store
            .behind_reads
            .push_back((at, self.load.beats_answered));
        self.note_held();
    }

    /// Lets answers to the writer pass of which it is known when the beats before them
    /// have parted from them.
    #[inline(never)]
    fn let_acknowledgements_pass(&mut self) {
        while let Some((at, beats)) = self.store.behind_reads.front().copied() {
            let since = self.load.beats_answered - beats;
            let parted = self.load.parted(since, self.k.port_to_merger);
            if parted == u64::MAX {
                return;
            }
            self.store.behind_reads.pop_front();
            self.acknowledge(at.max(parted));
        }
    }

    /// Returns whether no packet is at the merger or on its way to it.
    #[inline]
    pub(super) fn is_merger_idle(&self) -> bool {
        self.load.arrivals.is_empty() && self.load.merging.is_none()
    }

    /// Puts the beats of packets together and schedules the writes of their
    /// rows as far as it is known what else writes; returns when to look again.
    pub(super) fn step_merge(&mut self, now: u64) -> u64 {
        if let Some(merging) = self.load.merging.take() {
            return self.merge(merging, now);
        }
        match self.next_to_merge(now) {
            Ok(merging) => self.merge(merging, now),
            Err(again) => again,
        }
    }

    /// Goes on with a packet, and with those behind it; returns when to look
    /// again.
    fn merge(&mut self, mut merging: Merging, now: u64) -> u64 {
        loop {
            let wake = self.merge_rows(&mut merging, now);
            if wake != 0 {
                self.load.merging = Some(merging);
                return wake;
            }
            let Merging { number, packet, .. } = merging;
            let Packet { tracker, bytes, .. } = packet;
            self.finish_packet(number, (tracker, bytes), merging.out, merging.last_in);
            match self.next_to_merge(now) {
                Ok(next) => merging = next,
                Err(again) => return again,
            }
        }
    }

    /// Returns the next packet that the merger takes, or if that is not known
    /// yet, when to look again.
    #[inline]
    fn next_to_merge(&mut self, now: u64) -> Result<Merging, u64> {
        let Some(arrival) = self.load.arrivals.front() else {
            return Err(u64::MAX);
        };
        if arrival.first > now + self.k.lookahead {
            return Err(arrival.first - self.k.lookahead);
        }
        let arrival = *arrival;
        self.load.arrivals.pop_front();
        Ok(self.begin_merge(&arrival))
    }

    #[inline]
    fn begin_merge(&mut self, arrival: &Arrival) -> Merging {
        let packet = self.port.packets[usize::from(arrival.number) % PACKETS];
        let beats = u64::from(packet.size >> self.k.beat_bytes.trailing_zeros());
        let start = arrival.first.max(self.load.merger_free);
        let (block, offset) = match packet.done {
            0 => (0, 0),
            done => {
                let block_bytes = self.load_job(packet.slot).block_bytes;
                (done / block_bytes, done % block_bytes)
            }
        };
        for beat in 0..beats {
            let at = (start + beat).max(arrival.first + beat * arrival.spacing);
            let idx = self.load.beats_entered;
            self.load.entered[idx % ENTERED] = at;
            self.load.beats_entered += 1;
        }
        self.note_held();
        Merging {
            number: arrival.number,
            packet,
            start,
            last_in: (start + beats - 1).max(arrival.first + (beats - 1) * arrival.spacing),
            first: arrival.first,
            spacing: arrival.spacing,
            sent: 0,
            offset: offset.into(),
            block,
            out: start,
            write_at: None,
            writes: 0,
        }
    }

    /// Lets the rows of a packet leave the merger; returns when to go on, or 0
    /// if all have left and are written.
    fn merge_rows(&mut self, merging: &mut Merging, now: u64) -> u64 {
        let packet = merging.packet;
        let job = *self.load_job(packet.slot);
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
            let apart = job.wide && (job.repeats > 0 || !self.load.wide.is_empty());
            let taken = if apart {
                match self.load.wide_taken() {
                    Some(taken) => taken,
                    // A write makes room.
                    None => return u64::MAX,
                }
            } else {
                0
            };
            let write_at = match merging.write_at {
                Some(at) => at,
                None => {
                    // The last byte of the row, counted from 0.
                    let end = (merging.sent + block_bytes).min(bytes) + shift - 1;
                    let idx = (end >> beat_shift).min(last_beat);
                    let entered = (merging.start + idx).max(merging.first + idx * merging.spacing);
                    let mut out = (merging.out + 1).max(entered + 1).max(taken);
                    if job.wide {
                        if !apart {
                            // One row, which leaves the merger as the one before
                            // it is written.
                            out = out.max(self.load.wide_free.saturating_sub(1));
                        }
                    } else if self.load.written_count >= self.k.write_stages {
                        let idx = self.load.written_count - self.k.write_stages;
                        let before = self.load.written[idx % 8];
                        out = out.max(before.saturating_sub(self.k.merger_to_write - 1));
                    }
                    merging.out = out;
                    out + delay
                }
            };
            if apart {
                self.load.wide.push_back(WideRow {
                    slot: packet.slot,
                    tracker: packet.tracker,
                    row: job.row + packet.row + merging.block * job.block_stride,
                    left: job.repeats + 1,
                    last,
                    next: write_at,
                });
                self.load.trackers[packet.tracker].wide_rows += 1;
            } else {
                let wake = self.write_row(&job, merging, write_at, last, now);
                if wake != 0 {
                    merging.write_at = Some(write_at);
                    return wake;
                }
            }
            merging.write_at = None;
            merging.writes = 0;
            merging.sent = (merging.sent + rest).min(bytes);
            merging.offset = 0;
            merging.block += 1;
        }
        0
    }

    /// Notes that the last row of a packet, so many bytes for a command's tracker, has
    /// left the merger in cycle `out` and its last beat has entered it in cycle `last_in`.
    #[inline(always)]
    fn finish_packet(
        &mut self,
        number: u8,
        (tracker, bytes): (usize, u32),
        out: u64,
        last_in: u64,
    ) {
        self.port.outstanding &= !(1 << number);
        self.load.merger_free = if out > last_in {
            out
        } else if out == last_in {
            last_in + 2
        } else {
            last_in + 1
        };
        self.load.releases.push_back(last_in + 1);
        if let Some(counts) = &mut self.counts {
            counts.reads.end(last_in + 1);
        }
        let moved = &mut self.load.trackers[tracker];
        moved.bytes_left = moved.bytes_left.saturating_sub(bytes);
        self.complete_if_written(tracker);
        self.wake[LOAD] = self.wake[LOAD].min(last_in + 1);
    }

    /// Schedules the completion of a command if all its rows are written.
    #[inline]
    fn complete_if_written(&mut self, tracker: usize) {
        let tracker = &self.load.trackers[tracker];
        if tracker.bytes_left == 0 && tracker.wide_rows == 0 {
            let (slot, at) = (tracker.slot, tracker.last_write + 1);
            self.schedule_completion(slot, at);
        }
    }

    /// Writes the copies of rows of accumulator width that are due; returns when
    /// to look again.
    pub(super) fn step_wide(&mut self, now: u64) -> u64 {
        while let Some(mut row) = self.load.wide.front().copied() {
            let at = row.next.max(self.load.wide_free);
            if at > now {
                return at;
            }
            let job = *self.load_job(row.slot);
            let bank = self.bank(true, row.row + row.left - 1);
            let free = self.acc_ex_writes[bank].first_free(at);
            // Results go first, and so does what is the last row of another packet:
            // only one can be reported in a cycle.
            if free > at || self.load_last.is_marked(at) {
                row.next = free.max(at + 1);
                self.load.wide[0] = row;
                continue;
            }
            if job.accumulate {
                self.acc_reads_blocked[bank].mark(at);
            }
            self.load.wide_free = at + 1;
            row.left -= 1;
            self.load.wide[0] = row;
            if row.left > 0 {
                continue;
            }
            self.load.wide.pop_front();
            if row.last {
                self.load_last.mark(at);
            }
            self.load.wide_written[self.load.wide_count % WIDE] = at;
            self.load.wide_count += 1;
            let tracker = &mut self.load.trackers[row.tracker];
            tracker.wide_rows -= 1;
            tracker.last_write = tracker.last_write.max(at);
            self.complete_if_written(row.tracker);
        }
        u64::MAX
    }

    /// Schedules the writes of one block of a row from cycle `at` on; returns
    /// when to go on, or 0 if all are scheduled.
    #[inline]
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
            if free > now + self.k.read_latency && self.follow_results(job.accumulator, now) {
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
        if job.wide {
            self.load.wide_free = at + 1;
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
}
