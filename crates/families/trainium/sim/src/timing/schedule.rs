//! The engines at work: each takes its instructions in program order, but may look ahead past
//! those that wait; transfers spread over the DMA queues.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

use super::banks::banks;
use super::cost;
use super::dependences::graph;
use super::engines::{ENGINES, State, Time};
use super::machine::Machine;
use super::memory::Plan;
use super::ready::Ready;
use super::room::successions;
use crate::trace::{Engine, Instruction, Long, Tensor};

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
    pub(crate) instructions: Arc<Long<Instruction>>,
    /// Tensors after the compiler's passes.
    pub(crate) tensors: Arc<Vec<Tensor>>,
    /// One slot for each instruction.
    pub slots: Vec<Slot>,
    /// Latency in nanoseconds, launch included.
    pub latency_ns: f64,
    /// Nanoseconds for which each DMA queue was busy.
    pub queue_busy: Vec<f64>,
    /// Nanoseconds for which any of them was busy.
    pub any_queue_busy: f64,
    /// Loads that were dropped because the data was there.
    pub cached_loads: u64,
    /// Bytes stored and re-loaded for lack of on-chip memory.
    pub spill_bytes: u64,
    /// Most bytes of on-chip memory in use in each partition.
    pub peak_sbuf: u64,
    /// Instructions that were merged into their neighbours.
    pub merged: u64,
    /// When each meeting with another core was issued, in program order. A transfer starts later,
    /// by what its queue takes.
    pub(super) meetings: Vec<f64>,
}

/// An instruction and when it ran.
#[derive(Clone, Copy, Debug)]
pub struct Scheduled<'a> {
    /// When and where.
    pub slot: &'a Slot,
    /// Its name in reports.
    pub name: &'static str,
    /// Line of the kernel file, from 1; 0 where no line applies.
    pub line: u32,
    /// Bytes from and to main memory, of transfers.
    pub moved: Option<u64>,
}

impl Timeline {
    /// Returns all instructions in program order.
    pub fn scheduled(&self) -> impl Iterator<Item = Scheduled<'_>> {
        let pairs = self.slots.iter().zip(self.instructions.iter());
        pairs.map(|(slot, instruction)| Scheduled {
            slot,
            name: instruction.operation.name(),
            line: instruction.line,
            moved: instruction
                .transfer
                .as_ref()
                .map(|it| it.hbm_read + it.hbm_written),
        })
    }
}

