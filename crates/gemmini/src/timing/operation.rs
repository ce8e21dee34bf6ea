//! Operations of the array: how their rows come from the banks and leave again.
//!
//! Rows are followed in bulk: an operation is looked at again when it would be
//! over if nothing got in its way, and only the cycles in which something did
//! are stepped through one by one.

use super::constants::Constants;
use super::engine::Engine;
use super::execute::Tag;
use super::job::{ExecuteKind, Operand};
use super::recording::RecordedOperation;
use super::station::Slot;
use super::stream::{Stream, awaited, pace, same_bank, shared_before};

/// An operation of the array.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Operation {
    id: u64,
    streams: [Stream; 3],
    rows: u32,
    /// Rows of the multiplication, if a stationary operand is taken beside it.
    multiplied: u32,
    /// Cycles per row if no one else uses the banks.
    pace: u32,
    /// Rows that all streams have delivered.
    complete: u32,
    /// Cycles in which rows waited for a bank.
    conflicts: u64,
    /// First cycle not looked at yet.
    at: u64,
    start: u64,
    /// Cycles in which the full array takes no rows.
    stall: (u64, u64),
    compute: Option<Slot>,
    preload: Option<Slot>,
    pops: usize,
    pc: u64,
    /// Destination of the rows that leave with this operation, and its stride.
    dest: Option<(Operand, u32)>,
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

    /// Returns whether no stream is a row ahead.
    #[inline]
    fn is_in_step(&self) -> bool {
        let [a, b, d] = &self.streams;
        let row = self.complete;
        (a.fired == row) & (b.fired == row) & (d.fired == row)
    }

    /// Returns how long a row that is read in cycle `at` waits at the entrance of
    /// the full array, behind the stages between bank and array.
    #[inline]
    fn held(&self, at: u64) -> u64 {
        if at < self.stall.0 {
            self.stall.1 - self.stall.0
        } else {
            0
        }
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
    /// Starts a multiplication (index of its command), a preload, or both.
    pub(super) fn start_operation(
        &mut self,
        now: u64,
        compute: Option<usize>,
        preload: Option<usize>,
    ) {
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
        let direct = compute.and_then(|idx| unit.commands.get(idx));
        let early = preload.and_then(|idx| unit.commands.get(idx + 1));
        let preload_command = preload.and_then(|idx| unit.commands.get(idx));
        let of = |turned: bool| if turned { early } else { direct };
        let a = of(a_turned).map_or(none, |command| command.job.first);
        let b = of(b_turned).map_or(none, |command| command.job.second);
        let d = preload_command.map_or(none, |command| command.job.first);
        let dest = preload_command.map_or(none, |command| command.job.second);
        let a_rows = u32::from(if mode.a_transpose { a.cols } else { a.rows });
        let b_rows = u32::from(if b_turned { b.cols } else { b.rows });
        let d_rows = u32::from(if d_turned { d.cols } else { d.rows });
        let mut rows = dim;
        if ws && d.garbage && !a_turned && !b_turned && !d_turned {
            let need_a = if a.garbage { 1 } else { a_rows };
            let need_b = if b.garbage { 1 } else { b_rows };
            rows = need_a.max(need_b).max(self.k.min_rows).min(dim);
        }
        let multiplied = direct.filter(|_| !d.garbage).map_or(rows, |command| {
            let (a, b) = (command.job.first, command.job.second);
            let of = |operand: &Operand, turned: bool| match (operand.garbage, turned) {
                (true, _) => 0,
                (false, true) => u32::from(operand.cols),
                (false, false) => u32::from(operand.rows),
            };
            of(&a, mode.a_transpose).max(of(&b, b_turned)).min(rows)
        });
        let streams = [
            self.stream(&a, 0, a_rows.min(rows)),
            self.stream(&b, 0, b_rows.min(rows)),
            self.stream(&d, dim.saturating_sub(d_rows).min(rows), rows),
        ];
        let head = direct.or(preload_command).expect("something to do");
        let (head_slot, head_visible, head_pc) = (head.slot, head.visible, head.pc);
        // A preload by itself also waits for its multiplication.
        let (waited_slot, waited_visible) = match (compute, unit.commands.get(1)) {
            (None, Some(next)) if next.visible > head_visible => (next.slot, next.visible),
            _ => (head_slot, head_visible),
        };
        let preload_slot = preload_command.and_then(|command| command.slot);
        let compute_slot = direct.and_then(|command| command.slot);
        let k_read = self.k.read_latency;
        let tags = self.k.tags;
        let unit = &mut self.execute;
        let id = unit.next_id;
        unit.next_id += 1;
        let idle = now.saturating_sub((unit.last_row + 1).max(unit.counted_from));
        let gap = now.saturating_sub(unit.last_row + 1);
        // Room for one more tag when the first row arrives.
        let mut enters = now + k_read;
        if unit.tags.len() >= tags {
            let live = unit.tags.iter().filter(|tag| tag.done >= enters).count();
            if live >= tags {
                let oldest = unit.tags[unit.tags.len() - tags].done;
                if oldest != u64::MAX {
                    enters = enters.max(oldest + 1);
                }
            }
        }
        let stall = if enters > now + k_read {
            (now + k_read, enters)
        } else {
            (0, 0)
        };
        let leaving = unit
            .tags
            .iter()
            .find(|tag| tag.id == id && !tag.dest.garbage)
            .map(|tag| (tag.dest, tag.stride));
        unit.tags.push_back(Tag {
            id: id + if ws { 1 } else { 2 },
            dest,
            stride: mode.c_stride,
            slot: if dest.garbage { None } else { preload_slot },
            entered: enters,
            done: u64::MAX,
        });
        unit.operation = Operation {
            id,
            streams,
            rows,
            multiplied,
            pace: pace(&streams),
            complete: 0,
            conflicts: 0,
            at: now,
            start: now,
            stall,
            compute: compute_slot,
            // A preload without destination is complete with its rows.
            preload: if dest.garbage { preload_slot } else { None },
            pops: usize::from(compute.is_some()) + usize::from(preload.is_some()),
            pc: head_pc,
            dest: leaving,
            lacks: u8::from(a.garbage) | u8::from(b.garbage) << 1 | u8::from(d.garbage) << 2,
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

    /// Brings the operation under way up to, but not including, `limit`.
    #[inline]
    pub(super) fn advance_execute(&mut self, limit: u64) {
        if self.is_behind(limit) {
            self.advance_operation(limit);
        }
    }

    /// Returns whether an operation is under way that has not been followed up
    /// to `limit`.
    #[inline]
    pub(super) fn is_behind(&self, limit: u64) -> bool {
        self.execute.is_busy && self.execute.operation.at < limit
    }

    fn advance_operation(&mut self, limit: u64) {
        loop {
            let operation = &mut self.execute.operation;
            if operation.complete >= operation.rows {
                break;
            }
            if operation.at >= limit {
                return;
            }
            if operation.at >= operation.stall.0 && operation.at < operation.stall.1 {
                let until = operation.stall.1.min(limit);
                self.stats.array_full += until - operation.at;
                operation.at = until;
                continue;
            }
            if !self.advance_in_bulk(limit) {
                self.advance_by_cycles(limit);
            }
        }
        self.finish_operation();
    }

    /// Takes all rows up to `limit` at once if no bank is in the way.
    fn advance_in_bulk(&mut self, limit: u64) -> bool {
        let operation = &self.execute.operation;
        let (complete, at) = (operation.complete, operation.at);
        if !operation.is_in_step() {
            return false;
        }
        let pace = operation.pace;
        let left = operation.rows - complete;
        let mut end = at + u64::from(left * pace);
        if end > limit {
            end = limit;
        }
        if operation.stall.0 > at {
            end = end.min(operation.stall.0);
        }
        let rows = if pace == 1 {
            (end - at) as u32
        } else {
            (end - at) as u32 / pace
        };
        if rows == 0 {
            return false;
        }
        let cycles = u64::from(rows * pace);
        let streams = &operation.streams;
        for stream in streams {
            if stream.uses_spad() && self.spad_writes[stream.bank].any(at, cycles) {
                return false;
            }
        }
        for (place, stream) in streams.iter().enumerate() {
            let first = stream.from.max(complete);
            let last = stream.to.min(complete + rows);
            if first >= last || !stream.uses_spad() {
                continue;
            }
            let reads = &mut self.spad_reads[stream.bank];
            if pace == 1 {
                let from = at + u64::from(first - complete);
                reads.mark_range(from, u64::from(last - first));
            } else {
                let phase = shared_before(streams, place);
                for row in first..last {
                    reads.mark(at + u64::from((row - complete) * pace + phase));
                }
            }
        }
        let mesh = self.k.read_latency + self.k.mesh_latency + operation.held(at);
        if let Some((dest, stride)) = operation.dest {
            let until = u32::from(dest.rows).min(complete + rows);
            if complete < until {
                if pace == 1 {
                    let count = u64::from(until - complete);
                    self.mark_result(&dest, stride, complete, at + mesh, count);
                } else {
                    for row in complete..until {
                        let at = at + u64::from((row - complete) * pace + pace - 1);
                        self.mark_result(&dest, stride, row, at + mesh, 1);
                    }
                }
            }
        }
        let operation = &mut self.execute.operation;
        operation.complete = complete + rows;
        for stream in &mut operation.streams {
            stream.fired = complete + rows;
        }
        operation.at = at + cycles;
        self.stats.array_busy += u64::from(rows);
        let conflicts = cycles - u64::from(rows);
        operation.conflicts += conflicts;
        self.stats.bank_conflict += conflicts;
        true
    }

    /// Lets each stream take a row per cycle if its bank is free, for up to 64
    /// cycles.
    fn advance_by_cycles(&mut self, limit: u64) {
        let operation = &mut self.execute.operation;
        let at = operation.at;
        let mut span = (limit - at).min(64);
        if operation.stall.0 > at {
            span = span.min(operation.stall.0 - at);
        }
        let streams = operation.streams;
        let uses_spad = streams.map(|stream| stream.uses_spad());
        let blocked: [u64; 3] = std::array::from_fn(|place| {
            if uses_spad[place] {
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
                if uses_spad[place] && row >= streams[place].from && row < streams[place].to {
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
            if uses_spad[place] {
                self.spad_reads[streams[place].bank].mark_window(at, reads[place]);
            }
            operation.streams[place].fired = fired[place];
        }
        let first_row = operation.complete;
        let rows = u64::from(complete - first_row);
        self.stats.array_busy += rows;
        self.stats.bank_conflict += cycles - rows;
        operation.conflicts += cycles - rows;
        operation.complete = complete;
        operation.at = at + cycles;
        if let Some((dest, stride)) = operation.dest {
            let held = operation.held(at);
            let leaves = at + self.k.read_latency + self.k.mesh_latency + held;
            let mut rest = completed;
            let mut row = first_row;
            while rest != 0 && row < u32::from(dest.rows) {
                let cycle = u64::from(rest.trailing_zeros());
                self.mark_result(&dest, stride, row, leaves + cycle, 1);
                rest &= rest - 1;
                row += 1;
            }
        }
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

    fn finish_operation(&mut self) {
        let operation = self.execute.operation;
        self.execute.is_busy = false;
        // `at` is the cycle after the last row.
        let end = operation.at;
        let stalled = operation.stall.1.min(end);
        let full = stalled.saturating_sub(operation.stall.0.max(operation.start));
        if let Some(recording) = &mut self.recording {
            let commands = &self.execute.commands;
            let slot = |idx: usize| commands.get(idx).and_then(|command| command.slot);
            let computes = commands
                .front()
                .is_some_and(|command| command.job.kind != ExecuteKind::Preload);
            recording.operate(RecordedOperation {
                pc: operation.pc,
                command: recording.index(slot(0)),
                partner: recording.index(slot(1).filter(|_| !computes)),
                start: operation.start,
                end,
                rows: u64::from(operation.rows),
                preload_rows: u64::from(operation.rows - operation.multiplied),
                full,
                pace: u64::from(operation.pace),
                computes,
            });
        }
        let charged = self.stats.pc(operation.pc);
        charged.array += end - operation.start;
        charged.bank_conflict += operation.conflicts;
        let unit = &mut self.execute;
        if unit.commands.len() >= self.k.execute_queue {
            unit.room_from = end;
        }
        unit.commands.drop_front(operation.pops);
        self.note_array_room();
        let unit = &mut self.execute;
        // Rows enter the array in order, and wait in the stages before it as
        // long as it is full; the next operation's follow them.
        let entered =
            (end - 1 + self.k.read_latency).max(operation.stall.1 + u64::from(operation.rows) - 1);
        unit.free = entered + 1 - self.k.read_latency;
        unit.last_row = unit.free - 1;
        self.stats.array_full += unit.free - end;
        if let Some(counts) = &mut self.counts {
            counts.operate(operation.lacks_since(), end, unit.free);
            counts.array_full += full;
            counts
                .overlap_hazard
                .add(operation.start, operation.hazard.min(end));
        }
        let mut until = 0;
        let done = [operation.compute, operation.preload];
        // One completion leaves the controller per cycle.
        for (at, slot) in (end..).zip(done.into_iter().flatten()) {
            self.schedule_completion(slot, at);
            until = at;
        }
        self.execute.pending_until = until;
        self.results_leave(operation.id, entered + self.k.mesh_latency);
    }
}
