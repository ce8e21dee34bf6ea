//! Gives every cycle of a call exactly one cause.
//!
//! The array is the scarce unit: cycles in which it works are charged to the
//! operation, and a gap before an operation to what held that operation back,
//! followed through the commands it waited for. The parts add up to the whole
//! by construction: segments lie end to end.

use crate::profile::Cause;
use autocomp_gemmini::timing::{
    Action, RecordedCommand, RecordedOperation, RecordedSpan, Recording, Unit,
};
use std::collections::HashMap;

/// Commands that are followed back at most to explain one gap.
const MAX_DEPTH: u32 = 6;

/// Neighbouring cycles with one cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) cause: Cause,
    /// Instruction that is charged: what works, or what is waited for.
    pub(super) pc: Option<u64>,
    /// Instruction that waits, if that is another one.
    pub(super) waiting: Option<u64>,
}

/// Returns segments that cover `start..end` without a hole or an overlap.
/// `beat_bytes` is the width of the port to memory.
pub(super) fn attribute(
    recording: &Recording,
    start: u64,
    end: u64,
    beat_bytes: u64,
) -> Vec<Segment> {
    let mut sweep = Sweep::new(recording, start, beat_bytes);
    for operation in &recording.operations {
        if operation.end <= sweep.at && 0 < operation.rows {
            continue;
        }
        sweep.gap(operation, end);
        sweep.operation(operation, end);
    }
    if recording.dropped == 0 {
        sweep.tail(end);
    }
    sweep.until(end, Cause::Unrecorded, None);
    sweep.segments
}

struct Sweep<'r> {
    recording: &'r Recording,
    beat_bytes: u64,
    /// Index of the move that completed in a cycle.
    completed: HashMap<u64, usize>,
    /// For each command, the last completion of loads before it.
    loads_before: Vec<u64>,
    misses: Vec<RecordedSpan>,
    at: u64,
    /// Instruction that waits in the gap looked at.
    waiting: Option<u64>,
    segments: Vec<Segment>,
}

impl<'r> Sweep<'r> {
    fn new(recording: &'r Recording, start: u64, beat_bytes: u64) -> Self {
        let mut completed = HashMap::new();
        let mut loads_before = Vec::with_capacity(recording.commands.len());
        let mut last_load = 0;
        for (idx, command) in recording.commands.iter().enumerate() {
            // Waits for the array are not followed further back.
            if command.unit != Unit::Execute {
                completed.insert(command.completed, idx);
            }
            loads_before.push(last_load);
            if command.unit == Unit::Load {
                last_load = last_load.max(command.completed);
            }
        }
        Self {
            recording,
            beat_bytes: beat_bytes.max(1),
            completed,
            loads_before,
            misses: joined(&recording.misses),
            at: start,
            waiting: None,
            segments: Vec::new(),
        }
    }

    /// Charges the cycles up to `end`, if any are left before it.
    fn until(&mut self, end: u64, cause: Cause, pc: Option<u64>) {
        if end <= self.at {
            return;
        }
        let waiting = self.waiting.filter(|waiting| Some(*waiting) != pc);
        let start = std::mem::replace(&mut self.at, end);
        match self.segments.last_mut() {
            Some(last) if (last.cause, last.pc, last.waiting) == (cause, pc, waiting) => {
                last.end = end;
            }
            _ => self.segments.push(Segment {
                start,
                end,
                cause,
                pc,
                waiting,
            }),
        }
    }

    /// Charges the cycles in which an operation is under way.
    fn operation(&mut self, operation: &RecordedOperation, end: u64) {
        self.waiting = None;
        let end = operation.end.min(end);
        let mut left = end.saturating_sub(self.at);
        let mut take = |cycles: u64| {
            let taken = cycles.min(left);
            left -= taken;
            taken
        };
        let rows = take(operation.rows);
        let full = take(operation.full);
        let own = take(rows * (operation.pace - 1));
        let others = take(u64::MAX);
        let works = if operation.computes {
            Cause::Mesh
        } else {
            Cause::PreloadAlone
        };
        for (cycles, cause) in [
            (rows, works),
            (full, Cause::ArrayFull),
            (own, Cause::BankConflict),
            (others, Cause::PortConflict),
        ] {
            self.until(self.at + cycles, cause, Some(operation.pc));
        }
    }

