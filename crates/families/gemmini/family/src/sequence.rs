//! A recording with its parts in order, made once for all that look into it.

use super::attribution::{covered, joined};
use super::held_loops::{Held, held};
use autocomp_gemmini::timing::{Action, RecordedCommand, RecordedSpan, Recording, Unit};
use std::borrow::Cow;

/// A recording, and where things are in it.
pub(super) struct Sequence<'r> {
    pub(super) recording: &'r Recording,
    /// Cycle of completion and index of moves, in this order, and of changes of
    /// their settings.
    pub(super) completed: Vec<(u64, u32)>,
    /// Indices of moves into the scratchpad, in order of allocation.
    pub(super) scratchpad_loads: Vec<u32>,
    /// Requests of the core's caches, disjoint.
    pub(super) misses: Cow<'r, [RecordedSpan]>,
    /// Bytes of moves in come through the port; disjoint.
    pub(super) arriving: Cow<'r, [RecordedSpan]>,
    /// Reads wait behind the L2; disjoint.
    pub(super) outer: Cow<'r, [RecordedSpan]>,
    /// They do, and no bytes come through the port; disjoint.
    pub(super) only_outer: Vec<RecordedSpan>,
    /// A loop unit could send no move in, and none out.
    pub(super) held: [Vec<Held>; 2],
}

impl<'r> Sequence<'r> {
    /// Goes through the moves of `recording` once, and hands each to `visit`. The
    /// station has so many entries for moves in and out as `entries` says.
    pub(super) fn new(
        recording: &'r Recording,
        entries: [u32; 2],
        mut visit: impl FnMut(&RecordedCommand),
    ) -> Self {
        let mut scratchpad_loads = Vec::new();
        let [loads, stores] = &recording.moves;
        let mut completed = Vec::with_capacity(loads.len() + stores.len());
        for idx in loads.iter().chain(stores) {
            let command = &recording.commands[*idx as usize];
            visit(command);
            completed.push((command.completed(), *idx));
            let to_scratchpad = matches!(
                command.action,
                Action::Move {
                    accumulator: false,
                    ..
                }
            );
            if to_scratchpad && command.unit == Unit::Load {
                scratchpad_loads.push(*idx);
            }
        }
        // Those of each unit lie nearly in order.
        completed.sort();
        let held = [(loads, entries[0]), (stores, entries[1])].map(|(moves, entries)| {
            let commands = moves.iter().map(|idx| &recording.commands[*idx as usize]);
            held(commands, entries as usize)
        });
        let misses = recording.misses.iter();
        let (arriving, outer) = (disjoint(&recording.arriving), disjoint(&recording.outer));
        Self {
            recording,
            completed,
            scratchpad_loads,
            misses: Cow::Owned(joined(misses.map(|it| (it.start, it.end)))),
            only_outer: without(&outer, &arriving),
            arriving,
            outer,
            held,
        }
    }

    /// Returns the stretches in which a command of a unit found no entry, with its
    /// instruction, or in which a loop unit did not send it for that reason; in order.
    pub(super) fn refused(&self, unit: Unit) -> Vec<RecordedSpan> {
        let by_loop = match unit {
            Unit::Load => self.held[0].as_slice(),
            Unit::Store => &self.held[1],
            Unit::Execute => &[],
        };
        let span = |(start, end, pc)| RecordedSpan { start, end, pc };
        let blocked = self.of(unit).filter(|it| it.was_blocked());
        let blocked = blocked.map(|it| (it.blocked_from(), it.allocated, it.pc));
        let by_loop = by_loop.iter().map(|it| (it.start, it.end, it.pc));
        let mut refused: Vec<RecordedSpan> = blocked.chain(by_loop).map(span).collect();
        refused.sort_by_key(|it| it.start);
        refused
    }

    /// Returns the commands of a unit in order of allocation.
    pub(super) fn of(&self, unit: Unit) -> Box<dyn Iterator<Item = &'r RecordedCommand> + 'r> {
        let commands = &self.recording.commands;
        let moves = match unit {
            Unit::Load => &self.recording.moves[0],
            Unit::Store => &self.recording.moves[1],
            Unit::Execute => {
                return Box::new(commands.iter().filter(|it| it.unit == Unit::Execute));
            }
        };
        Box::new(moves.iter().map(|idx| &commands[*idx as usize]))
    }

    /// Returns the cycles for which commands of a unit held their entries,
    /// added up, and the number of commands.
    pub(super) fn held(&self, unit: Unit) -> (u64, u64) {
        let commands = self.of(unit).map(|it| it.completed() - it.allocated);
        commands.fold((0, 0), |(sum, count), cycles| (sum + cycles, count + 1))
    }

    /// Returns the cycles of `start..end` in which a unit is busy.
    pub(super) fn busy(&self, unit: Unit, start: u64, end: u64) -> u64 {
        match unit {
            Unit::Execute => {
                let operations = self.recording.operations.iter();
                covered(operations.map(|it| (it.start, it.end())), start, end)
            }
            _ => {
                let moves: Vec<&RecordedCommand> = self.of(unit).collect();
                covered(
                    moves.iter().map(|it| (it.issued(), it.completed())),
                    start,
                    end,
                )
            }
        }
    }
}

/// Returns disjoint spans in order that cover the same cycles.
fn disjoint(spans: &[RecordedSpan]) -> Cow<'_, [RecordedSpan]> {
    let is_disjoint = spans.windows(2).all(|two| two[0].end < two[1].start)
        && spans.iter().all(|span| span.start < span.end);
    if is_disjoint {
        Cow::Borrowed(spans)
    } else {
        Cow::Owned(joined(spans.iter().map(|it| (it.start, it.end))))
    }
}

/// Returns what is left of disjoint spans in order where `others` are taken
/// away, which are so too.
pub fn without(spans: &[RecordedSpan], others: &[RecordedSpan]) -> Vec<RecordedSpan> {
    let mut left = Vec::new();
    let mut others = others.iter().peekable();
    for span in spans {
        let mut at = span.start;
        while others.next_if(|other| other.end <= at).is_some() {}
        while at < span.end {
            let until = others.peek().map_or(u64::MAX, |other| other.start);
            let end = until.min(span.end);
            if at < end {
                let (start, pc) = (at, span.pc);
                left.push(RecordedSpan { start, end, pc });
            }
            at = match others.peek() {
                Some(other) if other.start < span.end => other.end,
                _ => span.end,
            };
            if at < span.end {
                others.next();
            }
        }
    }
    left
}
