//! Gives every cycle of a call exactly one cause.
//!
//! The array is the scarce unit: cycles in which it works are charged to the
//! operation, and a gap before an operation to what held that operation back,
//! followed through the commands it waited for. The parts add up to the whole
//! by construction: segments lie end to end.

#![allow(missing_docs, reason = "public for the suite alone, see `inside`")]

use super::full_station;
use super::held_loops::HeldForward;
use super::sequence::Sequence;
use crate::cause::Cause;
use autocomp_bare_metal::{PcMap, PcSums};
use autocomp_gemmini::timing::{
    Action, RecordedCommand, RecordedOperation, RecordedSpan, Recording, Unit,
};

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

/// Takes segments in order.
pub(super) trait Charges {
    /// Takes one that begins where the last one ended.
    fn charge(&mut self, segment: Segment);
}

/// Keeps them; neighbours that are alike become one.
impl Charges for Vec<Segment> {
    fn charge(&mut self, segment: Segment) {
        match self.last_mut() {
            Some(last)
                if (last.cause, last.pc, last.waiting)
                    == (segment.cause, segment.pc, segment.waiting) =>
            {
                last.end = segment.end;
            }
            _ => self.push(segment),
        }
    }
}

/// Only adds them up.
#[derive(Debug, Default)]
pub(super) struct ChargeSums(PcSums<(Cause, Option<u64>, Option<u64>)>);

impl ChargeSums {
    /// Returns the cycles of each cause, instruction charged and instruction
    /// that waits, in no order.
    pub(super) fn finish(self) -> PcMap<(Cause, Option<u64>, Option<u64>), u64> {
        self.0.finish()
    }
}

impl Charges for ChargeSums {
    #[inline]
    fn charge(&mut self, segment: Segment) {
        let Segment {
            start,
            end,
            cause,
            pc,
            waiting,
        } = segment;
        let place = pc.unwrap_or(0) ^ waiting.unwrap_or(0) << 3 ^ (cause as u64) << 1;
        self.0.add((cause, pc, waiting), place, end - start);
    }
}

/// Hands segments to `charges` that cover `start..end` without a hole or an
/// overlap.
pub(super) fn attribute<C: Charges>(
    sequence: &Sequence<'_>,
    start: u64,
    end: u64,
    charges: &mut C,
) {
    let recording = sequence.recording;
    let mut sweep = Sweep::new(sequence, start, charges);
    for operation in &recording.operations {
        if operation.end() <= sweep.at && 0 < operation.rows {
            continue;
        }
        sweep.gap(operation, end);
        sweep.operation(operation, end);
    }
    if recording.dropped == 0 {
        sweep.tail(end);
    }
    sweep.until(end, Cause::Unrecorded, None);
}

struct Sweep<'r, C> {
    sequence: &'r Sequence<'r>,
    recording: &'r Recording,
    /// The first of the moves into the scratchpad that was not complete when
    /// last looked at.
    next_load: usize,
    /// The first command that had no entry yet when last looked at.
    next_allocated: usize,
    fences: Forward<'r>,
    misses: Forward<'r>,
    arriving: Forward<'r>,
    only_outer: Forward<'r>,
    held: HeldForward<'r>,
    /// Everything before this cycle is charged; it only goes forward.
    at: u64,
    /// Instruction that waits in the gap looked at.
    waiting: Option<u64>,
    charges: &'r mut C,
}

impl<'r, C: Charges> Sweep<'r, C> {
    fn new(sequence: &'r Sequence<'r>, start: u64, charges: &'r mut C) -> Self {
        let commands = &sequence.recording.commands;
        let in_order = |two: &[RecordedCommand]| two[0].allocated <= two[1].blocked_from();
        debug_assert!(commands.windows(2).all(in_order));
        Self {
            sequence,
            recording: sequence.recording,
            next_load: 0,
            next_allocated: 0,
            fences: Forward::new(&sequence.recording.fences),
            misses: Forward::new(&sequence.misses),
            arriving: Forward::new(&sequence.arriving),
            only_outer: Forward::new(&sequence.only_outer),
            held: HeldForward::new(&sequence.held[0], &sequence.held[1]),
            at: start,
            waiting: None,
            charges,
        }
    }

