//! Which blocks of a launch stand for all, how the work of all lies on the SMs, and how many of
//! them wait for each other in a row.

use super::classes::Cost;
use super::items::Items;
use super::lasts::{Changes, Last};
use super::machine::Machine;
use super::neighbours::Neighbours;
use super::paths::Paths;
use super::{banks, classes, folding, registers};
use crate::decode::polls::{polls, queues};
use crate::decode::{Kernel, Op};
use crate::machine::{Access, Observer};
use crate::ptx::Space;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

/// Ways to the L2 from one block to the next that waits for it: the word that says so is written
/// behind a fence, and read; what it stands for is read after that.
const HAND_OVER: f64 = 3.0;
/// Ways to the L2 between what a block waits for and what it says then: it reads what the other
/// has left, and its own word waits behind a fence. They are among those of each turn.
const BETWEEN: f64 = 2.0;

/// Returns of each step how long it keeps the pipe that it needs most: in quarters of a cycle, as
/// long as an SM takes to issue it.
fn weights(kernel: &Kernel, machine: &Machine) -> Vec<u64> {
    let of = |cost: Cost| {
        let cycles = [
            32.0 * cost.fma / machine.fp32_lanes,
            32.0 * (cost.alu + cost.add) / machine.alu_lanes,
            32.0 * cost.int / machine.int_lanes,
            32.0 * cost.special / machine.special_lanes,
            32.0 * cost.double / machine.fp64_lanes,
            cost.tensor / machine.tensor_macs,
        ];
        let longest = cycles.into_iter().fold(cost.issue / 4.0, f64::max);
        (4.0 * longest).ceil().max(1.0) as u64
    };
    folding::costs(kernel, machine)
        .into_iter()
        .map(of)
        .collect()
}

/// Counts what each block does: its steps, and the sectors and banks that these use.
pub(super) struct Survey<'k> {
    kernel: &'k Kernel,
    /// Loads and atomic operations that are done over and over until another thread has written.
    polls: Vec<bool>,
    /// Steps that take items from a counter, and what they have taken.
    queues: Vec<usize>,
    items: Items,
    /// Of each step, whether it looks at what a word holds that others change.
    looks: Vec<bool>,
    /// Whether loads do.
    has_looks: bool,
    changes: Changes,
    /// Of each step, how long it keeps the pipe that it needs most.
    weights: Vec<u64>,
    /// Of each block that has run.
    work: Vec<u64>,
    /// How long each takes if nothing is busy.
    paths: Paths<'k>,
    at: usize,
    block: u32,
    /// What the block that runs has waited for, and the time of its warp then.
    turn: Turn,
    since: f64,
    /// The longest row of blocks that wait for each other.
    longest: Turn,
    /// Words that others may wait for: the block that wrote them last, and its turn then.
    written: HashMap<u64, (u32, Turn)>,
    /// Cycles on the way to the L2.
    l2_latency: f64,
    /// What blocks of an SM read in common.
    pub(super) neighbours: Neighbours,
}

/// Blocks that wait for each other, one after the other.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Turn {
    /// How many.
    pub(super) blocks: u32,
    /// The cycles from one to the next, and those between what each waits for and what it says
    /// then.
    pub(super) cycles: f64,
}

/// What blocks that were traced stand for, as factors of the sum over them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    /// The work of all blocks.
    pub(super) all: f64,
    /// The work of the SM that has most.
    pub(super) busiest: f64,
    /// How long the blocks that follow each other in one place take, in those of the mean
    /// traced block.
    pub(super) rounds: f64,
}

impl Share {
    /// Lets all places on all SMs have the same work; `traced` blocks stand for it.
    pub(super) fn level(&mut self, sms: f64, resident: f64, traced: usize) {
        self.busiest = self.all / sms;
        self.rounds = self.busiest / resident * traced as f64;
    }
}

impl<'k> Survey<'k> {
    pub(super) fn new(kernel: &'k Kernel, machine: &'k Machine) -> Self {
        let polls = polls(kernel);
        let looks = registers::looks(kernel);
        let is_load = |at: usize| matches!(kernel.steps[at].op, Op::Load { .. });
        Self {
            kernel,
            queues: queues(kernel, &polls),
            items: Items::default(),
            polls,
            has_looks: (0..looks.len()).any(|at| looks[at] && is_load(at)),
            looks,
            changes: Changes::default(),
            weights: weights(kernel, machine),
            work: Vec::new(),
            paths: Paths::new(kernel, machine),
            at: 0,
            block: 0,
            turn: Turn::default(),
            since: 0.0,
            longest: Turn::default(),
            written: HashMap::new(),
            l2_latency: machine.l2_latency,
            neighbours: Neighbours::new(machine.sms),
        }
    }

