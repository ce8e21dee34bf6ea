//! What blocks did: counted while they run.

use super::banks::{self, SharedLoads};
use super::classes::{self, Cost};
use super::clocks::Clock;
use super::counts::{Counts, LineCounts, Pipes};
use super::folding;
use super::lasts::Last;
use super::loops;
use super::machine::Machine;
use super::pairs::{self, Half};
use super::pressure::Pressure;
use super::registers;
use super::removals::Removal;
use super::traffic::Traffic;
use crate::decode::registers::uses;
use crate::decode::{Kernel, Op};
use crate::machine::{Access, Observer};
use crate::ptx::Space;
use std::collections::{BTreeMap, HashMap};

/// Watches blocks of one launch.
pub(crate) struct Tracer<'k> {
    kernel: &'k Kernel,
    machine: &'k Machine,
    costs: Vec<Cost>,
    /// Of each step, whether it adds one to a word and no more.
    counters: Vec<bool>,
    /// Of each step, whether it ends a turn that the next one comes behind.
    single_turns: Vec<bool>,
    /// Of each step, the part of what it reads and writes that does not fit the registers.
    spills: Vec<f64>,
    uses: Vec<(Vec<u32>, Vec<u32>)>,
    halves: Vec<Option<Half>>,
    pub(crate) counts: Counts,
    at: usize,
    /// Bytes that the L1 has for a block.
    l1_bytes: u64,
    /// Blocks that are looked at, and how many times each counts.
    chosen: BTreeMap<u32, f64>,
    /// The block that goes on when others have come.
    last: Option<Last>,
    /// The block that runs.
    block: Block,
    /// Those that have begun, if they are looked at.
    others: BTreeMap<u32, Block>,
}

/// A block that has begun.
#[derive(Default)]
struct Block {
    number: u32,
    /// How many times it counts, if it is looked at.
    factor: Option<f64>,
    /// What it has done so far.
    counts: Counts,
    warps: Vec<Warp>,
    /// When all warps are through the barrier of this number, by both clocks.
    phases: Vec<[f64; 2]>,
    traffic: Traffic,
    /// Words of shared memory that warps change by turns, by the number of barriers that the
    /// warps are behind.
    contended: HashMap<(u64, usize), Contended>,
    /// If it goes on when others have come: since when, by both clocks, and the part of what
    /// follows that others do not do.
    alone: Option<([f64; 2], f64)>,
}

impl Block {
    /// Returns what it has done.
    fn ended(mut self) -> Counts {
        // Warps that come first wait for what the others then find in the L1.
        let warps = self.warps.len().max(1) as f64;
        for number in 0..2 {
            let ends = self.warps.iter().map(|it| it.clocks[number].ended());
            let end = ends.clone().fold(0.0, f64::max);
            let after = self
                .alone
                .map_or(0.0, |(since, part)| (end - since[number]).max(0.0) * part);
            let before = end - after;
            let counts = &mut self.counts;
            counts.latency[number] = end;
            counts.latency_sum[number] = ends.clone().sum::<f64>() / warps;
            counts.alone[number] = after;
            counts.latency_before[number] = before;
            counts.latency_before_sum[number] = ends.map(|it| it.min(before)).sum::<f64>() / warps;
        }
        self.counts
    }
}