    /// Returns the index of the move that completed in a cycle, the youngest
    /// of several. Waits for the array are not followed further back.
    fn completed_in(&self, cycle: u64) -> Option<usize> {
        let completed = &self.sequence.completed;
        let after = completed.partition_point(|(other, _)| *other <= cycle);
        let (other, idx) = *completed.get(after.checked_sub(1)?)?;
        (other == cycle).then_some(idx as usize)
    }

    /// Charges the cycles up to `end`, if any are left before it.
    fn until(&mut self, end: u64, cause: Cause, pc: Option<u64>) {
        if end <= self.at {
            return;
        }
        let waiting = self.waiting.filter(|waiting| Some(*waiting) != pc);
        let start = std::mem::replace(&mut self.at, end);
        self.charges.charge(Segment {
            start,
            end,
            cause,
            pc,
            waiting,
        });
    }

    /// Charges the cycles in which an operation is under way.
    fn operation(&mut self, operation: &RecordedOperation, end: u64) {
        self.waiting = None;
        let end = operation.end().min(end);
        let mut left = end.saturating_sub(self.at);
        let mut take = |cycles: u64| {
            let taken = cycles.min(left);
            left -= taken;
            taken
        };
        let rows = take(u64::from(operation.rows - operation.preload_rows));
        let alone = take(u64::from(operation.preload_rows));
        let full = take(u64::from(operation.full));
        let own = take((rows + alone) * u64::from(operation.pace - 1));
        let others = take(u64::MAX);
        let works = if operation.computes {
            Cause::Mesh
        } else {
            Cause::PreloadAlone
        };
        for (cycles, cause) in [
            (rows, works),
            (alone, Cause::PreloadAlone),
            (full, Cause::ArrayFull),
            (own, Cause::BankConflict),
        ] {
            self.until(self.at + cycles, cause, Some(operation.pc));
        }
        if 0 < others {
            let in_the_way = self.load_during(operation.start, operation.end());
            self.waiting = Some(operation.pc);
            let pc = in_the_way.unwrap_or(operation.pc);
            self.until(self.at + others, Cause::PortConflict, Some(pc));
        }
    }

    /// Returns the instruction of a move into the scratchpad that is under way
    /// during an operation.
    fn load_during(&mut self, start: u64, end: u64) -> Option<u64> {
        let commands = &self.recording.commands;
        let loads = &self.sequence.scratchpad_loads;
        // Moves in complete in order, operations too.
        while self.next_load < loads.len()
            && commands[loads[self.next_load] as usize].completed() <= start
        {
            self.next_load += 1;
        }
        let command = &commands[*loads.get(self.next_load)? as usize];
        (command.issued() < end).then_some(command.pc)
    }

    /// Charges the cycles before an operation.
    fn gap(&mut self, operation: &RecordedOperation, end: u64) {
        let end = operation.start.min(end);
        if end <= self.at {
            return;
        }
        self.waiting = Some(operation.pc);
        let partner = operation.partner.filter(|_| !operation.computes);
        for idx in operation.command.into_iter().chain(partner) {
            let command = &self.recording.commands[idx.place()];
            self.admission(idx.place(), end);
            self.dependency(command, end, 0);
            self.until(
                end.min(command.issued() + 1),
                Cause::Latency,
                Some(command.pc),
            );
        }
        let is_unknown = operation.command.or(partner).is_none();
        let rest = match (operation.rows, is_unknown) {
            (0, _) => Cause::ConfigDrain,
            (_, true) if 0 < self.recording.dropped => Cause::Unrecorded,
            (_, true) => Cause::Latency,
            (_, false) => Cause::Dependency,
        };
        self.until(end, rest, Some(operation.pc));
    }

