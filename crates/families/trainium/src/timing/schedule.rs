//! The engines at work: each takes its instructions in program order, but may look ahead past
//! those that wait; transfers spread over the DMA queues.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::cost;
use super::machine::Machine;
use super::memory::Plan;
use crate::tensor::storage::Buffer;
use crate::trace::{Choice, Engine, Instruction, Operation, Region, Tensor};

/// When an instruction ran, and where.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slot {
    /// Engine that ran it.
    pub engine: Engine,
    /// Start in nanoseconds from the first instruction.
    pub start: f64,
    /// When the engine was free again.
    pub released: f64,
    /// When the result could be used.
    pub done: f64,
    /// The instruction that it waited for last, if it waited for one.
    pub blocker: Option<u32>,
}

/// The schedule of a kernel.
#[derive(Debug)]
pub struct Timeline {
    /// Instructions after the compiler's passes.
    pub(crate) instructions: Vec<Instruction>,
    /// Tensors after the compiler's passes.
    pub(crate) tensors: Vec<Tensor>,
    /// One slot for each instruction.
    pub slots: Vec<Slot>,
    /// Latency in nanoseconds, launch included.
    pub latency_ns: f64,
    /// Nanoseconds for which each DMA queue was busy.
    pub queue_busy: Vec<f64>,
    /// Loads that were dropped because the data was there.
    pub cached_loads: u64,
    /// Bytes stored and re-loaded for lack of on-chip memory.
    pub spill_bytes: u64,
    /// Most bytes of on-chip memory in use in each partition.
    pub peak_sbuf: u64,
    /// Instructions that were merged into their neighbours.
    pub merged: u64,
}

/// Edges of the dependence graph.
struct Graph {
    /// For each instruction: those that wait for it, and whether they wait for its result
    /// (otherwise for the engine to have read or streamed).
    waiting: Vec<Vec<(u32, bool)>>,
    open: Vec<u32>,
}

#[derive(Default)]
struct Tile {
    writes: Vec<(Region, u32)>,
    reads: Vec<(Region, u32)>,
}

/// Loops that are run in order: the loads of an iteration wait for the work of the last one.
#[derive(Default)]
struct Rolled {
    step: (u32, u32),
    /// Last work of the iteration before, and of this one, by engine.
    before: HashMap<u8, u32>,
    now: HashMap<u8, u32>,
}

impl Rolled {
    fn wait(&mut self, instruction: &Instruction, own: u32, before: &mut Vec<(u32, bool)>) {
        if instruction.step != self.step {
            let next = instruction.step.0 == self.step.0 && self.step.0 != 0;
            let ended = std::mem::take(&mut self.now);
            self.before = if next { ended } else { HashMap::new() };
            self.step = instruction.step;
        }
        if self.step.0 == 0 {
            return;
        }
        let engine = match instruction.choice {
            Choice::Fixed(Engine::Dma) => {
                if instruction.operation == Operation::Load {
                    before.extend(self.before.values().map(|last| (*last, false)));
                }
                return;
            }
            Choice::Fixed(Engine::Tensor) => 0,
            Choice::Fixed(Engine::Scalar) => 1,
            Choice::Fixed(Engine::Gpsimd) => 2,
            _ => 3,
        };
        self.now.insert(engine, own);
    }
}

