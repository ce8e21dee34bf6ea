//! The engine: time, the order of events within a cycle, and the way from the
//! core to the reservation station.
//!
//! Each unit has one cycle at which it wants to be looked at next. The engine
//! jumps from one such cycle to the next; within a cycle the units are served
//! so that what one does is seen by the others as through registers.

use super::calendar::Calendar;
use super::config::TimingConfig;
use super::conv_loop::ConvUnit;
use super::execute::{COMMANDS, ExecuteUnit, UNROLLER};
use super::job::{Class, Job, Sizes, resolve};
use super::load::LoadUnit;
use super::matmul_loop::MatmulUnit;
use super::memory::{MemoryCounts, MemorySystem};
use super::port::Port;
use super::recording::Recording;
use super::station::{Origin, Slot, Station, class_of};
use super::stats::TimingStats;
use super::store::StoreUnit;
use crate::ExecContext;
use crate::config::GemminiConfig;
use crate::configured::Configured;
use crate::functional::TimedEvents;
use crate::isa::Instruction;
use crate::loop_conv::ConvLoop;
use crate::loop_ws::MatmulLoop;
use autocomp_riscv::{LineAccess, RoccCommand, RoccReply};
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
/// Entries of the queue between the loop units and the station.
const UNROLLED: usize = 2;

/// Constants in the form in which the units use them.
#[derive(Clone, Debug)]
pub(super) struct Constants {
    queues: u64,
    buffered: usize,
    replay: u64,
    fence_release: u64,
    counter_reply: u64,
    pub(super) row_queue: usize,
    pub(super) read_packets: u32,
    pub(super) row_to_packet: u64,
    pub(super) read_to_port: u64,
    pub(super) port_to_merger: u64,
    /// Cycles from a read at the port to its beats at the merger, at least.
    pub(super) lookahead: u64,
    pub(super) merger_to_write: u64,
    pub(super) merger_to_acc_write: u64,
    pub(super) write_stages: usize,
    pub(super) scale_latency: u64,
    pub(super) scale_pace: u64,
    pub(super) zero_to_write: u64,
    pub(super) beat_bytes: u32,
    pub(super) max_bytes: u32,
    store_queue: usize,
    pub(super) dispatch_queue: usize,
    pub(super) norm_queue: usize,
    pub(super) issue_queue: usize,
    pub(super) acc_scale_latency: u64,
    pub(super) spad_read_latency: u64,
    pub(super) write_to_port: u64,
    pub(super) port_to_writer: u64,
    pub(super) write_packets: usize,
    pub(super) execute_queue: usize,
    unroller_queue: usize,
    pub(super) read_latency: u64,
    pub(super) mesh_latency: u64,
    pub(super) tags: usize,
    pub(super) min_rows: u32,
    spad_bank_shift: u32,
    acc_bank_shift: u32,
    spad_banks: usize,
    acc_banks: usize,
}

/// A command between the core and the reservation station.
#[derive(Clone, Copy, Debug)]
struct Pending {
    instruction: Instruction,
    pc: u64,
    accepted: u64,
    origin: Origin,
}

/// A command that waits for room in the reservation station.
#[derive(Clone, Debug)]
struct Head {
    /// Whether there is one.
    waits: bool,
    job: Job,
    pc: u64,
    origin: Origin,
    arrived: u64,
}

/// State of the cycle model.
#[derive(Clone, Debug)]
pub struct Engine {
    pub(super) config: GemminiConfig,
    pub(super) k: Constants,
    pub(super) wake: [u64; UNITS],
    pub(super) now: u64,
    pub(super) station: Station,
    pub(super) load: LoadUnit,
    pub(super) store: StoreUnit,
    pub(super) execute: ExecuteUnit,
    pub(super) memory: MemorySystem,
    pub(super) port: Port,
    matmul: MatmulUnit,
    conv: ConvUnit,
    configured: Configured,
    sizes: Sizes,
    /// Commands from the core, oldest first.
    core: VecDeque<Pending>,
    /// Loops whose starting command is in `core`.
    matmul_plans: VecDeque<MatmulLoop>,
    conv_plans: VecDeque<ConvLoop>,
    /// Cycles at which the last commands from the core left `core`.
    left: [u64; 32],
    left_count: usize,
    pushed: usize,
    /// Commands from the loop units, with the cycle from which they are seen.
    unrolled: VecDeque<(Pending, u64)>,
    unrolled_room_from: u64,
    /// Commands from the convolution loop on their way to `unrolled`.
    conv_out: VecDeque<(Pending, u64)>,
    /// The head, resolved, while it waits for room.
    head: Head,
    last_allocation: u64,
    last_loop_stage: u64,
    loops_idle_from: u64,
    loops_poked: u64,
    blocked: Option<Class>,
    room_from: [u64; 3],
    completions: [VecDeque<(u64, Slot)>; 3],
    busy_until: u64,
    pub(super) spad_writes: Vec<Calendar>,
    pub(super) spad_ex_writes: Vec<Calendar>,
    pub(super) spad_reads: Vec<Calendar>,
    pub(super) acc_ex_writes: Vec<Calendar>,
    pub(super) acc_reads_blocked: Vec<Calendar>,
    /// Cycles in which the last block of a packet is written.
    pub(super) load_last: Calendar,
    pub(super) stats: TimingStats,
    pub(super) recording: Option<Box<Recording>>,
}