    /// Charges the cycles until a command had its entry in the station.
    fn admission(&mut self, idx: usize, end: u64) {
        let commands = &self.recording.commands;
        let command = &commands[idx];
        let pc = Some(command.pc);
        let allocated = command.allocated.min(end);
        while self.at < allocated {
            let at = self.at;
            let others = &commands[self.next_allocated..=idx];
            self.next_allocated += others.partition_point(|it| it.allocated <= at);
            let mut others = commands[self.next_allocated..=idx].iter();
            let next = match others.find(|it| it.was_blocked()) {
                Some(it) if it.blocked_from() <= at => {
                    let cause = full_station::cause(it.unit);
                    self.until(it.allocated.min(allocated), cause, Some(it.pc));
                    continue;
                }
                Some(it) => it.blocked_from().min(allocated),
                None => allocated,
            };
            self.core(command, next.min(command.arrived()), pc);
            self.until(next, Cause::Latency, pc);
        }
    }

    /// Charges the cycles in which the core, or a loop unit, had not sent a command.
    fn core(&mut self, command: &RecordedCommand, end: u64, pc: Option<u64>) {
        if !command.unrolled {
            self.spent_by_core(end, Cause::CoreIssue, pc);
            return;
        }
        while self.at < end {
            let (held, until) = self.held.at(self.at, command.unit);
            let until = until.min(end);
            match held {
                Some((unit, pc)) => self.until(until, full_station::cause(unit), Some(pc)),
                None => self.spent_by_core(until, Cause::LoopUnit, pc),
            }
        }
    }

    fn spent_by_core(&mut self, end: u64, otherwise: Cause, pc: Option<u64>) {
        while self.at < end {
            let at = self.at;
            let fence = self.fences.covering(at);
            let miss = self.misses.covering(at);
            let (cause, until, pc) = match (fence, miss) {
                (Cover::Within(span), _) => {
                    let fence = Some(span.pc).filter(|pc| *pc != 0);
                    let waiting = self.waiting;
                    self.waiting = waiting.or(pc);
                    self.until(span.end.min(end), Cause::Fence, fence.or(pc));
                    self.waiting = waiting;
                    continue;
                }
                (Cover::Before(next), Cover::Within(span)) => {
                    (Cause::CacheMiss, span.end.min(next), pc)
                }
                (Cover::Before(fence), Cover::Before(miss)) => (otherwise, fence.min(miss), pc),
            };
            self.until(until.min(end), cause, pc);
        }
    }

    /// Charges the cycles in which a command in the station waited for another.
    fn dependency(&mut self, command: &RecordedCommand, end: u64, depth: u32) {
        let end = command.ready().min(end);
        if end <= self.at {
            return;
        }
        let Some((unit, pc)) = command.waited_for() else {
            self.until(end, Cause::Latency, Some(command.pc));
            return;
        };
        let other = self
            .completed_in(command.ready().saturating_sub(1))
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
            // What is to be changed is where the move goes.
            (Unit::Execute, _) if command.unit == Unit::Load => {
                self.until(end, Cause::RowsInUse, Some(command.pc));
            }
            (Unit::Execute, _) => self.until(end, Cause::Dependency, Some(pc)),
        }
    }

    /// Charges the cycles until a move is over.
    fn transfer(&mut self, idx: usize, end: u64, depth: u32) {
        let command = &self.recording.commands[idx];
        let pc = Some(command.pc);
        self.admission(idx, end);
        self.dependency(command, end, depth);
        self.until(end.min(command.issued() + 1), Cause::Latency, pc);
        let Action::Move { bytes, .. } = command.action else {
            self.until(end, Cause::Latency, pc);
            return;
        };
        if command.unit == Unit::Store {
            self.until(end, Cause::Store, pc);
            return;
        }
        if bytes == 0 {
            // Zeros are written row by row and come from nowhere.
            self.until(end, Cause::LoadBandwidth, pc);
            return;
        }
        // Moves in come in order. While bytes come in, its own or those before,
        // the port is what limits; else it is the way to memory and back.
        let at = self.at;
        let arriving = self.arriving.within(at, end);
        let outer = self.only_outer.within(at, end);
        let rest = end.saturating_sub(at) - (arriving + outer);
        for (cycles, cause) in [
            (rest, Cause::LoadLatency),
            (outer, Cause::LoadMemory),
            (arriving, Cause::LoadBandwidth),
        ] {
            self.until(self.at + cycles, cause, pc);
        }
    }

    /// Charges the cycles after the last operation.
    fn tail(&mut self, end: u64) {
        self.waiting = None;
        let commands = &self.recording.commands;
        let last = self.recording.last;
        let Some((completed, last)) = last.filter(|(completed, _)| self.at <= *completed) else {
            self.spent_by_core(end, Cause::CoreIssue, None);
            return;
        };
        let command = &commands[last];
        let done = (completed + 1).min(end);
        if command.unit == Unit::Execute {
            // The last rows are on their way through the array.
            self.until(done, Cause::Dependency, Some(command.pc));
        } else {
            self.transfer(last, done, 0);
        }
        // Bytes written are waited for beyond the completion of their command.
        let fence = self.fences.covering(self.at);
        if let (Unit::Store, Cover::Within(span)) = (command.unit, fence) {
            self.until(span.end.min(end), Cause::Store, Some(command.pc));
        }
        self.spent_by_core(end, Cause::CoreIssue, None);
    }
}

