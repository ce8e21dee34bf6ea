//! How long a launch takes, from what some of its blocks did.

use super::counts::{Counts, Hot};
use super::l2::{L2, Ranges};
use super::machine::Machine;
use super::{Read, Watched};
use serde::Serialize;

/// What limits a launch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// What it is.
    pub name: &'static str,
    /// Nanoseconds that it alone would take.
    pub ns: f64,
    /// Part of the time between begin and end of the launch that is put down to it: by so many
    /// percent that time would be less if this part took one percent less. All make one.
    pub share: f64,
}

/// How long a launch takes.
#[derive(Clone, Debug, Serialize)]
pub struct Estimate {
    /// Nanoseconds, the launch itself included.
    pub ns: f64,
    /// Nanoseconds of these that pass however little the launch does.
    pub launch_ns: f64,
    /// What limits it, the longest first.
    pub parts: Vec<Part>,
    /// Blocks that an SM holds at once.
    pub resident_blocks: u32,
    /// Registers of a thread, guessed.
    pub registers: u32,
    /// The same if there were as many as it needs: what is above is spilled, or the launch is
    /// refused.
    pub wanted_registers: u32,
    /// Waves of blocks.
    pub waves: f64,
    /// Blocks that wait for each other, one after the other.
    pub waits: u32,
    /// Bytes between L1 and L2.
    pub l2_bytes: f64,
    /// Bytes between L2 and memory.
    pub dram_bytes: f64,
    /// What the blocks that were watched did.
    #[serde(skip)]
    pub counts: Counts,
}

impl Estimate {
    /// Returns the blocks that the fullest SM has at once.
    #[must_use]
    pub fn blocks_at_once(&self) -> u32 {
        let waves = self.waves.min(1.0);
        (waves * f64::from(self.resident_blocks)).ceil().max(1.0) as u32
    }
}

impl Watched {
    /// Estimates how long the launch takes, and leaves in `l2` what it has touched.
    #[must_use]
    pub fn estimate(&self, machine: &Machine, l2: &mut L2) -> Estimate {
        let counts = &self.counts;
        let clock = match 0.0 < counts.pipes.tensor {
            true => machine.matrix_clock_mhz.unwrap_or(machine.clock_mhz),
            false => machine.clock_mhz,
        };
        let cycle_ns = 1000.0 / clock;
        let busiest = self.share.busiest * cycle_ns;
        let pipe = |warps: f64, lanes: f64| warps * 32.0 / lanes * busiest;
        let [alu, int] = counts.pipes.integer_cycles(machine);
        let all = self.share.all;
        let l2_bytes = (counts.l2_read_sectors + counts.l2_write_sectors) * 32.0 * all;
        let missing = self.missing(machine, l2);
        let read = self.dram_read_bytes(machine, &missing);
        let written = self.dram_written_bytes(machine, l2);
        let write_rate = machine.l2_write_bytes_per_ns();
        let removed = machine.removed.map_or(&[][..], |it| it.parts());
        let mut parts: Vec<Part> = [
            ("issue", counts.pipes.issue / 4.0 * busiest),
            ("fma", pipe(counts.pipes.fma, machine.fp32_lanes)),
            ("alu", alu * busiest),
            ("int", int * busiest),
            ("special", pipe(counts.pipes.special, machine.special_lanes)),
            ("double", pipe(counts.pipes.double, machine.fp64_lanes)),
            (
                "tensor",
                counts.pipes.tensor / machine.tensor_macs * busiest,
            ),
            ("shared", counts.shared_wavefronts * busiest),
            ("l1", counts.l1_cycles * busiest),
            (
                "latency",
                self.latency(&missing, (counts.latency, counts.latency_sum)) * cycle_ns,
            ),
            (
                "l2",
                counts.l2_read_places * 32.0 * all / machine.l2_bytes_per_ns,
            ),
            (
                "l2_writes",
                counts.l2_write_places * 32.0 * all / write_rate,
            ),
            ("atomics", self.atomics_ns()),
            (
                "dram",
                read / machine.dram_bytes_per_ns + written / machine.dram_write_bytes_per_ns(),
            ),
            ("blocks", self.blocks as f64 * machine.block_ns),
            ("turns", self.waits.cycles * cycle_ns),
        ]
        .map(|(name, ns)| Part {
            name,
            ns: match removed.contains(&name) {
                true => 0.0,
                false => ns.max(0.0),
            },
            share: 0.0,
        })
        .into();
        let overlap = &machine.overlap;
        let power = overlap.power - overlap.together / self.independent(machine);
        // Shared memory and the L1 are the same banks.
        let is_banks = |name: &str| matches!(name, "shared" | "l1");
        let of_banks = parts.iter().filter(|it| is_banks(it.name));
        let banks: f64 = of_banks.map(|it| it.ns).sum();
        let powers = |part: &Part| match is_banks(part.name) {
            true => part.ns * banks.powf(power - 1.0),
            false => part.ns.powf(power),
        };
        let joined = |parts: &[Part]| parts.iter().map(powers).sum::<f64>().powf(1.0 / power);
        let mut ns = joined(&parts);
        let mut alone = Part {
            name: "alone",
            ns: 0.0,
            share: 0.0,
        };
        if 0.0 < self.behind && !removed.contains(&alone.name) {
            // What others have to do first is done when it begins.
            let before = (counts.latency_before, counts.latency_before_sum);
            let before = self.latency(&missing, before) * cycle_ns;
            let mut first = parts.clone();
            let waits = first.iter_mut().filter(|it| it.name == "latency");
            waits.for_each(|it| it.ns = before.min(it.ns));
            let after = self.mixed(&missing, counts.alone) * cycle_ns;
            let both = self.behind * joined(&first) + after;
            if ns < both {
                (ns, parts) = (both, first);
                (alone.ns, alone.share) = (after, after / both);
            }
        }
        let sum: f64 = parts.iter().map(powers).sum();
        for part in &mut parts {
            part.share = powers(part) / sum.max(f64::MIN_POSITIVE) * (1.0 - alone.share);
        }
        parts.push(alone);
        parts.sort_by(|a, b| b.ns.total_cmp(&a.ns));
        Estimate {
            ns: ns + machine.launch_ns,
            launch_ns: machine.launch_ns,
            parts,
            resident_blocks: self.resident,
            registers: self.registers,
            wanted_registers: self.wanted_registers,
            waits: self.waits.blocks,
            waves: self.blocks as f64 / f64::from(machine.sms * self.resident),
            l2_bytes,
            dram_bytes: read + written,
            counts: counts.clone(),
        }
    }