    /// Charges the cycles before an operation.
    fn gap(&mut self, operation: &RecordedOperation, end: u64) {
        let end = operation.start.min(end);
        if end <= self.at {
            return;
        }
        self.waiting = Some(operation.pc);
        let partner = operation.partner.filter(|_| !operation.computes);
        let waited: Vec<usize> = operation.command.into_iter().chain(partner).collect();
        for idx in &waited {
            let command = &self.recording.commands[*idx];
            self.admission(command, end);
            self.dependency(command, end, 0);
            self.until(
                end.min(command.issued + 1),
                Cause::Latency,
                Some(command.pc),
            );
        }
        let rest = match (operation.rows, waited.is_empty()) {
            (0, _) => Cause::ConfigDrain,
            (_, true) if 0 < self.recording.dropped => Cause::Unrecorded,
            (_, true) => Cause::Latency,
            (_, false) => Cause::Dependency,
        };
        self.until(end, rest, Some(operation.pc));
    }

    /// Charges the cycles until a command had its entry in the station.
    fn admission(&mut self, command: &RecordedCommand, end: u64) {
        let pc = Some(command.pc);
        let recording = self.recording;
        let allocated = command.allocated.min(end);
        while self.at < allocated {
            let at = self.at;
            let place = recording.full.partition_point(|(_, span)| span.end <= at);
            let next = match recording.full.get(place) {
                Some((unit, span)) if span.start <= at => {
                    let cause = match unit {
                        Unit::Load => Cause::LoadEntries,
                        Unit::Store => Cause::StoreEntries,
                        Unit::Execute => Cause::ExecuteEntries,
                    };
                    self.until(span.end.min(allocated), cause, Some(span.pc));
                    continue;
                }
                Some((_, span)) => span.start.min(allocated),
                None => allocated,
            };
            self.core(command, next.min(command.arrived), pc);
            self.until(next, Cause::Latency, pc);
        }
    }

    /// Charges the cycles in which the core had not sent a command.
    fn core(&mut self, command: &RecordedCommand, end: u64, pc: Option<u64>) {
        let otherwise = if command.unrolled {
            Cause::LoopUnit
        } else {
            Cause::CoreIssue
        };
        self.spent_by_core(end, otherwise, pc);
    }

    fn spent_by_core(&mut self, end: u64, otherwise: Cause, pc: Option<u64>) {
        while self.at < end {
            let at = self.at;
            let fence = covering(&self.recording.fences, at);
            let miss = covering(&self.misses, at);
            let (cause, until) = match (fence, miss) {
                (Cover::Within(until), _) => (Cause::Fence, until),
                (Cover::Before(next), Cover::Within(until)) => (Cause::CacheMiss, until.min(next)),
                (Cover::Before(fence), Cover::Before(miss)) => (otherwise, fence.min(miss)),
            };
            self.until(until.min(end), cause, pc);
        }
    }

    /// Charges the cycles in which a command in the station waited for another.
    fn dependency(&mut self, command: &RecordedCommand, end: u64, depth: u32) {
        let end = command.ready.min(end);
        if end <= self.at {
            return;
        }
        let Some((unit, pc)) = command.waited_for else {
            self.until(end, Cause::Latency, Some(command.pc));
            return;
        };
        let other = self
            .completed
            .get(&command.ready.saturating_sub(1))
            .copied()
            .filter(|idx| {
                let other = &self.recording.commands[*idx];
                other.unit == unit && other.pc == pc
            });
        match (unit, other) {
            (Unit::Load | Unit::Store, Some(idx)) if depth < MAX_DEPTH => {
                self.transfer(idx, end, depth + 1);
            }
            (Unit::Load, _) => self.until(end, Cause::LoadLatency, Some(pc)),
            (Unit::Store, _) => self.until(end, Cause::Store, Some(pc)),
            (Unit::Execute, _) => self.until(end, Cause::Dependency, Some(pc)),
        }
    }

