//! The rows of an operation: how they come from the banks and leave the array.
//!
//! Rows are followed in bulk: an operation is looked at again when it would be
//! over if nothing got in its way, and only the cycles in which something did
//! are stepped through one by one. It makes no difference how often it is looked
//! at: all writes to its banks before the cycle up to which it is followed are
//! known by then, and rows taken at once are those that cycles one by one take.

#![allow(missing_docs, reason = "public for the suite alone, see `inside`")]

use super::adders::Adder;
use super::engine::Engine;
use super::job::Operand;
use super::operation::Operation;
use super::stream::{Stream, same_bank, shared_before};

/// Cycles followed at once.
const SPAN: u64 = 64;

/// What the streams of an operation do in up to 64 cycles; one bit per cycle.
pub struct Progress {
    pub cycles: u64,
    /// Cycles in which each stream reads a row from its bank.
    pub reads: [u64; 3],
    /// Cycles in which the last stream delivers a row.
    pub completed: u64,
}

impl Engine {
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
    fn is_behind(&self, limit: u64) -> bool {
        self.execute.is_busy && self.execute.operation.at < limit
    }

    /// Sees to it that results in one of the memories are known of all rows
    /// before `limit`; returns whether there may be new ones.
    #[inline]
    pub(super) fn follow_results(&mut self, accumulator: bool, limit: u64) -> bool {
        let operation = &self.execute.operation;
        // One that is over is noticed: commands move up as soon as it is.
        let may = self.is_behind(limit)
            && (operation.writes(accumulator) || operation.estimate_end(&self.k) <= limit);
        if may {
            self.advance_operation(limit);
        }
        may
    }

    fn advance_operation(&mut self, limit: u64) {
        if !self.take_whole(limit) {
            self.take_parts(limit);
            let operation = &self.execute.operation;
            if operation.complete < operation.rows {
                return;
            }
        }
        self.finish_operation();
    }

    /// Takes all rows of an operation that has just begun, a row per cycle, if
    /// they are due before `limit` and nothing is in their way; returns whether
    /// it has done so.
    #[inline]
    fn take_whole(&mut self, limit: u64) -> bool {
        let operation = &self.execute.operation;
        let (at, count) = (operation.at, operation.rows);
        let rows = u64::from(count);
        let is_new = operation.is_new();
        if !is_new | (operation.pace != 1) | (operation.stall.1 != 0) | (at + rows > limit) {
            return false;
        }
        let streams = operation.streams;
        let all = bits(0, count);
        for stream in &streams {
            if stream.needs_spad() && self.spad_writes[stream.bank()].window(at) & all != 0 {
                return false;
            }
        }
        for stream in &streams {
            if stream.needs_spad() {
                let reads = bits(stream.from.into(), stream.to.into());
                self.spad_reads[stream.bank()].mark_window(at, reads);
            }
        }
        let operation = &mut self.execute.operation;
        operation.complete = count;
        operation.at = at + rows;
        self.stats.array_busy += rows;
        let (dest, pc) = (operation.dest, operation.dest_pc);
        if !dest.is_none() {
            let leaves = at + self.k.read_latency + self.k.mesh_latency;
            let results = bits(0, dest.rows().min(count));
            self.mark_results((&dest, pc), dest.row(), leaves, results);
        }
        true
    }

