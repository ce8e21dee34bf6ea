//! What blocks of a launch have done, in numbers.

use super::classes::Cost;
use super::machine::Machine;
use std::collections::{BTreeMap, HashMap, HashSet};

/// What warps asked of the pipes of an SM.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pipes {
    /// Instructions of warps that were issued.
    pub issue: f64,
    pub(crate) fma: f64,
    pub(crate) alu: f64,
    pub(crate) int: f64,
    pub(crate) add: f64,
    pub(crate) special: f64,
    pub(crate) double: f64,
    pub(crate) tensor: f64,
}

impl Pipes {
    /// Adds `more`, `factor` times.
    fn add(&mut self, more: &Self, factor: f64) {
        self.issue += more.issue * factor;
        self.fma += more.fma * factor;
        self.alu += more.alu * factor;
        self.int += more.int * factor;
        self.add += more.add * factor;
        self.special += more.special * factor;
        self.double += more.double * factor;
        self.tensor += more.tensor * factor;
    }

    /// Returns the cycles of the pipe for logic and of that for integer products, which share
    /// the additions.
    pub(super) fn integer_cycles(&self, machine: &Machine) -> [f64; 2] {
        let cycles = |warps: f64, lanes: f64| warps * 32.0 / lanes;
        let alu = cycles(self.alu, machine.alu_lanes);
        let int = cycles(self.int, machine.int_lanes);
        let all = self.alu + self.int + self.add;
        let both = cycles(all, machine.alu_lanes + machine.int_lanes);
        let shared = if 0.0 < self.add { both } else { 0.0 };
        // The programming guide has as many lanes for additions alone as for logic.
        let added = cycles(self.add, machine.alu_lanes);
        [alu.max(shared).max(added), int]
    }

    /// Adds what a step costs.
    pub(super) fn step(&mut self, cost: &Cost) {
        self.steps(cost, 1.0);
    }

    /// Adds what a step costs, `count` times.
    pub(super) fn steps(&mut self, cost: &Cost, count: f64) {
        let of_step = Self {
            issue: cost.issue,
            fma: cost.fma,
            alu: cost.alu,
            int: cost.int,
            add: cost.add,
            special: cost.special,
            double: cost.double,
            tensor: cost.tensor,
        };
        self.add(&of_step, count);
    }
}

/// What blocks did, together.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Blocks that were watched.
    pub blocks: u32,
    pub(crate) pipes: Pipes,
    /// Cycles of the banks of shared memory.
    pub shared_wavefronts: f64,
    /// The same if no two threads met in a bank.
    pub shared_ideal: f64,
    /// Requests of warps to global memory.
    pub requests: f64,
    /// Sectors that these touch.
    pub sectors: f64,
    /// Cycles of the L1's banks and tags.
    pub l1_cycles: f64,
    /// Sectors that the L1 asks the L2 for.
    pub l2_read_sectors: f64,
    /// The places of sectors that these requests take: one for a single sector takes two.
    pub(crate) l2_read_places: f64,
    /// Sectors that are written to the L2.
    pub l2_write_sectors: f64,
    /// The places that these take: a sector that is written in part takes two.
    pub(crate) l2_write_places: f64,
    /// Nanoseconds of the L2 for atomic operations.
    pub(crate) atomic_ns: f64,
    /// Of each line that atomic operations change, nanoseconds in which they follow each
    /// other, and the last block that did so.
    pub(crate) hot: HashMap<u64, Hot>,
    /// Cycles of the warp that took longest if it were alone and nothing else were busy: with
    /// an L2 that holds nothing, and with one that holds all.
    pub(crate) latency: [f64; 2],
    /// Sums over all blocks of the mean of the same over their warps.
    pub(crate) latency_sum: [f64; 2],
    /// The same of the block that goes on when others have come, from then on and without what
    /// the others do, too; and both of the above without this.
    pub(crate) alone: [f64; 2],
    pub(crate) latency_before: [f64; 2],
    pub(crate) latency_before_sum: [f64; 2],
    /// Sectors that the L1 asks the L2 for, of each range of addresses.
    pub(crate) asked: HashMap<u64, f64>,
    /// Sum over all blocks of the sectors that each reads, once each.
    pub(crate) new_sectors: f64,
    /// What lines of the source had to do with; line 0 stands for what no line owns.
    pub lines: BTreeMap<u32, LineCounts>,
    /// Sectors of each range of addresses that were read and written, once each.
    pub(crate) read: HashSet<u64>,
    pub(crate) written: HashSet<u64>,
}

