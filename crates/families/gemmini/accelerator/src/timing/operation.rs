//! Operations of the array: what begins with one, and what is over with it.

#![allow(missing_docs, reason = "public for the suite alone, see `inside`")]

use super::constants::Constants;
use super::engine::Engine;
use super::execute::Command;
use super::job::{ExecuteJob, ExecuteKind, ExecuteMode, Operand};
use super::recording::{RecordedOperation, short};
use super::station::Slot;
use super::stream::{Stream, awaited, pace};
use super::tags::Tag;

/// What stands for a command that is not there.
static ABSENT: Command = Command::NONE;

/// An operation of the array.
#[derive(Clone, Copy, Debug, Default)]
pub struct Operation {
    id: u64,
    pub streams: [Stream; 3],
    pub rows: u32,
    /// Cycles per row if no one else uses the banks.
    pub pace: u32,
    /// Rows that all streams have delivered.
    pub complete: u32,
    /// Cycles in which rows waited for a bank.
    pub(super) conflicts: u64,
    /// First cycle not looked at yet.
    pub(super) at: u64,
    start: u64,
    /// Cycles in which the full array takes no rows.
    pub(super) stall: (u64, u64),
    compute: Option<Slot>,
    preload: Option<Slot>,
    pops: u8,
    pc: u64,
    /// Destination of the rows that leave with this operation, and its stride.
    pub(super) dest: Operand,
    pub(super) stride: u32,
    /// Instruction that names the destination.
    pub(super) dest_pc: u64,
    /// Rows of that result go to several banks.
    pub(super) is_scattered: bool,
    /// Operands A, B and D that are not there, one bit each.
    lacks: u8,
    /// Cycle up to which a hazard keeps a preload from sharing its time.
    pub(super) hazard: u64,
}

impl Operation {
    /// Returns the operands that are not there, as bits, and its first cycle.
    pub(super) fn lacks_since(&self) -> (usize, u64) {
        (usize::from(self.lacks), self.start)
    }

    /// Returns whether it has not been followed yet.
    #[inline]
    pub(super) fn is_new(&self) -> bool {
        self.at == self.start
    }

    /// Returns whether no stream is a row ahead.
    #[inline]
    pub(super) fn is_in_step(&self) -> bool {
        let [a, b, d] = &self.streams;
        let row = self.complete as u8;
        (a.fired == row) & (b.fired == row) & (d.fired == row)
    }

    /// Returns how long a row that is read in cycle `at` waits at the entrance of
    /// the full array, behind the stages between bank and array.
    #[inline]
    pub(super) fn held(&self, at: u64) -> u64 {
        if at < self.stall.0 {
            self.stall.1 - self.stall.0
        } else {
            0
        }
    }

    /// Returns how long the full array took no rows while it was under way.
    fn stalled(&self) -> u64 {
        let stalled = self.stall.1.min(self.at);
        stalled.saturating_sub(self.stall.0.max(self.start))
    }

    /// Returns the rows of its multiplication, all of its rows if no stationary
    /// operand is taken beside one.
    #[inline]
    fn multiplied(&self, job: &ExecuteJob, mode: ExecuteMode) -> u32 {
        let brings_stationary = self.lacks >> 2 & 1 == 0;
        if !brings_stationary {
            return self.rows;
        }
        let b_turned = !mode.weight_stationary && mode.b_transpose;
        let of = |operand: &Operand, turned: bool| match (operand.is_none(), turned) {
            (true, _) => 0,
            (false, true) => operand.cols(),
            (false, false) => operand.rows(),
        };
        let a = of(&job.first, mode.a_transpose);
        a.max(of(&job.second, b_turned)).min(self.rows)
    }

    /// Returns whether what is known of results in one of the memories depends on
    /// how far it has been followed.
    #[inline]
    pub(super) fn writes(&self, accumulator: bool) -> bool {
        !self.dest.is_none() && (self.is_scattered || self.dest.in_accumulator() == accumulator)
    }

