//! The L2, coherence with the core's L1, and the memory behind the L2.
//!
//! A request is answered with the cycle of its first beat (reads) or of its
//! acknowledgement (writes), seen at the accelerator's port. Requests must come
//! in an order that is close to that of their cycles; small inversions only
//! change which of two requests is served first.

use super::calendar::Calendar;
use super::config::MemoryConfig;
use autocomp_riscv::LineAccess;

const LINE_SHIFT: u32 = 6;
const VALID: u64 = 1;
const DIRTY: u64 = 2;
/// The core holds the line for reading.
const SHARED: u64 = 4;
/// The core holds the line alone.
const OWNED: u64 = 8;
/// The core has written the line.
const CORE_DIRTY: u64 = 16;
const CORE: u64 = SHARED | OWNED | CORE_DIRTY;
const TAG_SHIFT: u32 = 8;
/// Banks of the L2's data array, each one beat wide.
const BANKS: usize = 4;
const BANK_BYTES: u64 = 16;
/// Stages of the L2's data pipeline between reading and writing the array.
const WRITE_BEHIND_READ: u64 = 3;
/// Cycles from a request being handed to the L2's data pipeline, which frees
/// its tracker, to its first beat at the port.
const DISPATCH: u64 = 3;
/// Cycles from the end of a fill to the first beat of a request that waited for
/// it at the tracker.
const RELOAD: u64 = 2;

/// Traffic behind the L2 and at the port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryCounts {
    /// Lines read from outer memory.
    pub lines_read: u64,
    /// Lines written to outer memory.
    pub lines_written: u64,
    /// Requests of the accelerator that hit in the L2.
    pub hits: u64,
    /// Requests of the accelerator that missed in the L2.
    pub misses: u64,
    /// Lines that the core's L1 had to give up or clean.
    pub probes: u64,
    /// Requests of the core's L1 caches.
    pub core_requests: u64,
}

/// Answer to a read.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadReply {
    /// Cycle of the first beat at the port.
    pub(super) first: u64,
    /// Cycles from beat to beat.
    pub(super) spacing: u64,
    /// Whether the line was in the L2.
    pub(super) hit: bool,
}

#[derive(Clone, Debug)]
pub(super) struct MemorySystem {
    lines: Vec<u64>,
    set_mask: u64,
    ways: usize,
    random: u16,
    /// When each tracker is free again, and for which line it works; the one
    /// that is free first comes first.
    trackers: Vec<(u64, u64)>,
    last_fill: u64,
    /// When the data path from outer memory and the one to it are free again;
    /// the second stays unused if there is one path for both.
    outer_read_free: u64,
    outer_write_free: u64,
    probe_free: u64,
    /// Beats of the response channel to the accelerator.
    responses: Calendar,
    /// Cycles in which a bank of the data array takes a written beat.
    bank_writes: [Calendar; BANKS],
    probes: Vec<(u64, bool)>,
    config: MemoryConfig,
    outer_occupancy: u64,
    pub(super) counts: MemoryCounts,
}

impl MemorySystem {
    pub(super) fn new(config: &MemoryConfig) -> Self {
        let ways = config.l2_ways.max(1) as usize;
        let sets = (((config.l2_kib as usize * 1024) >> LINE_SHIFT) / ways)
            .max(1)
            .next_power_of_two();
        Self {
            lines: vec![0; sets * ways],
            set_mask: sets as u64 - 1,
            ways,
            random: 0xace1,
            trackers: vec![(0, u64::MAX); config.l2_mshrs.max(1) as usize],
            last_fill: 0,
            outer_read_free: 0,
            outer_write_free: 0,
            probe_free: 0,
            responses: Calendar::new(),
            bank_writes: std::array::from_fn(|_| Calendar::new()),
            probes: Vec::new(),
            outer_occupancy: u64::from((1 << LINE_SHIFT) / config.outer_bytes_per_cycle.max(1)),
            config: config.clone(),
            counts: MemoryCounts::default(),
        }
    }

    pub(super) fn take_probes(&mut self, probes: &mut Vec<(u64, bool)>) {
        probes.append(&mut self.probes);
    }

    #[inline]
    fn find(&self, line: u64) -> Option<usize> {
        let start = (line & self.set_mask) as usize * self.ways;
        self.lines[start..start + self.ways]
            .iter()
            .position(|entry| entry & VALID != 0 && entry >> TAG_SHIFT == line)
            .map(|way| start + way)
    }

