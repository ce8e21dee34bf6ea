//! The engine: time, the order of events within a cycle, issue and completion.
//!
//! Each unit has one cycle at which it wants to be looked at next. The engine
//! jumps from one such cycle to the next; within a cycle the units are served
//! so that what one does is seen by the others as through registers.

use super::adders::Shared;
use super::calendar::Calendar;
use super::completions::Completions;
use super::config::TimingConfig;
use super::constants::Constants;
use super::conv_loop::ConvUnit;
use super::events::EventCounts;
use super::execute::ExecuteUnit;
use super::frontend::{Head, LoopUnit, Pending, UNROLLED};
use super::ideal::Ideal;
use super::job::{Class, Sizes};
use super::load::LoadUnit;
use super::matmul_loop::MatmulUnit;
use super::port::Port;
use super::recording::Recording;
use super::station::Station;
use super::stats::TimingStats;
use super::store::StoreUnit;
use crate::config::GemminiConfig;
use crate::configuration::Configured;
use crate::loop_conv::ConvLoop;
use crate::loop_ws::MatmulLoop;
use autocomp_riscv_machine::Ring;
use autocomp_riscv_machine::{MemoryCounts, MemorySystem};
use std::collections::VecDeque;

/// Units in the order in which they are served within a cycle.
pub(super) const ISSUE: usize = 0;
pub(super) const ALLOCATE: usize = 1;
pub(super) const LOOPS: usize = 2;
pub(super) const LOAD: usize = 3;
pub(super) const ARRAY: usize = 4;
pub(super) const STORE: usize = 5;
pub(super) const PORT: usize = 6;
pub(super) const COMPLETE: usize = 7;
const UNITS: usize = 8;
/// Latest cycle in which a unit can want to be looked at.
const LAST_CYCLE: u64 = u64::MAX - 1;

/// What time is to go on for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Until {
    Limit,
    /// So many commands from the core have left its queue.
    Left(usize),
    /// The line that the core waits for.
    Answer,
}

/// State of the cycle model.
#[derive(Clone, Debug)]
pub struct Engine {
    pub(super) config: GemminiConfig,
    pub(super) k: Constants,
    pub(super) wake: [u64; UNITS],
    pub(super) now: u64,
    /// Latest cycle that is to be worked through now.
    pub(super) run_limit: u64,
    pub(super) station: Station,
    pub(super) load: LoadUnit,
    pub(super) store: StoreUnit,
    pub(super) execute: ExecuteUnit,
    pub(super) memory: MemorySystem,
    pub(super) port: Port,
    /// When the line that the core waits for has come, once that is known.
    pub(super) core_answer: Option<u64>,
    pub(super) matmul: MatmulUnit,
    pub(super) conv: ConvUnit,
    pub(super) configured: Configured,
    pub(super) sizes: Sizes,
    /// Commands from the core, oldest first.
    pub(super) core: VecDeque<Pending>,
    /// Loops whose starting command is in `core`.
    pub(super) matmul_plans: VecDeque<MatmulLoop>,
    pub(super) conv_plans: VecDeque<ConvLoop>,
    /// Cycles at which the last commands from the core left `core`.
    pub(super) left: [u64; 32],
    pub(super) left_count: usize,
    /// The loop units that the last commands were for, and the number of commands
    /// up to the last one that was for one of them.
    pub(super) at_unit: [Option<LoopUnit>; 32],
    pub(super) loop_commands_until: usize,
    pub(super) pushed: usize,
    /// Commands from the loop units.
    pub(super) unrolled: Ring<Pending, UNROLLED>,
    pub(super) unrolled_room_from: u64,
    /// Commands from the convolution loop on their way to `unrolled`.
    pub(super) conv_out: Ring<Pending, UNROLLED>,
    /// The head, resolved, while it waits for room.
    pub(super) head: Head,
    pub(super) last_allocation: u64,
    pub(super) last_loop_stage: u64,
    pub(super) loops_idle_from: u64,
    pub(super) loops_poked: u64,
    /// The command at the front of `core` is for a loop unit that knows of it.
    pub(super) loop_command_waits: bool,
    /// That command is for the matrix loop unit and not taken yet.
    pub(super) loop_waits_for_room: bool,
    /// Latest cycle in which a unit was to be looked at to no effect.
    pub(super) passed_over: u64,
    /// Latest cycle in which no one looked whether a command can issue.
    pub(super) issue_passed_over: u64,
    /// Latest cycle in which the look for a second command was left out.
    pub(super) issue_left_out: u64,
    pub(super) blocked: Option<Class>,
    pub(super) blocked_from: u64,
    pub(super) room_from: [u64; 3],
    pub(super) completions: [Completions; 3],
    pub(super) busy_until: u64,
    pub(super) spad_writes: Vec<Calendar>,
    pub(super) spad_ex_writes: Vec<Calendar>,
    pub(super) spad_reads: Vec<Calendar>,
    pub(super) acc_ex_writes: Vec<Calendar>,
    pub(super) acc_reads_blocked: Vec<Calendar>,
    pub(super) shared: Shared,
    /// Cycles in which the last block of a packet is written.
    pub(super) load_last: Calendar,
    pub(super) stats: TimingStats,
    /// Counts for the event counters, once one has been accessed.
    pub(super) counts: Option<Box<EventCounts>>,
    pub(super) recording: Option<Box<Recording>>,
    pub(super) ideal: Ideal,
}

