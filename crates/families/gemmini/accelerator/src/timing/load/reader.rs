//! The DMA reader: it cuts rows into packets.

use super::{Packet, RowRequest};
use crate::timing::engine::Engine;
use crate::timing::station::Slot;

/// The row that the reader works on.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::timing) struct CurrentRow {
    slot: Slot,
    tracker: usize,
    row: u32,
    address: u64,
    done: u32,
    left: u32,
    pub(super) next: u64,
}

impl Engine {
    /// Sends packets that are due; returns whether there is room for rows again,
    /// and when to look again.
    #[inline]
    pub(super) fn step_reader(&mut self, now: u64) -> (bool, u64) {
        let mut took = false;
        loop {
            if !self.load.is_reading {
                let Some(request) = self.load.rows.front().copied() else {
                    return (took, u64::MAX);
                };
                self.load.rows.drop_front(1);
                self.take_row(&request);
                took = true;
            }
            let again = self.send_packets(now);
            if again != 0 {
                return (took, again);
            }
        }
    }

    /// Lets the reader take a row, as soon as it can.
    #[inline]
    fn take_row(&mut self, request: &RowRequest) {
        let taken = (request.at + 1).max(self.load.reader_free);
        let count = self.load.accepted_count;
        self.load.accepted[count % 8] = taken;
        self.load.accepted_count += 1;
        let job = self.load_job(request.slot);
        self.load.current = CurrentRow {
            slot: request.slot,
            tracker: request.tracker,
            row: request.row,
            address: job.address(request.row),
            done: 0,
            left: job.row_bytes,
            next: taken + self.k.row_to_packet - 1,
        };
        self.load.is_reading = true;
    }

    /// Sends the packets of the row that are due; returns when to look again, or 0 if
    /// nothing is left of the row.
    #[inline]
    fn send_packets(&mut self, now: u64) -> u64 {
        let horizon = self.load_horizon(now);
        if self.load.current.next > horizon {
            return self.load.current.next;
        }
        if self.load.packets >= self.k.read_packets {
            match self.load.releases.front() {
                None => return u64::MAX,
                Some(release) if *release > horizon => return *release,
                Some(_) => {}
            }
        }
        self.send_due(now, horizon)
    }

    /// The same, of those that are due up to cycle `horizon`: there is at least one.
    #[inline(never)]
    fn send_due(&mut self, now: u64, horizon: u64) -> u64 {
        loop {
            let mut at = self.load.current.next.max(now);
            while let Some(release) = self.load.releases.front().copied() {
                if release > at {
                    // The packet can leave as soon as another one is in.
                    if self.load.packets < self.k.read_packets || release > horizon {
                        break;
                    }
                    at = release;
                }
                self.load.releases.drop_front(1);
                self.load.packets -= 1;
            }
            if self.load.packets >= self.k.read_packets {
                let release = self.load.releases.front();
                return release.map_or(u64::MAX, |release| (*release).max(now + 1));
            }
            let row = &mut self.load.current;
            let (address, sent_from) = (row.address, row.next);
            let (size, bytes, shift) =
                best_packet(address, row.left, self.k.beat_bytes, self.k.max_bytes);
            let packet = Packet {
                slot: row.slot,
                tracker: row.tracker,
                row: row.row,
                done: row.done,
                bytes,
                size,
                shift,
            };
            row.address = address.wrapping_add(u64::from(bytes));
            row.done += bytes;
            row.left -= bytes;
            row.next = at + 1;
            let left = row.left;
            let beats = u64::from(size >> self.k.beat_bytes.trailing_zeros());
            self.stats.read_beats += beats;
            self.stats.read_packets += 1;
            self.load.bytes += u64::from(bytes);
            if let Some(counts) = &mut self.counts {
                counts.read(address, sent_from, at);
            }
            self.load.packets += 1;
            self.request_read(address, beats, at + self.k.read_to_port, packet);
            if left == 0 {
                self.load.reader_free = at;
                self.load.is_reading = false;
                return 0;
            }
            if self.load.current.next > horizon {
                return self.load.current.next;
            }
        }
    }
}

/// Returns size, useful bytes and offset of the packet that covers most of a
/// row's next bytes; of equals the smallest.
pub fn best_packet(address: u64, left: u32, beat: u32, max: u32) -> (u32, u32, u32) {
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
