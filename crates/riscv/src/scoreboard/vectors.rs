//! The vector unit: a queue behind the scalar pipeline, units that instructions keep busy, and
//! registers that become ready part by part.

use super::config::VectorTiming;
use super::hierarchy::Hierarchy;
use super::plans::{Plan, Plans};
use super::profile::{Cause, Profile};
use super::{PARTS, UNITS};
use crate::vector::VectorUnit;
use std::collections::VecDeque;

/// An instruction that has been sent to the unit: when it begins, and what it waits for.
#[derive(Clone, Copy, Debug)]
struct Sent {
    start: u64,
    pc: u64,
    cause: Cause,
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

/// The unit's timing.
#[derive(Clone, Debug)]
pub(super) struct Vectors {
    plans: Plans,
    pub course: Course,
}

/// What the unit is doing.
#[derive(Clone, Debug)]
pub(super) struct Course {
    most_sent: usize,
    dispatch: u64,
    in_order: bool,
    sent: VecDeque<Sent>,
    /// When the last instruction began, by unit; all of them where instructions start in order.
    last: [u64; UNITS],
    /// When registers are ready.
    ready: [u64; 32],
    /// Registers that a load fills whose line was not in the first cache.
    late: u32,
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
    pub fn send(
        &mut self,
        issue: VectorIssue,
        state: &VectorUnit,
        issued: u64,
        free: &mut [u64; UNITS],
        hierarchy: &mut Hierarchy,
    ) -> u64 {
        let plan = self.plans.of(issue.bits, state);
        self.course
            .follow(plan, issue, state, issued, free, hierarchy)
    }
}

impl Course {
    fn new(timing: &VectorTiming) -> Self {
        Self {
            most_sent: timing.queue.max(1),
            dispatch: timing.dispatch * PARTS,
            in_order: timing.in_order,
            sent: VecDeque::with_capacity(timing.queue + 1),
            last: [0; UNITS],
            ready: [0; 32],
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
        if self.sent.len() < self.most_sent {
            return now;
        }
        let Some(first) = self.sent.pop_front() else {
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
    fn follow(
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
        let mut is_late = false;
        let sources = plan.sources.iter().zip(&plan.passed);
        for (&(first, last), passed) in sources.take(plan.source_count.into()) {
            let [first, last] = [first, last].map(|register| usize::from(register) & 31);
            let by = self.ready[first].max(self.ready[last].saturating_sub(*passed));
            if by > start {
                start = by;
                is_late = self.late >> first & 1 == 1;
            }
        }
        let mut cause = match is_late {
            true => Cause::Cache,
            false => Cause::Dependency,
        };
        if free[unit] > start {
            start = free[unit];
            cause = match (plan.is_access, plan.is_by_element) {
                (false, _) => Cause::Unit,
                (true, false) => Cause::MemoryPort,
                (true, true) => Cause::Elements,
            };
        }
        let mut late = 0;
        if plan.is_access {
            late = self.access(plan, issue, state, start, hierarchy) - start;
        }
        free[unit] = start + plan.busy + if plan.is_store { late } else { 0 };
        self.last[order] = start;
        self.sent.push_back(Sent {
            start,
            pc: issue.pc,
            cause,
        });
        let ready = self.finish(plan, start + late, late > 0);
        self.over = self.over.max(ready);
        ready
    }

    /// Accesses memory from `start` on; returns when all lines are there, or a store goes on.
    fn access(
        &mut self,
        plan: &Plan,
        issue: VectorIssue,
        state: &VectorUnit,
        start: u64,
        hierarchy: &mut Hierarchy,
    ) -> u64 {
        let (bytes, vl) = (u64::from(plan.element_bytes), u64::from(plan.vl));
        let mut one = |address: u64, bytes: u64, at: u64| {
            if plan.is_store {
                hierarchy.store(address, bytes, at)
            } else {
                hierarchy.load(address, bytes, at)
            }
        };
        if vl == 0 {
            return start;
        }
        let (mut from, mut to) = (issue.base, issue.base.wrapping_add(bytes * vl));
        let mode = issue.bits >> 26 & 3;
        let mut there = start;
        if mode == 0 {
            there = one(from, bytes * vl, start);
        } else {
            for idx in 0..vl {
                let offset = match mode {
                    2 => issue.stride.wrapping_mul(idx),
                    _ => state.index(issue.bits, idx as usize),
                };
                let address = issue.base.wrapping_add(offset);
                // By how much this one is later than it could be.
                let at = start + idx * PARTS;
                there = there.max(start + (one(address, bytes, at) - at));
                from = from.min(address);
                to = to.max(address.wrapping_add(bytes));
            }
        }
        if plan.is_store {
            self.store = (from, to, start + plan.busy);
        } else {
            there = there.max(self.stored(from, to.saturating_sub(from)));
        }
        there
    }

    /// Makes the destination of what began at `start` ready; returns when it is.
    #[inline(always)]
    fn finish(&mut self, plan: &Plan, start: u64, is_late: bool) -> u64 {
        let last = start + plan.ready_last;
        // Eight registers at most, none behind the last one.
        let (first, count) = (usize::from(plan.first), usize::from(plan.written));
        let written = self.ready.get_mut(first..first + count);
        let mut ready = last;
        for register in written.unwrap_or_default().iter_mut().rev() {
            *register = ready;
            ready -= plan.ready_step;
        }
        let bits = (((1u64 << count) - 1) << first) as u32;
        self.late = match is_late {
            true => self.late | bits,
            false => self.late & !bits,
        };
        last
    }
}
