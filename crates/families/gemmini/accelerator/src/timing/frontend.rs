//! From the core to the reservation station: the command queues, the loop
//! units between them, and the command that waits for room.

use super::engine::{ALLOCATE, Engine, LOOPS, Until};
use super::job::{Class, Job, resolve};
use super::station::Origin;
use crate::ExecContext;
use crate::isa::Instruction;
use autocomp_riscv::{RoccCommand, RoccReply};

/// Entries of the queue between the loop units and the station, and of that
/// between the two loop units.
pub(super) const UNROLLED: usize = 2;

/// A command between the core and the reservation station.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    pub(super) instruction: Instruction,
    pub(super) pc: u64,
    /// Cycle in which it was taken from the core, or from which on it is seen
    /// behind the loop unit that made it.
    pub(super) since: u64,
    pub(super) origin: Origin,
}

impl Pending {
    /// Returns what fills places of queues without a command.
    pub(super) fn none() -> Self {
        Self {
            instruction: Instruction::Flush { skip: false },
            pc: 0,
            since: 0,
            origin: Origin::Core,
        }
    }
}

/// A command that a loop unit sends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Emitted {
    pub(super) instruction: Instruction,
    pub(super) pc: u64,
}

impl Emitted {
    #[inline]
    fn pending(self, origin: Origin, since: u64) -> Pending {
        Pending {
            instruction: self.instruction,
            pc: self.pc,
            since,
            origin,
        }
    }
}

/// A command that waits for room in the reservation station.
#[derive(Clone, Debug)]
pub(super) struct Head {
    /// Whether there is one.
    pub(super) waits: bool,
    pub(super) job: Job,
    pub(super) pc: u64,
    pub(super) origin: Origin,
    pub(super) arrived: u64,
}

impl Head {
    /// Returns a place for a command to wait in.
    pub(super) fn none() -> Self {
        Self {
            waits: false,
            job: Job::new(),
            pc: 0,
            origin: Origin::Core,
            arrived: 0,
        }
    }
}

/// The loop units, which take their commands from the queues in front of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoopUnit {
    /// For products of matrices.
    Matmul,
    /// For convolutions.
    Conv,
}

impl LoopUnit {
    /// Returns the unit that takes an instruction, if one does.
    #[inline]
    fn of(instruction: &Instruction) -> Option<Self> {
        match instruction {
            Instruction::LoopWs(_) | Instruction::LoopWsConfig(_) => Some(Self::Matmul),
            Instruction::LoopConv(_) | Instruction::LoopConvConfig(_) => Some(Self::Conv),
            _ => None,
        }
    }
}

impl Engine {
    /// Takes a command whose functional effect has just happened.
    pub fn push(
        &mut self,
        command: &RoccCommand,
        instruction: &Instruction,
        context: &ExecContext<'_>,
    ) -> RoccReply {
        let mut accepted = command.cycle;
        // Room moves back through the queues by one per cycle.
        let mut room = self.room_behind(self.k.buffered, self.k.queues, accepted);
        if self.pushed < self.loop_commands_until + self.k.buffered {
            // What waits at a loop unit has only the queues before that behind it.
            for (place, queues) in [(LoopUnit::Matmul, 1), (LoopUnit::Conv, 2)] {
                let queues = self.k.queues - queues;
                let behind = queues as usize * self.k.queue_entries;
                if let Some(idx) = self.pushed.checked_sub(behind)
                    && self.at_unit[idx % 32] == Some(place)
                {
                    room = room.max(self.room_behind(behind, queues, accepted));
                }
            }
        }
        if room > accepted {
            accepted = room + self.k.replay;
            self.stats.core_blocked += accepted - command.cycle;
        }
        self.expect_moves(instruction, context);
        if let Some(plan) = context.matmul {
            self.matmul_plans.push_back(*plan);
        }
        if let Some(plan) = context.conv {
            self.conv_plans.push_back(*plan);
        }
        let reply = |value_ready| RoccReply {
            accepted,
            value_ready,
            ..RoccReply::default()
        };
        if let Instruction::Counter(_) = instruction {
            return reply(accepted + self.k.queues + self.k.counter_reply);
        }
        let unit = LoopUnit::of(instruction);
        self.at_unit[self.pushed % 32] = unit;
        self.pushed += 1;
        if unit.is_some() {
            self.loop_commands_until = self.pushed;
        }
        // Behind another command, the look comes when that one is out of the way.
        let is_next = self.core.is_empty() && !self.head.waits;
        self.core.push_back(Pending {
            instruction: *instruction,
            pc: command.pc,
            since: accepted,
            origin: Origin::Core,
        });
        let at = accepted + self.k.queues;
        if unit.is_some() {
            self.wake[LOOPS] = self.wake[LOOPS].min(at - 2);
        } else if is_next {
            self.wake[ALLOCATE] = self.wake[ALLOCATE].min(at);
        }
        reply(accepted)
    }