    /// Returns the cycle after the last row if nothing gets in the way, at
    /// most as far as results could leave in the meantime.
    #[inline]
    pub(super) fn estimate_end(&self, k: &Constants) -> u64 {
        let mut least = (self.rows - self.complete) * self.pace;
        if self.pace > 1 && !self.is_in_step() {
            least -= self.pace - 1;
        }
        let mut at = self.at + u64::from(least);
        if self.stall.1 > self.at && at > self.stall.0 {
            at += self.stall.1 - self.stall.0.max(self.at);
        }
        at.min(self.at + k.read_latency + k.mesh_latency - 2)
    }
}

impl Engine {
    /// Starts the multiplication at the head of the queue, the preload there, or
    /// both if the preload follows it.
    pub(super) fn start_operation(&mut self, now: u64, computes: bool, preloads: bool) {
        let unit = &self.execute;
        let mode = unit.mode;
        let dim = self.k.dim;
        let ws = mode.weight_stationary;
        let a_turned = ws == mode.a_transpose;
        let b_turned = !ws & mode.b_transpose;
        let d_turned = ws & mode.b_transpose;
        // An operand that goes through the transposer is sent one operation
        // early, with the preload of its multiplication.
        let command = |idx: usize| unit.commands.get(idx).unwrap_or(&ABSENT);
        let head = command(0);
        let (direct, preload, early) = match (computes, preloads) {
            (true, true) => (head, command(1), command(2)),
            (true, false) => (head, &ABSENT, &ABSENT),
            _ => (&ABSENT, head, command(1)),
        };
        let a = if a_turned { early } else { direct }.job.first;
        let b = if b_turned { early } else { direct }.job.second;
        let (d, dest) = (preload.job.first, preload.job.second);
        let length = |operand: &Operand, across: bool| {
            if across {
                operand.cols()
            } else {
                operand.rows()
            }
        };
        let a_rows = length(&a, mode.a_transpose);
        let b_rows = length(&b, b_turned);
        let mut rows = dim;
        if d.is_none() & ws & !a_turned & !b_turned & !d_turned {
            let need_a = if a.is_none() { 1 } else { a_rows };
            let need_b = if b.is_none() { 1 } else { b_rows };
            rows = need_a.max(need_b).max(self.k.min_rows).min(dim);
        }
        let above_d = dim.saturating_sub(length(&d, d_turned)).min(rows);
        let streams = [
            self.stream(&a, 0, a_rows.min(rows)),
            self.stream(&b, 0, b_rows.min(rows)),
            self.stream(&d, above_d, rows),
        ];
        let (head_slot, head_visible, pc) = (head.slot, head.visible, head.pc);
        // A preload by itself also waits for its multiplication.
        let (waited_slot, waited_visible) = match unit.commands.get(1) {
            Some(next) if !computes && next.visible > head_visible => (next.slot, next.visible),
            _ => (head_slot, head_visible),
        };
        let (compute_slot, preload_slot) = (direct.slot, preload.slot);
        let preload_pc = preload.pc;
        let lacks = u8::from(a.is_none()) | u8::from(b.is_none()) << 1 | u8::from(d.is_none()) << 2;
        let k_read = self.k.read_latency;
        let tags = self.k.tags;
        let unit = &mut self.execute;
        let id = unit.next_id;
        unit.next_id += 1;
        let idle = now.saturating_sub((unit.last_row + 1).max(unit.counted_from));
        let gap = now.saturating_sub(unit.last_row + 1);
        // Room for one more tag when the first row arrives.
        let enters = unit.tags.room(tags, now + k_read);
        let stall = if enters > now + k_read {
            (now + k_read, enters)
        } else {
            (0, 0)
        };
        let (leaving, stride, dest_pc) = unit.tags.leaving(id);
        let silent = dest.is_none();
        unit.tags.push(Tag {
            id: id + if ws { 1 } else { 2 },
            dest,
            stride: mode.c_stride,
            pc: preload_pc,
            slot: if silent { None } else { preload_slot },
            entered: enters,
            done: u64::MAX,
        });
        unit.operation = Operation {
            id,
            streams,
            rows,
            pace: pace(&streams),
            complete: 0,
            conflicts: 0,
            at: now,
            start: now,
            stall,
            compute: compute_slot,
            // A preload without destination is complete with its rows.
            preload: if silent { preload_slot } else { None },
            pops: u8::from(computes) + u8::from(preloads),
            pc,
            dest: leaving,
            stride,
            dest_pc,
            is_scattered: !leaving.is_none() && !in_one_bank(&leaving, stride, &self.k),
            lacks,
            hazard: 0,
        };
        unit.is_busy = true;
        if let Some(counts) = &mut self.counts {
            // Rows of the operation before hide the way of the first row.
            counts.by_awaited[awaited(&streams)] += gap.min(k_read - 1);
        }
        if idle > 0 {
            self.charge_idle(waited_slot, waited_visible, now, idle);
        }
    }

