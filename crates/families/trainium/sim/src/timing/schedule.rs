//! The engines at work: each takes its instructions in program order, but may look ahead past
//! those that wait; transfers spread over the DMA queues.
//!
//! Meetings with another core are passed in program order, each when both have come to it. The
//! engine that stands at a barrier does nothing else until then.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use super::banks::{Banks, banks};
use super::cost;
use super::dependences::{Graph, graph};
use super::engines::{ENGINES, State, TRANSFERS, Time};
use super::machine::Machine;
use super::memory::Plan;
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
    /// Whether it is the first to write a tile of PSUM, for which there must be room.
    pub takes_bank: bool,
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

/// The schedule of one core in the making.
pub(super) struct Schedule<'a> {
    state: State<'a>,
    graph: Graph,
    banks: Banks,
    /// For how many others each instruction still waits.
    open: Vec<u32>,
    /// Until an instruction runs, its slot says since when it could, and what it waited for.
    slots: Vec<Slot>,
    /// By time: what happens, and to which instruction.
    events: BinaryHeap<Reverse<(Time, u8, u32)>>,
    /// When full queues are to be looked at again, so that this is an event once.
    next_look: f64,
    issued: usize,
    /// How many were issued when nothing could run.
    stalled: Option<usize>,
    last: f64,
    /// The meeting that it stands at, and since when.
    standing: Option<(u32, f64)>,
    cached_loads: u64,
    spill_bytes: u64,
    peak_sbuf: u64,
    merged: u64,
}

/// What happens: an instruction becomes ready, accumulators come free, engines or queues are to be
/// looked at again, all cores are at a meeting.
const READY: u8 = 0;
const CLOSED: u8 = 1;
const LOOK: u8 = 2;
const MET: u8 = 3;

const NOT_RUN: Slot = Slot {
    engine: Engine::Dma,
    start: 0.0,
    released: 0.0,
    done: 0.0,
    blocker: None,
    takes_bank: false,
};

impl<'a> Schedule<'a> {
    pub(super) fn new(plan: Plan, machine: &'a Machine, rolled_loops: bool) -> Self {
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
        let open = std::mem::take(&mut graph.open);
        let banks = banks(&uses, &tensors, count);
        let meetings = (0u32..).zip(instructions.iter());
        let meetings = meetings.filter(|(_, it)| it.operation.is_meeting());
        let meetings = meetings.map(|(which, _)| which).collect();
        let mut state = State::new(instructions, tensors, meetings, machine);
        // What waits for nothing is ready from the start; one event stands for all of it.
        let mut events = BinaryHeap::new();
        for (which, _) in (0u32..).zip(&open).filter(|(_, open)| **open == 0) {
            state.make_ready(which);
        }
        if !state.is_idle() {
            events.push(Reverse((Time(0.0), LOOK, 0)));
        }
        Self {
            state,
            graph,
            banks,
            open,
            slots: vec![NOT_RUN; count],
            events,
            next_look: f64::NEG_INFINITY,
            issued: 0,
            stalled: None,
            last: 0.0,
            standing: None,
            cached_loads,
            spill_bytes,
            peak_sbuf,
            merged,
        }
    }

    /// Goes on to the next meeting; since when it stands there. Nothing where it is through.
    pub(super) fn run_to_meeting(&mut self) -> Option<f64> {
        while self.standing.is_none() && self.issued < self.slots.len() {
            let Some(Reverse((Time(now), kind, which))) = self.events.pop() else {
                if self.unstall() {
                    continue;
                }
                // Not even that helped: what is left has no place in the schedule.
                break;
            };
            self.apply(kind, which, now);
            while let Some(Reverse((Time(at), kind, which))) = self.events.peek().copied()
                && at <= now
            {
                self.events.pop();
                self.apply(kind, which, now);
            }
            self.issue(now);
        }
        self.standing.map(|(_, since)| since)
    }

    /// Passes the meeting that it stands at, if it does, to which the last core comes at `time`.
    pub(super) fn meet(&mut self, time: f64) {
        if let Some((which, _)) = self.standing.take() {
            self.events.push(Reverse((Time(time), MET, which)));
        }
    }

