//! Accesses of warps to memory of the device: what they cost in the L1, and what of them
//! goes on to the L2.

use super::banks::wavefronts;
use super::counts::Counts;
use super::machine::Machine;
use crate::decode::RANGE;
use crate::machine::Access;
use std::collections::HashMap;

/// Bytes that caches move at once.
const SECTOR: u64 = 32;
/// Bytes of a line of the L1.
const LINE: u64 = 128;
/// Uses of other sectors after which a sector that is used again moves to the front.
const RECENT: u64 = 16;
/// Where memory of threads stands among the addresses, with no buffer beside it.
const LOCAL: u64 = 1 << 62;

/// A sector.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    /// The number of its last use.
    last: u64,
    /// When it is there, by both clocks.
    ready: [f64; 2],
}

/// What the L1 of a block holds.
#[derive(Debug, Default)]
pub(super) struct Traffic {
    /// Sectors that the block has had.
    l1: HashMap<u64, Held>,
    /// Uses after which a sector is gone.
    lasts: u64,
    uses: u64,
}

impl Traffic {
    pub(super) fn new(l1_bytes: u64) -> Self {
        Self {
            l1: HashMap::new(),
            lasts: (l1_bytes / SECTOR).max(4),
            uses: 0,
        }
    }

    /// Returns whether the L1 held a sector, which it holds now, and whether the block had
    /// it before.
    fn touch(&mut self, sector: u64) -> (bool, bool) {
        let held = self.l1.entry(sector).or_default();
        let was_there = held.last != 0;
        let age = self.uses - held.last;
        // What is used over and over pushes nothing out.
        if !was_there || RECENT <= age {
            self.uses += 1;
            held.last = self.uses;
        }
        (was_there && age <= self.lasts, was_there)
    }

    /// Counts a load or a store of global memory that is issued `now`, by both clocks. Returns
    /// the cycles until what is read is there, with an L2 that holds nothing of what is new to
    /// the block and with one that holds all, and its sectors.
    pub(super) fn global(
        &mut self,
        counts: &mut Counts,
        machine: &Machine,
        access: &Access<'_>,
        now: [f64; 2],
    ) -> ([f64; 2], u64) {
        let mut words: Vec<u64> = Vec::with_capacity(128);
        for lane in (0..32).filter(|lane| access.lanes >> lane & 1 == 1) {
            let address = access.addresses[lane];
            let last = (address + u64::from(access.bytes) - 1) / 4;
            words.extend(address / 4..=last);
        }
        words.sort_unstable();
        words.dedup();
        let mut sectors = words.clone();
        sectors.iter_mut().for_each(|it| *it /= SECTOR / 4);
        sectors.dedup();
        let mut lines = sectors.clone();
        lines.iter_mut().for_each(|it| *it /= LINE / SECTOR);
        lines.dedup();
        counts.requests += 1.0;
        counts.sectors += sectors.len() as f64;
        let bytes = sectors.len() as f64 * SECTOR as f64;
        // Copies to shared memory do not wait for each other in banks.
        let (banks, ideal) = wavefronts(access);
        let banks = if access.is_async { ideal } else { banks };
        let cycles = (banks as f64)
            .max(bytes / machine.l1_bytes_per_cycle)
            .max(lines.len() as f64 / machine.caches.lines_per_cycle);
        counts.l1_cycles += cycles;
        if access.write {
            let mut at = 0;
            for sector in &sectors {
                let count = words[at..]
                    .iter()
                    .take_while(|it| **it / (SECTOR / 4) == *sector)
                    .count();
                at += count;
                let is_whole = count as u64 * 4 == SECTOR;
                counts.l2_write_places += if is_whole {
                    1.0
                } else {
                    machine.caches.partial_sectors
                };
            }
            counts.l2_write_sectors += sectors.len() as f64;
            counts.written.extend(&sectors);
            return ([0.0; 2], sectors.len() as u64);
        }
        let from_l2 = [machine.l2_latency; 2];
        let from_memory = [machine.dram_latency, machine.l2_latency];
        let mut latency = [machine.l1_latency; 2];
        let mut misses: Vec<u64> = Vec::new();
        for sector in &sectors {
            let (is_there, was_there) = self.touch(*sector);
            let is_miss = access.no_l1 || !is_there;
            if is_miss {
                misses.push(*sector);
            }
            if !was_there {
                counts.new_sectors += 1.0;
                counts.read.insert(*sector);
            }
            let Some(held) = self.l1.get_mut(sector) else {
                continue;
            };
            let takes = if was_there { from_l2 } else { from_memory };
            for number in 0..2 {
                if is_miss {
                    held.ready[number] = now[number] + takes[number];
                }
                // What another warp has asked for is waited for, too.
                latency[number] = latency[number].max(held.ready[number] - now[number]);
            }
        }
        count_reads(counts, machine, &misses);
        (latency.map(|it| it + cycles), sectors.len() as u64)
    }