/// A word of shared memory that warps change by turns.
#[derive(Clone, Copy, Debug)]
struct Contended {
    /// When the first of them began, by both clocks.
    first: [f64; 2],
    /// Stores that have succeeded since.
    stores: f64,
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
        last: Option<Last>,
    ) -> Self {
        let halves = pairs::halves(kernel);
        Self {
            kernel,
            machine,
            costs: (folding::costs(kernel, machine).into_iter().enumerate())
                .map(|(at, cost)| match halves[at] {
                    Some(Half::Second) => classes::NOTHING,
                    _ if registers::is_shuffled(kernel, at) => machine.latencies.alu(1.0),
                    _ => cost,
                })
                .collect(),
            single_turns: loops::single_turns(kernel),
            spills: pressure.spills(limit),
            counters: registers::counters(kernel),
            uses: uses(kernel),
            halves,
            counts: Counts::default(),
            at: 0,
            l1_bytes,
            chosen,
            last,
            block: Block::default(),
            others: BTreeMap::new(),
        }
    }

    /// Takes what the blocks have done into account.
    pub(crate) fn finish(&mut self) {
        self.leave();
        for block in std::mem::take(&mut self.others).into_values() {
            let factor = block.factor.unwrap_or(1.0);
            self.counts.add(block.ended(), factor);
        }
    }

    /// Puts the block that runs to those that have begun.
    fn leave(&mut self) {
        let block = std::mem::take(&mut self.block);
        if block.factor.is_some() {
            self.others.insert(block.number, block);
        }
    }

    fn line(&mut self) -> &mut LineCounts {
        let line = self.kernel.steps[self.at].line.0;
        self.block.counts.lines.entry(line).or_default()
    }

    /// Counts the turns of an atomic operation that shared memory does not have, and returns the
    /// cycles until all threads are done, by both clocks.
    fn turns(&mut self, warp: u32, access: &Access<'_>) -> [f64; 2] {
        let turns = banks::turns(access);
        let cycles = match self.machine.removed {
            Some(Removal::Conflicts) => turns.ideal,
            _ => turns.cycles,
        };
        let (cycles, ideal) = (cycles as f64, turns.ideal as f64);
        let count = turns.count as f64;
        let block = &mut self.block;
        block.warps[warp as usize].shared.clear();
        block.counts.shared_wavefronts += cycles;
        block.counts.shared_ideal += ideal;
        let turn = self.machine.latencies.turn();
        // The step itself is the store of the first turn.
        let more = |pipes: &mut Pipes| {
            pipes.steps(&turn, count);
            pipes.issue -= 1.0;
        };
        more(&mut block.counts.pipes);
        let line = self.line();
        more(&mut line.pipes);
        line.shared += cycles;
        line.shared_ideal += ideal;
        let alone = count * classes::turn_cycles(self.machine) + cycles;
        self.behind_others(warp, access).map(|it| it.max(alone))
    }

    /// Returns the cycles until the threads of a warp have changed the words that other warps of
    /// the block change, too, by both clocks: of all stores to a word, one succeeds at a time.
    fn behind_others(&mut self, warp: u32, access: &Access<'_>) -> [f64; 2] {
        let of = &self.block.warps[warp as usize];
        let now = [of.clocks[0].issued(), of.clocks[1].issued()];
        let each = classes::cycles_between_stores(self.machine);
        let mut cycles = [0.0_f64; 2];
        for lane in (0..32).filter(|lane| access.lanes >> lane & 1 == 1) {
            let word = access.addresses[lane];
            let key = (word, of.barriers);
            let word = self.block.contended.entry(key).or_insert(Contended {
                first: now,
                stores: 0.0,
            });
            word.stores += 1.0;
            for number in 0..2 {
                word.first[number] = word.first[number].min(now[number]);
                let end = word.first[number] + word.stores * each;
                cycles[number] = cycles[number].max(end - now[number]);
            }
        }
        cycles
    }

    /// Counts an access to shared memory and returns its cycles.
    fn shared(&mut self, warp: u32, access: &Access<'_>) -> f64 {
        // Threads that count in one word are counted by one instruction.
        let counted = Access {
            atomic: access.atomic && !self.counters[self.at],
            ..*access
        };
        let cost = self.block.warps[warp as usize].shared.cost(&counted);
        if cost.is_joined {
            self.block.counts.pipes.issue -= 1.0;
            self.line().pipes.issue -= 1.0;
        }
        // The copies that nobody waits for do not meet in banks on their way in.
        let cycles = if access.is_async || self.machine.removed == Some(Removal::Conflicts) {
            cost.ideal
        } else {
            cost.cycles
        };
        let (cycles, ideal) = (cycles as f64, cost.ideal as f64);
        self.block.counts.shared_wavefronts += cycles;
        self.block.counts.shared_ideal += ideal;
        let line = self.line();
        line.shared += cycles;
        line.shared_ideal += ideal;
        cycles
    }

    /// Counts an access to memory of the device, or of a thread, and returns the cycles until
    /// what is read is there.
    fn device(&mut self, warp: u32, access: &Access<'_>, is_local: bool) -> [f64; 2] {
        let op = &self.kernel.steps[self.at].op;
        let traffic = &mut self.block.traffic;
        let counts = &mut self.block.counts;
        let machine = self.machine;
        let before = [
            counts.l2_read_sectors,
            counts.l2_write_sectors,
            counts.atomic_ns,
        ];
        let (latency, sectors) = match op {
            Op::Atomic { num, .. } => traffic.atomic(counts, machine, access, num.is_float()),
            _ if is_local => traffic.local(counts, machine, access, warp),
            _ => {
                let clocks = &self.block.warps[warp as usize].clocks;
                let now = [clocks[0].issued(), clocks[1].issued()];
                traffic.global(counts, machine, access, now)
            }
        };
        let after = [
            counts.l2_read_sectors,
            counts.l2_write_sectors,
            counts.atomic_ns,
        ];
        let line = self.line();
        line.requests += 1.0;
        line.sectors += sectors as f64;
        line.l2_reads += after[0] - before[0];
        line.l2_writes += after[1] - before[1];
        line.atomic_ns += after[2] - before[2];
        latency
    }
}

