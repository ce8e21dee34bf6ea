//! The vector unit: a queue behind the scalar pipeline, units that instructions keep busy, and
//! registers that become ready part by part.

use super::config::VectorTiming;
use super::hierarchy::Hierarchy;
use super::plans::{Plan, Plans};
use super::profile::{Cause, Profile};
use super::{PARTS, UNITS};
use crate::vector::VectorUnit;

/// Instructions that may wait at most; a power of two.
const MOST_SENT: usize = 64;

/// An instruction that has been sent to the unit: when it begins, and what it waits for.
#[derive(Clone, Copy, Debug)]
struct Sent {
    start: u64,
    pc: u64,
    cause: Cause,
}

/// Instructions that have been sent, in their order.
#[derive(Clone, Debug)]
struct Queue {
    sent: [Sent; MOST_SENT],
    first: usize,
    count: usize,
    most: usize,
}

impl Queue {
    fn new(most: usize) -> Self {
        let nothing = Sent {
            start: 0,
            pc: 0,
            cause: Cause::Issue,
        };
        Self {
            sent: [nothing; MOST_SENT],
            first: 0,
            count: 0,
            most: most.clamp(1, MOST_SENT),
        }
    }

    /// Takes the first one out if there is no place for another.
    #[inline(always)]
    fn make_place(&mut self) -> Option<Sent> {
        if self.count < self.most {
            return None;
        }
        let first = self.sent[self.first % MOST_SENT];
        self.first += 1;
        self.count -= 1;
        Some(first)
    }

    #[inline(always)]
    fn push(&mut self, sent: Sent) {
        self.sent[(self.first + self.count) % MOST_SENT] = sent;
        self.count += 1;
    }
}

/// What is known of an instruction when it issues.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VectorIssue {
    pub bits: u32,
    /// Of an access: the address and the stride.
    pub base: u64,
    pub stride: u64,
    pub pc: u64,
}

/// What an instruction is known to access in memory when it is translated: nothing, elements that
/// lie one behind the other, or elements one by one.
pub(crate) const NONE: u8 = 0;
pub(crate) const RUN: u8 = 1;
pub(crate) const ELEMENTS: u8 = 2;

/// Stands for no register where one is named.
const NO_REGISTER: u8 = 32;

/// The unit's timing.
#[derive(Clone, Debug)]
pub(super) struct Vectors {
    plans: Plans,
    pub course: Course,
}

/// What the unit is doing.
#[derive(Clone, Debug)]
pub(super) struct Course {
    dispatch: u64,
    in_order: bool,
    queue: Queue,
    /// When the last instruction began, by unit; all of them where instructions start in order.
    last: [u64; UNITS],
    /// When registers are ready; as many as a byte can name, so that no index needs a check.
    ready: [u64; 256],
    /// Registers that a load fills whose line was not in the first cache.
    late: u64,
    /// When all that has been sent is over.
    pub over: u64,
    /// From where to where the last store goes, and when it is over.
    store: (u64, u64, u64),
}

impl Vectors {
    pub fn new(timing: &VectorTiming, units: &mut Vec<String>) -> Self {
        Self {
            plans: Plans::new(timing, units),
            course: Course::new(timing),
        }
    }

    /// Sends an instruction that left the scalar pipeline at `issued`; returns when what it
    /// gives to a scalar register is ready.
    #[inline(always)]
    pub fn send<const ACCESS: u8>(
        &mut self,
        issue: VectorIssue,
        state: &VectorUnit,
        issued: u64,
        free: &mut [u64; UNITS],
        hierarchy: &mut Hierarchy,
    ) -> u64 {
        let plan = self.plans.of(issue.bits, state);
        self.course
            .follow::<ACCESS>(plan, issue, state, issued, free, hierarchy)
    }
}

impl Course {
    fn new(timing: &VectorTiming) -> Self {
        Self {
            dispatch: timing.dispatch * PARTS,
            in_order: timing.in_order,
            queue: Queue::new(timing.queue),
            last: [0; UNITS],
            ready: [0; 256],
            late: 0,
            over: 0,
            store: (0, 0, 0),
        }
    }

    /// Returns when a load of these bytes finds what the last store left.
    #[inline(always)]
    pub fn stored(&self, address: u64, bytes: u64) -> u64 {
        let (from, to, over) = self.store;
        if address < to && from < address + bytes {
            over
        } else {
            0
        }
    }

    /// Returns when an instruction that could issue at `now` leaves the scalar pipeline: when
    /// the queue has a place.
    #[inline(always)]
    pub fn place(&mut self, now: u64, profile: Option<&mut Profile>) -> u64 {
        let Some(first) = self.queue.make_place() else {
            return now;
        };
        if first.start > now
            && let Some(profile) = profile
        {
            profile.add(first.pc, first.cause, first.start - now);
        }
        first.start.max(now)
    }