    /// Takes rows up to `limit`, stretch by stretch.
    #[inline(never)]
    fn take_parts(&mut self, limit: u64) {
        loop {
            let operation = &mut self.execute.operation;
            if operation.complete >= operation.rows {
                return;
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
            let mut span = (limit - operation.at).min(SPAN);
            if operation.stall.0 > operation.at {
                span = span.min(operation.stall.0 - operation.at);
            }
            self.advance_rows(span);
        }
    }

    /// Takes the rows of the next `span` cycles, at most 64.
    #[inline]
    fn advance_rows(&mut self, span: u64) {
        let operation = &mut self.execute.operation;
        let (at, first_row) = (operation.at, operation.complete);
        let banks = operation.streams.map(|stream| stream.bank());
        let needs_spad = operation.streams.map(|stream| stream.needs_spad());
        let mut blocked = [0; 3];
        for place in 0..3 {
            if needs_spad[place] {
                blocked[place] = self.spad_writes[banks[place]].window(at);
            }
        }
        let progress = operation.take_rows(span, blocked);
        for place in 0..3 {
            if needs_spad[place] {
                self.spad_reads[banks[place]].mark_window(at, progress.reads[place]);
            }
        }
        let rows = u64::from(operation.complete - first_row);
        operation.conflicts += progress.cycles - rows;
        operation.at = at + progress.cycles;
        self.stats.array_busy += rows;
        self.stats.bank_conflict += progress.cycles - rows;
        let (dest, stride) = (operation.dest, operation.stride);
        let pc = operation.dest_pc;
        if !dest.is_none() && first_row < dest.rows() {
            let leaves = at + self.k.read_latency + self.k.mesh_latency + operation.held(at);
            let wanted = dest.rows() - first_row;
            let results = if rows <= wanted.into() {
                progress.completed
            } else {
                lowest(progress.completed, wanted)
            };
            // As if all rows went to one bank, unless they were held up.
            let one_bank = operation.pace == 1 && progress.cycles == rows;
            if one_bank || !operation.is_scattered {
                self.mark_results(
                    (&dest, pc),
                    dest.row() + first_row * stride,
                    leaves,
                    results,
                );
            } else {
                self.scatter_results((&dest, pc), stride, first_row, leaves, results);
            }
        }
    }

    /// Marks result rows that leave the array in those cycles from `at` on whose
    /// bit is set, for the bank of row `row`. The instruction at `pc` names `dest`.
    #[inline]
    fn mark_results(&mut self, (dest, pc): (&Operand, u64), row: u32, at: u64, cycles: u64) {
        let bank = self.bank(dest.in_accumulator(), row);
        if dest.in_accumulator() {
            self.acc_ex_writes[bank].mark_window(at, cycles);
            if dest.accumulates() {
                self.add_in_bank(Adder::Array, bank, (at, cycles), pc);
            }
        } else {
            self.spad_ex_writes[bank].mark_window(at, cycles);
            self.spad_writes[bank].mark_window(at, cycles);
        }
    }

    /// Marks result rows from the one with number `row` on, each for its bank.
    #[inline(never)]
    pub(super) fn scatter_results(
        &mut self,
        (dest, pc): (&Operand, u64),
        stride: u32,
        row: u32,
        at: u64,
        cycles: u64,
    ) {
        let (mut rest, mut row) = (cycles, dest.row() + row * stride);
        while rest != 0 {
            self.mark_results((dest, pc), row, at, rest & rest.wrapping_neg());
            rest &= rest - 1;
            row += stride;
        }
    }
}

impl Operation {
    /// Lets each stream take a row per cycle if its bank is not `blocked`, for
    /// up to `span` cycles.
    #[inline]
    pub fn take_rows(&mut self, span: u64, blocked: [u64; 3]) -> Progress {
        let anything = blocked[0] | blocked[1] | blocked[2];
        let mut progress = Progress {
            cycles: 0,
            reads: [0; 3],
            completed: 0,
        };
        while progress.cycles < span && self.complete < self.rows {
            if self.is_in_step() {
                let clear = u64::from((anything >> progress.cycles).trailing_zeros());
                let cycles = clear.min(span - progress.cycles) as u32;
                let rows = if self.pace == 1 {
                    cycles
                } else {
                    cycles / self.pace
                };
                if rows > 0 {
                    self.take_at_once(rows.min(self.rows - self.complete), &mut progress);
                    continue;
                }
            }
            self.take_by_cycles(span, blocked, &mut progress);
        }
        progress
    }