    /// Returns the block that goes on when others have come, if there is one.
    pub(super) fn last(&mut self, at_once: u32) -> Option<Last> {
        (self.changes).last(self.paths.cycles(), at_once, self.l2_latency)
    }

    /// Returns whether blocks share what there is to do by taking it from a counter.
    pub(super) fn is_queue(&self) -> bool {
        !self.queues.is_empty()
    }

    /// Returns the part of the time of the slowest block that passes until all is done, where blocks
    /// take from a counter what there is to do.
    pub(super) fn level(&mut self) -> f64 {
        self.items.level(self.paths.cycles())
    }

    /// Returns the longest row of blocks that wait for each other.
    pub(super) fn longest(&self) -> Turn {
        self.longest
    }

    fn work(&self, number: u32) -> u64 {
        self.work.get(number as usize).copied().unwrap_or(1).max(1)
    }

    /// Returns what the blocks of these numbers stand for, of `blocks`, where `resident` of
    /// them are on each SM at once. Each takes its place as soon as one is free; what the `last`
    /// one does alone makes no place free later.
    pub(super) fn share(
        &self,
        chosen: &BTreeMap<u32, f64>,
        blocks: u32,
        (sms, resident): (u32, u32),
        last: Option<Last>,
    ) -> Share {
        let alone = |number: u32| match last {
            Some(last) if last.block == number => last.alone,
            _ => 0.0,
        };
        let traced: f64 = chosen
            .iter()
            .map(|(number, factor)| self.work(*number) as f64 * factor)
            .sum();
        let all: u64 = (0..blocks).map(|it| self.work(it)).sum();
        let mut free: BinaryHeap<Reverse<(u64, u32, u32)>> = (0..resident)
            .flat_map(|place| (0..sms).map(move |sm| Reverse((0, place, sm))))
            .collect();
        let mut load = vec![0_u64; sms as usize];
        let mut end_of_all = 0;
        for number in 0..blocks {
            let Some(Reverse((time, place, sm))) = free.pop() else {
                break;
            };
            let work = self.work(number);
            let end = time + (work as f64 * (1.0 - alone(number))) as u64;
            load[sm as usize] += work;
            end_of_all = end_of_all.max(end);
            free.push(Reverse((end, place, sm)));
        }
        let busiest = load.into_iter().max().unwrap_or(0);
        let mean = traced / chosen.len().max(1) as f64;
        Share {
            all: all as f64 / traced,
            busiest: busiest as f64 / traced,
            rounds: end_of_all as f64 / mean,
        }
    }

    /// Returns the blocks to trace, and how many times each counts of what they did: `sample` of
    /// all, one of each of as many equal parts of them in the order of their work, and the first
    /// one of those with most work; and the slowest one, once, if it takes longer than these
    /// where nothing is busy, and the `last` one. All together count as many times as there are.
    pub(super) fn chosen(
        &mut self,
        blocks: u32,
        sample: u32,
        seed: u64,
        last: Option<Last>,
    ) -> BTreeMap<u32, f64> {
        let sample = sample.clamp(1, blocks.max(1));
        let mut numbers: Vec<u32> = (0..blocks).collect();
        numbers.sort_by_key(|it| (self.work(*it), *it));
        let start =
            |place: u32| (u64::from(place) * u64::from(blocks) / u64::from(sample)) as usize;
        let heaviest = (0..blocks).max_by_key(|it| (self.work(*it), Reverse(*it)));
        let mut chosen = BTreeMap::new();
        for place in 0..sample {
            let part = &numbers[start(place)..start(place + 1)];
            let Some(sampled) = part.get(sampled(place, part.len(), seed)) else {
                continue;
            };
            let mut of_part = vec![*sampled];
            of_part.extend(heaviest.filter(|it| it != sampled && part.contains(it)));
            let work =
                |numbers: &[u32]| numbers.iter().map(|it| self.work(*it)).sum::<u64>() as f64;
            let factor = work(part) / work(&of_part);
            chosen.extend(of_part.into_iter().map(|it| (it, factor)));
        }
        let cycles = self.paths.cycles();
        let slower = |a: &u32, b: &u32| cycles[*a as usize].total_cmp(&cycles[*b as usize]);
        let run = 0..blocks.min(cycles.len() as u32);
        let slowest = run.max_by(|a, b| slower(a, b).then(b.cmp(a)));
        if let Some(slowest) = slowest
            && chosen.keys().all(|it| slower(it, &slowest).is_lt())
        {
            chosen.insert(slowest, 1.0);
        }
        if let Some(last) = last {
            chosen.entry(last.block).or_insert(1.0);
        }
        let sum: f64 = chosen.values().sum();
        let count = chosen.len() as f64;
        chosen.values_mut().for_each(|it| *it *= count / sum);
        chosen
    }