impl Engine {
    /// Makes an idle engine. `config` must be valid.
    #[must_use]
    pub fn new(config: &GemminiConfig, timing: &TimingConfig) -> Self {
        let commands = |set: u32, packets: u32| match set {
            0 => (packets / config.dim + 1) as usize,
            set => set as usize,
        };
        let k = Constants::new(config, timing);
        let entries = [
            timing.station.load_entries,
            timing.station.store_entries,
            timing.station.execute_entries,
        ];
        let banks = |count: usize| vec![Calendar::new(); count];
        let element = config.element_bytes();
        let acc = config.acc_element_bytes();
        Self {
            wake: [u64::MAX; UNITS],
            now: 0,
            run_limit: 0,
            station: Station::new(
                entries.map(|count| count as usize),
                timing.station.ordered_stores,
            ),
            load: LoadUnit::new(commands(
                timing.load.commands_in_flight,
                timing.load.packets,
            )),
            store: StoreUnit::new(commands(
                timing.store.commands_in_flight,
                timing.store.packets,
            )),
            execute: ExecuteUnit::new(),
            memory: MemorySystem::new(&timing.memory),
            port: Port::new(),
            core_answer: None,
            matmul: MatmulUnit::new(
                [entries[0], entries[1], entries[2]],
                config.dma_max_bytes / (config.dim * element),
                config.dma_max_bytes / (config.dim * acc),
                element,
                acc,
            ),
            conv: ConvUnit::new(
                [entries[0], entries[1], entries[2]],
                timing.loops.conv_latency,
            ),
            configured: Configured::default(),
            core: VecDeque::with_capacity(32),
            matmul_plans: VecDeque::with_capacity(8),
            conv_plans: VecDeque::with_capacity(8),
            left: [0; 32],
            left_count: 0,
            at_unit: [None; 32],
            loop_commands_until: 0,
            pushed: 0,
            unrolled: Ring::new(Pending::none()),
            unrolled_room_from: 0,
            conv_out: Ring::new(Pending::none()),
            head: Head::none(),
            sizes: Sizes::new(config),
            last_allocation: 0,
            last_loop_stage: 0,
            loops_idle_from: 0,
            loops_poked: 0,
            loop_command_waits: false,
            loop_waits_for_room: false,
            passed_over: 0,
            issue_passed_over: 0,
            issue_left_out: 0,
            blocked: None,
            blocked_from: 0,
            room_from: [0; 3],
            completions: std::array::from_fn(|_| Completions::new()),
            busy_until: 0,
            spad_writes: banks(k.spad_banks),
            spad_ex_writes: banks(k.spad_banks),
            spad_reads: banks(k.spad_banks),
            acc_ex_writes: banks(k.acc_banks),
            acc_reads_blocked: banks(k.acc_banks),
            shared: Shared::new(k.acc_banks),
            load_last: Calendar::new(),
            stats: TimingStats::default(),
            counts: None,
            recording: None,
            ideal: Ideal::default(),
            config: config.clone(),
            k,
        }
    }

    /// Returns counts and cycles collected so far.
    #[must_use]
    pub fn stats(&self) -> &TimingStats {
        &self.stats
    }

    /// Forgets counts and cycles collected so far; time goes on.
    pub fn reset_stats(&mut self) {
        self.stats = TimingStats::default();
        self.execute.count_from(self.now);
        self.memory.counts = MemoryCounts::default();
    }

    /// Takes costs away, from now on.
    pub fn idealize(&mut self, ideal: Ideal) {
        self.ideal = ideal;
    }

    /// Begins to record what happens when, of at most `limit` commands; with the
    /// local rows that they touch and every operation by itself if `whole`. What
    /// `recording` holds is forgotten; its memory is used again.
    pub fn record(&mut self, mut recording: Recording, limit: usize, whole: bool) {
        recording.restart(limit, whole);
        self.recording = Some(Box::new(recording));
    }