    /// Charges the cycles until a move is over.
    fn transfer(&mut self, idx: usize, end: u64, depth: u32) {
        let command = &self.recording.commands[idx];
        let pc = Some(command.pc);
        self.admission(command, end);
        self.dependency(command, end, depth);
        self.until(end.min(command.issued + 1), Cause::Latency, pc);
        let Action::Move { bytes, .. } = command.action else {
            self.until(end, Cause::Latency, pc);
            return;
        };
        if command.unit == Unit::Store {
            self.until(end, Cause::Store, pc);
            return;
        }
        // Moves in come in order: until those before are done, and while its
        // own bytes come in, the port is what limits; in between it is the
        // way to memory and back.
        let beats = bytes.div_ceil(self.beat_bytes);
        self.until(self.loads_before[idx].min(end), Cause::LoadBandwidth, pc);
        self.until(
            command.completed.saturating_sub(beats).min(end),
            Cause::LoadLatency,
            pc,
        );
        self.until(end, Cause::LoadBandwidth, pc);
    }

    /// Charges the cycles after the last operation.
    fn tail(&mut self, end: u64) {
        self.waiting = None;
        let commands = &self.recording.commands;
        let last = (0..commands.len()).max_by_key(|idx| commands[*idx].completed);
        let Some(last) = last.filter(|idx| self.at <= commands[*idx].completed) else {
            self.spent_by_core(end, Cause::CoreIssue, None);
            return;
        };
        let command = &commands[last];
        let done = (command.completed + 1).min(end);
        if command.unit == Unit::Execute {
            // The last rows are on their way through the array.
            self.until(done, Cause::Dependency, Some(command.pc));
        } else {
            self.transfer(last, done, 0);
        }
        // Bytes written are waited for beyond the completion of their command.
        let fences = &self.recording.fences;
        if let (Unit::Store, Cover::Within(until)) = (command.unit, covering(fences, self.at)) {
            self.until(until.min(end), Cause::Store, Some(command.pc));
        }
        self.spent_by_core(end, Cause::CoreIssue, None);
    }
}

enum Cover {
    /// A span covers the cycle; it ends before this one.
    Within(u64),
    /// None does; the next one begins with this cycle.
    Before(u64),
}

/// Looks for the span around cycle `at` among disjoint spans in order.
fn covering(spans: &[RecordedSpan], at: u64) -> Cover {
    let place = spans.partition_point(|span| span.end <= at);
    match spans.get(place) {
        Some(span) if span.start <= at => Cover::Within(span.end),
        Some(span) => Cover::Before(span.start),
        None => Cover::Before(u64::MAX),
    }
}

/// Returns disjoint spans in order that cover the same cycles.
fn joined(spans: &[RecordedSpan]) -> Vec<RecordedSpan> {
    let mut sorted: Vec<RecordedSpan> = spans
        .iter()
        .copied()
        .filter(|span| span.start < span.end)
        .collect();
    sorted.sort_by_key(|span| span.start);
    let mut out: Vec<RecordedSpan> = Vec::with_capacity(sorted.len());
    for span in sorted {
        match out.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            _ => out.push(span),
        }
    }
    out
}

/// Returns the cycles of `start..end` in which at least one of `spans` lies.
pub(super) fn covered(spans: impl Iterator<Item = (u64, u64)>, start: u64, end: u64) -> u64 {
    let spans: Vec<RecordedSpan> = spans
        .map(|(from, until)| RecordedSpan {
            start: from.max(start),
            end: until.min(end),
            pc: 0,
        })
        .collect();
    joined(&spans)
        .iter()
        .map(|span| span.end - span.start)
        .sum()
}
