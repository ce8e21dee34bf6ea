//! What blocks did: counted while they run.

use super::banks::SharedLoads;
use super::classes::{self, Cost};
use super::clocks::Clock;
use super::machine::Machine;
use super::pairs::{self, Half};
use super::pressure::Pressure;
use super::traffic::Traffic;
use crate::decode::{Kernel, Op, space_at};
use crate::machine::{Access, Observer};
use crate::ptx::Space;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Cycles of a barrier of a block without warps, and those that each warp adds: 15.25 for one
/// and 77.25 for 32 (H100, `barrier` of micro.tsv).
const BARRIER_CYCLES: f64 = 13.25;
const BARRIER_CYCLES_OF_WARP: f64 = 2.0;

/// What blocks did, together.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Blocks that were watched.
    pub blocks: u32,
    pub(crate) issue: f64,
    pub(crate) fma: f64,
    pub(crate) int: f64,
    pub(crate) special: f64,
    pub(crate) double: f64,
    pub(crate) tensor: f64,
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
    /// Sectors that the L1 asks the L2 for, of each range of addresses.
    pub(crate) asked: HashMap<u64, f64>,
    /// Sum over all blocks of the sectors that each reads, once each.
    pub(crate) new_sectors: f64,
    /// What lines of the source had to do with: instructions, shared wavefronts, sectors.
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
    /// Instructions of warps.
    pub instructions: f64,
    /// Cycles of shared memory.
    pub shared: f64,
    /// The same without meetings in a bank.
    pub shared_ideal: f64,
    /// Requests to global memory.
    pub requests: f64,
    /// Sectors of these.
    pub sectors: f64,
    /// Cycles that warps waited for a result, estimated.
    pub waits: f64,
}

impl LineCounts {
    /// Adds `more`, `factor` times.
    pub fn add(&mut self, more: &Self, factor: f64) {
        self.instructions += more.instructions * factor;
        self.shared += more.shared * factor;
        self.shared_ideal += more.shared_ideal * factor;
        self.requests += more.requests * factor;
        self.sectors += more.sectors * factor;
        self.waits += more.waits * factor;
    }
}

