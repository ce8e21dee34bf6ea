//! How long the warps of each block take if nothing is busy: of all blocks, so coarsely.
//!
//! A load finds what its block has used lately in the L1, what others have in the L2, and all
//! else in the memory of the device. A warp that comes to a barrier goes on when those that came before have.

use super::clocks::Clock;
use super::machine::Machine;
use super::{banks, classes, folding, loops};
use crate::decode::registers::uses;
use crate::decode::{Kernel, Op};
use crate::machine::Access;
use crate::ptx::Space;
use std::collections::BTreeMap;

/// Lines that a block is taken to find in the L1, each in the place of its number.
const LINES: usize = 1 << 10;
/// The same of all blocks and the L2.
const L2_LINES: usize = 1 << 16;
/// Bytes of a line.
const LINE: u64 = 128;

/// When the warps of a block do what.
#[derive(Default)]
struct Block {
    number: u32,
    warps: Vec<Clock>,
    /// When the last warp so far has come to a barrier.
    met: f64,
}

/// The times of all blocks.
pub(super) struct Paths<'k> {
    kernel: &'k Kernel,
    machine: &'k Machine,
    uses: Vec<(Vec<u32>, Vec<u32>)>,
    /// Of each step, the cycles of its issue and of its result.
    costs: Vec<(f64, f64)>,
    /// Of each step, whether it ends a turn that the next one comes behind.
    single_turns: Vec<bool>,
    /// The block that runs.
    block: Block,
    /// Those that have begun beside it.
    others: BTreeMap<u32, Block>,
    /// The block that has used a line last, and the line.
    used: Vec<(u32, u64)>,
    used_by_any: Vec<u64>,
    /// Of each block, the cycles of its slowest warp so far.
    cycles: Vec<f64>,
}

impl<'k> Paths<'k> {
    pub(super) fn new(kernel: &'k Kernel, machine: &'k Machine) -> Self {
        let costs = folding::costs(kernel, machine).into_iter();
        Self {
            kernel,
            machine,
            uses: uses(kernel),
            costs: costs.map(|it| (it.issue, it.latency)).collect(),
            single_turns: loops::single_turns(kernel),
            block: Block::default(),
            others: BTreeMap::new(),
            used: vec![(u32::MAX, 0); LINES],
            used_by_any: vec![u64::MAX; L2_LINES],
            cycles: Vec::new(),
        }
    }

    /// Begins a block, beside those that have not ended.
    pub(super) fn block(&mut self, number: u32, warps: u32) {
        self.note();
        let kernel = self.kernel;
        let registers = (kernel.words + kernel.doubles + kernel.predicates) as usize;
        let next = Block {
            number,
            warps: vec![Clock::new(registers); warps as usize],
            met: 0.0,
        };
        let before = std::mem::replace(&mut self.block, next);
        if !before.warps.is_empty() {
            self.others.insert(before.number, before);
        }
    }

    /// Ends the block that has its turn.
    pub(super) fn end(&mut self) {
        self.note();
        self.block.warps.clear();
    }

    /// Goes on with a block that has begun.
    pub(super) fn goes_on(&mut self, number: u32) {
        if self.block.number == number {
            return;
        }
        self.note();
        if let Some(next) = self.others.remove(&number) {
            let before = std::mem::replace(&mut self.block, next);
            self.others.insert(before.number, before);
        }
    }

    fn note(&mut self) {
        let at = self.block.number as usize;
        self.cycles.resize(self.cycles.len().max(at + 1), 0.0);
        let ends = self.block.warps.iter().map(Clock::ended);
        self.cycles[at] = ends.fold(self.cycles[at], f64::max);
    }

    /// Lets a warp take the step number `at`.
    pub(super) fn step(&mut self, warp: u32, at: usize) {
        let all = self.block.warps.len();
        let Some(clock) = self.block.warps.get_mut(warp as usize) else {
            return;
        };
        let (issue, latency) = self.costs[at];
        clock.issue(&self.uses[at], issue, latency);
        match &self.kernel.steps[at].op {
            Op::Barrier { .. } => {
                let come = clock.begun() + self.machine.barrier.of(all);
                self.block.met = self.block.met.max(come);
                clock.wait(self.block.met);
            }
            _ if self.single_turns[at] => clock.wait(clock.begun()),
            op => clock.order(op, self.machine),
        }
    }

    /// Lets the step that a warp has taken use memory.
    pub(super) fn access(&mut self, warp: u32, at: usize, access: &Access<'_>) {
        let machine = self.machine;
        let space = access.memory();
        let takes_turns = space == Space::Shared && classes::takes_turns(&self.kernel.steps[at].op);
        let latency = match space {
            Space::Shared if takes_turns => {
                banks::turns(access).count as f64 * classes::turn_cycles(machine)
            }
            Space::Shared => machine.shared_latency,
            Space::Local => machine.l1_latency,
            Space::Global | Space::Const => {
                let line = access.first() / LINE;
                let own = (self.block.number, line);
                let place = &mut self.used[line as usize % LINES];
                let is_in_l1 = std::mem::replace(place, own) == own;
                let place = &mut self.used_by_any[line as usize % L2_LINES];
                let is_in_l2 = std::mem::replace(place, line) == line;
                match (access.atomic || access.no_l1, is_in_l1, is_in_l2) {
                    (false, true, _) => machine.l1_latency,
                    (true, true, _) | (_, _, true) => machine.l2_latency,
                    (_, false, false) => machine.dram_latency,
                }
            }
            _ => return,
        };
        if access.write && !access.atomic {
            return;
        }
        let Some(clock) = self.block.warps.get_mut(warp as usize) else {
            return;
        };
        match access.is_async {
            true => clock.copy(latency),
            false => {
                clock.result(&self.uses[at].1, latency);
                if takes_turns {
                    clock.spin(latency);
                }
            }
        }
    }

    /// Returns when a warp of the block that runs has come to its last instruction.
    pub(super) fn now(&self, warp: u32) -> f64 {
        let clock = self.block.warps.get(warp as usize);
        clock.map_or(0.0, Clock::issued)
    }

    /// Returns when all instructions of a warp of the block that runs have begun.
    pub(super) fn begun(&self, warp: u32) -> f64 {
        let clock = self.block.warps.get(warp as usize);
        clock.map_or(0.0, Clock::begun)
    }

    /// Returns the cycles of the slowest warp of each block that has run.
    pub(super) fn cycles(&mut self) -> &[f64] {
        self.note();
        &self.cycles
    }
}
