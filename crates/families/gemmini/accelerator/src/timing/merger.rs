//! Beat merger: puts the beats of one packet after the other together to local
//! rows and writes them.

mod rows;
mod whole;

use super::engine::{Engine, LOAD};
use super::load::{LoadUnit, Packet};
use super::port::PACKETS;
pub(super) use rows::{STAGES, UnwrittenRow, WideRow};

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
            let at = at.min(self.load.look_at_unwritten);
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

    /// Returns whether no packet is at the merger or on its way to it, and no row between
    /// it and the scratchpad.
    #[inline]
    pub(super) fn is_merger_idle(&self) -> bool {
        let load = &self.load;
        load.arrivals.is_empty() && load.merging.is_none() && load.unwritten.len() == 0
    }

    /// Puts the beats of packets together and schedules the writes of their
    /// rows as far as it is known what else writes; returns when to look again.
    pub(super) fn step_merge(&mut self, now: u64) -> u64 {
        self.write_unwritten(now);
        let again = match self.load.merging.take() {
            Some(merging) => self.merge(merging, now),
            None => match self.next_to_merge(now) {
                Ok(merging) => self.merge(merging, now),
                Err(again) => again,
            },
        };
        again.min(self.load.look_at_unwritten)
    }

    /// Goes on with a packet, and with those behind it; returns when to look
    /// again.
    fn merge(&mut self, mut merging: Merging, now: u64) -> u64 {
        loop {
            if !self.merge_rows(&mut merging, now) {
                self.load.merging = Some(merging);
                return u64::MAX;
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
        let last_in = self.load.entered[(self.load.beats_entered - 1) % ENTERED];
        self.release_packet(last_in + 1);
        Merging {
            number: arrival.number,
            packet,
            start,
            last_in,
            first: arrival.first,
            spacing: arrival.spacing,
            sent: 0,
            offset: offset.into(),
            block,
            out: start,
        }
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
        let moved = &mut self.load.trackers[tracker];
        moved.bytes_left = moved.bytes_left.saturating_sub(bytes);
        self.complete_if_written(tracker);
    }

    /// Notes that a packet is outstanding no more from cycle `at` on: its last beat has
    /// entered the merger, whatever becomes of its rows (RTL: `XactTracker`).
    #[inline]
    fn release_packet(&mut self, at: u64) {
        self.load.releases.push_back(at);
        if let Some(counts) = &mut self.counts {
            counts.reads.end(at);
        }
        if self.load.waits_for_release(self.k.read_packets) {
            self.wake[LOAD] = self.wake[LOAD].min(at);
        }
    }

    /// Schedules the completion of a command if all its rows are written.
    #[inline]
    fn complete_if_written(&mut self, tracker: usize) {
        let tracker = &self.load.trackers[tracker];
        if tracker.bytes_left == 0 && tracker.unwritten == 0 {
            let (slot, at) = (tracker.slot, tracker.last_write + 1);
            self.schedule_completion(slot, at);
        }
    }
}
