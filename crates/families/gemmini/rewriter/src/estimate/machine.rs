//! The coarse model of the accelerator: when each command ends.
//!
//! *Source*: constants rounded from the target's documentation (RTL
//! measurements of the default int8 configuration).

use crate::affine::{Affine, Atom};
use crate::condition::Condition;
use crate::kernel::{Command, Dram, Kernel, Local, Memory, Weights};
use crate::limits::HardwareLimits;
use crate::walk::{Event, Issue, Place};
use std::collections::{HashMap, VecDeque};

/// Cycles from the core to the reservation station.
const FRONT_END: f64 = 6.0;
/// Cycles from a row entering the array to its result.
const ARRAY_LATENCY: f64 = 38.0;
/// Cycles from issue of a load to its first data, on a hit.
const HIT_LATENCY: f64 = 13.0;
/// The same on a miss.
const MISS_LATENCY: f64 = 60.0;
/// Cycles from the last data to completion.
const LOAD_TAIL: f64 = 7.0;
/// Bytes of a cache line.
const LINE_BYTES: i64 = 64;

/// Operations of the array that may wait while later loads run.
const QUEUED_OPERATIONS: usize = 12;

const LOAD: usize = 0;
const STORE: usize = 1;
const ARRAY: usize = 2;

/// When the array reads from which banks.
struct Operation {
    start: f64,
    end: f64,
    banks: [Option<i64>; 2],
}

/// When a store reads its rows.
struct Reading {
    bank: usize,
    start: f64,
    end: f64,
}

/// Rows that a load writes into a bank.
struct Writing {
    start: f64,
    end: f64,
    rows: f64,
}

/// The accelerator while commands are followed; times in cycles.
pub(super) struct Machine<'kernel> {
    limits: &'kernel HardwareLimits,
    block_strides: [i64; 3],
    core: f64,
    allocations: Vec<f64>,
    commands: usize,
    last_allocation: f64,
    /// Completion times of commands in flight, by unit.
    in_flight: [Vec<f64>; 3],
    last_issue: [f64; 3],
    load_done: [f64; 2],
    bus_free: f64,
    memory_free: f64,
    pub(super) array_free: f64,
    store_free: f64,
    writings: Vec<Vec<Writing>>,
    /// The last operations of the array, which run behind the loads.
    operations: VecDeque<Operation>,
    stores: Vec<Reading>,
    /// When scratchpad and accumulator rows are written.
    written: [Vec<f64>; 2],
    /// When the array has read them.
    read: [Vec<f64>; 2],
    /// The last store that reads a row of the accumulator, plus one.
    stored_by: Vec<usize>,
    pending: Option<Pending>,
    latest: f64,
    pub(super) work: f64,
    pub(super) milestones: Vec<(f64, f64)>,
    pub(super) bytes_moved: i64,
    touched: HashMap<Place, i64>,
    fits_cache: bool,
    /// Cycles of the way behind the L2 for one line.
    line_cycles: f64,
}

struct Pending {
    allocation: f64,
    weights: Option<(usize, usize)>,
    target: Option<(usize, usize)>,
}

impl<'kernel> Machine<'kernel> {
    pub(super) fn new(kernel: &'kernel Kernel, limits: &'kernel HardwareLimits) -> Self {
        let scratchpad = usize::try_from(limits.rows(Memory::Scratchpad)).unwrap_or(0);
        let accumulator = usize::try_from(limits.rows(Memory::Accumulator)).unwrap_or(0);
        let bytes: i64 = kernel
            .arrays
            .iter()
            .map(|array| {
                array
                    .extents
                    .iter()
                    .fold(1i64, |size, extent| size.saturating_mul(*extent))
            })
            .fold(0, i64::saturating_add);
        Self {
            limits,
            block_strides: [limits.dim; 3],
            core: 0.0,
            allocations: vec![0.0; limits.costs.front_end_commands.max(1)],
            commands: 0,
            last_allocation: 0.0,
            in_flight: [Vec::new(), Vec::new(), Vec::new()],
            last_issue: [0.0; 3],
            load_done: [0.0; 2],
            bus_free: 0.0,
            memory_free: 0.0,
            array_free: 0.0,
            store_free: 0.0,
            writings: (0..limits.scratchpad_banks.clamp(1, 64))
                .map(|_| Vec::new())
                .collect(),
            operations: VecDeque::new(),
            stores: Vec::new(),
            written: [vec![0.0; scratchpad], vec![0.0; accumulator]],
            read: [vec![0.0; scratchpad], vec![0.0; accumulator]],
            stored_by: vec![0; accumulator],
            pending: None,
            latest: 0.0,
            work: 0.0,
            milestones: Vec::new(),
            bytes_moved: 0,
            touched: HashMap::new(),
            line_cycles: LINE_BYTES as f64 / limits.costs.behind_l2.max(1) as f64,
            fits_cache: bytes <= limits.costs.l2_bytes,
        }
    }

