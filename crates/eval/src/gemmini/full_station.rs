//! Why a section of the reservation station was full.
//!
//! A section stays full until its oldest command completes, because all its
//! commands issue in order. So what the oldest one was doing is the reason.

use super::attribution::{joined, overlap, overlap_of_both};
use autocomp_gemmini::timing::{RecordedCommand, Recording, Unit};
use std::collections::HashMap;

/// Reasons for one full section.
#[derive(Debug, Default)]
pub(super) struct Reasons {
    /// Cycles in which the next command found no entry.
    pub(super) cycles: u64,
    /// Of these, cycles in which the oldest command was being worked on.
    pub(super) working: u64,
    /// Of those, cycles in which bytes came in.
    pub(super) arriving: u64,
    /// Of those, cycles in which none came and a read waited behind the L2.
    pub(super) outer: u64,
    /// Of these, cycles in which the oldest command waited for another unit.
    pub(super) waiting: u64,
    /// Cycles by instruction that found no entry.
    pub(super) blocked: HashMap<u64, u64>,
    /// Cycles by instruction that the oldest command waited for.
    pub(super) waited_for: HashMap<u64, u64>,
}

/// Returns the reasons for full entries of `unit` in `start..end`.
pub(super) fn reasons(recording: &Recording, unit: Unit, start: u64, end: u64) -> Reasons {
    let commands: Vec<&RecordedCommand> = recording
        .commands
        .iter()
        .filter(|command| command.unit == unit)
        .collect();
    let arriving = joined(recording.arriving.iter().map(|it| (it.start, it.end)));
    let outer = joined(recording.outer.iter().map(|it| (it.start, it.end)));
    let mut reasons = Reasons::default();
    let mut oldest = 0;
    for (full, span) in &recording.full {
        let (mut at, until) = (span.start.max(start), span.end.min(end));
        if *full != unit || until <= at {
            continue;
        }
        reasons.cycles += until - at;
        *reasons.blocked.entry(span.pc).or_default() += until - at;
        while at < until {
            while commands.get(oldest).is_some_and(|it| it.completed <= at) {
                oldest += 1;
            }
            let Some(command) = commands.get(oldest) else {
                break;
            };
            if at < command.issued {
                let step = command.issued.min(until);
                if let Some((_, pc)) = command.waited_for {
                    reasons.waiting += step - at;
                    *reasons.waited_for.entry(pc).or_default() += step - at;
                }
                at = step;
            } else {
                let step = command.completed.min(until);
                reasons.working += step - at;
                reasons.arriving += overlap(&arriving, at, step);
                reasons.outer +=
                    overlap(&outer, at, step) - overlap_of_both(&arriving, &outer, at, step);
                at = step;
            }
        }
    }
    reasons
}
