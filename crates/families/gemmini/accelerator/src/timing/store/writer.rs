//! The DMA writer: packets to the port, and their acknowledgements.

use super::{GRANTS, HISTORY, Sending, ago};
use crate::timing::engine::{Engine, STORE};
use autocomp_riscv_machine::Kind;

impl Engine {
    /// Notes that a packet goes through the port from cycle `port` on.
    pub(in crate::timing) fn note_write(&mut self, port: u64, beats: u64) {
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
    pub(in crate::timing) fn acknowledge(&mut self, ack: u64) {
        let ack = (ack + self.k.port_to_writer).max(self.store.last_ack + 1);
        self.store.unanswered -= 1;
        if let Some(counts) = &mut self.counts {
            counts.writes.end(ack);
        }
        self.store.acks.push_back(ack);
        self.store.last_ack = ack;
        self.wake[STORE] = self.wake[STORE].min(ack + 1);
    }

    pub(super) fn step_writer(&mut self, now: u64) -> u64 {
        loop {
            if self.store.is_sending {
                let again = self.send(now);
                if again != 0 {
                    return again;
                }
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
                unit.is_sending = true;
                unit.sending = Sending {
                    address: block.address,
                    left: block.bytes,
                    is_leaving: false,
                    next: at + 1,
                    behind: 0,
                };
            }
        }
    }

    /// Lets the writer go on with the packets of its row; returns when to look again, or
    /// 0 if it has gone on.
    #[inline]
    fn send(&mut self, now: u64) -> u64 {
        let unit = &mut self.store;
        let sending = &mut unit.sending;
        if sending.is_leaving {
            // The stages up to the port hold a few beats.
            let mut at = sending.next;
            if let Some(beat) = sending.behind.checked_sub(1) {
                if unit.beats_granted <= beat {
                    return u64::MAX;
                }
                at = at.max(unit.grants[beat as usize % GRANTS]);
            }
            sending.is_leaving = false;
            sending.next = at + 1;
            if sending.left == 0 {
                // The next block is taken in the cycle of the last beat.
                unit.is_sending = false;
                unit.writer_ready = at;
                if let Some(counts) = &mut self.counts {
                    counts.writer_active.add(unit.sending_from, at + 1);
                }
            }
            return 0;
        }
        if sending.next > now {
            return sending.next;
        }
        let Sending { address, left, .. } = *sending;
        while unit.acks.front().is_some_and(|ack| *ack < now) {
            unit.acks.pop_front();
        }
        let waiting = self.port.writes_waiting();
        if unit.acks.len() + unit.unanswered + waiting >= self.k.write_packets {
            let ack = unit.acks.front();
            return ack.map_or(u64::MAX, |ack| (*ack).max(now) + 1);
        }
        let beat = self.k.beat_bytes;
        let (size, bytes, kind) = best_put(address, left, beat, self.k.max_bytes);
        let beats = u64::from(size >> beat.trailing_zeros());
        self.stats.write_beats += beats;
        self.stats.write_packets += 1;
        unit.bytes += u64::from(bytes);
        if let Some(counts) = &mut self.counts {
            counts.write(address, beats, now);
        }
        let before = self.k.write_to_port.max(1);
        sending.behind = (unit.beats_sent + beats).saturating_sub(before);
        unit.beats_sent += beats;
        sending.is_leaving = true;
        sending.next = now + beats - 1;
        sending.address = address.wrapping_add(u64::from(bytes));
        sending.left -= bytes;
        self.request_write(address, kind, beats, now + self.k.write_to_port);
        0
    }
}

/// Returns size and useful bytes of the packet that covers most of the next
/// bytes, of equals the smallest, and what it does to its line.
pub(in crate::timing) fn best_put(
    address: u64,
    left: u32,
    beat: u32,
    max: u32,
) -> (u32, u32, Kind) {
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
    let beat_shift = beat.trailing_zeros();
    let first = (address & 63) as u32 >> beat_shift;
    let last = ((address & 63) as u32 + bytes.max(1) - 1) >> beat_shift;
    let kind = Kind::Put {
        partial: bytes < size,
        whole: bytes == 64,
        written: ((2 << last) - (1 << first)) as u8,
    };
    (size, bytes, kind)
}