    /// Returns the cycle from which there is room for the next command as far as
    /// the one `behind` commands before it is concerned, whose way out is `queues`
    /// queues long. The core has the next command in cycle `now`.
    #[inline]
    fn room_behind(&mut self, behind: usize, queues: u64, now: u64) -> u64 {
        let Some(idx) = self.pushed.checked_sub(behind) else {
            return 0;
        };
        if self.left_count <= idx {
            self.run_until(now);
            if self.left_count <= idx {
                self.run_up_to(Until::Left(idx + 1));
            }
        }
        if idx < self.left_count {
            self.left[idx % 32] + queues
        } else {
            0
        }
    }

    pub(super) fn loop_command_done(&mut self, origin: Origin, class: Class) {
        match origin {
            Origin::Core => return,
            Origin::Matmul => self.matmul.command_done(class as usize),
            Origin::Conv => {
                let outstanding = &mut self.conv.outstanding[class as usize];
                *outstanding = outstanding.saturating_sub(1);
            }
        }
        // That a command is complete makes no room in the queue.
        let nothing = self.matmul.waits() && self.only_matmul_looks();
        self.poke_loops(self.now + 1, nothing);
    }

    /// The loop units have to look again in cycle `at`, unless they would do
    /// `nothing` then.
    #[inline]
    fn poke_loops(&mut self, at: u64, nothing: bool) {
        if nothing {
            self.passed_over = at;
            return;
        }
        self.loops_poked = at;
        self.wake[LOOPS] = self.wake[LOOPS].min(at);
    }

    /// Returns whether the matrix loop unit is the only one for which a look at
    /// the loop units could matter.
    #[inline]
    fn only_matmul_looks(&self) -> bool {
        self.matmul.is_active()
            && !self.conv.is_active()
            && self.conv_out.len() == 0
            && (self.loop_command_waits
                || self
                    .core
                    .front()
                    .is_none_or(|next| !next.instruction.is_for_loops()))
    }

    fn loops_active(&self) -> bool {
        self.matmul.is_active() || self.conv.is_active() || self.conv_out.len() > 0
    }