    /// Ends recording; returns what was recorded, if anything was to be.
    pub fn take_recording(&mut self) -> Option<Recording> {
        self.recording.take().map(|recording| *recording)
    }

    /// Returns the traffic of the memory system.
    #[must_use]
    pub fn memory_counts(&self) -> MemoryCounts {
        self.memory.counts
    }

    /// Returns the cycle, at least `cycle`, at which all work is done.
    pub fn fence(&mut self, cycle: u64) -> u64 {
        if self.ideal.fences {
            return cycle;
        }
        let idle = self.drain();
        self.memory.sharing.end_batch();
        if idle <= cycle {
            return cycle;
        }
        let end = idle + self.k.fence_release;
        self.stats.fence += end - cycle;
        if let Some(recording) = &mut self.recording {
            recording.fence(cycle, end);
        }
        end
    }

    /// Notes in the recording, if there is one, which instruction the last
    /// fence was.
    pub(crate) fn name_fence(&mut self, pc: u64) {
        if let Some(recording) = &mut self.recording {
            recording.name_fence(pc);
        }
    }

    /// Moves the probes for the L1 data cache into `probes`: lines to give up
    /// (`true`) or to clean (`false`).
    pub fn take_probes(&mut self, probes: &mut Vec<(u64, bool)>) {
        self.memory.take_probes(probes);
    }

    /// Finishes all work; returns the cycle at which the accelerator is idle.
    pub fn drain(&mut self) -> u64 {
        self.run_until(LAST_CYCLE);
        self.now = self.now.max(self.passed_over);
        self.busy_until
            .max(self.load.last_release())
            .max(self.store.quiet_from() + 1)
    }

    /// Looks at every unit in every cycle up to and including `cycle`, or until all are
    /// idle, as hardware does. Tests compare that with looks at those that are due.
    pub fn work_through(&mut self, cycle: u64) {
        while self.now < cycle && self.next_event() != u64::MAX {
            let next = self.now + 1;
            self.wake = self.wake.map(|at| at.min(next));
            self.run_until(next);
        }
    }

    /// Works through all events up to and including `limit`.
    #[inline]
    pub(super) fn run_until(&mut self, limit: u64) {
        self.run(limit, Until::Limit);
    }

    /// Works through the events up to what is waited for, if it comes.
    #[inline]
    pub(super) fn run_up_to(&mut self, until: Until) {
        self.run(LAST_CYCLE, until);
    }

    #[inline]
    pub(super) fn next_event(&self) -> u64 {
        let [a, b, c, d, e, f, g, h] = self.wake;
        (a.min(b).min(c.min(d))).min(e.min(f).min(g.min(h)))
    }

    /// Works through the events up to and including `limit`, or up to the round
    /// that brings what is waited for.
    #[inline(never)]
    fn run(&mut self, limit: u64, until: Until) {
        self.run_limit = limit;
        loop {
            let next = self.next_event();
            if next > limit {
                // A look that was left out counts as one.
                if self.issue_left_out <= limit {
                    self.now = self.now.max(self.issue_left_out);
                }
                return;
            }
            self.step_at(next);
            let is_there = match until {
                Until::Limit => false,
                Until::Left(count) => self.left_count >= count,
                Until::Answer => self.core_answer.is_some(),
            };
            if is_there {
                return;
            }
        }
    }

    /// Works through the events that are due in cycle `next`.
    #[inline(always)]
    fn step_at(&mut self, next: u64) {
        let now = next.max(self.now);
        self.now = now;
        if self.wake[ISSUE] <= now {
            self.step_issue(now);
        }
        if self.wake[ALLOCATE] <= now {
            self.step_allocate(now);
        }
        if self.wake[LOOPS] <= now {
            self.step_loops(now);
        }
        if self.wake[LOAD] <= now {
            self.step_load(now);
        }
        if self.wake[ARRAY] <= now {
            self.step_execute(now);
        }
        if self.wake[STORE] <= now {
            self.step_store(now);
        }
        if self.wake[PORT] <= now {
            self.step_port(now);
        }
        if self.wake[COMPLETE] <= now {
            self.step_complete(now);
        }
    }

    /// Returns the bank of a local row.
    #[inline]
    pub(super) fn bank(&self, accumulator: bool, row: u32) -> usize {
        if accumulator {
            (row >> self.k.acc_bank_shift) as usize & (self.k.acc_banks - 1)
        } else {
            (row >> self.k.spad_bank_shift) as usize & (self.k.spad_banks - 1)
        }
    }
}