    pub(super) fn end(&self) -> f64 {
        self.stores
            .iter()
            .rev()
            .take(8)
            .fold(self.latest, |end, store| end.max(store.end))
    }

    pub(super) fn event(&mut self, event: Event<'kernel>) -> Option<()> {
        match event {
            Event::Iteration => self.core += 2.0,
            Event::Test => self.core += 2.0,
            Event::Issue(issue) => self.command(&issue)?,
        }
        Some(())
    }

    /// Accounts for the core and the front end; returns when the command enters
    /// the reservation station.
    fn allocate(&mut self, command: &Command, unit: usize) -> f64 {
        let slot = self.commands % self.allocations.len();
        self.core = (self.core + issue_cost(command)).max(self.allocations[slot]);
        let mut time = (self.core + FRONT_END).max(self.last_allocation + 1.0);
        let in_flight = &mut self.in_flight[unit];
        in_flight.retain(|done| time < *done);
        let entries = self.limits.costs.entries[unit];
        if entries <= in_flight.len() {
            in_flight.sort_by(f64::total_cmp);
            let free = in_flight.len() - entries;
            time = time.max(in_flight[free] + 1.0);
        }
        self.allocations[slot] = time;
        self.commands += 1;
        self.last_allocation = time;
        time
    }

    fn command(&mut self, issue: &Issue<'kernel>) -> Option<()> {
        let command = issue.command;
        match command {
            Command::ConfigLoad {
                block_stride,
                channel,
                ..
            } => {
                *self.block_strides.get_mut(*channel)? = *block_stride;
                self.allocate(command, LOAD);
            }
            Command::ConfigStore(_) => {
                self.allocate(command, STORE);
            }
            Command::ConfigExecute(_) => {
                let time = self.allocate(command, ARRAY);
                self.array_free = self.array_free.max(time) + 41.0;
            }
            Command::Fence => self.core = self.core.max(self.end()),
            Command::MoveIn(load) => {
                let time = self.allocate(command, LOAD);
                let memory = load.target.as_row()?.memory;
                self.load(load, memory, issue.rows[0]?, time, issue.place)?;
            }
            Command::MoveOut(store) => {
                let time = self.allocate(command, STORE);
                let memory = store.source.as_row()?.memory;
                self.store(store, memory, issue.rows[0]?, time)?;
            }
            Command::Preload(preload) => {
                let allocation = self.allocate(command, ARRAY);
                let weights = operand(issue.rows[0], preload.weights_size.1)?;
                let target = operand(issue.rows[1], preload.target_size.1)?;
                self.pending = Some(Pending {
                    allocation,
                    weights,
                    target,
                });
            }
            Command::Compute(compute) => {
                let allocation = self.allocate(command, ARRAY);
                let input = operand(issue.rows[0], compute.input_size.1)?;
                self.compute(compute.weights, input, allocation)?;
            }
        }
        Some(())
    }

