//! What blocks did: counted while they run.

use super::classes::{self, Cost};
use super::machine::Machine;
use crate::decode::{Kernel, Op};
use crate::machine::{Access, Observer};
use crate::ptx::Space;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Bytes that caches move at once.
const SECTOR: u64 = 32;
/// Bytes of a line of the L1.
const LINE: u64 = 128;

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
    pub shared_wavefronts: u64,
    /// The same if no two threads met in a bank.
    pub shared_ideal: u64,
    /// Requests of warps to global memory.
    pub requests: u64,
    /// Sectors that these touch.
    pub sectors: u64,
    /// Cycles of the L1's banks and tags.
    pub l1_cycles: f64,
    /// Sectors that the L1 asks the L2 for.
    pub l2_read_sectors: u64,
    /// Sectors that are written to the L2.
    pub l2_write_sectors: u64,
    /// Sectors of atomic operations at the L2.
    pub atomic_sectors: u64,
    /// Cycles of the warp that took longest if it were alone and nothing else were busy.
    pub(crate) latency: f64,
    /// Sum over all blocks of the mean of the same over their warps.
    pub(crate) latency_sum: f64,
    /// What lines of the source had to do with: instructions, shared wavefronts, sectors.
    pub lines: BTreeMap<u32, LineCounts>,
    /// Sectors of each range of addresses that were read and written, once each.
    pub(crate) read: HashSet<u64>,
    pub(crate) written: HashSet<u64>,
}

/// What a line of the source had to do with.
#[derive(Clone, Copy, Debug, Default)]
pub struct LineCounts {
    /// Instructions of warps.
    pub instructions: f64,
    /// Cycles of shared memory.
    pub shared: u64,
    /// The same without meetings in a bank.
    pub shared_ideal: u64,
    /// Requests to global memory.
    pub requests: u64,
    /// Sectors of these.
    pub sectors: u64,
    /// Cycles that warps waited for a result, estimated.
    pub waits: f64,
}

/// Watches blocks of one launch.
pub(crate) struct Tracer<'k> {
    kernel: &'k Kernel,
    machine: &'k Machine,
    costs: Vec<Cost>,
    uses: Vec<(Vec<u32>, Vec<u32>)>,
    pub(crate) counts: Counts,
    warps: Vec<WarpClock>,
    /// When all warps are through the barrier of this number.
    phases: Vec<f64>,
    /// Lines that the L1 holds, with the time of their last use.
    l1: HashMap<u64, u64>,
    l1_lines: usize,
    uses_of_l1: u64,
    at: usize,
    /// Blocks that are looked at.
    chosen: BTreeSet<u32>,
    /// Whether the block that runs is one of them.
    is_chosen: bool,
}

/// Instructions ahead of those that a warp waits for: compilers unroll loops and move loads to
/// the front, so that those of a few iterations are under way at once.
const AHEAD: usize = 48;

/// When a warp does what.
#[derive(Clone, Debug)]
struct WarpClock {
    /// When it issues the next instruction.
    now: f64,
    ready: Vec<f64>,
    /// When the last instructions have their operands, in a ring.
    starts: [f64; AHEAD],
    at: usize,
    /// When the last result is there.
    end: f64,
    barriers: usize,
    copies: f64,
    /// The last load from shared memory.
    load: Option<SharedLoad>,
}

/// A load from shared memory, to which others may be joined that begin where it ends: the
/// compiler of the device makes one vector of them.
#[derive(Clone, Copy, Debug)]
struct SharedLoad {
    addresses: [u64; 32],
    lanes: u32,
    bytes: u32,
    cycles: u64,
    ideal: u64,
}

impl SharedLoad {
    /// Returns the load that this one and a later one become, if they become one.
    fn joined(&self, later: &Access<'_>) -> Option<Self> {
        let bytes = self.bytes + later.bytes;
        let follows = |lane: usize| {
            self.lanes >> lane & 1 == 0
                || later.addresses[lane] == self.addresses[lane] + u64::from(self.bytes)
                    && self.addresses[lane].is_multiple_of(u64::from(bytes.next_power_of_two()))
        };
        let fits = self.lanes == later.lanes && bytes <= 16 && (0..32).all(follows);
        fits.then_some(Self { bytes, ..*self })
    }
}

impl<'k> Tracer<'k> {
    pub(crate) fn new(
        kernel: &'k Kernel,
        machine: &'k Machine,
        l1_bytes: u64,
        chosen: BTreeSet<u32>,
    ) -> Self {
        Self {
            kernel,
            machine,
            costs: kernel
                .steps
                .iter()
                .map(|step| classes::cost(&step.op))
                .collect(),
            uses: (0..kernel.steps.len())
                .map(|at| classes::registers(kernel, at))
                .collect(),
            counts: Counts::default(),
            warps: Vec::new(),
            phases: Vec::new(),
            l1: HashMap::new(),
            l1_lines: (l1_bytes / LINE).max(1) as usize,
            uses_of_l1: 0,
            at: 0,
            chosen,
            is_chosen: false,
        }
    }

