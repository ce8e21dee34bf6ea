//! Unroller and execute controller: what the array does next.

use super::engine::{ARRAY, Engine};
use super::job::{ExecuteJob, ExecuteKind, ExecuteMode, Operand, Work};
use super::operation::Operation;
use super::recording::RecordedOperation;
use super::station::{Slot, Station};
use super::stats::IdleReason;
use super::tags::Tags;
use autocomp_riscv_machine::Ring;

/// Most commands in the controller's queue.
pub(super) const COMMANDS: usize = 16;
/// Most commands in the unroller's queue.
pub(super) const UNROLLER: usize = 8;

/// A command in the controller's queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Command {
    pub(super) job: ExecuteJob,
    /// Its slot, unless the unroller made it up.
    pub(super) slot: Option<Slot>,
    pub(super) pc: u64,
    pub(super) visible: u64,
}

impl Command {
    /// What stands for a command where there is none.
    pub(super) const NONE: Self = Self {
        job: ExecuteJob {
            kind: ExecuteKind::Config,
            first: Operand::none(),
            second: Operand::none(),
            mode: ExecuteMode {
                weight_stationary: false,
                a_transpose: false,
                b_transpose: false,
                c_stride: 0,
            },
        },
        slot: None,
        pc: 0,
        visible: 0,
    };
}

#[derive(Clone, Debug)]
pub(super) struct ExecuteUnit {
    unroller: Ring<(Slot, u64), UNROLLER>,
    unroll_step: u8,
    unroll_transposed: bool,
    unrolling_from: u64,
    last_move: u64,
    pub(super) commands: Ring<Command, COMMANDS>,
    /// Cycle from which the full queue has had room again.
    pub(super) room_from: u64,
    pub(super) mode: ExecuteMode,
    /// The operation under way.
    pub(super) operation: Operation,
    /// Whether there is one.
    pub(super) is_busy: bool,
    /// Cycle from which the controller can decide again.
    pub(super) free: u64,
    /// Cycle until which completions of the last operation are pending.
    pub(super) pending_until: u64,
    pub(super) next_id: u64,
    pub(super) tags: Tags,
    pub(super) last_row: u64,
    /// Idle cycles before this one are not charged.
    pub(super) counted_from: u64,
}

impl ExecuteUnit {
    pub(super) fn new() -> Self {
        Self {
            unroller: Ring::new((0, 0)),
            unroll_step: 0,
            unroll_transposed: false,
            unrolling_from: 0,
            last_move: 0,
            commands: Ring::new(Command::NONE),
            room_from: 0,
            mode: ExecuteMode::default(),
            operation: Operation::default(),
            is_busy: false,
            free: 0,
            pending_until: 0,
            next_id: 1,
            tags: Tags::new(),
            last_row: 0,
            counted_from: 0,
        }
    }

    pub(super) fn push(&mut self, slot: Slot, visible: u64) {
        self.unroller.push_back((slot, visible));
    }

    pub(super) fn queued(&self) -> usize {
        self.unroller.len()
    }

    /// Forgets idle cycles before `cycle`.
    pub(super) fn count_from(&mut self, cycle: u64) {
        self.counted_from = cycle;
    }

    /// Returns which operands the operation under way lacks, as bits, and
    /// since when it runs, if there is one.
    pub(super) fn operating_since(&self) -> Option<(usize, u64)> {
        self.is_busy.then(|| self.operation.lacks_since())
    }

    /// Returns the cycle from which no operation in the array writes to an
    /// operand of a preload or of the multiplication after it.
    #[inline]
    fn hazard(&self, preload: &Command, next: &Command, now: u64) -> Option<u64> {
        let operands = [&preload.job.first, &next.job.first, &next.job.second];
        self.tags.hazard(operands, now)
    }
}

impl ExecuteUnit {
    /// Turns a transposed preload into the next of the three commands that it
    /// is split into; returns whether that is the last one.
    ///
    /// The multiplication in between reads the operands of the one that follows,
    /// though nothing comes of it: hardware clears the numbers of its registers
    /// where it means their contents (`TransposePreloadUnroller`).
    fn split(&mut self, command: &mut Command, multiplication: &ExecuteJob) -> bool {
        match self.unroll_step {
            0 => {
                command.slot = None;
                command.job.second = Operand::none();
                self.unroll_step = 1;
                false
            }
            1 => {
                command.slot = None;
                command.job = ExecuteJob {
                    kind: ExecuteKind::Stay,
                    first: multiplication.first,
                    second: multiplication.second,
                    mode: command.job.mode,
                };
                self.unroll_step = 2;
                false
            }
            _ => {
                command.job.first = Operand::none();
                self.unroll_step = 0;
                true
            }
        }
    }
}