fn graph(instructions: &[Instruction], tensors: &[Tensor], rolled_loops: bool) -> Graph {
    let mut graph = Graph {
        waiting: vec![Vec::new(); instructions.len()],
        open: vec![0; instructions.len()],
    };
    let mut tiles: HashMap<(u32, u32), Tile> = HashMap::new();
    let mut rolled = Rolled::default();
    for (position, instruction) in instructions.iter().enumerate() {
        let own = position as u32;
        let mut before: Vec<(u32, bool)> = Vec::new();
        for region in &instruction.reads {
            let Some(tensor) = tensors.get(region.tensor as usize) else {
                continue;
            };
            if tensor.input {
                continue;
            }
            let tile = tiles.entry((region.tensor, region.block)).or_default();
            for (other, writer) in tile.writes.iter().rev() {
                if other.overlaps(region) {
                    before.push((*writer, true));
                    if other.covers(region) {
                        break;
                    }
                }
            }
            tile.reads.push((*region, own));
        }
        for region in &instruction.writes {
            let Some(tensor) = tensors.get(region.tensor as usize) else {
                continue;
            };
            let main = !tensor.buffer.on_chip();
            let tile = tiles.entry((region.tensor, region.block)).or_default();
            for (other, reader) in &tile.reads {
                if *reader != own && other.overlaps(region) {
                    before.push((*reader, false));
                }
            }
            if !main {
                for (other, writer) in &tile.writes {
                    if other.overlaps(region) {
                        // Sums in the accumulators follow each other without a wait.
                        let chained =
                            instruction.features.accumulate && tensor.buffer == Buffer::Psum;
                        before.push((*writer, !chained));
                    }
                }
            }
            tile.reads
                .retain(|(other, reader)| *reader == own || !region.covers(other));
            if !main {
                tile.writes.retain(|(other, _)| !region.covers(other));
            }
            tile.writes.push((*region, own));
        }
        if rolled_loops {
            rolled.wait(instruction, own, &mut before);
        }
        before.sort_unstable();
        before.dedup_by_key(|(index, _)| *index);
        for (index, result) in before {
            if index != own {
                graph.waiting[index as usize].push((own, result));
                graph.open[position] += 1;
            }
        }
    }
    graph
}

/// Accumulator banks in program order: which tile an instruction opens, and which it closes.
struct Banks {
    opens: Vec<Option<(u32, u64)>>,
    closes: HashMap<u32, Vec<(u32, u64)>>,
    order: Vec<u32>,
}

fn banks(instructions: &[Instruction], tensors: &[Tensor]) -> Banks {
    let mut first: HashMap<(u32, u32), (u32, u32)> = HashMap::new();
    let mut keys = Vec::new();
    for (position, instruction) in instructions.iter().enumerate() {
        for region in instruction.writes.iter().chain(&instruction.reads) {
            if tensors
                .get(region.tensor as usize)
                .is_some_and(|t| t.buffer == Buffer::Psum)
            {
                let key = (region.tensor, region.block);
                first
                    .entry(key)
                    .and_modify(|(_, last)| *last = position as u32)
                    .or_insert_with(|| {
                        keys.push(key);
                        (position as u32, position as u32)
                    });
            }
        }
    }
    let mut banks = Banks {
        opens: vec![None; instructions.len()],
        closes: HashMap::new(),
        order: Vec::new(),
    };
    for (number, key) in keys.iter().enumerate() {
        let (open, close) = first[key];
        let bytes = tensors.get(key.0 as usize).map_or(0, |t| t.bytes);
        // An instruction that opens two tiles opens them together.
        match &mut banks.opens[open as usize] {
            Some((_, total)) => *total += bytes,
            slot => {
                *slot = Some((number as u32, bytes));
                banks.order.push(open);
            }
        }
        banks
            .closes
            .entry(close)
            .or_default()
            .push((number as u32, bytes));
    }
    banks
}

