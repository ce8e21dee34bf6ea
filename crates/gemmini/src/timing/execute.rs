//! Unroller, execute controller and array.
//!
//! Rows are followed in bulk: an operation is looked at again when it would be
//! over if nothing got in its way, and only the cycles in which something did
//! are stepped through one by one.

use super::engine::{ARRAY, Engine};
use super::job::{ExecuteJob, ExecuteKind, ExecuteMode, Operand, Work};
use super::recording::RecordedOperation;
use super::station::{Slot, Station};
use super::stats::IdleReason;
use std::collections::VecDeque;

/// A command in the controller's queue.
#[derive(Clone, Copy, Debug)]
struct Command {
    job: ExecuteJob,
    /// Its slot, unless the unroller made it up.
    slot: Option<Slot>,
    pc: u64,
    visible: u64,
}

/// An operation in the array whose result has a place to go.
#[derive(Clone, Copy, Debug)]
struct Tag {
    /// Operation with whose rows the result leaves.
    id: u64,
    dest: Operand,
    stride: u32,
    slot: Option<Slot>,
    entered: u64,
    /// Cycle of the last result row; unknown as long as it is the maximum.
    done: u64,
}

/// One of the three streams of rows of an operation.
#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    /// Rows come from a bank (otherwise they are zeros).
    reads: bool,
    accumulator: bool,
    bank: usize,
    /// Rows that need the bank: from `from` up to `to`.
    from: u32,
    to: u32,
    fired: u32,
}

#[derive(Clone, Copy, Debug)]
struct Operation {
    id: u64,
    streams: [Stream; 3],
    rows: u32,
    /// Rows that all streams have delivered.
    complete: u32,
    /// First cycle not looked at yet.
    at: u64,
    start: u64,
    /// Cycles in which the full array takes no rows.
    stall: (u64, u64),
    compute: Option<Slot>,
    preload: Option<Slot>,
    pops: usize,
    pc: u64,
    /// Destination of the rows that leave with this operation.
    dest: Option<(Operand, u32)>,
}

#[derive(Clone, Debug)]
pub(super) struct ExecuteUnit {
    unroller: VecDeque<(Slot, u64)>,
    unroll_step: u8,
    unroll_transposed: bool,
    last_move: u64,
    commands: VecDeque<Command>,
    /// Cycle from which the full queue has had room again.
    room_from: u64,
    mode: ExecuteMode,
    operation: Option<Operation>,
    /// Cycle from which the controller can decide again.
    free: u64,
    /// Cycle until which completions of the last operation are pending.
    pending_until: u64,
    next_id: u64,
    tags: VecDeque<Tag>,
    last_row: u64,
    /// Idle cycles before this one are not charged.
    counted_from: u64,
}