impl Observer for Tracer<'_> {
    fn block(&mut self, number: u32, warps: u32) {
        self.leave();
        let Some(factor) = self.chosen.get(&number) else {
            return;
        };
        let registers = (self.kernel.words + self.kernel.doubles + self.kernel.predicates) as usize;
        let warp = Warp {
            clocks: [Clock::new(registers), Clock::new(registers)],
            barriers: 0,
            shared: SharedLoads::default(),
        };
        self.block = Block {
            number,
            factor: Some(*factor),
            counts: Counts::default(),
            warps: vec![warp; warps as usize],
            phases: Vec::new(),
            // Another SM, another L1.
            traffic: Traffic::new(self.l1_bytes),
            contended: HashMap::new(),
            alone: None,
        };
    }

    fn goes_on(&mut self, number: u32) {
        if self.block.factor.is_none() || self.block.number != number {
            self.leave();
            self.block = self.others.remove(&number).unwrap_or_default();
        }
    }

    fn step(&mut self, warp: u32, at: u32, _lanes: u32) {
        if self.block.factor.is_none() {
            return;
        }
        self.at = at as usize;
        let cost = self.costs[self.at];
        let counts = &mut self.block.counts;
        counts.pipes.step(&cost);
        let spilled = self.spills[self.at];
        if 0.0 < spilled {
            let uses = &self.uses[self.at];
            self.block.traffic.spill(
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
        let all = self.block.warps.len();
        let warp = &mut self.block.warps[warp as usize];
        let phase = warp.barriers.checked_sub(1);
        let phase = phase.and_then(|it| self.block.phases.get(it));
        let latency = match op {
            Op::Barrier { .. } => self.machine.barrier.of(all),
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
                _ if self.single_turns[self.at] => clock.wait(clock.begun()),
                op => clock.order(op, self.machine),
            }
        }
        if let Op::Barrier { .. } = op {
            warp.barriers += 1;
            warp.shared.clear();
            match self.block.phases.get_mut(warp.barriers - 1) {
                Some(phase) => *phase = [phase[0].max(begun[0]), phase[1].max(begun[1])],
                None => self.block.phases.push(begun),
            }
        }
        let alone = self.block.alone.map_or(0.0, |it| it.1);
        let line = self.line();
        line.pipes.step(&cost);
        line.waits += waited;
        line.alone += (waited + cost.issue) * alone;
    }

    fn access(&mut self, warp: u32, access: Access<'_>) {
        if self.block.factor.is_none() {
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
        if let Some(last) = self.last
            && last.is_at(self.block.number, self.at, &access)
        {
            let clocks = &self.block.warps[warp as usize].clocks;
            self.block.alone = Some(([clocks[0].begun(), clocks[1].begun()], last.alone));
        }
        let space = access.memory();
        let takes_turns =
            space == Space::Shared && classes::takes_turns(&self.kernel.steps[self.at].op);
        let latency = match space {
            Space::Shared if takes_turns => self.turns(warp, &access),
            Space::Shared => [self.machine.shared_latency + self.shared(warp, &access); 2],
            Space::Global | Space::Const => self.device(warp, &access, false),
            Space::Local => self.device(warp, &access, true),
            _ => [0.0; 2],
        };
        if access.write && !access.atomic {
            return;
        }
        let writes = &self.uses[self.at].1;
        let clocks = &mut self.block.warps[warp as usize].clocks;
        for (clock, latency) in clocks.iter_mut().zip(latency) {
            match access.is_async {
                true => clock.copy(latency),
                false => {
                    clock.result(writes, latency);
                    if takes_turns {
                        clock.spin(latency);
                    }
                }
            }
        }
    }
}
