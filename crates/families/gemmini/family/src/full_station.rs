//! Why a section of the reservation station was full.
//!
//! A section stays full until its oldest command completes, because all its
//! commands issue in order. So what the oldest one was doing is the reason.

use super::attribution::Forward;
use super::sequence::Sequence;
use crate::cause::Cause;
use autocomp_bare_metal::PcMap;
use autocomp_gemmini::timing::Unit;

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
    pub(super) blocked: PcMap<u64, u64>,
    /// Cycles by instruction that the oldest command waited for.
    pub(super) waited_for: PcMap<u64, u64>,
}

/// Returns the cause that cycles lost to full entries of a unit are charged to.
pub(super) fn cause(unit: Unit) -> Cause {
    match unit {
        Unit::Load => Cause::LoadEntries,
        Unit::Store => Cause::StoreEntries,
        Unit::Execute => Cause::ExecuteEntries,
    }
}

/// Returns the reasons for full entries of `unit` in `start..end`.
pub(super) fn reasons(sequence: &Sequence<'_>, unit: Unit, start: u64, end: u64) -> Reasons {
    let mut commands = sequence.of(unit).peekable();
    let mut arriving = Forward::new(&sequence.arriving);
    let mut outer = Forward::new(&sequence.only_outer);
    let (mut reasons, mut counted) = (Reasons::default(), start);
    for blocked in sequence.refused(unit) {
        let (mut at, until) = (blocked.start.max(counted), blocked.end.min(end));
        if until <= at {
            continue;
        }
        counted = until;
        reasons.cycles += until - at;
        *reasons.blocked.entry(blocked.pc).or_default() += until - at;
        while at < until {
            while commands.next_if(|it| it.completed() <= at).is_some() {}
            let Some(command) = commands.peek() else {
                break;
            };
            if at < command.issued() {
                let step = command.issued().min(until);
                if let Some((_, pc)) = command.waited_for() {
                    reasons.waiting += step - at;
                    *reasons.waited_for.entry(pc).or_default() += step - at;
                }
                at = step;
            } else {
                let step = command.completed().min(until);
                reasons.working += step - at;
                reasons.arriving += arriving.within(at, step);
                reasons.outer += outer.within(at, step);
                at = step;
            }
        }
    }
    reasons
}