    /// Nothing can run: the accumulators are over-subscribed. Lets the oldest go first; whether
    /// that may help.
    fn unstall(&mut self) -> bool {
        if self.stalled == Some(self.issued) {
            return false;
        }
        self.stalled = Some(self.issued);
        self.state.make_room(&self.banks);
        self.events.push(Reverse((Time(self.last), LOOK, 0)));
        !self.state.is_idle()
    }

    fn apply(&mut self, kind: u8, which: u32, now: f64) {
        match kind {
            READY => self.state.make_ready(which),
            CLOSED => self.state.psum_free += i64::from(self.banks.closes[which as usize]),
            MET => {
                self.state.pass_meeting();
                match self.state.engine_of(which) {
                    Some(engine) => self.run(engine, which, now),
                    None => self.transfer(which, now),
                }
            }
            _ => {}
        }
    }

    /// Issues whatever can be issued now.
    fn issue(&mut self, now: f64) {
        loop {
            let mut progress = false;
            for engine in 0..ENGINES.len() {
                if self.state.free[engine] > now {
                    continue;
                }
                let Some((heap, which)) = self.state.candidate(engine, now, &self.banks) else {
                    continue;
                };
                self.state.ready[heap].pop();
                if self.state.is_meeting(which) {
                    self.state.free[engine] = f64::INFINITY;
                    self.standing = Some((which, now));
                } else {
                    self.run(engine, which, now);
                }
                progress = true;
            }
            while let Some(which) = self.state.ready[TRANSFERS].peek() {
                let (soonest, machine) = (self.state.soonest, self.state.machine);
                if soonest > now + machine.dma.backlog_ns {
                    let again = soonest - machine.dma.backlog_ns + 1.0;
                    if again != self.next_look {
                        self.events.push(Reverse((Time(again), LOOK, 0)));
                        self.next_look = again;
                    }
                    break;
                }
                if which as usize >= self.state.oldest + 4 * machine.window {
                    break;
                }
                self.state.ready[TRANSFERS].pop();
                if self.state.is_meeting(which) {
                    self.standing = Some((which, now));
                } else {
                    self.transfer(which, now);
                }
                progress = true;
            }
            if !progress {
                break;
            }
        }
    }

    /// Runs an instruction on an engine.
    fn run(&mut self, engine: usize, which: u32, now: f64) {
        let (unit, machine) = (ENGINES[engine], self.state.machine);
        let busy = cost::busy(&self.state.instructions[which as usize], unit, machine);
        let released = now + busy;
        self.state.free[engine] = released;
        self.state.running[engine] = Some(which);
        self.state.take_bank(which, &self.banks);
        self.events.push(Reverse((Time(released), LOOK, 0)));
        self.finish(which, (unit, now, released, released + machine.tail_ns));
    }

    /// Starts a transfer.
    fn transfer(&mut self, which: u32, now: f64) {
        let begin = match self.state.instructions[which as usize].features.dynamic {
            true => {
                self.state.trigger =
                    self.state.trigger.max(now) + self.state.machine.dma.dynamic_ns;
                self.state.trigger
            }
            false => now,
        };
        let (start, released, done) = self.state.transfer(which, begin);
        self.finish(which, (Engine::Dma, start, released, done));
    }

    fn finish(&mut self, which: u32, (engine, start, released, done): (Engine, f64, f64, f64)) {
        let slot = Slot {
            engine,
            start,
            released,
            done,
            blocker: self.slots[which as usize].blocker,
            takes_bank: self.banks.opens[which as usize] != 0,
        };
        self.state.finish(
            which,
            slot,
            self.graph.waiting(which),
            &mut self.open,
            &mut self.slots,
            &mut self.events,
            &self.banks,
        );
        self.last = self.last.max(done);
        self.issued += 1;
    }

    pub(super) fn into_timeline(self) -> Timeline {
        let (mut slots, state) = (self.slots, self.state);
        for (slot, _) in slots.iter_mut().zip(&state.issued).filter(|it| !*it.1) {
            *slot = NOT_RUN;
        }
        Timeline {
            instructions: state.instructions,
            tensors: state.tensors,
            slots,
            latency_ns: self.last + state.machine.launch_ns,
            queue_busy: state.queue_busy,
            any_queue_busy: state.any_queue.0,
            cached_loads: self.cached_loads,
            spill_bytes: self.spill_bytes,
            peak_sbuf: self.peak_sbuf,
            merged: self.merged,
        }
    }
}