    /// Chooses a victim, gives the slot to `line` and returns the slot and
    /// whether the victim has to be written back.
    fn replace(&mut self, line: u64) -> (usize, bool) {
        // 16-bit linear feedback shift register, as in the L2's directory,
        // which does not prefer ways that are empty.
        let bit = (self.random ^ (self.random >> 2) ^ (self.random >> 3) ^ (self.random >> 5)) & 1;
        self.random = (self.random >> 1) | (bit << 15);
        let slot = (line & self.set_mask) as usize * self.ways + self.random as usize % self.ways;
        let victim = self.lines[slot];
        let mut write_back = false;
        if victim & VALID != 0 {
            write_back = victim & (DIRTY | CORE_DIRTY) != 0;
            if victim & CORE != 0 {
                self.probes.push((victim >> TAG_SHIFT << LINE_SHIFT, true));
                self.counts.probes += 1;
            }
            if write_back {
                self.counts.lines_written += 1;
            }
        }
        self.lines[slot] = line << TAG_SHIFT | VALID;
        (slot, write_back)
    }

    /// Returns the cycle from which the L2 takes another request.
    #[inline]
    pub(super) fn ready_from(&self) -> u64 {
        self.trackers[0].0
    }

    /// Gives the tracker that is free first to `line` until cycle `until`.
    #[inline]
    fn track(&mut self, until: u64, line: u64) {
        let count = self.trackers.len();
        let mut place = 0;
        while place + 1 < count && self.trackers[place + 1].0 <= until {
            self.trackers[place] = self.trackers[place + 1];
            place += 1;
        }
        self.trackers[place] = (until, line);
    }

    /// Keeps a tracker busy until a request that starts its beats in cycle
    /// `first` has been handed to the data pipeline.
    #[inline]
    fn occupy(&mut self, first: u64) {
        self.track(first.saturating_sub(DISPATCH), u64::MAX);
    }

    /// Writes a dirty line to outer memory from cycle `start` on; returns the
    /// cycle of its acknowledgement, until which the tracker is busy.
    fn write_back(&mut self, start: u64) -> u64 {
        let path = if self.config.outer_duplex {
            &mut self.outer_write_free
        } else {
            &mut self.outer_read_free
        };
        *path = (*path).max(start) + self.outer_occupancy;
        *path + u64::from(self.config.outer_write_latency)
    }

    /// Waits for a tracker, reads the line from outer memory and returns the
    /// slot and the cycle of the first data.
    fn fill(&mut self, line: u64, cycle: u64, latency: u64) -> (usize, u64) {
        let start = cycle.max(self.ready_from());
        let (slot, write_back) = self.replace(line);
        self.counts.lines_read += 1;
        let outer = u64::from(self.config.outer_latency);
        let mut at = start;
        let mut written = 0;
        if write_back {
            at += u64::from(self.config.dirty_victim);
            written = self.write_back(start);
        }
        let served = self.outer_read_free.max(at + 3);
        self.outer_read_free = served + self.outer_occupancy;
        let first = (at + latency).max(served + self.outer_occupancy) + outer;
        self.track((first + self.outer_occupancy).max(written), line);
        self.last_fill = self.last_fill.max(first + self.outer_occupancy);
        (slot, first)
    }

    /// Returns how much longer a request waits that does not begin at the start of
    /// the line it has fetched: only one that does is answered while the rest of
    /// the line is still coming.
    fn wait_for_rest(&self, address: u64, beats: u64) -> u64 {
        let within = address & ((1 << LINE_SHIFT) - 1) & !(beats * BANK_BYTES - 1);
        if within == 0 {
            0
        } else {
            self.outer_occupancy - 1
        }
    }

    /// If a line is still being filled in cycle `cycle`, queues a request at its
    /// tracker; returns the cycle at which the tracker turns to it.
    fn queue_behind_fill(&mut self, line: u64, cycle: u64) -> Option<u64> {
        if cycle >= self.last_fill {
            return None;
        }
        let place = self
            .trackers
            .iter()
            .position(|(free, of)| *of == line && *free > cycle)?;
        let (start, _) = self.trackers[place];
        // The list is kept in order of the cycles.
        let mut place = place;
        while place + 1 < self.trackers.len() && self.trackers[place + 1].0 <= start + 1 {
            self.trackers[place] = self.trackers[place + 1];
            place += 1;
        }
        self.trackers[place] = (start + 1, line);
        self.last_fill = self.last_fill.max(start + 1);
        Some(start)
    }