/// A line of the L2 that atomic operations change.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hot {
    pub(crate) ns: f64,
    /// Whether several blocks change it.
    pub(crate) is_common: bool,
}

/// What a line of the source had to do with.
#[derive(Clone, Copy, Debug, Default)]
pub struct LineCounts {
    pub(crate) pipes: Pipes,
    /// Cycles of shared memory.
    pub shared: f64,
    /// The same without meetings in a bank.
    pub shared_ideal: f64,
    /// Requests to global memory.
    pub requests: f64,
    /// Sectors of these.
    pub sectors: f64,
    /// Of these, those that the L2 was asked for, and those that were written there.
    pub(crate) l2_reads: f64,
    pub(crate) l2_writes: f64,
    /// Nanoseconds of the L2 for atomic operations.
    pub(crate) atomic_ns: f64,
    /// Cycles that warps waited for a result, estimated.
    pub waits: f64,
    /// Cycles of what the block does that goes on when others have come, beyond what they do.
    pub(crate) alone: f64,
}

impl LineCounts {
    /// Returns the instructions of warps.
    #[must_use]
    pub fn instructions(&self) -> f64 {
        self.pipes.issue
    }

    /// Adds `more`, `factor` times.
    pub fn add(&mut self, more: &Self, factor: f64) {
        self.pipes.add(&more.pipes, factor);
        self.shared += more.shared * factor;
        self.shared_ideal += more.shared_ideal * factor;
        self.requests += more.requests * factor;
        self.sectors += more.sectors * factor;
        self.l2_reads += more.l2_reads * factor;
        self.l2_writes += more.l2_writes * factor;
        self.atomic_ns += more.atomic_ns * factor;
        self.waits += more.waits * factor;
        self.alone += more.alone * factor;
    }
}

impl Counts {
    /// Adds what one block did, `factor` times.
    pub(super) fn add(&mut self, block: Self, factor: f64) {
        self.pipes.add(&block.pipes, factor);
        let sums = [
            (&mut self.shared_wavefronts, block.shared_wavefronts),
            (&mut self.shared_ideal, block.shared_ideal),
            (&mut self.requests, block.requests),
            (&mut self.sectors, block.sectors),
            (&mut self.l1_cycles, block.l1_cycles),
            (&mut self.l2_read_sectors, block.l2_read_sectors),
            (&mut self.l2_read_places, block.l2_read_places),
            (&mut self.l2_write_sectors, block.l2_write_sectors),
            (&mut self.l2_write_places, block.l2_write_places),
            (&mut self.atomic_ns, block.atomic_ns),
            (&mut self.new_sectors, block.new_sectors),
        ];
        for (sum, more) in sums {
            *sum += more * factor;
        }
        for number in 0..2 {
            let most = [
                (&mut self.latency, block.latency),
                (&mut self.latency_before, block.latency_before),
                (&mut self.alone, block.alone),
            ];
            for (all, one) in most {
                all[number] = all[number].max(one[number]);
            }
            self.latency_sum[number] += block.latency_sum[number] * factor;
            self.latency_before_sum[number] += block.latency_before_sum[number] * factor;
        }
        for (range, sectors) in block.asked {
            *self.asked.entry(range).or_default() += sectors * factor;
        }
        for (word, hot) in block.hot {
            let sum = self.hot.entry(word).or_default();
            sum.is_common |= 0.0 < sum.ns;
            sum.ns += hot.ns * factor;
        }
        for (line, counts) in block.lines {
            self.lines.entry(line).or_default().add(&counts, factor);
        }
        self.read.extend(block.read);
        self.written.extend(block.written);
        self.blocks += 1;
    }
}
