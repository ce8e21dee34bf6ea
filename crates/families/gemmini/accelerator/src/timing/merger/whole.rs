//! Packets whose rows all leave the idle merger with nothing in the way of any.

use super::Arrival;
use crate::timing::engine::Engine;
use crate::timing::load::Packet;
use crate::timing::merger::ENTERED;
use crate::timing::port::PACKETS;

/// Cycles between the first and the last row of such a packet, at most, and one: as
/// many as a window of a calendar has.
const CYCLES: u64 = 64;

/// When the rows of a packet leave the merger and are written.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    /// Cycle in which the first one leaves.
    first: u64,
    /// Cycles from then to the last one.
    last: u64,
    /// The cycles of all of them, counted from the first one, a bit each.
    all: u64,
}

impl Engine {
    /// Lets all rows of a packet leave the idle merger if nothing is in the way of any
    /// of them: a row is a beat and written as it is to the scratchpad. Returns whether
    /// it did.
    #[inline]
    pub(super) fn merge_whole(&mut self, arrival: &Arrival) -> bool {
        let now = self.now;
        let packet = &self.port.packets[usize::from(arrival.number) % PACKETS];
        let tracker = packet.tracker;
        let (bytes, beats) = (
            packet.bytes,
            packet.size >> self.k.beat_bytes.trailing_zeros(),
        );
        let job = self.load_job(packet.slot);
        let beat_bytes = self.k.beat_bytes;
        if !job.is_plain || job.block_bytes != beat_bytes || packet.done & (beat_bytes - 1) != 0 {
            return false;
        }
        let beat_shift = beat_bytes.trailing_zeros();
        let rows = (bytes + beat_bytes - 1) >> beat_shift;
        let stride = job.block_stride;
        let first = job.row + packet.row + (packet.done >> beat_shift) * stride;
        let start = arrival.first.max(self.load.merger_free);
        let leaving = if arrival.spacing > 1 {
            leaving_apart(arrival, packet, start, beat_shift)
        } else {
            // The rows after the first follow it at a distance of one beat and one
            // cycle.
            let last = u64::from(rows - 1);
            (last < CYCLES).then(|| Leaving {
                first: start + last_beat(packet, 0, beat_shift) + 1,
                last,
                all: u64::MAX >> (CYCLES - 1 - last),
            })
        };
        let Some(leaving) = leaving else {
            return false;
        };
        // From here on as for a row by itself.
        let at = leaving.first + self.k.merger_to_write;
        let last_at = at + leaving.last;
        let known = now + self.k.read_latency + self.k.mesh_latency;
        // With the writer free the stages before it are, too.
        if at < self.load.write_free || at <= now + self.k.read_latency || known <= last_at {
            return false;
        }
        let bank = self.bank(false, first);
        let mut results = self.spad_ex_writes[bank].window(at);
        if results & 1 != 0 {
            return false;
        }
        if self.follow_results(false, now) {
            results = self.spad_ex_writes[bank].window(at);
        }
        let last = first + (rows - 1) * stride;
        if (first ^ last) >> self.k.spad_bank_shift == 0 {
            if results & leaving.all != 0 {
                return false;
            }
            self.spad_writes[bank].mark_window(at, leaving.all);
        } else if !self.write_in_banks((first, stride), at, leaving.all) {
            return false;
        }
        self.load_last.mark(last_at);
        let load = &mut self.load;
        let beats = u64::from(beats);
        if arrival.spacing > 1 {
            for beat in 0..beats {
                let at = (start + beat).max(arrival.first + beat * arrival.spacing);
                note_run(&mut load.entered, &mut load.beats_entered, at, 1);
            }
            let mut left = leaving.all;
            while left != 0 {
                let at = at + u64::from(left.trailing_zeros());
                note_run(&mut load.written, &mut load.written_count, at, 1);
                left &= left - 1;
            }
        } else {
            note_run(&mut load.entered, &mut load.beats_entered, start, beats);
            note_run(&mut load.written, &mut load.written_count, at, rows.into());
        }
        let last_in = load.entered[(load.beats_entered - 1) % ENTERED];
        load.write_free = last_at + 1;
        let moved = &mut load.trackers[tracker];
        moved.last_write = moved.last_write.max(last_at);
        self.note_held();
        let out = leaving.first + leaving.last;
        self.release_packet(last_in + 1);
        self.finish_packet(arrival.number, (tracker, bytes), out, last_in);
        true
    }

    /// Writes rows from local row `first` on, each `stride` after the one before, in
    /// several banks, in the cycles from `at` on whose bit in `writes` is set, if
    /// nothing else is written there then; returns whether it did.
    #[inline(never)]
    fn write_in_banks(&mut self, (first, stride): (u32, u32), at: u64, writes: u64) -> bool {
        let rows = || {
            let cycles = (0..CYCLES).filter(move |cycle| writes >> cycle & 1 != 0);
            (0..).zip(cycles.map(move |cycle| at + cycle))
        };
        let is_free = |(row, at): (u32, u64)| {
            let bank = self.bank(false, first + row * stride);
            !self.spad_ex_writes[bank].is_marked(at)
        };
        if !rows().all(is_free) {
            return false;
        }
        for (row, at) in rows() {
            let bank = self.bank(false, first + row * stride);
            self.spad_writes[bank].mark(at);
        }
        true
    }
}

/// Notes `len` cycles from `first` on as the last ones of a history, of which `count`
/// have been noted before.
#[inline]
fn note_run<const N: usize>(history: &mut [u64; N], count: &mut usize, first: u64, len: u64) {
    let from = *count % N;
    *count += len as usize;
    // Most packets are four rows.
    if len == 4
        && let Some(four) = history.get_mut(from..from + 4)
    {
        four.copy_from_slice(&[first, first + 1, first + 2, first + 3]);
        return;
    }
    for idx in 0..len {
        history[(from + idx as usize) % N] = first + idx;
    }
}

/// Returns the last beat of a row of a packet.
#[inline]
fn last_beat(packet: &Packet, row: u32, beat_shift: u32) -> u64 {
    let bytes = ((row + 1) << beat_shift).min(packet.bytes);
    let end = bytes + packet.shift - 1;
    ((end >> beat_shift).min((packet.size >> beat_shift) - 1)).into()
}

/// Returns when the rows of a packet leave whose beats do not come one per cycle, if
/// they do within a window: the merger could take them from cycle `start` on.
#[inline(never)]
fn leaving_apart(
    arrival: &Arrival,
    packet: &Packet,
    start: u64,
    beat_shift: u32,
) -> Option<Leaving> {
    let entered = |row: u32| {
        let beat = last_beat(packet, row, beat_shift);
        (start + beat).max(arrival.first + beat * arrival.spacing)
    };
    let first = entered(0) + 1;
    let (mut last, mut all) = (0, 1);
    for row in 1..(packet.bytes + (1 << beat_shift) - 1) >> beat_shift {
        last = (last + 1).max(entered(row) + 1 - first);
        if last >= CYCLES {
            return None;
        }
        all |= 1 << last;
    }
    Some(Leaving { first, last, all })
}