    /// Returns the cycle from which a line that is still being filled can be
    /// used, or `cycle`.
    #[inline]
    fn after_fill(&self, line: u64, cycle: u64) -> u64 {
        if cycle >= self.last_fill {
            return cycle;
        }
        self.trackers
            .iter()
            .filter(|(free, of)| *of == line && *free > cycle)
            .map(|(free, _)| *free)
            .max()
            .unwrap_or(cycle)
    }

    /// Makes the core give up (`invalidate`) or share a line; returns the
    /// cycle at which the L2 can answer.
    fn probe(&mut self, slot: usize, cycle: u64, invalidate: bool) -> u64 {
        let entry = self.lines[slot];
        let hit = cycle + u64::from(self.config.hit_latency);
        if entry & CORE == 0 || (!invalidate && entry & (OWNED | CORE_DIRTY) == 0) {
            return hit;
        }
        self.counts.probes += 1;
        self.probes
            .push((entry >> TAG_SHIFT << LINE_SHIFT, invalidate));
        let (latency, occupancy) = if entry & CORE_DIRTY != 0 {
            (
                self.config.probe_dirty_latency,
                self.config.probe_dirty_occupancy,
            )
        } else {
            (
                self.config.probe_clean_latency,
                self.config.probe_clean_occupancy,
            )
        };
        let start = cycle.max(self.probe_free);
        self.probe_free = start + u64::from(occupancy);
        let dirty = if entry & CORE_DIRTY != 0 { DIRTY } else { 0 };
        let core = if invalidate { 0 } else { SHARED };
        self.lines[slot] = (entry & !CORE) | dirty | core;
        start + u64::from(latency)
    }

    /// Reserves turns of the data pipeline for a read whose beats may not fall
    /// together with writes to the same banks of the data array.
    fn read_slots(&mut self, address: u64, ready: u64, beats: u64) -> u64 {
        let start = self.responses.first_gap(ready, beats);
        let offset = (address / BANK_BYTES) & !(beats - 1);
        let mut at = start;
        for beat in 0..beats {
            let bank = (offset + beat) as usize % BANKS;
            // A read that has to wait holds up what is behind it.
            while self.bank_writes[bank].is_marked(at) {
                at += 1;
            }
            at += 1;
        }
        self.responses.mark_range(start, at - start);
        at - beats
    }

    /// The accelerator reads `beats` beats of the line at `address`.
    pub(super) fn read(&mut self, address: u64, beats: u64, cycle: u64) -> ReadReply {
        let line = address >> LINE_SHIFT;
        if let Some(slot) = self.find(line) {
            self.counts.hits += 1;
            if let Some(start) = self.queue_behind_fill(line, cycle) {
                let first = self.read_slots(address, start + RELOAD, beats);
                return ReadReply {
                    first,
                    spacing: 1,
                    hit: true,
                };
            }
            let ready = if self.lines[slot] & (OWNED | CORE_DIRTY) == 0 {
                cycle + u64::from(self.config.hit_latency)
            } else {
                self.probe(slot, cycle, false)
            };
            let first = self.read_slots(address, ready, beats);
            self.occupy(first);
            return ReadReply {
                first,
                spacing: 1,
                hit: true,
            };
        }
        self.counts.misses += 1;
        let (_, ready) = self.fill(line, cycle, u64::from(self.config.miss_latency));
        let ready = ready + self.wait_for_rest(address, beats);
        let first = self.responses.first_gap(ready, beats);
        self.responses.mark_range(first, beats);
        ReadReply {
            first,
            spacing: 1,
            hit: false,
        }
    }