    /// Returns the row of blocks up to what a warp of this block does now.
    fn turn_of(&self, warp: u32) -> Turn {
        let mut turn = self.turn;
        if 0 < turn.blocks {
            let since = self.paths.now(warp) - self.since;
            turn.cycles += (since - BETWEEN * self.l2_latency).max(0.0);
        }
        turn
    }

    /// Notes what blocks wait for each other for.
    fn wait(&mut self, warp: u32, access: &Access<'_>) {
        let Some(step) = self.kernel.steps.get(self.at) else {
            return;
        };
        let (is_read, is_write) = match &step.op {
            Op::Atomic { .. } => (true, true),
            Op::Load { .. } => (true, false),
            Op::Store { .. } => (false, true),
            _ => return,
        };
        let lanes = (0..32).filter(|lane| access.lanes >> lane & 1 == 1);
        for lane in lanes {
            let word = access.addresses[lane] / 4;
            if is_read
                && self.polls[self.at]
                && let Some((block, before)) = self.written.get(&word)
                && *block != self.block
            {
                let cycles = before.cycles + HAND_OVER * self.l2_latency;
                if self.turn_of(warp).cycles < cycles {
                    let blocks = before.blocks + 1;
                    self.turn = Turn { blocks, cycles };
                    self.since = self.paths.now(warp);
                }
                if self.longest.cycles < self.turn.cycles {
                    self.longest = self.turn;
                }
            }
            if is_write {
                let own = (self.block, self.turn_of(warp));
                let written = self.written.entry(word).or_insert(own);
                // What a block says first is what others go on with: in a look-back its own part,
                // before it waits for those of others.
                if written.0 != self.block {
                    *written = own;
                }
            }
        }
    }
}

impl Observer for Survey<'_> {
    fn block(&mut self, number: u32, warps: u32) {
        self.paths.block(number, warps);
        self.block = number;
        self.turn = Turn::default();
        let blocks = self.work.len().max(number as usize + 1);
        self.work.resize(blocks, 0);
    }

    fn goes_on(&mut self, number: u32) {
        self.paths.goes_on(number);
        self.block = number;
    }

    fn ends(&mut self) {
        self.paths.end();
    }

    fn step(&mut self, warp: u32, at: u32, _lanes: u32) {
        self.at = at as usize;
        self.paths.step(warp, self.at);
        let weight = self.weights[self.at];
        if let Some(work) = self.work.get_mut(self.block as usize) {
            *work += weight;
        }
    }

    fn access(&mut self, warp: u32, access: Access<'_>) {
        self.paths.access(warp, self.at, &access);
        self.neighbours.note(self.block, &access);
        let piece = match access.space {
            Space::Shared => 4,
            _ => 32,
        };
        let mut pieces = 0;
        let mut last = u64::MAX;
        for lane in (0..32).filter(|lane| access.lanes >> lane & 1 == 1) {
            let at = access.addresses[lane] / piece;
            pieces += u64::from(at != last);
            last = at;
        }
        // As many words of shared memory at once as there are banks.
        let op = &self.kernel.steps[self.at].op;
        let work = if classes::takes_turns(op) && access.memory() == Space::Shared {
            let turns = banks::turns(&access);
            turns.count * classes::INSTRUCTIONS_OF_TURN as u64 + 4 * turns.cycles
        } else if piece == 4 {
            pieces.div_ceil(32)
        } else {
            pieces
        };
        if let Some(sum) = self.work.get_mut(self.block as usize) {
            *sum += work;
        }
        if access.memory() == Space::Global {
            let (now, at) = (self.paths.begun(warp), (self.block, self.at));
            if self.queues.contains(&self.at) {
                self.items.take((self.block, warp), now);
            }
            match (access.atomic, self.looks[self.at]) {
                (true, is_seen) if is_seen || self.has_looks => {
                    self.changes.note(at, &access, now, is_seen);
                }
                (false, true) => self.changes.look(at, &access, now),
                _ => {}
            }
        }
        let is_strong = access.atomic || access.no_l1 || access.write;
        if is_strong
            && !matches!(access.space, Space::Shared | Space::Local)
            && !self.polls.is_empty()
        {
            self.wait(warp, &access);
        }
    }
}

/// Returns which of `count` blocks of part `place` is taken, which is a matter of `seed`, so that
/// a kernel cannot spare these blocks.
fn sampled(place: u32, count: usize, seed: u64) -> usize {
    // The finalizer of splitmix64 (Steele, Lea, Flood 2014).
    let mut word = seed.wrapping_add(u64::from(place + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^= word >> 31;
    (word % (count as u64).max(1)) as usize
}