    /// Counts an access to the memory of threads: the words of a warp's threads lie side by
    /// side, and stay in the L1 as long as there is room.
    pub(super) fn local(
        &mut self,
        counts: &mut Counts,
        machine: &Machine,
        access: &Access<'_>,
        warp: u32,
    ) -> ([f64; 2], u64) {
        let mut places: Vec<u64> = Vec::new();
        for lane in (0..32_u64).filter(|lane| access.lanes >> lane & 1 == 1) {
            let first = access.addresses[lane as usize] / 4;
            let last = (access.addresses[lane as usize] + u64::from(access.bytes) - 1) / 4;
            places.extend((first..=last).map(|word| word << 5 | lane));
        }
        places
            .iter_mut()
            .for_each(|it| *it = (LOCAL | (u64::from(warp) << 44) | (*it * 4)) / SECTOR);
        places.sort_unstable();
        places.dedup();
        counts.requests += 1.0;
        counts.sectors += places.len() as f64;
        let cycles = places.len() as f64 * SECTOR as f64 / machine.l1_bytes_per_cycle;
        counts.l1_cycles += cycles;
        let mut misses = Vec::new();
        for sector in &places {
            let (is_there, was_there) = self.touch(*sector);
            if was_there && !is_there {
                misses.push(*sector);
            }
        }
        // What was pushed out was written to the L2, and comes back from there.
        counts.l2_write_sectors += misses.len() as f64;
        counts.l2_write_places += misses.len() as f64;
        if !access.write {
            count_reads(counts, machine, &misses);
        }
        let latency = match misses.is_empty() {
            true => machine.l1_latency,
            false => machine.l2_latency,
        };
        ([latency + cycles; 2], places.len() as u64)
    }

    /// Counts what a warp reads again from memory of threads before a step, and writes there
    /// after it, since it does not fit the registers.
    pub(super) fn spill(
        &self,
        counts: &mut Counts,
        machine: &Machine,
        part: f64,
        (reads, writes): (bool, bool),
    ) {
        let accesses = part * f64::from(u8::from(reads) + u8::from(writes));
        counts.pipes.issue += accesses;
        counts.l1_cycles += accesses * LINE as f64 / machine.l1_bytes_per_cycle;
        // The L1 passes writes of threads' memory on when it needs the room.
        if writes {
            counts.l2_write_sectors += part * 4.0;
            counts.l2_write_places += part * 4.0;
        }
    }

    /// Counts an atomic operation on global memory.
    pub(super) fn atomic(
        &mut self,
        counts: &mut Counts,
        machine: &Machine,
        access: &Access<'_>,
        is_float: bool,
    ) -> ([f64; 2], u64) {
        let lanes = (0..32).filter(|lane| access.lanes >> lane & 1 == 1);
        let mut words: Vec<u64> = lanes.map(|lane| access.addresses[lane] / 4).collect();
        words.sort_unstable();
        let atomics = &machine.atomics;
        let each = match is_float {
            true => atomics.float_word_ns,
            false => atomics.word_ns,
        };
        let mut sectors = 0;
        let words_of_line = LINE / 4;
        for sector in words.chunk_by(|a, b| a / (SECTOR / 4) == b / (SECTOR / 4)) {
            // Those on one word follow each other; those on several are done at once.
            let mut most = 0;
            let mut distinct = 0;
            for word in sector.chunk_by(|a, b| a == b) {
                most = most.max(word.len());
                distinct += 1;
            }
            let hot = counts.hot.entry(sector[0] / words_of_line).or_default();
            hot.ns += each * most as f64;
            let width = f64::from(distinct - 1) / 7.0;
            let wider = atomics.wide_sector_ns - atomics.sector_ns;
            counts.atomic_ns += most as f64 * (atomics.sector_ns + wider * width);
            sectors += 1;
        }
        counts.requests += 1.0;
        counts.sectors += sectors as f64;
        counts.l1_cycles += sectors as f64;
        ([machine.l2_latency; 2], sectors)
    }
}

/// Counts sectors, in order, that the L2 is asked for.
fn count_reads(counts: &mut Counts, machine: &Machine, sectors: &[u64]) {
    counts.l2_read_sectors += sectors.len() as f64;
    if let Some(first) = sectors.first() {
        // The sectors of a request that lie in several buffers are rare.
        *counts.asked.entry(first * SECTOR / RANGE).or_insert(0.0) += sectors.len() as f64;
    }
    for line in sectors.chunk_by(|a, b| a / (LINE / SECTOR) == b / (LINE / SECTOR)) {
        counts.l2_read_places += (line.len() as f64).max(machine.caches.request_sectors);
    }
}