impl Engine {
    /// Makes an idle engine. `config` must be valid.
    #[must_use]
    pub fn new(config: &GemminiConfig, timing: &TimingConfig) -> Self {
        let dim = u64::from(config.dim);
        let tile = u64::from(timing.execute.tile_latency) + 1;
        let shift = |rows: u32, banks: u32| (rows / banks.max(1)).max(1).ilog2();
        let commands = |set: u32, packets: u32| match set {
            0 => (packets / config.dim + 1) as usize,
            set => set as usize,
        };
        let k = Constants {
            queues: u64::from(timing.frontend.queues),
            buffered: (timing.frontend.queues * timing.frontend.queue_entries).clamp(1, 32)
                as usize,
            replay: u64::from(timing.frontend.replay),
            fence_release: u64::from(timing.frontend.fence_release),
            counter_reply: u64::from(timing.frontend.counter_reply),
            row_queue: timing.load.row_queue.clamp(1, 8) as usize,
            read_packets: timing.load.packets.max(1),
            row_to_packet: u64::from(timing.load.row_to_packet).max(1),
            read_to_port: u64::from(timing.load.packet_to_port),
            port_to_merger: u64::from(timing.load.port_to_merger),
            lookahead: u64::from(timing.load.port_to_merger + timing.memory.hit_latency),
            merger_to_write: u64::from(timing.load.merger_to_write).max(1),
            merger_to_acc_write: u64::from(timing.load.merger_to_acc_write).max(1),
            write_stages: timing.load.write_stages.clamp(1, 8) as usize,
            scale_latency: u64::from(timing.load.scale_latency),
            scale_pace: (dim / u64::from(timing.load.scale_units.max(1))).max(1),
            zero_to_write: u64::from(timing.load.zero_to_write).max(1),
            beat_bytes: timing.load.beat_bytes.clamp(4, 64).next_power_of_two(),
            max_bytes: config.dma_max_bytes.max(timing.load.beat_bytes),
            store_queue: timing.store.queue.max(1) as usize,
            dispatch_queue: timing.store.dispatch_queue.clamp(1, 16) as usize,
            norm_queue: timing.store.norm_queue.clamp(1, 8) as usize,
            issue_queue: timing.store.issue_queue.clamp(1, 8) as usize,
            acc_scale_latency: u64::from(timing.store.scale_latency),
            spad_read_latency: u64::from(timing.store.spad_read_latency.clamp(1, 8)),
            write_to_port: u64::from(timing.store.packet_to_port),
            port_to_writer: u64::from(timing.store.port_to_writer),
            write_packets: timing.store.packets.clamp(1, 64) as usize,
            execute_queue: timing.execute.queue.clamp(3, COMMANDS as u32) as usize,
            unroller_queue: timing.execute.unroller_queue.clamp(2, UNROLLER as u32) as usize,
            read_latency: u64::from(timing.execute.read_latency.max(1)),
            mesh_latency: dim * tile
                + (dim - 1) * tile
                + u64::from(timing.execute.mesh_output_delay)
                + 1,
            tags: timing.execute.tags.max(2) as usize,
            min_rows: timing.execute.min_rows.max(1),
            spad_bank_shift: shift(config.spad_rows(), config.spad_banks),
            acc_bank_shift: shift(config.acc_rows(), config.acc_banks),
            spad_banks: config.spad_banks.max(1) as usize,
            acc_banks: config.acc_banks.max(1) as usize,
        };
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
            pushed: 0,
            unrolled: VecDeque::with_capacity(4),
            unrolled_room_from: 0,
            conv_out: VecDeque::with_capacity(8),
            head: Head {
                waits: false,
                job: Job::new(),
                pc: 0,
                origin: Origin::Core,
                arrived: 0,
            },
            sizes: Sizes::new(config),
            last_allocation: 0,
            last_loop_stage: 0,
            loops_idle_from: 0,
            loops_poked: 0,
            blocked: None,
            room_from: [0; 3],
            completions: std::array::from_fn(|_| VecDeque::with_capacity(32)),
            busy_until: 0,
            spad_writes: banks(k.spad_banks),
            spad_ex_writes: banks(k.spad_banks),
            spad_reads: banks(k.spad_banks),
            acc_ex_writes: banks(k.acc_banks),
            acc_reads_blocked: banks(k.acc_banks),
            load_last: Calendar::new(),
            stats: TimingStats::default(),
            recording: None,
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

    /// Begins to record what happens when, up to `limit` commands.
    pub fn record(&mut self, limit: usize) {
        self.recording = Some(Box::new(Recording::new(limit)));
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

    /// Takes a command whose functional effect has just happened.
    pub fn push(
        &mut self,
        command: &RoccCommand,
        instruction: &Instruction,
        context: &ExecContext<'_>,
    ) -> RoccReply {
        let mut accepted = command.cycle;
        if self.pushed - self.left_count >= self.k.buffered {
            self.run_until(command.cycle);
            while self.pushed - self.left_count >= self.k.buffered && self.step_once() {}
        }
        // Room moves back through the queues by one per cycle.
        if self.pushed >= self.k.buffered {
            let idx = self.pushed - self.k.buffered;
            if idx < self.left_count {
                let room = self.left[idx % 32] + self.k.queues;
                if room > accepted {
                    accepted = room + self.k.replay;
                    self.stats.core_blocked += accepted - command.cycle;
                }
            }
        }
        if let Some(plan) = context.matmul {
            self.matmul_plans.push_back(*plan);
        }
        if let Some(plan) = context.conv {
            self.conv_plans.push_back(*plan);
        }
        let reply = |value_ready| RoccReply {
            value: 0,
            accepted,
            value_ready,
        };
        if let Instruction::Counter(_) = instruction {
            return reply(accepted + self.k.counter_reply);
        }
        self.pushed += 1;
        self.core.push_back(Pending {
            instruction: *instruction,
            pc: command.pc,
            accepted,
            origin: Origin::Core,
        });
        let at = accepted + self.k.queues;
        self.wake[ALLOCATE] = self.wake[ALLOCATE].min(at);
        if instruction.is_for_loops() {
            self.wake[LOOPS] = self.wake[LOOPS].min(at - 2);
        }
        reply(accepted)
    }

    /// Returns what counters may count, up to `cycle`.
    pub(crate) fn events(&mut self, cycle: u64) -> TimedEvents {
        self.run_until(cycle);
        TimedEvents {
            load: self.stats.read_beats,
            store: self.stats.write_beats,
            execute: self.stats.array_busy + self.stats.bank_conflict + self.stats.array_full,
            station: self.station.occupied(),
        }
    }

    /// Returns the cycle, at least `cycle`, at which all work is done.
    pub fn fence(&mut self, cycle: u64) -> u64 {
        let idle = self.drain();
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

    /// The core accesses a line below its L1 caches at `cycle`; returns the
    /// cycle at which the line is usable there.
    pub fn line_access(&mut self, address: u64, access: LineAccess, cycle: u64) -> u64 {
        self.run_until(cycle);
        let usable = self.memory.core_access(address, access, cycle);
        if let Some(recording) = &mut self.recording {
            recording.miss(cycle, usable);
        }
        usable
    }

    /// Moves the probes for the L1 data cache into `probes`: lines to give up
    /// (`true`) or to clean (`false`).
    pub fn take_probes(&mut self, probes: &mut Vec<(u64, bool)>) {
        self.memory.take_probes(probes);
    }

    /// Returns the cycle up to which the accelerator is known to be busy.
    #[must_use]
    pub fn idle_cycle(&self) -> u64 {
        self.busy_until
    }

    /// Finishes all work; returns the cycle at which the accelerator is idle.
    fn drain(&mut self) -> u64 {
        while self.step_once() {}
        self.busy_until
            .max(self.load.last_release())
            .max(self.store.quiet_from() + 1)
    }

    /// Works through all events up to and including `limit`.
    #[inline]
    pub(super) fn run_until(&mut self, limit: u64) {
        loop {
            let next = self.next_event();
            if next > limit {
                return;
            }
            self.step_at(next);
        }
    }

    #[inline]
    fn next_event(&self) -> u64 {
        let [a, b, c, d, e, f, g, h] = self.wake;
        (a.min(b).min(c.min(d))).min(e.min(f).min(g.min(h)))
    }

    /// Works through the events of the next cycle that has any; returns
    /// whether there was one.
    fn step_once(&mut self) -> bool {
        let next = self.next_event();
        if next == u64::MAX {
            return false;
        }
        self.step_at(next);
        true
    }

    /// Works through the events that are due in cycle `next`.
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
            (row >> self.k.acc_bank_shift) as usize % self.k.acc_banks
        } else {
            (row >> self.k.spad_bank_shift) as usize % self.k.spad_banks
        }
    }

    /// Returns whether the command in a slot is a configuration that only
    /// passes through its controller's queue.
    pub(super) fn config_in_queue(&self, slot: Slot) -> bool {
        slot == Slot::MAX
    }

    pub(super) fn note_store_room(&mut self, at: u64) {
        self.room_from[Class::Store as usize] = at + 1;
        self.wake[ISSUE] = self.wake[ISSUE].min(at + 1);
    }

    pub(super) fn note_execute_room(&mut self, at: u64) {
        self.room_from[Class::Execute as usize] = at + 1;
        self.wake[ISSUE] = self.wake[ISSUE].min(at + 1);
    }

    /// A command completes in cycle `at` unless another one is in the way.
    pub(super) fn schedule_completion(&mut self, slot: Slot, at: u64) {
        let queue = &mut self.completions[class_of(slot) as usize];
        if queue.back().is_none_or(|(other, _)| *other <= at) {
            queue.push_back((at, slot));
        } else {
            let place = queue.partition_point(|(other, _)| *other <= at);
            queue.insert(place, (at, slot));
        }
        self.wake[COMPLETE] = self.wake[COMPLETE].min(at);
    }

    fn step_issue(&mut self, now: u64) {
        let mut wake = u64::MAX;
        for class in [Class::Load, Class::Store, Class::Execute] {
            let Some(at) = self.station.next_issue(class) else {
                continue;
            };
            let full = match class {
                Class::Load => false,
                Class::Store => self.store.queued() >= self.k.store_queue,
                Class::Execute => {
                    // What moved on before this cycle may not have been noted.
                    if self.execute.queued() >= self.k.unroller_queue {
                        let next = self.step_unroller(now.saturating_sub(1));
                        wake = wake.min(next.max(now).saturating_add(1));
                    }
                    self.execute.queued() >= self.k.unroller_queue
                }
            };
            if full {
                continue;
            }
            let at = at.max(self.room_from[class as usize]);
            if at > now {
                wake = wake.min(at);
                continue;
            }
            let slot = self.station.issue(class, now);
            let entry = self.station.entry(slot);
            let (is_config, origin, work) = (entry.is_config, entry.origin, &entry.work);
            if let Some(recording) = &mut self.recording {
                recording.issue(slot, entry, now);
            }
            self.stats.issued[class as usize] += 1;
            let visible = now + 1;
            match class {
                Class::Load => {
                    self.load
                        .push(if is_config { Slot::MAX } else { slot }, work, visible);
                    self.wake[LOAD] = self.wake[LOAD].min(visible);
                }
                Class::Store => {
                    self.store
                        .push(if is_config { Slot::MAX } else { slot }, visible);
                    self.wake[STORE] = self.wake[STORE].min(visible);
                }
                Class::Execute => {
                    self.execute.push(slot, visible);
                    if !self.execute.is_busy {
                        self.wake[ARRAY] = self.wake[ARRAY].min(visible);
                    }
                }
            }
            if is_config && class != Class::Execute {
                self.busy_until = self.busy_until.max(now + 1);
                self.loop_command_done(origin, class);
                // A slot is free and dependencies are gone from the next cycle on.
                self.wake[ALLOCATE] = self.wake[ALLOCATE].min(now + 1);
                wake = now + 1;
            }
            if let Some(next) = self.station.next_issue(class) {
                wake = wake.min(next.max(now + 1));
            }
        }
        self.wake[ISSUE] = wake;
    }

    fn loop_command_done(&mut self, origin: Origin, class: Class) {
        let unit = match origin {
            Origin::Core => return,
            Origin::Matmul => &mut self.matmul.outstanding,
            Origin::Conv => &mut self.conv.outstanding,
        };
        unit[class as usize] = unit[class as usize].saturating_sub(1);
        self.poke_loops(self.now + 1);
    }

    /// The loop units have to look again in cycle `at`.
    fn poke_loops(&mut self, at: u64) {
        self.loops_poked = at;
        self.wake[LOOPS] = self.wake[LOOPS].min(at);
    }

    fn step_complete(&mut self, now: u64) {
        // Execute commands come before loads, loads before stores.
        for class in [Class::Execute, Class::Load, Class::Store] {
            let queue = &mut self.completions[class as usize];
            if queue.front().is_some_and(|(at, _)| *at <= now) {
                let (_, slot) = queue.pop_front().expect("just seen");
                let entry = self.station.entry(slot);
                let (pc, issued, origin) = (entry.pc, entry.issued, entry.origin);
                let charged = self.stats.pc(pc);
                charged.commands += 1;
                charged.in_flight += now - issued;
                if let Some(recording) = &mut self.recording {
                    recording.complete(slot, now);
                }
                self.station.complete(slot, now);
                match class {
                    Class::Load => {
                        self.load.complete(slot, now);
                        self.wake[LOAD] = self.wake[LOAD].min(now + 1);
                    }
                    Class::Store => {
                        self.store.complete(slot, now);
                        self.wake[STORE] = self.wake[STORE].min(now + 1);
                    }
                    Class::Execute => {}
                }
                self.busy_until = self.busy_until.max(now + 1);
                self.loop_command_done(origin, class);
                self.wake[ALLOCATE] = self.wake[ALLOCATE].min(now + 1);
                self.wake[ISSUE] = self.wake[ISSUE].min(now + 1);
                break;
            }
        }
        let next = self
            .completions
            .iter()
            .filter_map(|queue| queue.front())
            .map(|(at, _)| *at)
            .min();
        self.wake[COMPLETE] = next.map_or(u64::MAX, |at| at.max(now + 1));
    }

    fn loops_active(&self) -> bool {
        self.matmul.is_active() || self.conv.is_active() || !self.conv_out.is_empty()
    }

    fn step_allocate(&mut self, now: u64) {
        self.wake[ALLOCATE] = u64::MAX;
        if !self.head.waits && !self.take_head(now) {
            return;
        }
        let head = &mut self.head;
        match self.station.room(head.job.class, now) {
            Some((slot, at)) if at <= now => {
                head.waits = false;
                let origin = head.origin;
                self.station
                    .allocate(slot, &head.job, head.pc, origin, now, self.blocked.take());
                if let Some(recording) = &mut self.recording {
                    recording.allocate(slot, &head.job, origin, head.pc, head.arrived, now);
                }
                self.last_allocation = now;
                if origin == Origin::Core {
                    self.leave(now);
                }
                self.wake[ISSUE] = self.wake[ISSUE].min(now + 1);
                if !self.core.is_empty() || !self.unrolled.is_empty() {
                    self.wake[ALLOCATE] = now + 1;
                }
                return;
            }
            Some((_, at)) => self.wake[ALLOCATE] = at,
            None => {}
        }
        self.blocked = Some(head.job.class);
        if let Some(recording) = &mut self.recording {
            recording.block(now);
        }
    }

    fn leave(&mut self, now: u64) {
        self.left[self.left_count % 32] = now;
        self.left_count += 1;
        self.busy_until = self.busy_until.max(now + 1);
    }

    /// Makes the next command the head, if one is due; returns whether there
    /// is one.
    fn take_head(&mut self, now: u64) -> bool {
        loop {
            let earliest = self.last_allocation + 1;
            if let Some((pending, visible)) = self.unrolled.front() {
                let (visible, at) = (*visible, (*visible).max(earliest));
                if at > now {
                    self.wake[ALLOCATE] = at;
                    return false;
                }
                let (pc, origin) = (pending.pc, pending.origin);
                let head = &mut self.head;
                let allocates = resolve(
                    &pending.instruction,
                    &mut self.configured,
                    &self.sizes,
                    &mut head.job,
                );
                if allocates {
                    (head.waits, head.pc, head.origin, head.arrived) = (true, pc, origin, visible);
                }
                if self.unrolled.len() >= UNROLLED {
                    self.unrolled_room_from = now + 1;
                }
                self.unrolled.pop_front();
                self.poke_loops(now + 1);
                if allocates {
                    return true;
                }
                continue;
            }
            let Some(pending) = self.core.front() else {
                return false;
            };
            if pending.instruction.is_for_loops() || self.loops_active() {
                return false;
            }
            let arrived = pending.accepted + self.k.queues;
            let at = arrived.max(earliest).max(self.loops_idle_from);
            if at > now {
                self.wake[ALLOCATE] = at;
                return false;
            }
            let head = &mut self.head;
            let allocates = resolve(
                &pending.instruction,
                &mut self.configured,
                &self.sizes,
                &mut head.job,
            );
            if allocates {
                head.waits = true;
                (head.pc, head.origin, head.arrived) = (pending.pc, pending.origin, arrived);
            }
            self.core.pop_front();
            if allocates {
                return true;
            }
            // Flush and clock gating end here.
            self.last_allocation = now;
            self.leave(now);
        }
    }

    /// Serves the loop units: takes their commands from the core's queue and
    /// lets them send what they generate.
    fn step_loops(&mut self, now: u64) {
        let mut wake = u64::MAX;
        let was_active = self.loops_active();
        let room = self.unrolled.len() < UNROLLED && self.unrolled_room_from <= now;
        let mut changed = false;
        // Commands of the convolution loop pass the queue of the matrix loop.
        if !self.matmul.is_active() {
            if let Some((pending, visible)) = self.conv_out.front().copied() {
                if visible > now {
                    wake = wake.min(visible);
                } else if room {
                    self.conv_out.pop_front();
                    self.unrolled.push_back((pending, now + 1));
                    self.wake[ALLOCATE] = self.wake[ALLOCATE].min(now + 1);
                    changed = true;
                }
            }
        } else {
            let (emitted, moved) = self.matmul.step(room);
            changed |= moved;
            if let Some(emitted) = emitted {
                let pending = Pending {
                    instruction: emitted.instruction,
                    pc: emitted.pc,
                    accepted: now,
                    origin: Origin::Matmul,
                };
                self.unrolled.push_back((pending, now + 1));
                self.wake[ALLOCATE] = self.wake[ALLOCATE].min(now + 1);
            }
        }
        if self.conv.is_active() {
            let room = self.conv_out.len() < 2;
            let (emitted, moved) = self.conv.step(room);
            changed |= moved;
            if let Some(emitted) = emitted {
                let pending = Pending {
                    instruction: emitted.instruction,
                    pc: emitted.pc,
                    accepted: now,
                    origin: Origin::Conv,
                };
                self.conv_out.push_back((pending, now + 1));
            }
        }
        // Commands of the loops wait at the unit they are for.
        while let Some(pending) = self.core.front().copied() {
            let stage = match pending.instruction {
                Instruction::LoopWs(_) | Instruction::LoopWsConfig(_) => self.k.queues - 1,
                Instruction::LoopConv(_) | Instruction::LoopConvConfig(_) => self.k.queues - 2,
                _ => break,
            };
            // They must not overtake what is before them in the queues.
            let at = (pending.accepted + stage).max(self.last_loop_stage + 1);
            if at > now {
                wake = wake.min(at);
                break;
            }
            let taken = match pending.instruction {
                Instruction::LoopWs(_) | Instruction::LoopWsConfig(_) => {
                    self.matmul.has_room() && !self.conv.is_active() && self.conv_out.is_empty()
                }
                _ => self.conv.has_room() && !self.matmul.is_active(),
            };
            if !taken {
                break;
            }
            self.core.pop_front();
            self.last_loop_stage = now;
            self.leave(now);
            changed = true;
            match pending.instruction {
                Instruction::LoopWs(_) => {
                    if let Some(plan) = self.matmul_plans.pop_front() {
                        self.matmul.start(plan, pending.pc);
                    }
                }
                Instruction::LoopConv(_) => {
                    if let Some(plan) = self.conv_plans.pop_front() {
                        self.conv.start(&plan, &self.config, pending.pc);
                    }
                }
                _ => {}
            }
        }
        if changed {
            wake = now + 1;
        }
        if was_active && !self.loops_active() {
            self.loops_idle_from = now + 2;
            self.busy_until = self.busy_until.max(now + 1);
            self.wake[ALLOCATE] = self.wake[ALLOCATE].min(now + 2);
        }
        if self.loops_poked > now {
            wake = wake.min(self.loops_poked);
        }
        self.wake[LOOPS] = wake;
    }
}