/// Order of floating-point times in heaps.
#[derive(Clone, Copy, PartialEq)]
struct Time(f64);
impl Eq for Time {}
impl PartialOrd for Time {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Time {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

const ENGINES: [Engine; 4] = [
    Engine::Tensor,
    Engine::Vector,
    Engine::Scalar,
    Engine::Gpsimd,
];

struct State<'a> {
    machine: &'a Machine,
    instructions: &'a [Instruction],
    free: [f64; 4],
    running: [Option<u32>; 4],
    /// Ready instructions: four engines, vector or scalar, vector or gpsimd, transfers.
    ready: [BinaryHeap<Reverse<u32>>; 7],
    issued: Vec<bool>,
    oldest: usize,
    queues: Vec<f64>,
    queue_busy: Vec<f64>,
    hbm: f64,
    /// When the next descriptors can be made.
    trigger: f64,
    psum_free: i64,
    next_bank: usize,
}

/// Runs the schedule.
pub(super) fn run(plan: Plan, machine: &Machine, rolled_loops: bool) -> Timeline {
    let Plan {
        instructions,
        tensors,
        cached_loads,
        spill_bytes,
        peak_sbuf,
        merged,
    } = plan;
    let count = instructions.len();
    let Graph { waiting, mut open } = graph(&instructions, &tensors, rolled_loops);
    let banks = banks(&instructions, &tensors);
    let empty = Slot {
        engine: Engine::Dma,
        start: 0.0,
        released: 0.0,
        done: 0.0,
        blocker: None,
    };
    let mut slots = vec![empty; count];
    let mut ready_at = vec![0.0f64; count];
    let mut blockers: Vec<Option<u32>> = vec![None; count];
    let mut state = State {
        machine,
        instructions: &instructions,
        free: [0.0; 4],
        running: [None; 4],
        ready: Default::default(),
        issued: vec![false; count],
        oldest: 0,
        queues: vec![0.0; machine.dma.queues],
        queue_busy: vec![0.0; machine.dma.queues],
        hbm: 0.0,
        trigger: 0.0,
        psum_free: machine.psum_bytes as i64,
        next_bank: 0,
    };
    // Events: (time, kind, instruction). Kinds: 0 becomes ready, 1 accumulators come free, 2 look again.
    let mut events: BinaryHeap<Reverse<(Time, u8, u32)>> = BinaryHeap::new();
    for (position, open) in open.iter().enumerate() {
        if *open == 0 {
            events.push(Reverse((Time(0.0), 0, position as u32)));
        }
    }
    let mut issued_count = 0;
    let mut stalled = None;
    let mut last = 0.0f64;
    while issued_count < count {
        let Some(Reverse((Time(now), kind, which))) = events.pop() else {
            if stalled == Some(issued_count) {
                // Not even that helped: what is left has no place in the schedule.
                break;
            }
            stalled = Some(issued_count);
            // Nothing can run: the accumulators are over-subscribed. Let the oldest go first.
            state.psum_free = machine.psum_bytes as i64;
            state.next_bank = banks
                .order
                .iter()
                .position(|i| !state.issued[*i as usize])
                .unwrap_or(banks.order.len());
            events.push(Reverse((Time(last), 2, 0)));
            if state.ready.iter().all(BinaryHeap::is_empty) {
                break;
            }
            continue;
        };
        let apply = |kind: u8, which: u32, state: &mut State<'_>| match kind {
            0 => {
                let heap = match instructions[which as usize].choice {
                    Choice::Fixed(Engine::Tensor) => 0,
                    Choice::Fixed(Engine::Vector) => 1,
                    Choice::Fixed(Engine::Scalar) => 2,
                    Choice::Fixed(Engine::Gpsimd) => 3,
                    Choice::VectorOrScalar => 4,
                    Choice::VectorOrGpsimd => 5,
                    Choice::Fixed(Engine::Dma) => 6,
                };
                state.ready[heap].push(Reverse(which));
            }
            1 => {
                for (_, bytes) in banks.closes.get(&which).into_iter().flatten() {
                    state.psum_free += *bytes as i64;
                }
            }
            _ => {}
        };
        apply(kind, which, &mut state);
        while let Some(Reverse((Time(at), _, _))) = events.peek() {
            if *at > now {
                break;
            }
            if let Some(Reverse((_, kind, which))) = events.pop() {
                apply(kind, which, &mut state);
            }
        }
        // Issue whatever can be issued now.
        loop {
            let mut progress = false;
            for (engine, unit) in ENGINES.into_iter().enumerate() {
                if state.free[engine] > now {
                    continue;
                }
                let Some((heap, which)) = state.candidate(engine, now, &banks, &mut events) else {
                    continue;
                };
                state.ready[heap].pop();
                let instruction = &instructions[which as usize];
                let busy = cost::busy(instruction, unit, machine);
                let released = now + busy;
                state.free[engine] = released;
                state.running[engine] = Some(which);
                let done = released + machine.tail_ns;
                slots[which as usize] = Slot {
                    engine: unit,
                    start: now,
                    released,
                    done,
                    blocker: blockers[which as usize],
                };
                state.take_bank(which, &banks);
                events.push(Reverse((Time(released), 2, 0)));
                state.finish(
                    which,
                    released,
                    done,
                    &waiting,
                    &mut open,
                    &mut ready_at,
                    &mut blockers,
                    &mut events,
                    &banks,
                );
                last = last.max(done);
                issued_count += 1;
                progress = true;
            }
            // Transfers.
            while let Some(Reverse(which)) = state.ready[6].peek().copied() {
                if which as usize >= state.oldest + 4 * machine.window
                    || state.queues.iter().all(|q| *q > now + 4000.0)
                {
                    if state.queues.iter().all(|q| *q > now + 4000.0) {
                        let soonest = state.queues.iter().copied().fold(f64::INFINITY, f64::min);
                        events.push(Reverse((Time(soonest - 3999.0), 2, 0)));
                    }
                    break;
                }
                state.ready[6].pop();
                let begin = match instructions[which as usize].features.dynamic {
                    true => {
                        state.trigger = state.trigger.max(now) + machine.dma.dynamic_ns;
                        state.trigger
                    }
                    false => now,
                };
                let (start, released, done) = state.transfer(which, begin);
                slots[which as usize] = Slot {
                    engine: Engine::Dma,
                    start,
                    released,
                    done,
                    blocker: blockers[which as usize],
                };
                state.finish(
                    which,
                    released,
                    done,
                    &waiting,
                    &mut open,
                    &mut ready_at,
                    &mut blockers,
                    &mut events,
                    &banks,
                );
                last = last.max(done);
                issued_count += 1;
                progress = true;
            }
            if !progress {
                break;
            }
        }
    }
    let latency_ns = last + machine.launch_ns;
    let queue_busy = state.queue_busy;
    Timeline {
        instructions,
        tensors,
        slots,
        latency_ns,
        queue_busy,
        cached_loads,
        spill_bytes,
        peak_sbuf,
        merged,
    }
}