impl ExecuteUnit {
    pub(super) fn new() -> Self {
        Self {
            unroller: VecDeque::with_capacity(4),
            unroll_step: 0,
            unroll_transposed: false,
            last_move: 0,
            commands: VecDeque::with_capacity(16),
            room_from: 0,
            mode: ExecuteMode::default(),
            operation: None,
            free: 0,
            pending_until: 0,
            next_id: 1,
            tags: VecDeque::with_capacity(16),
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

    /// Returns whether an operation is under way.
    pub(super) fn is_busy(&self) -> bool {
        self.operation.is_some()
    }

    fn results_pending(&self, now: u64) -> bool {
        self.tags
            .iter()
            .any(|tag| tag.slot.is_some() && tag.entered < now && now <= tag.done)
    }

    /// Returns the cycle from which no operation in the array writes to one of
    /// `operands`.
    fn hazard(&self, operands: [&Operand; 3], now: u64) -> Option<u64> {
        let mut until = None;
        for tag in &self.tags {
            if tag.dest.garbage || tag.entered >= now || now > tag.done {
                continue;
            }
            let same = |operand: &&Operand| {
                !operand.garbage
                    && operand.accumulator == tag.dest.accumulator
                    && operand.row == tag.dest.row
            };
            if operands.iter().any(same) {
                until = until.max(Some(tag.done.saturating_add(1)));
            }
        }
        until
    }
}

impl Engine {
    /// Does what the execute path has to do in cycle `now`.
    pub(super) fn step_execute(&mut self, now: u64) {
        let mut unrolled = self.step_unroller(now);
        self.advance_execute(now);
        if self.execute.operation.is_none() {
            // A finished operation has made room in the queue.
            unrolled = self.step_unroller(now);
        }
        let mut wake = self.step_array(now);
        // While an operation is under way no one looks at the queue.
        if self.execute.operation.is_none() {
            wake = wake.min(unrolled);
        }
        self.wake[ARRAY] = wake;
    }

    /// Moves commands into the controller's queue, splitting transposed
    /// preloads; returns when to look again.
    pub(super) fn step_unroller(&mut self, now: u64) -> u64 {
        loop {
            let unit = &mut self.execute;
            let Some(&(slot, visible)) = unit.unroller.front() else {
                return u64::MAX;
            };
            let full = unit.commands.len() >= self.k.execute_queue;
            let mut at = visible.max(unit.last_move + 1).max(unit.room_from);
            if full {
                return u64::MAX;
            }
            // Splitting a preload needs its multiplication in sight.
            let next = unit.unroller.get(1).copied();
            if unit.unroll_transposed && is_preload(&self.station, slot) {
                let Some((_, next_visible)) = next else {
                    return u64::MAX;
                };
                at = at.max(next_visible);
            }
            if at > now {
                return at;
            }
            let unit = &mut self.execute;
            let entry = self.station.entry(slot);
            let (pc, work) = (entry.pc, entry.work);
            let Work::Execute(job) = work else {
                unit.unroller.pop_front();
                continue;
            };
            let mut command = Command {
                job,
                slot: Some(slot),
                pc,
                visible: at + 1,
            };
            let mut pop = true;
            match job.kind {
                ExecuteKind::Config => {
                    unit.unroll_transposed = job.mode.weight_stationary && job.mode.b_transpose;
                }
                ExecuteKind::Preload if unit.unroll_transposed => {
                    let flip = next.is_some_and(|(next, _)| {
                        matches!(
                            self.station.entry(next).work,
                            Work::Execute(ExecuteJob {
                                kind: ExecuteKind::Flip,
                                ..
                            })
                        )
                    });
                    if flip {
                        let unit = &mut self.execute;
                        match unit.unroll_step {
                            0 => {
                                command.slot = None;
                                command.job.second = Operand::none();
                                unit.unroll_step = 1;
                                pop = false;
                            }
                            1 => {
                                command.slot = None;
                                command.job = ExecuteJob {
                                    kind: ExecuteKind::Stay,
                                    first: Operand::none(),
                                    second: Operand::none(),
                                    mode: job.mode,
                                };
                                unit.unroll_step = 2;
                                pop = false;
                            }
                            _ => {
                                command.job.first = Operand::none();
                                unit.unroll_step = 0;
                            }
                        }
                    }
                }
                _ => {}
            }
            let unit = &mut self.execute;
            unit.commands.push_back(command);
            unit.last_move = at;
            if pop {
                unit.unroller.pop_front();
                self.note_execute_room(at);
            }
        }
    }

    /// Decides what the array does next, if it is free; returns when to look
    /// again.
    fn step_array(&mut self, now: u64) -> u64 {
        loop {
            if let Some(operation) = &self.execute.operation {
                return self.estimate_end(operation).max(now + 1);
            }
            if self.execute.free > now {
                return self.execute.free;
            }
            while self.execute.tags.front().is_some_and(|tag| tag.done < now) {
                self.execute.tags.pop_front();
            }
            let unit = &self.execute;
            let visible = |idx: usize| {
                unit.commands
                    .get(idx)
                    .is_some_and(|command| command.visible <= now)
            };
            let stationary = unit.mode.weight_stationary;
            let mut wake = u64::MAX;
            if visible(0) {
                let head = unit.commands[0];
                match head.job.kind {
                    ExecuteKind::Config => {
                        if !unit.results_pending(now) {
                            if unit.pending_until >= now {
                                return unit.pending_until + 1;
                            }
                            let drained = now.saturating_sub(unit.last_row.max(head.visible));
                            self.stats.idle(
                                IdleReason::ConfigDrain,
                                drained.min(now),
                                Some(head.pc),
                            );
                            if let Some(recording) = &mut self.recording {
                                let command = recording.index(head.slot);
                                recording.operate(RecordedOperation {
                                    pc: head.pc,
                                    command,
                                    partner: None,
                                    start: now,
                                    end: now,
                                    rows: 0,
                                    full: 0,
                                    pace: 1,
                                    computes: false,
                                });
                            }
                            let unit = &mut self.execute;
                            unit.mode = head.job.mode;
                            unit.commands.pop_front();
                            unit.free = now + 1;
                            unit.last_row = unit.last_row.max(now);
                            if let Some(slot) = head.slot {
                                self.schedule_completion(slot, now);
                            }
                            return now + 1;
                        }
                        self.flush_array(now);
                        continue;
                    }
                    ExecuteKind::Preload => {
                        if visible(1) {
                            let next = unit.commands[1];
                            let operands = [&head.job.first, &next.job.first, &next.job.second];
                            // A result that leaves only with an operation still to
                            // come cannot be waited for.
                            match unit
                                .hazard(operands, now)
                                .filter(|until| *until != u64::MAX)
                            {
                                None => {
                                    self.start_operation(now, None, Some(0));
                                    continue;
                                }
                                Some(until) => {
                                    if stationary || !unit.results_pending(now) {
                                        return until;
                                    }
                                    wake = until;
                                }
                            }
                        } else if let Some(next) = unit.commands.get(1) {
                            wake = next.visible;
                        }
                    }
                    ExecuteKind::Flip | ExecuteKind::Stay => {
                        let overlapped = visible(1)
                            && visible(2)
                            && unit.commands[1].job.kind == ExecuteKind::Preload
                            && {
                                let (preload, next) = (&unit.commands[1], &unit.commands[2]);
                                let operands =
                                    [&preload.job.first, &next.job.first, &next.job.second];
                                unit.hazard(operands, now).is_none()
                            };
                        self.start_operation(now, Some(0), overlapped.then_some(1));
                        continue;
                    }
                }
            } else if let Some(head) = unit.commands.front() {
                wake = head.visible;
            }
            // Output-stationary results only leave with a following operation.
            if !stationary && unit.results_pending(now) {
                self.flush_array(now);
                continue;
            }
            return wake;
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
        self.results_leave(id, last + mesh);
    }

    /// Notes that the results that leave with operation `id` are out at `done`.
    fn results_leave(&mut self, id: u64, done: u64) {
        for idx in 0..self.execute.tags.len() {
            let tag = &mut self.execute.tags[idx];
            if tag.id <= id && tag.done == u64::MAX {
                tag.done = done;
                if let Some(slot) = tag.slot {
                    self.schedule_completion(slot, done);
                }
            }
        }
    }

    fn stream(&self, operand: &Operand, used: bool, from: u32, to: u32) -> Stream {
        let reads = used && !operand.garbage;
        Stream {
            reads,
            accumulator: operand.accumulator,
            bank: if reads {
                self.bank(operand.accumulator, operand.row)
            } else {
                0
            },
            from,
            to,
            fired: 0,
        }
    }

    /// Starts a multiplication (index of its command), a preload, or both.
    fn start_operation(&mut self, now: u64, compute: Option<usize>, preload: Option<usize>) {
        let unit = &self.execute;
        let mode = unit.mode;
        let dim = self.config.dim;
        let none = Operand::none();
        let ws = mode.weight_stationary;
        let a_turned = if ws {
            mode.a_transpose
        } else {
            !mode.a_transpose
        };
        let b_turned = !ws && mode.b_transpose;
        let d_turned = ws && mode.b_transpose;
        // An operand that goes through the transposer is sent one operation
        // early, with the preload of its multiplication.
        let operand_at = |turned: bool, second: bool| {
            let idx = match (compute, preload, turned) {
                (None, Some(pre), true) => Some(pre + 1),
                (Some(_), Some(pre), true) => Some(pre + 1),
                (Some(com), _, false) => Some(com),
                _ => None,
            };
            idx.and_then(|idx| unit.commands.get(idx)).map(|command| {
                if second {
                    command.job.second
                } else {
                    command.job.first
                }
            })
        };
        let a = operand_at(a_turned, false).unwrap_or(none);
        let b = operand_at(b_turned, true).unwrap_or(none);
        let d = preload.map_or(none, |idx| unit.commands[idx].job.first);
        let a_rows = if mode.a_transpose { a.cols } else { a.rows };
        let b_rows = if !ws && mode.b_transpose {
            b.cols
        } else {
            b.rows
        };
        let d_rows = if ws && mode.b_transpose {
            d.cols
        } else {
            d.rows
        };
        let mut rows = dim;
        if ws && d.garbage && !a_turned && !b_turned && !d_turned {
            let need_a = if a.garbage { 1 } else { a_rows };
            let need_b = if b.garbage { 1 } else { b_rows };
            rows = need_a.max(need_b).max(self.k.min_rows).min(dim);
        }
        let streams = [
            self.stream(&a, true, 0, a_rows.min(rows)),
            self.stream(&b, true, 0, b_rows.min(rows)),
            self.stream(&d, true, dim.saturating_sub(d_rows).min(rows), rows),
        ];
        let k_read = self.k.read_latency;
        let tags = self.k.tags;
        let unit = &mut self.execute;
        let id = unit.next_id;
        unit.next_id += 1;
        let idle = now.saturating_sub((unit.last_row + 1).max(unit.counted_from));
        // Room for one more tag when the first row arrives.
        let mut enters = now + k_read;
        let live = unit.tags.iter().filter(|tag| tag.done >= enters).count();
        if live >= tags {
            let oldest = unit.tags[unit.tags.len() - tags].done;
            if oldest != u64::MAX {
                enters = enters.max(oldest + 1);
            }
        }
        let stall = if enters > now + k_read {
            (now + k_read, enters)
        } else {
            (0, 0)
        };
        let head = compute.or(preload).expect("something to do");
        let head = unit.commands[head];
        // A preload by itself also waits for its multiplication.
        let waited = match (compute, unit.commands.get(1)) {
            (None, Some(next)) if next.visible > head.visible => *next,
            _ => head,
        };
        let preload_command = preload.map(|idx| unit.commands[idx]);
        let dest = unit
            .tags
            .iter()
            .find(|tag| tag.id == id && !tag.dest.garbage)
            .map(|tag| (tag.dest, tag.stride));
        unit.tags.push_back(Tag {
            id: id + if ws { 1 } else { 2 },
            dest: preload_command.map_or(none, |command| command.job.second),
            stride: mode.c_stride,
            slot: preload_command.and_then(|command| {
                if command.job.second.garbage {
                    None
                } else {
                    command.slot
                }
            }),
            entered: enters,
            done: u64::MAX,
        });
        let completes_at_once = preload_command.and_then(|command| {
            if command.job.second.garbage {
                command.slot
            } else {
                None
            }
        });
        unit.operation = Some(Operation {
            id,
            streams,
            rows,
            complete: 0,
            at: now,
            start: now,
            stall,
            compute: compute.and_then(|idx| unit.commands[idx].slot),
            preload: completes_at_once,
            pops: usize::from(compute.is_some()) + usize::from(preload.is_some()),
            pc: head.pc,
            dest,
        });
        if idle > 0 {
            self.charge_idle(waited.slot, waited.visible, now, idle);
        }
    }

    /// Charges the cycles before an operation to what held it back.
    fn charge_idle(&mut self, slot: Option<Slot>, visible: u64, now: u64, idle: u64) {
        let from = now - idle;
        let Some(slot) = slot else {
            self.stats.idle(IdleReason::Latency, idle, None);
            return;
        };
        let entry = *self.station.entry(slot);
        let mut at = from;
        let mut take = |until: u64| {
            let cycles = until.min(now).saturating_sub(at);
            at = at.max(until.min(now));
            cycles
        };
        let before_allocation = take(entry.allocated);
        let waiting = take(entry.ready);
        let moving = take(visible);
        let rest = take(now);
        let (reason, pc) = match entry.blocked {
            Some(class) => (
                match class as usize {
                    0 => IdleReason::LoadEntries,
                    1 => IdleReason::StoreEntries,
                    _ => IdleReason::ExecuteEntries,
                },
                Some(entry.pc),
            ),
            None => (IdleReason::Core, Some(entry.pc)),
        };
        self.stats.idle(reason, before_allocation, pc);
        match entry.waited_for {
            Some((class, pc)) => {
                let reason = match class as usize {
                    0 => IdleReason::Load,
                    1 => IdleReason::Store,
                    _ => IdleReason::Dependency,
                };
                self.stats.idle(reason, waiting, Some(pc));
            }
            None => self.stats.idle(IdleReason::Latency, waiting, None),
        }
        self.stats.idle(IdleReason::Latency, moving, None);
        self.stats
            .idle(IdleReason::Dependency, rest, Some(entry.pc));
    }

    /// Returns the cycle after the last row if nothing gets in the way, at
    /// most as far as results could leave in the meantime.
    fn estimate_end(&self, operation: &Operation) -> u64 {
        let left = operation.rows - operation.complete;
        let mut at = operation.at + u64::from(left * pace(&operation.streams));
        if operation.stall.1 > operation.at {
            at += operation.stall.1 - operation.stall.0.max(operation.at);
        }
        at.min(operation.at + self.k.read_latency + self.k.mesh_latency - 2)
    }

    /// Brings the operation under way up to, but not including, `limit`.
    pub(super) fn advance_execute(&mut self, limit: u64) {
        let Some(mut operation) = self.execute.operation.take() else {
            return;
        };
        while operation.at < limit && operation.complete < operation.rows {
            if operation.at >= operation.stall.0 && operation.at < operation.stall.1 {
                let until = operation.stall.1.min(limit);
                self.stats.array_full += until - operation.at;
                operation.at = until;
                continue;
            }
            if !self.advance_in_bulk(&mut operation, limit) {
                self.advance_by_cycles(&mut operation, limit);
            }
        }
        if operation.complete < operation.rows {
            self.execute.operation = Some(operation);
            return;
        }
        self.finish_operation(&operation);
    }

    /// Takes all rows up to `limit` at once if no bank is in the way.
    fn advance_in_bulk(&mut self, operation: &mut Operation, limit: u64) -> bool {
        let in_step = operation
            .streams
            .iter()
            .all(|stream| stream.fired == operation.complete);
        if !in_step {
            return false;
        }
        let pace = pace(&operation.streams);
        let left = operation.rows - operation.complete;
        let mut end = operation.at + u64::from(left * pace);
        if end > limit {
            end = limit;
        }
        if operation.stall.0 > operation.at {
            end = end.min(operation.stall.0);
        }
        let rows = (end - operation.at) as u32 / pace;
        if rows == 0 {
            return false;
        }
        let cycles = u64::from(rows * pace);
        for stream in &operation.streams {
            if stream.reads
                && !stream.accumulator
                && self.spad_writes[stream.bank].any(operation.at, cycles)
            {
                return false;
            }
        }
        for (place, stream) in operation.streams.iter().enumerate() {
            if stream.reads && !stream.accumulator {
                let first = stream.from.max(operation.complete);
                let last = stream.to.min(operation.complete + rows);
                if first < last {
                    if pace == 1 {
                        let from = operation.at + u64::from(first - operation.complete);
                        self.spad_reads[stream.bank].mark_range(from, u64::from(last - first));
                    } else {
                        let phase = shared_before(&operation.streams, place);
                        for row in first..last {
                            let at =
                                operation.at + u64::from((row - operation.complete) * pace + phase);
                            self.spad_reads[stream.bank].mark(at);
                        }
                    }
                }
            }
        }
        let mesh = self.k.read_latency + self.k.mesh_latency;
        if let Some((dest, stride)) = operation.dest {
            let until = dest.rows.min(operation.complete + rows);
            if operation.complete < until {
                let count = u64::from(until - operation.complete);
                if pace == 1 {
                    self.mark_result(
                        &dest,
                        stride,
                        operation.complete,
                        operation.at + mesh,
                        count,
                    );
                } else {
                    for row in operation.complete..until {
                        let at =
                            operation.at + u64::from((row - operation.complete) * pace + pace - 1);
                        self.mark_result(&dest, stride, row, at + mesh, 1);
                    }
                }
            }
        }
        operation.complete += rows;
        for stream in &mut operation.streams {
            stream.fired = operation.complete;
        }
        operation.at += cycles;
        self.stats.array_busy += u64::from(rows);
        self.stats.bank_conflict += cycles - u64::from(rows);
        true
    }

    /// Lets each stream take a row per cycle if its bank is free, for up to 64
    /// cycles.
    fn advance_by_cycles(&mut self, operation: &mut Operation, limit: u64) {
        let at = operation.at;
        let mut span = (limit - at).min(64);
        if operation.stall.0 > at {
            span = span.min(operation.stall.0 - at);
        }
        let streams = operation.streams;
        let from_spad = streams.map(|stream| stream.reads && !stream.accumulator);
        let blocked: [u64; 3] = std::array::from_fn(|place| {
            if from_spad[place] {
                self.spad_writes[streams[place].bank].window(at)
            } else {
                0
            }
        });
        // Streams that have to let another one go first on the same row.
        let behind: [[bool; 3]; 3] = std::array::from_fn(|place| {
            std::array::from_fn(|other| {
                other < place && same_bank(&streams[place], &streams[other])
            })
        });
        let mut fired = streams.map(|stream| stream.fired);
        let mut reads = [0u64; 3];
        let mut completed = 0u64;
        let mut cycles = 0;
        let mut complete = operation.complete;
        while cycles < span && complete < operation.rows {
            let before = fired;
            for place in 0..3 {
                let row = before[place];
                if row == operation.rows {
                    continue;
                }
                let waits = (0..3).any(|other| {
                    (behind[place][other] && row == before[other]) || row == before[other] + 1
                });
                if waits {
                    continue;
                }
                if from_spad[place] && row >= streams[place].from && row < streams[place].to {
                    if blocked[place] >> cycles & 1 != 0 {
                        continue;
                    }
                    reads[place] |= 1 << cycles;
                }
                fired[place] += 1;
            }
            let least = fired[0].min(fired[1]).min(fired[2]);
            if least > complete {
                completed |= 1 << cycles;
                complete = least;
            }
            cycles += 1;
        }
        for place in 0..3 {
            if from_spad[place] {
                self.spad_reads[streams[place].bank].mark_window(at, reads[place]);
            }
            operation.streams[place].fired = fired[place];
        }
        if let Some((dest, stride)) = operation.dest {
            let leaves = at + self.k.read_latency + self.k.mesh_latency;
            let mut rest = completed;
            let mut row = operation.complete;
            while rest != 0 && row < dest.rows {
                let cycle = u64::from(rest.trailing_zeros());
                self.mark_result(&dest, stride, row, leaves + cycle, 1);
                rest &= rest - 1;
                row += 1;
            }
        }
        let rows = u64::from(complete - operation.complete);
        self.stats.array_busy += rows;
        self.stats.bank_conflict += cycles - rows;
        self.stats.pc(operation.pc).bank_conflict += cycles - rows;
        operation.complete = complete;
        operation.at = at + cycles;
    }

    /// Marks result rows that leave the array from cycle `at` on.
    fn mark_result(&mut self, dest: &Operand, stride: u32, row: u32, at: u64, count: u64) {
        let bank = self.bank(dest.accumulator, dest.row + row * stride);
        if dest.accumulator {
            self.acc_ex_writes[bank].mark_range(at, count);
            if dest.accumulate {
                self.acc_reads_blocked[bank].mark_range(at, count);
            }
        } else {
            self.spad_ex_writes[bank].mark_range(at, count);
            self.spad_writes[bank].mark_range(at, count);
        }
    }

    fn finish_operation(&mut self, operation: &Operation) {
        // `at` is the cycle after the last row.
        let end = operation.at;
        if let Some(recording) = &mut self.recording {
            let commands = &self.execute.commands;
            let slot = |idx: usize| commands.get(idx).and_then(|command| command.slot);
            let computes = commands
                .front()
                .is_some_and(|command| command.job.kind != ExecuteKind::Preload);
            let full = operation
                .stall
                .1
                .saturating_sub(operation.stall.0.max(operation.start));
            recording.operate(RecordedOperation {
                pc: operation.pc,
                command: recording.index(slot(0)),
                partner: recording.index(slot(1)),
                start: operation.start,
                end,
                rows: u64::from(operation.rows),
                full,
                pace: u64::from(pace(&operation.streams)),
                computes,
            });
        }
        let mesh = self.k.read_latency + self.k.mesh_latency;
        self.stats.pc(operation.pc).array += end - operation.start;
        let unit = &mut self.execute;
        if unit.commands.len() >= self.k.execute_queue {
            unit.room_from = end;
        }
        for _ in 0..operation.pops {
            unit.commands.pop_front();
        }
        unit.last_row = end - 1;
        unit.free = end;
        let mut until = 0;
        let done = [operation.compute, operation.preload];
        // One completion leaves the controller per cycle.
        for (at, slot) in (end..).zip(done.into_iter().flatten()) {
            self.schedule_completion(slot, at);
            until = at;
        }
        self.execute.pending_until = until;
        self.results_leave(operation.id, end - 1 + mesh);
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

fn same_bank(a: &Stream, b: &Stream) -> bool {
    a.reads && b.reads && a.accumulator == b.accumulator && (a.accumulator || a.bank == b.bank)
}

/// Streams of higher priority in the same bank.
fn shared_before(streams: &[Stream; 3], place: usize) -> u32 {
    streams[..place]
        .iter()
        .filter(|other| same_bank(&streams[place], other))
        .count() as u32
}

/// Cycles per row if no one else uses the banks.
fn pace(streams: &[Stream; 3]) -> u32 {
    1 + (0..3)
        .map(|place| shared_before(streams, place))
        .max()
        .unwrap_or(0)
}
