//! What loop units do: the instructions that they make commands of, and when one could
//! send no move, because as many of its moves were under way as the reservation station
//! has entries for.
//!
//! The unit counts its own commands and stops before the station is full, so that
//! none of them is ever refused an entry. For the kernel it is the same: all entries
//! are in use, and the unit is not what is slow.

#![allow(missing_docs, reason = "public for the suite alone, see `inside`")]

use autocomp_gemmini::timing::{RecordedCommand, Unit};

/// Units whose commands are moves.
const MOVERS: [Unit; 2] = [Unit::Load, Unit::Store];

/// Neighbouring cycles in which a loop unit could not send a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    pub start: u64,
    pub end: u64,
    /// Instruction of the move that could not be sent.
    pub pc: u64,
    /// Whether the move that it waits for is under way itself, and not waiting.
    pub working: bool,
}

/// Returns the addresses of the instructions that a loop unit made some of `commands` of,
/// in order.
pub(super) fn loop_instructions(commands: &[RecordedCommand]) -> Vec<u64> {
    let made = commands.iter().filter(|it| it.unrolled);
    let mut addresses: Vec<u64> = made.map(|it| it.pc).collect();
    // Most neighbours are of one loop, so that few are left to be sorted.
    addresses.dedup();
    addresses.sort_unstable();
    addresses.dedup();
    addresses
}

/// Returns the cycles in which a loop unit could send none of `commands`, which
/// are those of one unit in order, because `entries` of them were under way.
pub(super) fn held<'c>(
    commands: impl Iterator<Item = &'c RecordedCommand>,
    entries: usize,
) -> Vec<Held> {
    let mut held = Vec::new();
    // Commands of the loop unit that are not complete: no more than there are entries.
    let mut under_way: Vec<&RecordedCommand> = Vec::with_capacity(entries + 1);
    let mut at = 0;
    for command in commands.filter(|it| it.unrolled) {
        under_way.retain(|it| at < it.completed());
        if entries <= under_way.len() {
            under_way.sort_by_key(|it| it.completed());
            let awaited = under_way[under_way.len() - entries];
            let end = awaited.completed().min(command.arrived());
            let issued = awaited.issued().clamp(at, end.max(at));
            for (start, end, working) in [(at, issued, false), (issued, end, true)] {
                if start < end {
                    let pc = command.pc;
                    held.push(Held {
                        start,
                        end,
                        pc,
                        working,
                    });
                }
            }
        }
        at = at.max(command.arrived());
        under_way.push(command);
    }
    held
}

/// Looks into what held moves in and moves out, ever further on.
pub struct HeldForward<'h>([&'h [Held]; 2]);

impl<'h> HeldForward<'h> {
    pub fn new(loads: &'h [Held], stores: &'h [Held]) -> Self {
        Self([loads, stores])
    }

    /// Returns the unit whose moves cannot be sent in cycle `at`, which must not be
    /// less than before, with the instruction, and the cycle up to which that holds.
    /// If it is so of both, moves that only wait for others are not the reason, and
    /// then those of `own` are it.
    pub fn at(&mut self, at: u64, own: Unit) -> (Option<(Unit, u64)>, u64) {
        let mut until = u64::MAX;
        let mut found: Option<(bool, bool, Unit, u64)> = None;
        for (spans, unit) in self.0.iter_mut().zip(MOVERS) {
            while let Some((first, rest)) = spans.split_first()
                && first.end <= at
            {
                *spans = rest;
            }
            match spans.first() {
                Some(span) if span.start <= at => {
                    until = until.min(span.end);
                    let this = (span.working, unit == own, unit, span.pc);
                    if found.is_none_or(|that| (that.0, that.1) < (this.0, this.1)) {
                        found = Some(this);
                    }
                }
                Some(span) => until = until.min(span.start),
                None => {}
            }
        }
        (found.map(|(_, _, unit, pc)| (unit, pc)), until)
    }
}