impl Engine {
    /// Does what the execute path has to do in cycle `now`.
    pub(super) fn step_execute(&mut self, now: u64) {
        let mut unrolled = self.step_unroller(now);
        if self.execute.is_busy {
            self.advance_execute(now);
            if self.execute.is_busy {
                // While an operation is under way no one looks at the queue.
                self.wake[ARRAY] = self.execute.operation.estimate_end(&self.k).max(now + 1);
                return;
            }
            // A finished operation has made room in the queue.
            unrolled = self.step_unroller(now);
        }
        let wake = self.step_array(now);
        self.wake[ARRAY] = if self.execute.is_busy {
            wake
        } else {
            wake.min(unrolled)
        };
    }

    /// Moves commands into the controller's queue, splitting transposed
    /// preloads; returns when to look again.
    #[inline(always)]
    pub(super) fn step_unroller(&mut self, now: u64) -> u64 {
        match self.next_move() {
            None => u64::MAX,
            Some((_, at)) if at > now => at,
            Some((slot, at)) => self.unroll_commands(slot, at, now),
        }
    }

    /// Moves the command in `slot`, which is due in cycle `at`, into the
    /// controller's queue, and those after it that are due; returns when to look
    /// again.
    #[inline(never)]
    fn unroll_commands(&mut self, mut slot: Slot, mut at: u64, now: u64) -> u64 {
        loop {
            if self.execute.unroll_transposed && is_preload(&self.station, slot) {
                let next = self.split_preload(slot, at, now);
                if next > now {
                    return next;
                }
            } else {
                self.move_command(slot, at);
            }
            match self.next_move() {
                None => return u64::MAX,
                Some((_, next)) if next > now => return next,
                Some(next) => (slot, at) = next,
            }
        }
    }

    /// Returns the command that is to move into the controller's queue next
    /// and from which cycle on it can, if there is one and there is room.
    #[inline]
    fn next_move(&self) -> Option<(Slot, u64)> {
        let unit = &self.execute;
        if unit.commands.len() >= self.k.execute_queue {
            return None;
        }
        let &(slot, visible) = unit.unroller.front()?;
        Some((slot, visible.max(unit.last_move + 1).max(unit.room_from)))
    }

    /// Moves a command into the controller's queue in cycle `at`.
    #[inline]
    fn move_command(&mut self, slot: Slot, at: u64) {
        let unit = &mut self.execute;
        unit.unroller.drop_front(1);
        let entry = self.station.entry(slot);
        let Work::Execute(job) = &entry.work else {
            return;
        };
        if job.kind == ExecuteKind::Config {
            unit.unroll_transposed = job.mode.weight_stationary && job.mode.b_transpose;
        }
        unit.commands.push_back(Command {
            job: *job,
            slot: Some(slot),
            pc: entry.pc,
            visible: at + 1,
        });
        unit.last_move = at;
        self.note_execute_room(at);
    }

    /// Splits a preload whose operand is transposed, in cycle `at` or later, as
    /// far as it is due; returns the cycle in which it is, or `now`.
    #[inline(never)]
    fn split_preload(&mut self, slot: Slot, at: u64, now: u64) -> u64 {
        let unit = &mut self.execute;
        // This needs its multiplication in sight.
        let Some(&(next, next_visible)) = unit.unroller.get(1) else {
            return u64::MAX;
        };
        let at = at.max(next_visible);
        if at > now {
            return at;
        }
        let multiplication = match self.station.entry(next).work {
            Work::Execute(job) if job.kind == ExecuteKind::Flip => Some(job),
            _ => None,
        };
        let entry = self.station.entry(slot);
        let Work::Execute(job) = &entry.work else {
            return now;
        };
        let mut command = Command {
            job: *job,
            slot: Some(slot),
            pc: entry.pc,
            visible: at + 1,
        };
        let mut pop = true;
        if let Some(multiplication) = multiplication {
            if unit.unroll_step == 0 {
                unit.unrolling_from = at + 1;
            }
            pop = unit.split(&mut command, &multiplication);
            if let Some(counts) = &mut self.counts
                && pop
            {
                counts.unroller_active.add(unit.unrolling_from, at + 1);
            }
        }
        unit.commands.push_back(command);
        unit.last_move = at;
        if pop {
            unit.unroller.drop_front(1);
            self.note_execute_room(at);
        }
        now
    }