    /// Takes the end of the last block into account.
    pub(crate) fn finish(&mut self) {
        if self.warps.is_empty() {
            return;
        }
        // Warps that come first wait for what the others then find in the L1.
        let ends = || self.warps.iter().map(|it| it.now.max(it.end));
        let latency = ends().sum::<f64>() / self.warps.len().max(1) as f64;
        self.counts.latency = ends().fold(self.counts.latency, f64::max);
        self.counts.latency_sum += latency;
        self.warps.clear();
    }

    /// Returns whether the L1 held the line, which it holds now.
    fn touch_l1(&mut self, sector: u64) -> bool {
        self.uses_of_l1 += 1;
        let now = self.uses_of_l1;
        let key = sector;
        if let Some(last) = self.l1.get_mut(&key) {
            let is_there = (now - *last) as usize <= 4 * self.l1_lines;
            *last = now;
            return is_there;
        }
        self.l1.insert(key, now);
        false
    }

    fn line(&mut self) -> &mut LineCounts {
        let line = self.kernel.steps[self.at].line.0;
        self.counts.lines.entry(line).or_default()
    }

    fn shared(&mut self, warp: u32, access: &Access<'_>) -> f64 {
        let is_load = !access.write && !access.atomic && access.bytes < 16;
        let before = self.warps[warp as usize].load.take().filter(|_| is_load);
        let joined = before.and_then(|it| it.joined(access));
        let all = Access {
            bytes: joined.map_or(access.bytes, |it| it.bytes),
            addresses: joined.as_ref().map_or(access.addresses, |it| &it.addresses),
            ..*access
        };
        let (mut cycles, mut ideal) = wavefronts(&all);
        if is_load {
            self.warps[warp as usize].load = Some(SharedLoad {
                addresses: *all.addresses,
                lanes: all.lanes,
                bytes: all.bytes,
                cycles,
                ideal,
            });
        }
        if let (Some(before), Some(_)) = (before, joined) {
            // What the first part cost is counted already.
            cycles = cycles.saturating_sub(before.cycles);
            ideal = ideal.saturating_sub(before.ideal);
            self.counts.issue -= 1.0;
        }
        self.counts.shared_wavefronts += cycles;
        self.counts.shared_ideal += ideal;
        let line = self.line();
        line.shared += cycles;
        line.shared_ideal += ideal;
        cycles as f64
    }

    /// Returns the cycles until what is read is there.
    fn global(&mut self, access: &Access<'_>) -> f64 {
        let mut sectors: Vec<u64> = Vec::with_capacity(32);
        for lane in 0..32 {
            if access.lanes >> lane & 1 == 0 {
                continue;
            }
            let address = access.addresses[lane];
            let last = (address + u64::from(access.bytes) - 1) / SECTOR;
            for sector in address / SECTOR..=last {
                sectors.push(sector);
            }
        }
        let lanes = sectors.len();
        sectors.sort_unstable();
        sectors.dedup();
        self.counts.requests += 1;
        self.counts.sectors += sectors.len() as u64;
        let line = self.line();
        line.requests += 1;
        line.sectors += sectors.len() as u64;
        if access.atomic {
            // Threads that meet in one place wait for each other.
            self.counts.atomic_sectors += lanes as u64;
            self.counts.l1_cycles += sectors.len() as f64;
            return self.machine.l2_latency;
        }
        let mut lines: Vec<u64> = sectors.iter().map(|it| it * SECTOR / LINE).collect();
        lines.dedup();
        // So many bytes in a cycle, tags of about four lines.
        let bytes = sectors.len() as f64 * SECTOR as f64;
        let cycles = (bytes / self.machine.l1_bytes_per_cycle)
            .max(lines.len() as f64 / 3.6)
            .max(1.0);
        self.counts.l1_cycles += cycles;
        if access.write {
            self.counts.l2_write_sectors += sectors.len() as u64;
            self.counts.written.extend(&sectors);
            return 0.0;
        }
        let mut misses = 0;
        let mut is_new = false;
        for sector in sectors {
            let hits = !access.no_l1 && self.touch_l1(sector);
            if !hits {
                misses += 1;
                is_new |= self.counts.read.insert(sector);
            }
        }
        self.counts.l2_read_sectors += misses;
        match (misses, is_new) {
            (0, _) => self.machine.l1_latency + cycles,
            (_, false) => self.machine.l2_latency + cycles,
            (_, true) => self.machine.dram_latency + cycles,
        }
    }
}