/// Runs the schedule, in which the meetings with another core begin at `meetings` at the earliest.
pub(super) fn run(plan: Plan, machine: &Machine, rolled_loops: bool, meetings: &[f64]) -> Timeline {
    let uses = plan.uses();
    let Plan {
        instructions,
        tensors,
        cached_loads,
        spill_bytes,
        peak_sbuf,
        merged,
        ..
    } = plan;
    let count = instructions.len();
    let successions = successions(&uses, &tensors, machine.sbuf_bytes);
    let mut graph = graph(&instructions, &tensors, &uses, &successions, rolled_loops);
    let mut open = std::mem::take(&mut graph.open);
    let banks = banks(&uses, &tensors, count);
    let empty = Slot {
        engine: Engine::Dma,
        start: 0.0,
        released: 0.0,
        done: 0.0,
        blocker: None,
    };
    // Until an instruction runs, its slot says since when it could, and what it waited for.
    let mut slots = vec![empty; count];
    let mut state = State {
        machine,
        instructions: &instructions,
        tensors: &tensors,
        free: [0.0; 5],
        running: [None; 5],
        ready: Default::default(),
        issued: vec![false; count],
        oldest: 0,
        queues: vec![0.0; machine.dma.queues],
        by_load: (0..machine.dma.queues).collect(),
        soonest: 0.0,
        queue_busy: vec![0.0; machine.dma.queues],
        hbm: 0.0,
        any_queue: (0.0, 0.0),
        trigger: 0.0,
        psum_free: machine.psum_bytes as i64,
        next_bank: 0,
    };
    // Events: (time, kind, instruction). Kinds: 0 becomes ready, 1 accumulators come free, 2 look again.
    let mut events: BinaryHeap<Reverse<(Time, u8, u32)>> = BinaryHeap::new();
    let with_others = (0u32..).zip(instructions.iter());
    let with_others = with_others.filter(|(_, it)| it.operation.is_meeting());
    for ((which, _), earliest) in with_others.zip(meetings) {
        slots[which as usize].start = *earliest;
    }
    // What waits for nothing is ready from the start; one event stands for all of it.
    for (which, _) in (0u32..).zip(&open).filter(|(_, open)| **open == 0) {
        match slots[which as usize].start {
            0.0 => state.make_ready(which),
            start => events.push(Reverse((Time(start), 0, which))),
        }
    }
    if state.ready.iter().any(|heap| !heap.is_empty()) {
        events.push(Reverse((Time(0.0), 2, 0)));
    }
    // When full queues were to be looked at again, so that this is an event once.
    let mut next_look = f64::NEG_INFINITY;
    let mut issued_count = 0;
    let mut met: BTreeMap<u32, f64> = BTreeMap::new();
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
            if state.ready.iter().all(Ready::is_empty) {
                break;
            }
            continue;
        };
        let apply = |kind: u8, which: u32, state: &mut State<'_>| match kind {
            0 => state.make_ready(which),
            1 => {
                state.psum_free += i64::from(banks.closes[which as usize]);
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
                let Some((heap, which)) = state.candidate(engine, now, &banks) else {
                    continue;
                };
                state.ready[heap].pop();
                let instruction = &instructions[which as usize];
                if instruction.operation.is_meeting() {
                    met.insert(which, now);
                }
                let busy = cost::busy(instruction, unit, machine);
                let released = now + busy;
                state.free[engine] = released;
                state.running[engine] = Some(which);
                let done = released + machine.tail_ns;
                let slot = Slot {
                    engine: unit,
                    start: now,
                    released,
                    done,
                    blocker: slots[which as usize].blocker,
                };
                state.take_bank(which, &banks);
                events.push(Reverse((Time(released), 2, 0)));
                state.finish(
                    which,
                    slot,
                    graph.waiting(which),
                    &mut open,
                    &mut slots,
                    &mut events,
                    &banks,
                );
                last = last.max(done);
                issued_count += 1;
                progress = true;
            }
            // Transfers.
            while let Some(which) = state.ready[6].peek() {
                let soonest = state.soonest;
                if soonest > now + machine.dma.backlog_ns {
                    let again = soonest - machine.dma.backlog_ns + 1.0;
                    if again != next_look {
                        events.push(Reverse((Time(again), 2, 0)));
                        next_look = again;
                    }
                    break;
                }
                if which as usize >= state.oldest + 4 * machine.window {
                    break;
                }
                state.ready[6].pop();
                if instructions[which as usize].operation.is_meeting() {
                    met.insert(which, now);
                }
                let begin = match instructions[which as usize].features.dynamic {
                    true => {
                        state.trigger = state.trigger.max(now) + machine.dma.dynamic_ns;
                        state.trigger
                    }
                    false => now,
                };
                let (start, released, done) = state.transfer(which, begin);
                let slot = Slot {
                    engine: Engine::Dma,
                    start,
                    released,
                    done,
                    blocker: slots[which as usize].blocker,
                };
                state.finish(
                    which,
                    slot,
                    graph.waiting(which),
                    &mut open,
                    &mut slots,
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
    for (slot, _) in slots.iter_mut().zip(&state.issued).filter(|it| !*it.1) {
        *slot = empty;
    }
    let latency_ns = last + machine.launch_ns;
    let any_queue_busy = state.any_queue.0;
    let queue_busy = state.queue_busy;
    Timeline {
        instructions,
        tensors,
        slots,
        latency_ns,
        queue_busy,
        any_queue_busy,
        cached_loads,
        spill_bytes,
        peak_sbuf,
        merged,
        meetings: met.into_values().collect(),
    }
}