impl State<'_> {
    /// The instruction that an idle engine takes now: the oldest ready one within the window.
    fn candidate(
        &self,
        engine: usize,
        now: f64,
        banks: &Banks,
        events: &mut BinaryHeap<Reverse<(Time, u8, u32)>>,
    ) -> Option<(usize, u32)> {
        let heaps: &[usize] = match engine {
            0 => &[0],
            1 => &[1, 4, 5],
            2 => &[2, 4],
            _ => &[3, 5],
        };
        let mut best: Option<(usize, u32)> = None;
        for heap in heaps {
            let Some(Reverse(which)) = self.ready[*heap].peek().copied() else {
                continue;
            };
            if which as usize >= self.oldest + self.machine.window {
                continue;
            }
            if *heap >= 4 {
                // The other engine may be done with it sooner.
                let other = match (*heap, engine) {
                    (4, 1) => 2,
                    (5, 1) => 3,
                    _ => 1,
                };
                let instruction = &self.instructions[which as usize];
                let here = now + cost::busy(instruction, ENGINES[engine], self.machine);
                let there = self.free[other].max(now)
                    + cost::busy(instruction, ENGINES[other], self.machine);
                let queued = !self.ready[other].is_empty();
                if there < here && !queued {
                    // An engine that is free is asked in this very round.
                    if self.free[other] > now {
                        events.push(Reverse((Time(self.free[other]), 2, 0)));
                    }
                    continue;
                }
            }
            if !self.bank_free(which, banks) || self.excluded(engine, which, now, events) {
                continue;
            }
            if best.is_none_or(|(_, found)| which < found) {
                best = Some((*heap, which));
            }
        }
        best
    }

    fn bank_free(&self, which: u32, banks: &Banks) -> bool {
        match banks.opens[which as usize] {
            None => true,
            Some((_, bytes)) => {
                banks.order.get(self.next_bank) == Some(&which) && self.psum_free >= bytes as i64
            }
        }
    }

    fn take_bank(&mut self, which: u32, banks: &Banks) {
        if let Some((_, bytes)) = banks.opens[which as usize] {
            self.psum_free -= bytes as i64;
            self.next_bank += 1;
        }
    }

    /// Whether another engine holds the port that the instruction needs.
    fn excluded(
        &self,
        engine: usize,
        which: u32,
        now: f64,
        events: &mut BinaryHeap<Reverse<(Time, u8, u32)>>,
    ) -> bool {
        if !self.machine.exclusions {
            return false;
        }
        let own = &self.instructions[which as usize].features;
        let rivals: &[(usize, bool)] = match engine {
            1 => &[(3, false), (2, true)],
            2 => &[(1, true)],
            3 => &[(1, false)],
            _ => &[],
        };
        for (other, psum) in rivals {
            if self.free[*other] <= now {
                continue;
            }
            let Some(running) = self.running[*other] else {
                continue;
            };
            let theirs = &self.instructions[running as usize].features;
            let clash = if *psum {
                own.touches_psum && theirs.touches_psum
            } else {
                own.touches_sbuf && theirs.touches_sbuf
            };
            if clash {
                events.push(Reverse((Time(self.free[*other]), 2, 0)));
                return true;
            }
        }
        false
    }

    /// Spreads a transfer over the least loaded queues.
    fn transfer(&mut self, which: u32, now: f64) -> (f64, f64, f64) {
        let rates = &self.machine.dma;
        let Some(transfer) = &self.instructions[which as usize].transfer else {
            return (now, now, now);
        };
        let rows = transfer.rows.max(1) as usize;
        let queues = rows
            .div_ceil(8)
            .min(rates.queues)
            .max(rows.min(rates.queues).min(rates.queues));
        let per_queue = rows.div_ceil(queues) as f64;
        let run = f64::from(transfer.run_bytes);
        let runs = f64::from(transfer.runs);
        let mut each = per_queue * runs * (rates.descriptor_ns + run / rates.bytes_per_ns);
        if transfer.transposed > 0 {
            each = each.max(transfer.transposed as f64 / queues as f64 * rates.transpose_ns);
        }
        let mut order: Vec<usize> = (0..self.queues.len()).collect();
        order.sort_by(|a, b| self.queues[*a].total_cmp(&self.queues[*b]).then(a.cmp(b)));
        let mut start = f64::INFINITY;
        let mut end = now;
        for queue in order.into_iter().take(queues) {
            let begin = self.queues[queue].max(now);
            self.queues[queue] = begin + each;
            self.queue_busy[queue] += each;
            start = start.min(begin);
            end = end.max(begin + each);
        }
        let bytes = (transfer.hbm_read + transfer.hbm_written) as f64;
        self.hbm = self.hbm.max(start) + bytes / rates.hbm_bytes_per_ns;
        end = end.max(self.hbm);
        (start, end, end + rates.latency_ns)
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the tables of the running schedule"
    )]
    fn finish(
        &mut self,
        which: u32,
        released: f64,
        done: f64,
        waiting: &[Vec<(u32, bool)>],
        open: &mut [u32],
        ready_at: &mut [f64],
        blockers: &mut [Option<u32>],
        events: &mut BinaryHeap<Reverse<(Time, u8, u32)>>,
        banks: &Banks,
    ) {
        self.issued[which as usize] = true;
        while self.oldest < self.issued.len() && self.issued[self.oldest] {
            self.oldest += 1;
        }
        if banks.closes.contains_key(&which) {
            events.push(Reverse((Time(done), 1, which)));
        }
        for (next, result) in &waiting[which as usize] {
            let at = if *result { done } else { released };
            let slot = &mut ready_at[*next as usize];
            if at >= *slot {
                *slot = at;
                blockers[*next as usize] = Some(which);
            }
            open[*next as usize] -= 1;
            if open[*next as usize] == 0 {
                events.push(Reverse((Time(ready_at[*next as usize]), 0, *next)));
            }
        }
    }
}