    /// Returns how many parts of an SM's work go on without each other.
    fn independent(&self, machine: &Machine) -> f64 {
        let blocks = self.blocks.div_ceil(u64::from(machine.sms));
        let blocks = blocks.min(u64::from(self.resident)) as f64;
        match self.has_barriers {
            // Copies that nobody waits for at once go on while all compute.
            true if self.has_copies => machine.overlap.stages * blocks,
            true => blocks,
            false => blocks * f64::from(self.warps),
        }
    }

    /// Returns the part of each buffer that the launch reads which the L2 does not hold from
    /// before.
    fn missing(&self, machine: &Machine, l2: &L2) -> Vec<f64> {
        let read: f64 = self.read.iter().map(|it| it.unique).sum();
        let own = read + self.written.values().sum::<f64>();
        let of = |it: &Read| l2.missing(machine, it.range, it.unique, own);
        self.read.iter().map(of).collect()
    }

    /// Returns the bytes that go from the SMs to the L2.
    fn writes(&self) -> f64 {
        self.counts.l2_write_sectors * 32.0 * self.share.all
    }

    /// Returns the bytes that are read from memory, where the L2 does not hold these parts of
    /// the buffers.
    fn dram_read_bytes(&self, machine: &Machine, missing: &[f64]) -> f64 {
        let capacity = machine.l2_bytes as f64;
        let moved = self.read.iter().map(|it| it.asked * it.scatter);
        let all = self.writes() + moved.sum::<f64>();
        let read = self.read.iter().zip(missing).map(|(it, missing)| {
            let moved = it.asked * it.scatter;
            let unique = it.unique.min(moved);
            // What passes through the L2 until a part of the buffer is read again.
            let between = all * unique / moved.max(1.0);
            let scattered = it.scatter - 1.0;
            let pushed_out = (1.0 - scattered)
                * machine.caches.reread_share
                * (1.0 - capacity / between).max(0.0)
                + scattered * (-capacity / machine.l2_copies / between).exp();
            unique * missing + (moved - unique) * pushed_out
        });
        read.sum()
    }

    /// Returns the bytes that are written to memory, and notes what the launch has touched.
    fn dram_written_bytes(&self, machine: &Machine, l2: &mut L2) -> f64 {
        let unique: f64 = self.written.values().sum();
        let share = (self.writes() / unique.max(1.0)).min(1.0);
        let written: Ranges = self
            .written
            .iter()
            .map(|(range, bytes)| (*range, bytes * share))
            .collect();
        let read = self.read.iter().map(|it| (it.range, it.unique)).collect();
        l2.launch(machine, read, &written)
    }

    /// Returns the mean of two numbers of cycles, with an L2 that holds nothing and with one that
    /// holds all, where it does not hold these parts of the buffers.
    fn mixed(&self, missing: &[f64], [cold, warm]: [f64; 2]) -> f64 {
        let missing = self.missing_part(missing);
        missing * cold + (1.0 - missing) * warm
    }

    /// Returns the part of all that is asked for that the L2 does not hold: of a small buffer that
    /// every block reads, each waits for as much as it reads itself.
    fn missing_part(&self, missing: &[f64]) -> f64 {
        let all: f64 = self.read.iter().map(|it| it.asked).sum();
        let missed = self.read.iter().zip(missing);
        missed.map(|(it, part)| it.asked * part).sum::<f64>() / all.max(1.0)
    }

    /// Returns the cycles that the blocks in one place take if nothing else is busy, where the
    /// L2 does not hold these parts of the buffers; those of the slowest block and their sum over
    /// all blocks are given.
    fn latency(&self, missing: &[f64], (slowest, sum): ([f64; 2], [f64; 2])) -> f64 {
        let counts = &self.counts;
        let part = self.missing_part(missing);
        let blocks = f64::from(counts.blocks.max(1));
        let with = |missing: f64, [cold, warm]: [f64; 2]| missing * cold + (1.0 - missing) * warm;
        let first = with(part, sum) / blocks;
        // Later blocks find in the L2 what those of before have read.
        let asked = counts.new_sectors * 32.0 * self.share.all;
        let unique: f64 = self.read.iter().map(|it| it.unique / it.scatter).sum();
        let new = (unique / asked.max(1.0)).min(1.0);
        let later = with(part * new, sum) / blocks;
        let all = first.min(first * self.share.rounds) + later * (self.share.rounds - 1.0).max(0.0);
        // A launch ends with its last warp, however many have nothing to do.
        all.max(with(part, slowest) * self.level)
    }

    /// Returns the nanoseconds of atomic operations: on all words, and on the one that most
    /// of them change.
    fn atomics_ns(&self) -> f64 {
        let of_word = |hot: &Hot| match hot.is_common {
            true => hot.ns * self.share.all,
            false => hot.ns,
        };
        let hottest = self.counts.hot.values().map(of_word).fold(0.0, f64::max);
        hottest.max(self.counts.atomic_ns * self.share.all)
    }
}