    fn load(
        &mut self,
        load: &crate::kernel::MoveIn,
        memory: Memory,
        first: usize,
        allocation: f64,
        place: Option<Place>,
    ) -> Option<()> {
        let which = memory as usize;
        let dim = self.limits.dim;
        let blocks = (load.columns + dim - 1) / dim;
        let stride = usize::try_from(*self.block_strides.get(load.channel)?).ok()?;
        let rows = usize::try_from(load.rows).ok()?;
        let starts: Vec<usize> = (0..usize::try_from(blocks).ok()?)
            .map(|block| first + block * stride)
            .collect();
        let mut issue = (allocation + 1.0).max(self.last_issue[LOAD] + 1.0);
        for start in &starts {
            for row in *start..start + rows {
                issue = issue.max(*self.read[which].get(row)?);
                if memory == Memory::Accumulator {
                    issue = issue.max(self.written[which][row]);
                    issue = issue.max(self.store_end(row));
                }
            }
        }
        self.last_issue[LOAD] = issue;
        let beats = (rows as i64 * blocks) as f64;
        let done = if load.source == Dram::Zero {
            issue + 3.0 + beats
        } else {
            let start = issue.max(self.load_done[0]);
            let hit = self.touch(place, load.rows, load.columns);
            let latency = if hit { HIT_LATENCY } else { MISS_LATENCY };
            let begin = (start + latency).max(self.bus_free);
            let lines = rows as f64 * ((load.columns + LINE_BYTES - 1) / LINE_BYTES) as f64;
            let mut done = begin + beats;
            if !hit {
                self.memory_free = self.memory_free.max(start + 3.0) + lines * self.line_cycles;
                done = done.max(self.memory_free);
            }
            self.bus_free = done;
            if memory == Memory::Scratchpad {
                let bank = first as i64 / self.limits.scratchpad_bank_rows;
                // Operations that wait in the queue meet the load when they run.
                let density = (beats / (done - begin).max(1.0)).min(1.0);
                let stolen: f64 = self
                    .operations
                    .iter()
                    .filter(|operation| operation.banks.contains(&Some(bank)))
                    .map(|operation| {
                        (done.min(operation.end) - begin.max(operation.start)).max(0.0)
                    })
                    .sum();
                self.array_free += stolen * density;
                let writings = self.writings.get_mut(usize::try_from(bank).ok()?)?;
                if 6 < writings.len() {
                    writings.remove(0);
                }
                writings.push(Writing {
                    start: begin,
                    end: done,
                    rows: beats,
                });
            }
            done + LOAD_TAIL
        };
        self.load_done = [self.load_done[1], done];
        self.in_flight[LOAD].push(done);
        self.latest = self.latest.max(done);
        for start in starts {
            for row in start..start + rows {
                self.written[which][row] = done;
            }
        }
        Some(())
    }

    fn store_end(&self, row: usize) -> f64 {
        match self.stored_by.get(row) {
            None | Some(0) => 0.0,
            Some(store) => self.stores.get(store - 1).map_or(0.0, |store| store.end),
        }
    }

    fn store(
        &mut self,
        store: &crate::kernel::MoveOut,
        memory: Memory,
        first: usize,
        allocation: f64,
    ) -> Option<()> {
        let which = memory as usize;
        let dim = self.limits.dim;
        let blocks = (store.columns + dim - 1) / dim;
        let rows = usize::try_from(store.rows).ok()?;
        let all = first..first + usize::try_from(blocks * dim).ok()?;
        let mut issue = (allocation + 1.0).max(self.last_issue[STORE] + 1.0);
        for row in all.clone() {
            issue = issue.max(*self.written[which].get(row)?);
        }
        self.last_issue[STORE] = issue;
        let start = (issue + 3.0).max(self.store_free);
        let per_row = (1.6 * blocks as f64).max((2 * blocks - 1) as f64);
        let mut end = start + rows as f64 * per_row;
        if !self.fits_cache {
            let full = store.columns % LINE_BYTES == 0;
            let lines = rows as f64 * ((store.columns + LINE_BYTES - 1) / LINE_BYTES) as f64;
            let cost = if full { 1.0 } else { 2.0 };
            self.memory_free = self.memory_free.max(start) + lines * self.line_cycles * cost;
            end = end.max(self.memory_free - 64.0);
        }
        self.store_free = end;
        let bank = first as i64 / self.limits.bank_rows(memory).max(1);
        let bank = usize::try_from(bank).ok()?;
        self.stores.push(Reading { bank, start, end });
        self.in_flight[STORE].push(end);
        if memory == Memory::Accumulator {
            for row in all {
                self.stored_by[row] = self.stores.len();
            }
        } else {
            for row in all {
                self.read[which][row] = self.read[which][row].max(end);
            }
        }
        Some(())
    }

