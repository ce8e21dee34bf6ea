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
    /// Cycle before which the L2 takes no further request.
    pub(super) blocked_until: u64,
}

#[derive(Clone, Debug)]
pub(super) struct MemorySystem {
    lines: Vec<u64>,
    set_mask: u64,
    ways: usize,
    random: u16,
    /// When each tracker is free again, and for which line it works.
    trackers: Vec<(u64, u64)>,
    last_fill: u64,
    outer_free: u64,
    probe_free: u64,
    /// Beats of the response channel to the accelerator.
    responses: Calendar,
    probes: Vec<(u64, bool)>,
    config: MemoryConfig,
    outer_occupancy: u64,
    pub(super) counts: MemoryCounts,
}

impl MemorySystem {
    pub(super) fn new(config: &MemoryConfig) -> Self {
        let ways = config.l2_ways.max(1) as usize;
        let sets = ((config.l2_kib as usize * 1024 >> LINE_SHIFT) / ways)
            .max(1)
            .next_power_of_two();
        Self {
            lines: vec![0; sets * ways],
            set_mask: sets as u64 - 1,
            ways,
            random: 0xace1,
            trackers: vec![(0, u64::MAX); config.l2_mshrs.max(1) as usize],
            last_fill: 0,
            outer_free: 0,
            probe_free: 0,
            responses: Calendar::new(),
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

    /// Waits for a tracker, reads the line from outer memory and returns the
    /// slot, the cycle of the first data and the cycle the tracker was had.
    fn fill(&mut self, line: u64, cycle: u64, latency: u64) -> (usize, u64, u64) {
        let (idx, free) = self
            .trackers
            .iter()
            .enumerate()
            .map(|(idx, (free, _))| (idx, *free))
            .min_by_key(|(_, free)| *free)
            .expect("at least one tracker");
        let start = cycle.max(free);
        let (slot, write_back) = self.replace(line);
        self.counts.lines_read += 1;
        let outer = u64::from(self.config.outer_latency);
        let mut at = start;
        if write_back {
            at += u64::from(self.config.dirty_victim);
            self.outer_free = self.outer_free.max(start) + self.outer_occupancy;
        }
        let served = self.outer_free.max(at + 3);
        self.outer_free = served + self.outer_occupancy;
        let first = (at + latency).max(served + self.outer_occupancy) + outer;
        self.trackers[idx] = (first + self.outer_occupancy, line);
        self.last_fill = self.last_fill.max(first + self.outer_occupancy);
        (slot, first, start)
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

    /// The accelerator reads `beats` beats of the line at `address`.
    pub(super) fn read(&mut self, address: u64, beats: u64, cycle: u64) -> ReadReply {
        let line = address >> LINE_SHIFT;
        if let Some(slot) = self.find(line) {
            self.counts.hits += 1;
            let cycle = self.after_fill(line, cycle);
            let ready = if self.lines[slot] & (OWNED | CORE_DIRTY) == 0 {
                cycle + u64::from(self.config.hit_latency)
            } else {
                self.probe(slot, cycle, false)
            };
            let first = self.responses.first_gap(ready, beats);
            self.responses.mark_range(first, beats);
            return ReadReply {
                first,
                spacing: 1,
                hit: true,
                blocked_until: 0,
            };
        }
        self.counts.misses += 1;
        let (_, ready, start) = self.fill(line, cycle, u64::from(self.config.miss_latency));
        let spacing = if beats > 1 { 2 } else { 1 };
        let busy = (beats - 1) * spacing + 1;
        let first = self.responses.first_gap(ready, busy);
        self.responses.mark_range(first, busy);
        ReadReply {
            first,
            spacing,
            hit: false,
            blocked_until: start,
        }
    }

    /// The accelerator writes to the line at `address`; `whole` says that every
    /// byte is written. `first` and `last` are the cycles of the first and the
    /// last beat at the port. Returns the cycle of the acknowledgement and the
    /// cycle before which the L2 takes no further request.
    pub(super) fn write(&mut self, address: u64, whole: bool, first: u64, last: u64) -> (u64, u64) {
        let line = address >> LINE_SHIFT;
        let mut blocked = 0;
        let ready = if let Some(slot) = self.find(line) {
            self.counts.hits += 1;
            let cycle = self.after_fill(line, first);
            let ready = self.probe(slot, cycle, true);
            self.lines[slot] |= DIRTY;
            ready
        } else {
            self.counts.misses += 1;
            if whole {
                let (slot, write_back) = self.replace(line);
                self.lines[slot] |= DIRTY;
                if write_back {
                    self.outer_free = self.outer_free.max(first) + self.outer_occupancy;
                }
                first + u64::from(self.config.hit_latency)
            } else {
                let (slot, ready, start) =
                    self.fill(line, first, u64::from(self.config.miss_latency));
                self.lines[slot] |= DIRTY;
                blocked = start;
                ready
            }
        };
        let ack = self.responses.first_free(ready.max(last + 1));
        self.responses.mark(ack);
        (ack, blocked)
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
        let (slot, ready, _) = self.fill(line, cycle, u64::from(self.config.core_miss_latency));
        self.lines[slot] |= held;
        ready
    }
}