    #[inline(never)]
    pub(super) fn step_allocate(&mut self, now: u64) {
        self.wake[ALLOCATE] = u64::MAX;
        if !self.head.waits && !self.take_head(now) {
            return;
        }
        let head = &mut self.head;
        match self.station.room(head.job.class, now) {
            Some((slot, at)) if at <= now => {
                head.waits = false;
                let origin = head.origin;
                let blocked = self.blocked.take();
                let can_issue = self
                    .station
                    .allocate(slot, &head.job, head.pc, origin, now, blocked);
                if let Some(recording) = &mut self.recording {
                    recording.allocate(slot, &head.job, origin, head.pc, head.arrived, now);
                }
                if self.head.job.is_config {
                    self.note_config();
                }
                if self.counts.is_some() {
                    self.note_allocation(blocked.is_some(), now);
                }
                self.last_allocation = now;
                if origin == Origin::Core {
                    self.leave(now);
                }
                self.passed_over = now + 1;
                self.look_at_issue(can_issue, now + 1);
                // What the core has sent waits until the loops are done.
                if self.unrolled.len() > 0 || !(self.core.is_empty() || self.loops_active()) {
                    self.wake[ALLOCATE] = now + 1;
                }
                return;
            }
            Some((_, at)) => self.wake[ALLOCATE] = at,
            None => {}
        }
        if self.blocked.is_none() {
            self.blocked_from = now;
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
            if let Some(pending) = self.unrolled.front() {
                let (visible, at) = (pending.since, pending.since.max(earliest));
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
                self.unrolled.drop_front(1);
                let nothing = self.matmul.waits_for_commands() && self.only_matmul_looks();
                self.poke_loops(now + 1, nothing);
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
            let arrived = pending.since + self.k.queues;
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
            let flushes = matches!(pending.instruction, Instruction::Flush { .. });
            self.core.pop_front();
            // A command of the loops may have waited behind this one.
            if self
                .core
                .front()
                .is_some_and(|next| next.instruction.is_for_loops())
            {
                self.wake[LOOPS] = self.wake[LOOPS].min(now);
            }
            if allocates {
                return true;
            }
            // Flush and clock gating end here.
            if let Some(counts) = &mut self.counts
                && flushes
            {
                counts.forget_pages();
            }
            self.last_allocation = now;
            self.leave(now);
        }
    }

    /// Serves the loop units: takes their commands from the core's queue and
    /// lets them send what they generate.
    pub(super) fn step_loops(&mut self, now: u64) {
        let mut wake = u64::MAX;
        let was_active = self.loops_active();
        let room = self.unrolled.len() < UNROLLED && self.unrolled_room_from <= now;
        let mut changed = false;
        // Commands of the convolution loop pass the queue of the matrix loop.
        if !self.matmul.is_active() {
            if let Some(pending) = self.conv_out.front().copied() {
                if pending.since > now {
                    wake = wake.min(pending.since);
                } else if room {
                    self.conv_out.drop_front(1);
                    self.unroll(Pending {
                        since: now + 1,
                        ..pending
                    });
                    changed = true;
                }
            }
        } else {
            let (emitted, mut moved) = self.matmul.step(room, &mut self.unrolled, now + 1);
            if emitted {
                self.wake[ALLOCATE] = self.wake[ALLOCATE].min(now + 1);
                if self.unrolled.len() == UNROLLED && self.matmul.waits_for_room() {
                    // The next look would find the queue full.
                    self.passed_over = now + 1;
                    moved = false;
                }
            }
            changed |= moved;
        }
        if self.conv.is_active() {
            let room = self.conv_out.len() < UNROLLED;
            let (emitted, moved) = self.conv.step(room);
            changed |= moved;
            if let Some(emitted) = emitted {
                self.conv_out
                    .push_back(emitted.pending(Origin::Conv, now + 1));
            }
        }
        changed |= self.take_loop_commands(now, &mut wake);
        if changed {
            wake = now + 1;
        }
        if let Some(counts) = &mut self.counts {
            counts.loop_active.set(self.matmul.is_active(), now + 1);
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

    /// Puts a command into the queue before the reservation station.
    #[inline]
    fn unroll(&mut self, pending: Pending) {
        self.unrolled.push_back(pending);
        self.wake[ALLOCATE] = self.wake[ALLOCATE].min(pending.since);
    }

    /// Takes the commands of the loops from the core's queue, each as soon as
    /// the unit it is for has room; returns whether there was one.
    fn take_loop_commands(&mut self, now: u64, wake: &mut u64) -> bool {
        // Only the matrix loop unit makes room for itself, and only in a step.
        if self.loop_waits_for_room && !self.matmul.has_room() {
            return false;
        }
        let mut changed = false;
        self.loop_command_waits = false;
        self.loop_waits_for_room = false;
        while let Some(pending) = self.core.front() {
            let (for_matmul, stage) = match LoopUnit::of(&pending.instruction) {
                Some(LoopUnit::Matmul) => (true, self.k.queues - 1),
                Some(LoopUnit::Conv) => (false, self.k.queues - 2),
                None => break,
            };
            // They must not overtake what is before them in the queues.
            let at = (pending.since + stage).max(self.last_loop_stage + 1);
            if at > now {
                *wake = (*wake).min(at);
                self.loop_command_waits = true;
                break;
            }
            let taken = if for_matmul {
                self.matmul.has_room() && !self.conv.is_active() && self.conv_out.len() == 0
            } else {
                self.conv.has_room() && !self.matmul.is_active()
            };
            if !taken {
                self.loop_command_waits = true;
                self.loop_waits_for_room = for_matmul;
                break;
            }
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
            self.core.pop_front();
            self.last_loop_stage = now;
            self.leave(now);
            // A command for the station may have waited behind this one.
            self.wake[ALLOCATE] = self.wake[ALLOCATE].min(now + 1);
        }
        changed
    }
}