pub enum Cover {
    /// This span covers the cycle.
    Within(RecordedSpan),
    /// None does; the next one begins with this cycle.
    Before(u64),
}

/// Looks into disjoint spans in order, ever further on.
pub struct Forward<'s>(&'s [RecordedSpan]);

impl<'s> Forward<'s> {
    pub fn new(spans: &'s [RecordedSpan]) -> Self {
        debug_assert!(spans.windows(2).all(|two| two[0].end <= two[1].start));
        Self(spans)
    }

    /// Drops the spans that are over in cycle `at`, which must not be less than
    /// before.
    #[inline]
    fn advance(&mut self, at: u64) {
        while let Some((first, rest)) = self.0.split_first()
            && first.end <= at
        {
            self.0 = rest;
        }
    }

    /// Looks for the span around cycle `at`, which must not be less than before.
    #[inline]
    pub fn covering(&mut self, at: u64) -> Cover {
        self.advance(at);
        match self.0.first() {
            Some(span) if span.start <= at => Cover::Within(*span),
            Some(span) => Cover::Before(span.start),
            None => Cover::Before(u64::MAX),
        }
    }

    /// Returns the cycles of `start..end` that the spans cover. `start` must not
    /// be less than before.
    pub fn within(&mut self, start: u64, end: u64) -> u64 {
        self.advance(start);
        let spans = self.0.iter().take_while(|span| span.start < end);
        spans
            .map(|span| span.end.min(end) - span.start.max(start))
            .sum()
    }
}

/// Returns disjoint spans in order that cover the same cycles.
pub fn joined(spans: impl Iterator<Item = (u64, u64)>) -> Vec<RecordedSpan> {
    let mut joined: Vec<RecordedSpan> = Vec::with_capacity(spans.size_hint().1.unwrap_or(0));
    joined.extend(
        spans
            .filter(|(start, end)| start < end)
            .map(|(start, end)| RecordedSpan { start, end, pc: 0 }),
    );
    joined.sort_by_key(|span| span.start);
    joined.dedup_by(|span, last| {
        let touches = span.start <= last.end;
        if touches {
            last.end = last.end.max(span.end);
        }
        touches
    });
    joined
}

/// Returns the cycles of `start..end` in which at least one of `spans` lies.
pub fn covered(spans: impl Iterator<Item = (u64, u64)> + Clone, start: u64, end: u64) -> u64 {
    let clipped = spans.map(|(from, until)| (from.max(start), until.min(end)));
    covered_in_order(clipped.clone()).unwrap_or_else(|| {
        joined(clipped)
            .iter()
            .map(|span| span.end - span.start)
            .sum()
    })
}

/// The same for spans whose starts are in order; nothing if they are not.
fn covered_in_order(spans: impl Iterator<Item = (u64, u64)>) -> Option<u64> {
    let (mut sum, mut last_start, mut covered_until) = (0, 0, 0);
    for (start, end) in spans.filter(|(start, end)| start < end) {
        if start < last_start {
            return None;
        }
        sum += end.saturating_sub(start.max(covered_until));
        last_start = start;
        covered_until = end.max(covered_until);
    }
    Some(sum)
}