/// Returns the cycles that the banks of shared memory need for an access, and the least that
/// one of its width needs.
fn wavefronts(access: &Access<'_>) -> (u64, u64) {
    // Accesses of 8 and 16 bytes are done for half and a quarter of the warp at once.
    let at_once = (128 / access.bytes.max(4).next_power_of_two()).clamp(8, 32) as usize;
    let mut cycles = 0;
    let mut ideal = 0;
    for group in (0..32).step_by(at_once) {
        let mut words = [0_u64; 128];
        let mut count = 0;
        for lane in group..group + at_once {
            if access.lanes >> lane & 1 == 0 {
                continue;
            }
            let first = access.addresses[lane] / 4;
            let last = (access.addresses[lane] + u64::from(access.bytes) - 1) / 4;
            for word in first..=last {
                if count < words.len() {
                    words[count] = word;
                    count += 1;
                }
            }
        }
        if count == 0 {
            continue;
        }
        let used = &mut words[..count];
        used.sort_unstable();
        let mut banks = [0_u64; 32];
        let mut last = None;
        for word in used.iter() {
            if access.atomic || last != Some(*word) {
                banks[(word % 32) as usize] += 1;
            }
            last = Some(*word);
        }
        ideal += 1;
        cycles += banks.iter().max().copied().unwrap_or(1).max(1);
    }
    (cycles, ideal)
}

impl Observer for Tracer<'_> {
    fn block(&mut self, number: u32, warps: u32) {
        self.finish();
        self.is_chosen = self.chosen.contains(&number);
        if !self.is_chosen {
            return;
        }
        self.counts.blocks += 1;
        // Another SM, another L1.
        self.l1.clear();
        self.phases.clear();
        let registers = (self.kernel.words + self.kernel.doubles + self.kernel.predicates) as usize;
        let clock = WarpClock {
            now: 0.0,
            ready: vec![0.0; registers],
            starts: [0.0; AHEAD],
            at: 0,
            end: 0.0,
            barriers: 0,
            copies: 0.0,
            load: None,
        };
        self.warps = vec![clock; warps as usize];
    }

    fn step(&mut self, warp: u32, at: u32, _lanes: u32) {
        if !self.is_chosen {
            return;
        }
        self.at = at as usize;
        let cost = self.costs[self.at];
        let counts = &mut self.counts;
        counts.issue += cost.issue;
        counts.fma += cost.fma;
        counts.int += cost.int;
        counts.special += cost.special;
        counts.double += cost.double;
        counts.tensor += cost.tensor;
        let clock = &mut self.warps[warp as usize];
        if let Some(phase) = clock
            .barriers
            .checked_sub(1)
            .and_then(|it| self.phases.get(it))
        {
            clock.now = clock.now.max(*phase);
        }
        let (reads, writes) = &self.uses[self.at];
        clock.now = clock.now.max(clock.starts[clock.at]);
        let ready = reads.iter().map(|it| clock.ready[*it as usize]);
        let start = ready.fold(clock.now, f64::max);
        let waited = start - clock.now;
        clock.starts[clock.at] = start;
        clock.at = (clock.at + 1) % AHEAD;
        clock.now += cost.issue;
        clock.end = clock.end.max(start + cost.latency);
        for register in writes {
            clock.ready[*register as usize] = start + cost.latency;
        }
        match self.kernel.steps[self.at].op {
            Op::Barrier { .. } => {
                clock.barriers += 1;
                let now = clock.starts.iter().fold(clock.now, |a, b| a.max(*b)) + cost.latency;
                match self.phases.get_mut(clock.barriers - 1) {
                    Some(phase) => *phase = phase.max(now),
                    None => self.phases.push(now),
                }
            }
            Op::CopyWait { .. } => clock.now = clock.now.max(clock.copies),
            _ => {}
        }
        let line = self.line();
        line.instructions += cost.issue;
        line.waits += waited;
    }

    fn access(&mut self, warp: u32, access: Access<'_>) {
        if !self.is_chosen {
            return;
        }
        let space = match access.space {
            Space::Generic => {
                let lane = access.lanes.trailing_zeros().min(31) as usize;
                match access.addresses[lane] {
                    crate::decode::VARIABLE_WINDOW.. => Space::Global,
                    crate::decode::LOCAL_WINDOW.. => Space::Local,
                    crate::decode::SHARED_WINDOW.. => Space::Shared,
                    _ => Space::Global,
                }
            }
            space => space,
        };
        let latency = match space {
            Space::Shared => self.machine.shared_latency + self.shared(warp, &access),
            Space::Global | Space::Const => self.global(&access),
            // Arrays of a thread that stay in registers would have vanished; these are in the L1.
            Space::Local => {
                self.counts.l1_cycles += f64::from(access.bytes) / 4.0;
                self.machine.l1_latency
            }
            _ => 0.0,
        };
        if access.write && !access.atomic {
            return;
        }
        let clock = &mut self.warps[warp as usize];
        if access.is_async {
            clock.copies = clock.copies.max(clock.now + latency);
            return;
        }
        let issued = clock.starts[(clock.at + AHEAD - 1) % AHEAD];
        clock.end = clock.end.max(issued + latency);
        for register in &self.uses[self.at].1 {
            let ready = &mut clock.ready[*register as usize];
            *ready = ready.max(issued + latency);
        }
    }
}