    /// Decides what the array does next, if it is free; returns when to look
    /// again.
    fn step_array(&mut self, now: u64) -> u64 {
        loop {
            if self.execute.is_busy {
                return self.execute.operation.estimate_end(&self.k).max(now + 1);
            }
            if self.execute.free > now {
                return self.execute.free;
            }
            self.execute.tags.forget(now);
            let unit = &self.execute;
            let visible = |idx: usize| {
                unit.commands
                    .get(idx)
                    .filter(|command| command.visible <= now)
            };
            let stationary = unit.mode.weight_stationary;
            let mut wake = u64::MAX;
            if let Some(head) = visible(0) {
                match head.job.kind {
                    ExecuteKind::Config => {
                        if !unit.tags.are_pending(now) {
                            if unit.pending_until >= now {
                                return unit.pending_until + 1;
                            }
                            self.configure_array(now);
                            return now + 1;
                        }
                        self.flush_array(now);
                        continue;
                    }
                    ExecuteKind::Preload => {
                        if let Some(next) = visible(1) {
                            // Kept weights: what leaves only with an operation still
                            // to come cannot be waited for.
                            let leaves = |until: &u64| !stationary || *until != u64::MAX;
                            match unit.hazard(head, next, now).filter(leaves) {
                                None => {
                                    self.start_operation(now, false, true);
                                    continue;
                                }
                                Some(u64::MAX) => {
                                    self.flush_array(now);
                                    if let Some(counts) = &mut self.counts {
                                        counts.preload_hazard.add(now, self.execute.free);
                                    }
                                    continue;
                                }
                                Some(until) => {
                                    if let Some(counts) = &mut self.counts {
                                        counts.preload_hazard.add(now, until);
                                    }
                                    wake = until;
                                }
                            }
                        } else if let Some(next) = unit.commands.get(1) {
                            wake = next.visible;
                        }
                    }
                    ExecuteKind::Flip | ExecuteKind::Stay => {
                        let mut overlapped = false;
                        let mut hazard = 0;
                        if let (Some(preload), Some(next)) = (visible(1), visible(2))
                            && preload.job.kind == ExecuteKind::Preload
                        {
                            match unit.hazard(preload, next, now) {
                                None => overlapped = true,
                                Some(until) => hazard = until,
                            }
                        }
                        self.start_operation(now, true, overlapped);
                        self.execute.operation.hazard = hazard;
                        continue;
                    }
                }
            } else if let Some(head) = unit.commands.front() {
                wake = head.visible;
            }
            // Output-stationary results only leave with a following operation.
            if !stationary {
                let pending = unit.tags.pending_from(now);
                if pending == now {
                    self.flush_array(now);
                    continue;
                }
                wake = wake.min(pending);
            }
            return wake;
        }
    }

    /// Carries out the configuration at the head of the queue.
    fn configure_array(&mut self, now: u64) {
        let unit = &mut self.execute;
        let Some(head) = unit.commands.front().copied() else {
            return;
        };
        let drained = now.saturating_sub(unit.last_row.max(head.visible));
        self.stats
            .idle(IdleReason::ConfigDrain, drained.min(now), Some(head.pc));
        if let Some(recording) = &mut self.recording {
            let command = recording.index(head.slot);
            recording.operate(RecordedOperation {
                pc: head.pc,
                command,
                partner: None,
                start: now,
                cycles: 0,
                rows: 0,
                preload_rows: 0,
                full: 0,
                pace: 1,
                computes: false,
            });
        }
        unit.mode = head.job.mode;
        unit.commands.drop_front(1);
        unit.free = now + 1;
        unit.last_row = unit.last_row.max(now);
        self.note_array_room();
        if let Some(slot) = head.slot {
            self.schedule_completion(slot, now);
        }
    }

    /// Pushes a block of empty rows through the array.
    fn flush_array(&mut self, now: u64) {
        let dim = u64::from(self.config.dim);
        let k_read = self.k.read_latency;
        let mesh = self.k.mesh_latency;
        let unit = &mut self.execute;
        // The flush starts once the rows under way are in.
        let start = (now + 1).max(unit.last_row + k_read + 1);
        let last = start + dim - 1;
        let id = unit.next_id;
        unit.next_id += 1;
        unit.free = start + dim + 1;
        if let Some(counts) = &mut self.counts {
            counts.flush.add(now + 1, unit.free);
        }
        let (dest, stride, pc) = self.execute.tags.leaving(id);
        if !dest.is_none() {
            let rows = dest.rows().min(self.config.dim);
            let all = (1 << rows) - 1;
            self.scatter_results((&dest, pc), stride, 0, start + mesh, all);
        }
        self.results_leave(id, last + mesh);
    }

    /// Notes that the results that leave with operation `id` are out at `done`.
    pub(super) fn results_leave(&mut self, id: u64, done: u64) {
        while let Some(slot) = self.execute.tags.leave(id, done) {
            if let Some(slot) = slot {
                self.schedule_completion(slot, done);
            }
        }
    }
}

fn is_preload(station: &Station, slot: Slot) -> bool {
    matches!(
        station.entry(slot).work,
        Work::Execute(ExecuteJob {
            kind: ExecuteKind::Preload,
            ..
        })
    )
}