    /// The accelerator writes `beats` beats to the line at `address` from
    /// cycle `first` on; `whole` says that every byte of the line is written.
    /// Returns the cycle of the acknowledgement.
    pub(super) fn write(&mut self, address: u64, whole: bool, beats: u64, first: u64) -> u64 {
        let line = address >> LINE_SHIFT;
        let mut hit = true;
        let ready = if let Some(slot) = self.find(line) {
            self.counts.hits += 1;
            let queued = self.queue_behind_fill(line, first);
            let cycle = queued.unwrap_or(first);
            let ready = self.probe(slot, cycle, true);
            self.lines[slot] |= DIRTY;
            if queued.is_some() {
                hit = false;
                cycle + RELOAD
            } else {
                ready
            }
        } else {
            self.counts.misses += 1;
            if whole {
                let (slot, write_back) = self.replace(line);
                self.lines[slot] |= DIRTY;
                if write_back {
                    hit = false;
                    let start = first.max(self.ready_from());
                    let written = self.write_back(start);
                    self.track(written, u64::MAX);
                }
                first + u64::from(self.config.hit_latency)
            } else {
                hit = false;
                let (slot, ready) = self.fill(line, first, u64::from(self.config.miss_latency));
                self.lines[slot] |= DIRTY;
                ready + self.wait_for_rest(address, beats)
            }
        };
        // Each beat takes a turn of the L2's data pipeline; the first one
        // carries the acknowledgement.
        let ack = self.responses.first_gap(ready, beats);
        self.responses.mark_range(ack, beats);
        for beat in 0..beats {
            let bank = (address / BANK_BYTES + beat) as usize % BANKS;
            self.bank_writes[bank].mark(ack + beat + WRITE_BEHIND_READ);
        }
        if hit {
            self.occupy(ack);
        }
        ack
    }

    /// The core's L1 caches access the line at `address`; returns the cycle at
    /// which the line is usable there.
    pub(super) fn core_access(&mut self, address: u64, access: LineAccess, cycle: u64) -> u64 {
        self.counts.core_requests += 1;
        let line = address >> LINE_SHIFT;
        let held = match access {
            LineAccess::Fetch => 0,
            LineAccess::Read => OWNED,
            LineAccess::Write => OWNED | CORE_DIRTY,
            LineAccess::WriteBack => {
                if let Some(slot) = self.find(line) {
                    self.lines[slot] = (self.lines[slot] & !CORE) | DIRTY;
                }
                return cycle;
            }
        };
        if let Some(slot) = self.find(line) {
            let entry = self.lines[slot];
            self.lines[slot] = entry | held;
            if access == LineAccess::Write && entry & (OWNED | CORE_DIRTY) != 0 {
                // The line was exclusive: no one has to be asked.
                return cycle;
            }
            let start = self.after_fill(line, cycle);
            let latency = if entry & SHARED != 0 && access == LineAccess::Write {
                self.lines[slot] &= !SHARED;
                self.config.core_upgrade_latency
            } else {
                self.config.core_hit_latency
            };
            return start + u64::from(latency);
        }
        let (slot, ready) = self.fill(line, cycle, u64::from(self.config.core_miss_latency));
        self.lines[slot] |= held;
        ready
    }
}

#[cfg(test)]
mod tests {
    use super::{MemoryConfig, MemorySystem};
    use crate::instances::rtl;

    /// An L2 of 16 lines, each of which has one place, all dirty.
    fn dirty(config: MemoryConfig) -> MemorySystem {
        let mut memory = MemorySystem::new(&MemoryConfig {
            l2_kib: 1,
            l2_ways: 1,
            l2_mshrs: 4,
            ..config
        });
        for line in 0..16 {
            memory.write(line * 64, true, 4, line * 1000);
        }
        memory
    }

    /// Cycle at which the last of `count` whole lines that push out dirty ones
    /// is acknowledged, each sent as soon as it is taken.
    fn stores(config: MemoryConfig, count: u64) -> u64 {
        let mut memory = dirty(config);
        let mut at = 100_000;
        for line in 16..16 + count {
            at = (at + 4).max(memory.ready_from());
            memory.write(line * 64, true, 4, at);
        }
        at - 100_000
    }

    #[test]
    fn a_tracker_is_busy_until_the_write_of_its_victim_is_acknowledged() {
        let slow = |outer_write_latency| MemoryConfig {
            outer_write_latency,
            ..rtl().memory
        };
        // Sixteen lines, of which four can be under way.
        let (fast, slow) = (stores(slow(0), 16), stores(slow(200), 16));
        assert!(fast < 16 * 10, "{fast}");
        assert!((3 * 200..4 * 230).contains(&slow), "{slow}");
    }

    #[test]
    fn writes_behind_the_l2_only_delay_reads_that_share_their_path() {
        let reads = |outer_duplex| {
            let mut memory = dirty(MemoryConfig {
                outer_duplex,
                ..rtl().memory
            });
            let mut last = 0;
            for line in 16..32 {
                let at = memory.ready_from().max(100_000);
                last = memory.read(line * 64, 4, at).first;
            }
            last - 100_000
        };
        let (shared, apart) = (reads(false), reads(true));
        assert!(shared >= apart + 60, "{shared} {apart}");
    }
}