    #[inline]
    pub(super) fn finish_operation(&mut self) {
        self.execute.is_busy = false;
        let operation = &self.execute.operation;
        // `at` is the cycle after the last row.
        let (start, end) = (operation.start, operation.at);
        let (id, pops, done) = (
            operation.id,
            operation.pops,
            [operation.compute, operation.preload],
        );
        let last_stalled = operation.stall.1 + u64::from(operation.rows) - 1;
        let charged = self.stats.pc(operation.pc);
        charged.array += end - start;
        charged.bank_conflict += operation.conflicts;
        self.record_operation();
        let unit = &mut self.execute;
        if unit.commands.len() >= self.k.execute_queue {
            unit.room_from = end;
        }
        unit.commands.drop_front(usize::from(pops));
        self.note_array_room();
        let unit = &mut self.execute;
        // Rows enter the array in order, and wait in the stages before it as
        // long as it is full; the next operation's follow them.
        let entered = (end - 1 + self.k.read_latency).max(last_stalled);
        unit.free = entered + 1 - self.k.read_latency;
        unit.last_row = unit.free - 1;
        self.stats.array_full += unit.free - end;
        if let Some(counts) = &mut self.counts {
            let operation = &unit.operation;
            counts.operate(operation.lacks_since(), end, unit.free);
            counts.array_full += operation.stalled();
            counts.overlap_hazard.add(start, operation.hazard.min(end));
        }
        let mut until = 0;
        // One completion leaves the controller per cycle.
        for (at, slot) in (end..).zip(done.into_iter().flatten()) {
            self.schedule_completion(slot, at);
            until = at;
        }
        self.execute.pending_until = until;
        self.results_leave(id, entered + self.k.mesh_latency);
    }

    /// Notes in the recording the operation that is over, whose commands are
    /// still in the queue.
    #[inline]
    fn record_operation(&mut self) {
        let Some(recording) = &mut self.recording else {
            return;
        };
        let operation = &self.execute.operation;
        let commands = &self.execute.commands;
        let Some(first) = commands.front() else {
            return;
        };
        let computes = first.job.kind != ExecuteKind::Preload;
        let partner = if computes {
            None
        } else {
            commands.get(1).and_then(|command| command.slot)
        };
        let multiplied = if computes {
            operation.multiplied(&first.job, self.execute.mode)
        } else {
            operation.rows
        };
        recording.operate(RecordedOperation {
            pc: operation.pc,
            command: recording.index(first.slot),
            partner: recording.index(partner),
            start: operation.start,
            cycles: short(operation.at - operation.start),
            rows: operation.rows,
            preload_rows: operation.rows - multiplied,
            full: short(operation.stalled()),
            // At most the number of streams.
            pace: operation.pace as u16,
            computes,
        });
    }
}

/// Returns whether the rows of a result go to one bank.
#[inline]
fn in_one_bank(dest: &Operand, stride: u32, k: &Constants) -> bool {
    let shift = if dest.in_accumulator() {
        k.acc_bank_shift
    } else {
        k.spad_bank_shift
    };
    let last = dest.row() + dest.rows().saturating_sub(1) * stride;
    dest.row() >> shift == last >> shift
}