impl Counts {
    /// Adds what one block did, `factor` times.
    fn add(&mut self, block: Self, factor: f64) {
        let sums = [
            (&mut self.issue, block.issue),
            (&mut self.fma, block.fma),
            (&mut self.int, block.int),
            (&mut self.special, block.special),
            (&mut self.double, block.double),
            (&mut self.tensor, block.tensor),
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
            self.latency[number] = self.latency[number].max(block.latency[number]);
            self.latency_sum[number] += block.latency_sum[number] * factor;
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

/// Watches blocks of one launch.
pub(crate) struct Tracer<'k> {
    kernel: &'k Kernel,
    machine: &'k Machine,
    costs: Vec<Cost>,
    /// Of each step, whether it adds one to a word and no more.
    counters: Vec<bool>,
    /// Of each step, the part of what it reads and writes that does not fit the registers.
    spills: Vec<f64>,
    uses: Vec<(Vec<u32>, Vec<u32>)>,
    halves: Vec<Option<Half>>,
    pub(crate) counts: Counts,
    /// What the block that runs has done so far.
    of_block: Counts,
    warps: Vec<Warp>,
    /// When all warps are through the barrier of this number, by both clocks.
    phases: Vec<[f64; 2]>,
    traffic: Traffic,
    at: usize,
    /// Blocks that are looked at, and how many times each counts.
    chosen: BTreeMap<u32, f64>,
    /// How many times the block that runs counts, if it is one of them.
    factor: Option<f64>,
}

/// A warp of the block that runs.
#[derive(Clone, Debug)]
struct Warp {
    /// With an L2 that holds nothing of what the block is the first to read, and with one that
    /// holds all.
    clocks: [Clock; 2],
    barriers: usize,
    shared: SharedLoads,
}

impl<'k> Tracer<'k> {
    pub(crate) fn new(
        kernel: &'k Kernel,
        machine: &'k Machine,
        l1_bytes: u64,
        chosen: BTreeMap<u32, f64>,
        (pressure, limit): (&Pressure, u32),
    ) -> Self {
        let halves = pairs::halves(kernel);
        Self {
            kernel,
            machine,
            costs: (0..kernel.steps.len())
                .map(|at| match halves[at] {
                    Some(Half::Second) => Cost::default(),
                    _ if classes::is_shuffled(kernel, at) => classes::int(1.0),
                    _ => classes::cost(&kernel.steps[at].op),
                })
                .collect(),
            spills: pressure.spills(limit),
            counters: classes::counters(kernel),
            uses: (0..kernel.steps.len())
                .map(|at| classes::registers(kernel, at))
                .collect(),
            halves,
            counts: Counts::default(),
            of_block: Counts::default(),
            warps: Vec::new(),
            phases: Vec::new(),
            traffic: Traffic::new(l1_bytes),
            at: 0,
            chosen,
            factor: None,
        }
    }

    /// Takes the end of the last block into account.
    pub(crate) fn finish(&mut self) {
        if self.warps.is_empty() {
            return;
        }
        // Warps that come first wait for what the others then find in the L1.
        let warps = self.warps.len() as f64;
        for number in 0..2 {
            let ends = self.warps.iter().map(|it| it.clocks[number].ended());
            self.of_block.latency_sum[number] += ends.clone().sum::<f64>() / warps;
            let latency = &mut self.of_block.latency[number];
            *latency = ends.fold(*latency, f64::max);
        }
        self.warps.clear();
        let block = std::mem::take(&mut self.of_block);
        self.counts.add(block, self.factor.unwrap_or(1.0));
    }

    fn line(&mut self) -> &mut LineCounts {
        let line = self.kernel.steps[self.at].line.0;
        self.of_block.lines.entry(line).or_default()
    }

    /// Counts an access to shared memory and returns its cycles.
    fn shared(&mut self, warp: u32, access: &Access<'_>) -> f64 {
        // Threads that count in one word are counted by one instruction.
        let counted = Access {
            atomic: access.atomic && !self.counters[self.at],
            ..*access
        };
        let cost = self.warps[warp as usize].shared.cost(&counted);
        if cost.is_joined {
            self.of_block.issue -= 1.0;
        }
        // The copies that nobody waits for do not meet in banks on their way in.
        let cycles = if access.is_async {
            cost.ideal
        } else {
            cost.cycles
        };
        let (cycles, ideal) = (cycles as f64, cost.ideal as f64);
        self.of_block.shared_wavefronts += cycles;
        self.of_block.shared_ideal += ideal;
        let line = self.line();
        line.shared += cycles;
        line.shared_ideal += ideal;
        cycles
    }

    /// Counts an access to memory of the device, or of a thread, and returns the cycles until
    /// what is read is there.
    fn device(&mut self, warp: u32, access: &Access<'_>, is_local: bool) -> [f64; 2] {
        let op = &self.kernel.steps[self.at].op;
        let traffic = &mut self.traffic;
        let counts = &mut self.of_block;
        let machine = self.machine;
        let (latency, sectors) = match op {
            Op::Atomic { num, .. } => traffic.atomic(counts, machine, access, num.is_float()),
            _ if is_local => traffic.local(counts, machine, access, warp),
            _ => {
                let clocks = &self.warps[warp as usize].clocks;
                let now = [clocks[0].issued(), clocks[1].issued()];
                traffic.global(counts, machine, access, now)
            }
        };
        let line = self.line();
        line.requests += 1.0;
        line.sectors += sectors as f64;
        latency
    }
}

impl Observer for Tracer<'_> {
    fn block(&mut self, number: u32, warps: u32) {
        self.finish();
        self.factor = self.chosen.get(&number).copied();
        if self.factor.is_none() {
            return;
        }
        // Another SM, another L1.
        self.traffic.begin_block();
        self.phases.clear();
        let registers = (self.kernel.words + self.kernel.doubles + self.kernel.predicates) as usize;
        let warp = Warp {
            clocks: [Clock::new(registers), Clock::new(registers)],
            barriers: 0,
            shared: SharedLoads::default(),
        };
        self.warps = vec![warp; warps as usize];
    }

    fn step(&mut self, warp: u32, at: u32, _lanes: u32) {
        if self.factor.is_none() {
            return;
        }
        self.at = at as usize;
        let cost = self.costs[self.at];
        let counts = &mut self.of_block;
        counts.issue += cost.issue;
        counts.fma += cost.fma;
        counts.int += cost.int;
        counts.special += cost.special;
        counts.double += cost.double;
        counts.tensor += cost.tensor;
        let spilled = self.spills[self.at];
        if 0.0 < spilled {
            let uses = &self.uses[self.at];
            self.traffic.spill(
                counts,
                self.machine,
                spilled,
                (!uses.0.is_empty(), !uses.1.is_empty()),
            );
        }
        let op = &self.kernel.steps[self.at].op;
        if let Op::Shuffle { .. } = op {
            // What threads tell each other goes through the banks.
            counts.shared_wavefronts += 1.0;
            counts.shared_ideal += 1.0;
        }
        let uses = &self.uses[self.at];
        let all = self.warps.len() as f64;
        let warp = &mut self.warps[warp as usize];
        let phase = warp.barriers.checked_sub(1);
        let phase = phase.and_then(|it| self.phases.get(it));
        let latency = match op {
            Op::Barrier { .. } => BARRIER_CYCLES + BARRIER_CYCLES_OF_WARP * all,
            _ => cost.latency,
        };
        let mut waited = 0.0;
        let mut begun = [0.0; 2];
        for (number, clock) in warp.clocks.iter_mut().enumerate() {
            if let Some(phase) = phase {
                clock.wait(phase[number]);
            }
            waited = clock.issue(uses, cost.issue, latency);
            match op {
                Op::Barrier { .. } => begun[number] = clock.begun() + latency,
                // It waits until what was written before is at the L2.
                Op::Fence { device: true } => clock.wait(clock.begun() + self.machine.l2_latency),
                Op::CopyCommit => clock.commit(),
                Op::CopyWait { groups } => clock.wait_for_copies(*groups),
                _ => {}
            }
        }
        if let Op::Barrier { .. } = op {
            warp.barriers += 1;
            warp.shared.clear();
            match self.phases.get_mut(warp.barriers - 1) {
                Some(phase) => *phase = [phase[0].max(begun[0]), phase[1].max(begun[1])],
                None => self.phases.push(begun),
            }
        }
        let line = self.line();
        line.instructions += cost.issue;
        line.waits += waited;
    }

    fn access(&mut self, warp: u32, access: Access<'_>) {
        if self.factor.is_none() {
            return;
        }
        let mut both = *access.addresses;
        let access = match self.halves[self.at] {
            None => access,
            Some(Half::Second) => return,
            Some(Half::First(before)) => {
                both.iter_mut().for_each(|it| *it = it.wrapping_sub(before));
                Access {
                    addresses: &both,
                    bytes: 16,
                    ..access
                }
            }
        };
        let space = match access.space {
            Space::Generic => {
                let lane = access.lanes.trailing_zeros().min(31) as usize;
                space_at(access.addresses[lane])
            }
            space => space,
        };
        let latency = match space {
            Space::Shared => [self.machine.shared_latency + self.shared(warp, &access); 2],
            Space::Global | Space::Const => self.device(warp, &access, false),
            Space::Local => self.device(warp, &access, true),
            _ => [0.0; 2],
        };
        if access.write && !access.atomic {
            return;
        }
        let writes = &self.uses[self.at].1;
        let clocks = &mut self.warps[warp as usize].clocks;
        for (clock, latency) in clocks.iter_mut().zip(latency) {
            match access.is_async {
                true => clock.copy(latency),
                false => clock.result(writes, latency),
            }
        }
    }
}