    /// Takes rows in the next cycles, in which no bank is in the way.
    #[inline]
    fn take_at_once(&mut self, rows: u32, progress: &mut Progress) {
        let (complete, pace) = (self.complete, self.pace);
        // A stream is behind those of higher priority in its bank by a cycle each.
        let every = [u64::MAX, 0x5555_5555_5555_5555, 0x9249_2492_4924_9249][pace as usize - 1];
        for (place, reads) in progress.reads.iter_mut().enumerate() {
            let stream = &self.streams[place];
            if !stream.needs_spad() {
                continue;
            }
            let from = u32::from(stream.from).saturating_sub(complete);
            let to = u32::from(stream.to).saturating_sub(complete).min(rows);
            let phase = if pace == 1 {
                0
            } else {
                shared_before(&self.streams, place)
            };
            *reads |= (bits(from * pace, to * pace) & every << phase) << progress.cycles;
        }
        progress.completed |= (bits(0, rows * pace) & every << (pace - 1)) << progress.cycles;
        progress.cycles += u64::from(rows * pace);
        self.complete += rows;
        for stream in &mut self.streams {
            stream.fired += rows as u8;
        }
    }

    /// Goes on cycle by cycle until all streams are in step again.
    fn take_by_cycles(&mut self, span: u64, blocked: [u64; 3], progress: &mut Progress) {
        let rows = self.rows;
        let streams = &mut self.streams;
        // Streams that have to let another one go first on the same row.
        let behind = |place: usize, other: usize, streams: &[Stream; 3]| {
            other < place && same_bank(&streams[place], &streams[other])
        };
        let behind = [
            behind(1, 0, streams),
            behind(2, 0, streams),
            behind(2, 1, streams),
        ];
        let mut fired = streams.map(|stream| u32::from(stream.fired));
        loop {
            let before = fired;
            let least = before[0].min(before[1]).min(before[2]);
            let cycle = progress.cycles;
            let mut wait = u32::MAX;
            let waits = [
                false,
                behind[0] && before[1] == before[0],
                behind[1] && before[2] == before[0] || behind[2] && before[2] == before[1],
            ];
            for place in 0..3 {
                let row = before[place];
                // No stream is more than a row ahead of another one.
                if row == rows || row > least || waits[place] {
                    continue;
                }
                let stream = &streams[place];
                if stream.needs_spad() && (u32::from(stream.from)..stream.to.into()).contains(&row)
                {
                    let until_free = (blocked[place] >> cycle).trailing_ones();
                    if until_free > 0 {
                        wait = wait.min(until_free);
                        continue;
                    }
                    progress.reads[place] |= 1 << cycle;
                }
                fired[place] += 1;
            }
            if fired == before {
                // Nothing changes before a bank is free.
                progress.cycles += u64::from(wait).clamp(1, span - cycle);
                if progress.cycles >= span {
                    break;
                }
                continue;
            }
            progress.cycles += 1;
            let least = fired[0].min(fired[1]).min(fired[2]);
            if least > self.complete {
                progress.completed |= 1 << cycle;
                self.complete = least;
            }
            let in_step = fired == [least; 3];
            if in_step || progress.cycles >= span {
                break;
            }
        }
        for (stream, fired) in streams.iter_mut().zip(fired) {
            stream.fired = fired as u8;
        }
    }
}

/// Returns bits `from` up to `to`.
#[inline]
fn bits(from: u32, to: u32) -> u64 {
    let below = |bit: u32| 1u64.checked_shl(bit).unwrap_or(0).wrapping_sub(1);
    below(to) & !below(from)
}

/// Returns the lowest `count` of the bits that are set.
#[inline]
fn lowest(mut bits: u64, count: u32) -> u64 {
    while bits.count_ones() > count {
        bits ^= 1 << (63 - bits.leading_zeros());
    }
    bits
}