    #[inline(always)]
    fn follow<const ACCESS: u8>(
        &mut self,
        plan: &Plan,
        issue: VectorIssue,
        state: &VectorUnit,
        issued: u64,
        free: &mut [u64; UNITS],
        hierarchy: &mut Hierarchy,
    ) -> u64 {
        let unit = usize::from(plan.unit) % UNITS;
        let order = if self.in_order { 0 } else { unit };
        let queued = (issued + self.dispatch).max(self.last[order] + PARTS);
        let mut start = queued;
        // The register that is waited for last; none is a load's.
        let mut awaited = NO_REGISTER;
        for idx in 0..plan.sources.len() {
            if idx >= usize::from(plan.source_count) {
                break;
            }
            let [first, last] = plan.sources[idx];
            let all = self.ready[usize::from(last)].saturating_sub(plan.passed[idx]);
            let by = self.ready[usize::from(first)].max(all);
            if by > start {
                start = by;
                awaited = first;
            }
        }
        let mut cause = match self.late >> awaited & 1 {
            1 => Cause::Cache,
            _ => Cause::Dependency,
        };
        if free[unit] > start {
            start = free[unit];
            cause = plan.cause;
        }
        let late = match ACCESS {
            NONE => 0,
            RUN => self.access_run(plan, issue, start, hierarchy) - start,
            _ => self.access_elements(plan, issue, state, start, hierarchy) - start,
        };
        free[unit] = start + plan.busy + if plan.is_store { late } else { 0 };
        self.last[order] = start;
        self.queue.push(Sent {
            start,
            pc: issue.pc,
            cause,
        });
        let ready = self.finish(plan, start + late, late > 0);
        self.over = self.over.max(ready);
        ready
    }

    /// Accesses memory from `start` on; returns when all lines are there, or a store goes on.
    #[inline(always)]
    fn access_run(
        &mut self,
        plan: &Plan,
        issue: VectorIssue,
        start: u64,
        hierarchy: &mut Hierarchy,
    ) -> u64 {
        let (from, bytes) = (
            issue.base,
            u64::from(plan.element_bytes) * u64::from(plan.vl),
        );
        if bytes == 0 {
            return start;
        }
        if plan.is_store {
            self.store = (from, from.wrapping_add(bytes), start + plan.busy);
            return hierarchy.store(from, bytes, start);
        }
        let there = hierarchy.load(from, bytes, start);
        self.behind_store(from, from.wrapping_add(bytes), there)
    }

    /// The same one element after the other.
    #[inline(never)]
    fn access_elements(
        &mut self,
        plan: &Plan,
        issue: VectorIssue,
        state: &VectorUnit,
        start: u64,
        hierarchy: &mut Hierarchy,
    ) -> u64 {
        let (bytes, vl) = (u64::from(plan.element_bytes), u64::from(plan.vl));
        if vl == 0 {
            return start;
        }
        let (mut from, mut to) = (issue.base, issue.base.wrapping_add(bytes * vl));
        let is_strided = issue.bits >> 26 & 3 == 2;
        let mut there = start;
        for idx in 0..vl {
            let offset = match is_strided {
                true => issue.stride.wrapping_mul(idx),
                false => state.index(issue.bits, idx as usize),
            };
            let address = issue.base.wrapping_add(offset);
            // By how much this one is later than it could be.
            let at = start + idx * PARTS;
            let done = match plan.is_store {
                true => hierarchy.store(address, bytes, at),
                false => hierarchy.load(address, bytes, at),
            };
            there = there.max(start + (done - at));
            from = from.min(address);
            to = to.max(address.wrapping_add(bytes));
        }
        if plan.is_store {
            self.store = (from, to, start + plan.busy);
            return there;
        }
        self.behind_store(from, to, there)
    }

    /// Returns when a load of what lies from `from` to `to`, all lines of which are `there`, finds
    /// what the last store left.
    #[inline(always)]
    fn behind_store(&self, from: u64, to: u64, there: u64) -> u64 {
        there.max(self.stored(from, to.saturating_sub(from)))
    }

    /// Makes the destination of what began at `start` ready; returns when it is.
    #[inline(always)]
    fn finish(&mut self, plan: &Plan, start: u64, is_late: bool) -> u64 {
        // Eight registers at most, none behind the last one; the first one if there is none, too,
        // where nobody looks.
        let mut ready = start + plan.ready_first;
        self.ready[usize::from(plan.first)] = ready;
        for idx in 1..plan.written {
            ready += plan.ready_step;
            self.ready[usize::from(plan.first.wrapping_add(idx))] = ready;
        }
        let bits = plan.written_bits;
        self.late = self.late & !bits | if is_late { bits } else { 0 };
        start + plan.ready_last
    }
}
