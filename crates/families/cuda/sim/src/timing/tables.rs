//! Tables of a machine's file: what was measured on a GPU beside its rates, and what a fit of
//! measured times gave.

use serde::Deserialize;
use std::ops::RangeInclusive;

/// A figure of a table: its key, its value, and what that may be.
pub(super) type Figure = (&'static str, f64, RangeInclusive<f64>);

/// `[barrier]`: what warps of a block that meet wait for behind the last of them, cycles.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Barrier {
    /// Those of a block without warps.
    pub cycles: f64,
    /// Those that each warp of the block adds.
    pub cycles_of_warp: f64,
}

impl Barrier {
    /// Returns the cycles of a barrier of a block of so many warps.
    pub(super) fn of(&self, warps: usize) -> f64 {
        self.cycles + self.cycles_of_warp * warps as f64
    }

    pub(super) fn figures(&self) -> Vec<Figure> {
        vec![
            ("barrier.cycles", self.cycles, 0.0..=1000.0),
            ("barrier.cycles_of_warp", self.cycles_of_warp, 0.0..=1000.0),
        ]
    }
}

/// `[caches]`: how L1, L2 and memory of the device pass sectors of 32 bytes on.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Caches {
    /// Lines of 128 bytes that the L1 looks up in a cycle.
    pub lines_per_cycle: f64,
    /// Places of sectors that a request of the L1 to the L2 takes at least, however few sectors
    /// of a line it is for.
    pub request_sectors: f64,
    /// Places of sectors that a sector takes which is written in part: it is read and mixed.
    pub partial_sectors: f64,
    /// Part of the L2 that may stay full of what was not yet written to memory.
    pub dirty_share: f64,
    /// Bytes that pass through the L2, in its size, when the first of those that were there
    /// before are gone.
    pub first_miss: f64,
    /// The same when all are.
    pub all_miss: f64,
    /// Part of the reads of what was read before that find the L2 full of other things, where
    /// blocks near each other read the same; of scattered reads, all do.
    pub reread_share: f64,
    /// Bytes that the memory of the device moves at once: whole sectors.
    pub granule_bytes: u64,
}

impl Caches {
    /// Returns the part of what is used again that a cache of `capacity` bytes holds no longer,
    /// if `passed` bytes have passed through it meanwhile.
    pub(super) fn gone(&self, passed: f64, capacity: f64) -> f64 {
        let over = passed / capacity - self.first_miss;
        (over / (self.all_miss - self.first_miss)).clamp(0.0, 1.0)
    }

    pub(super) fn figures(&self) -> Vec<Figure> {
        vec![
            ("caches.lines_per_cycle", self.lines_per_cycle, 0.1..=32.0),
            ("caches.request_sectors", self.request_sectors, 1.0..=4.0),
            ("caches.partial_sectors", self.partial_sectors, 1.0..=4.0),
            ("caches.dirty_share", self.dirty_share, 0.01..=1.0),
            ("caches.first_miss", self.first_miss, 0.0..=1.0),
            ("caches.all_miss", self.all_miss, 1.01..=4.0),
            ("caches.reread_share", self.reread_share, 0.0..=1.0),
            (
                "caches.granule_bytes",
                self.granule_bytes as f64,
                32.0..=1024.0,
            ),
        ]
    }
}

/// `[atomics]`: nanoseconds of the L2 for atomic operations on memory of the device.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Atomics {
    /// Those for an operation on one word of a sector.
    pub sector_ns: f64,
    /// Those for operations on all eight words of a sector at once.
    pub wide_sector_ns: f64,
    /// Those between two operations on one word. A line of the L2 lies in one part of it, which
    /// does those on one sector at once if their words differ, and one sector after the other:
    /// so operations on a line follow each other as those on a word do.
    pub word_ns: f64,
    /// The same of operations on floats.
    pub float_word_ns: f64,
}

impl Atomics {
    pub(super) fn figures(&self) -> Vec<Figure> {
        vec![
            ("atomics.sector_ns", self.sector_ns, 1e-6..=1000.0),
            ("atomics.wide_sector_ns", self.wide_sector_ns, 1e-6..=1000.0),
            ("atomics.word_ns", self.word_ns, 1e-6..=1000.0),
            ("atomics.float_word_ns", self.float_word_ns, 1e-6..=1000.0),
        ]
    }
}

/// `[overlap]`: how far what limits a launch goes on at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overlap {
    /// The power whose sum several limits add up to: 1 if nothing overlaps, more the more does.
    pub power: f64,
    /// By how much the power is less where an SM has one block whose warps wait for each other:
    /// then all of them load, or all of them compute.
    pub together: f64,
    /// How many blocks one counts for whose copies to shared memory go on while it computes.
    pub stages: f64,
}

impl Overlap {
    pub(super) fn figures(&self) -> Vec<Figure> {
        vec![
            ("overlap.power", self.power, 1.0..=20.0),
            ("overlap.together", self.together, 0.0..=self.power - 1.0),
            ("overlap.stages", self.stages, 1.0..=64.0),
        ]
    }
}

/// `[latencies]`: cycles from the issue of an instruction until its result is there; those of
/// loads are figures of the machine itself.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Latencies {
    /// Of arithmetic in single precision and with integers, each of several in a row.
    pub plain: f64,
    /// Of arithmetic in double precision.
    pub double: f64,
    /// Of conversions from and to floats.
    pub conversion: f64,
    /// Of the special functions of the hardware.
    pub special: f64,
    /// Of each instruction beside them that makes a function of C of one.
    pub beside_special: f64,
    /// Of a division of floats, as all of its instructions together take.
    pub division: f64,
    /// Of a square root of a float, likewise.
    pub square_root: f64,
    /// Of 16 x 8 x 16 multiply-adds of halves in the matrix units, or fewer.
    pub matrix: f64,
    /// Of a shuffle, and of a comparison of all threads of a warp.
    pub shuffle: f64,
    /// Of a vote.
    pub vote: f64,
    /// Of a sum or minimum over the threads of a warp.
    pub reduction: f64,
    /// From a warp's last barrier to its end at least, where all blocks are looked at coarsely.
    pub barrier: f64,
    /// Of a turn of an atomic operation that shared memory does not have, beside its load and
    /// its store.
    pub turn: f64,
}

impl Latencies {
    pub(super) fn figures(&self) -> Vec<Figure> {
        let all = [
            ("latencies.plain", self.plain),
            ("latencies.double", self.double),
            ("latencies.conversion", self.conversion),
            ("latencies.special", self.special),
            ("latencies.beside_special", self.beside_special),
            ("latencies.division", self.division),
            ("latencies.square_root", self.square_root),
            ("latencies.matrix", self.matrix),
            ("latencies.shuffle", self.shuffle),
            ("latencies.vote", self.vote),
            ("latencies.reduction", self.reduction),
            ("latencies.barrier", self.barrier),
            ("latencies.turn", self.turn),
        ];
        all.map(|(key, cycles)| (key, cycles, 0.0..=10_000.0))
            .to_vec()
    }
}