    fn compute(
        &mut self,
        kind: Weights,
        input: Option<(usize, usize)>,
        allocation: f64,
    ) -> Option<()> {
        let pending = self.pending.take()?;
        let weights = if kind == Weights::Preloaded {
            pending.weights
        } else {
            None
        };
        let mut ready = allocation.max(pending.allocation) + 3.0;
        let scratchpad = Memory::Scratchpad as usize;
        for (first, rows) in [weights, input].into_iter().flatten() {
            for row in first..first + rows {
                ready = ready.max(*self.written[scratchpad].get(row)? + 3.0);
            }
        }
        if let Some((first, rows)) = pending.target {
            for row in first..first + rows {
                ready = ready.max(self.store_end(row) + 3.0);
            }
        }
        // An empty queue costs the preload its overlap with the product before.
        let start = self.array_free.max(ready + self.limits.dim as f64);
        let bank_rows = self.limits.scratchpad_bank_rows.max(1);
        let bank =
            |operand: Option<(usize, usize)>| operand.map(|(first, _)| first as i64 / bank_rows);
        let conflict = bank(weights).is_some() && bank(weights) == bank(input);
        let rows = self.limits.dim as f64;
        let mut busy = rows * if conflict { 2.0 } else { 1.0 };
        let mut banks = vec![bank(weights), bank(input)];
        banks.dedup();
        for bank in banks.into_iter().flatten() {
            for writing in self.writings.get(usize::try_from(bank).ok()?)? {
                let overlap = (start + busy).min(writing.end) - start.max(writing.start);
                if 0.0 < overlap {
                    let density = writing.rows / (writing.end - writing.start).max(1.0);
                    busy += overlap * density.min(1.0);
                }
            }
        }
        let end = start + busy;
        if let Some((first, count)) = pending.target {
            let target_bank = first / usize::try_from(self.limits.accumulator_bank_rows).ok()?;
            // A store from the bank that the array adds to does not get through.
            let mut shift = 0.0f64;
            for store in self.stores.iter_mut().rev().take(4) {
                let overlap = end.min(store.end) - start.max(store.start);
                if store.bank == target_bank && 0.0 < overlap {
                    store.end += overlap;
                    shift = shift.max(overlap);
                }
            }
            if 0.0 < shift {
                self.store_free += shift;
                self.in_flight[STORE]
                    .iter_mut()
                    .for_each(|done| *done += shift);
            }
            let accumulator = Memory::Accumulator as usize;
            for row in first..first + count {
                *self.written[accumulator].get_mut(row)? = end + ARRAY_LATENCY;
            }
        }
        for (first, rows) in [weights, input].into_iter().flatten() {
            for row in first..first + rows {
                self.read[scratchpad][row] = end;
            }
        }
        self.array_free = end;
        if QUEUED_OPERATIONS <= self.operations.len() {
            self.operations.pop_front();
        }
        self.operations.push_back(Operation {
            start,
            end,
            banks: [bank(weights), bank(input)],
        });
        self.in_flight[ARRAY].push(end + 1.0);
        self.in_flight[ARRAY].push(end + ARRAY_LATENCY);
        self.latest = self.latest.max(end + ARRAY_LATENCY);
        self.work += 1.0;
        if (self.work as u64).is_multiple_of(16) {
            self.milestones.push((self.work, end));
        }
        Some(())
    }

    /// Returns whether the lines are in the cache, and notes the access.
    fn touch(&mut self, place: Option<Place>, rows: i64, columns: i64) -> bool {
        self.bytes_moved += rows * columns;
        let Some(place) = place else { return true };
        let line = Place {
            column: place.column / LINE_BYTES,
            ..place
        };
        let now = self.bytes_moved;
        let last = self.touched.insert(line, now);
        self.fits_cache || last.is_some_and(|last| now - last < self.limits.costs.l2_bytes / 2)
    }
}

/// Returns the rows of an operand; `Some(None)` for garbage.
fn operand(first: Option<usize>, rows: i64) -> Option<Option<(usize, usize)>> {
    let rows = usize::try_from(rows).ok()?;
    Some(first.map(|first| (first, rows)))
}

/// Returns the core's cycles for a command: its instruction and those that
/// make up its operands in a loop whose invariants the compiler has hoisted
/// (about ten per preload and compute, measured on compiled kernels).
fn issue_cost(command: &Command) -> f64 {
    let mut cost = 1.0;
    for local in command.locals() {
        if let Local::Row(row) = local {
            cost += 1.5 + 0.25 * rotations(&row.row);
            if !matches!(row.overwrites, Condition::Constant(_)) {
                cost += 0.5;
            }
        }
    }
    if let Some(Dram::Element { indices, .. }) = command.dram() {
        cost += 2.0 + indices.iter().map(rotations).sum::<f64>();
    }
    cost
}

/// Returns the number of quotients and remainders.
fn rotations(expression: &Affine) -> f64 {
    let atoms = expression
        .terms()
        .filter(|(atom, _)| !matches!(atom, Atom::Variable(_)));
    atoms.count() as f64
}
