//! The reservation station: which command may leave for its controller when.

use super::job::{Class, ExecuteKind, Job, RowRange, Work};

const SECTION: usize = 16;
/// Slots of the three sections; bit `class * 16 + index` of a dependency mask.
pub(super) const SLOTS: usize = 3 * SECTION;

/// Number of a slot over all sections.
pub(super) type Slot = u8;

/// Which loop unit a command came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Core,
    Matmul,
    Conv,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) pc: u64,
    pub(super) origin: Origin,
    pub(super) is_config: bool,
    /// An older command of the section had not issued at allocation.
    queued: bool,
    pub(super) allocated: u64,
    /// Cycle from which no dependency is left; known at issue.
    pub(super) ready: u64,
    pub(super) issued: u64,
    /// Section and instruction address of the last dependency.
    pub(super) waited_for: Option<(Class, u64)>,
    /// Cycle at which the command could have been allocated but for a full
    /// section, and that section.
    pub(super) blocked: Option<Class>,
    pub(super) work: Work,
}

#[derive(Clone, Debug)]
pub(super) struct Station {
    entries: [Entry; SLOTS],
    /// Rows of the first and the second operand.
    ranges: [(RowRange, RowRange); SLOTS],
    /// What covers at least the first operands of all loads and of all stores.
    hulls: [RowRange; 2],
    /// Commands whose first operand is a destination.
    writes: u64,
    /// Commands that each one waits for. That commands of a section issue in
    /// order is not among it, unless stores wait for each other's completion.
    deps: [u64; SLOTS],
    /// Commands that wait for each one.
    dependents: [u64; SLOTS],
    valid: u64,
    /// Cycle from which a free slot can be used again.
    free_from: [u64; SLOTS],
    sizes: [usize; 3],
    /// Slots in order of allocation that have not issued yet.
    order: [Order; 3],
    ordered_stores: bool,
    pub(super) last_issue: [u64; 3],
}

/// Slots of a section, oldest first.
#[derive(Clone, Copy, Debug, Default)]
struct Order {
    slots: [Slot; SECTION],
    first: usize,
    len: usize,
}

impl Order {
    #[inline]
    fn front(&self) -> Option<Slot> {
        (self.len > 0).then(|| self.slots[self.first % SECTION])
    }

    /// Adds a slot; there are never more of them than the section has.
    #[inline]
    fn push(&mut self, slot: Slot) {
        self.slots[(self.first + self.len) % SECTION] = slot;
        self.len += 1;
    }

    #[inline]
    fn pop(&mut self) {
        self.first = (self.first + 1) % SECTION;
        self.len -= 1;
    }
}

#[inline]
pub(super) fn class_of(slot: Slot) -> Class {
    match slot as usize / SECTION {
        0 => Class::Load,
        1 => Class::Store,
        _ => Class::Execute,
    }
}

#[inline]
fn section(class: Class) -> u64 {
    0xffff << (class as usize * SECTION)
}

/// Returns the positions of the bits that are set.
#[inline]
fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (mask != 0).then(|| {
            let bit = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            bit
        })
    })
}

impl Station {
    pub(super) fn new(sizes: [usize; 3], ordered_stores: bool) -> Self {
        let empty = Entry {
            pc: 0,
            origin: Origin::Core,
            is_config: false,
            queued: false,
            allocated: 0,
            ready: 0,
            issued: 0,
            waited_for: None,
            blocked: None,
            work: Work::Config,
        };
        Self {
            entries: [empty; SLOTS],
            ranges: [(RowRange::default(), RowRange::default()); SLOTS],
            hulls: [RowRange::default(); 2],
            writes: 0,
            deps: [0; SLOTS],
            dependents: [0; SLOTS],
            valid: 0,
            free_from: [0; SLOTS],
            sizes: sizes.map(|size| size.clamp(1, SECTION)),
            order: [Order::default(); 3],
            ordered_stores,
            last_issue: [0; 3],
        }
    }

    /// Returns the command in a slot.
    #[inline]
    pub(super) fn entry(&self, slot: Slot) -> &Entry {
        &self.entries[slot as usize]
    }

    /// Returns the number of slots in use.
    #[inline]
    pub(super) fn commands(&self) -> u32 {
        self.valid.count_ones()
    }

    /// Returns the number of commands of each section that have issued and are
    /// not complete.
    pub(super) fn at_controllers(&self) -> [u32; 3] {
        std::array::from_fn(|class| {
            let commands = (self.valid >> (class * SECTION) & 0xffff).count_ones();
            commands - self.order[class].len as u32
        })
    }

    /// Returns whether the youngest command of the array's that is not a
    /// configuration is a preload. One that has left is not: it waits for its
    /// multiplication.
    pub(super) fn preload_is_last(&self) -> bool {
        let executes = bits(self.valid & section(Class::Execute));
        let kind = |slot: &usize| match &self.entries[*slot].work {
            Work::Execute(execute) => Some(execute.kind),
            _ => None,
        };
        executes
            .filter(|slot| kind(slot) != Some(ExecuteKind::Config))
            .max_by_key(|slot| self.entries[*slot].allocated)
            .is_some_and(|slot| kind(&slot) == Some(ExecuteKind::Preload))
    }

    /// Returns the number of slots in use in each section.
    pub(super) fn occupied(&self) -> [u64; 3] {
        [Class::Load, Class::Store, Class::Execute]
            .map(|class| (self.valid & section(class)).count_ones().into())
    }

    /// Returns the cycle, `cycle` or later, at which a slot is free, or `None`
    /// if that waits for a completion.
    #[inline]
    pub(super) fn room(&self, class: Class, cycle: u64) -> Option<(Slot, u64)> {
        let base = class as usize * SECTION;
        let all = ((1u64 << self.sizes[class as usize]) - 1) << base;
        let mut best: Option<(Slot, u64)> = None;
        for slot in bits(all & !self.valid) {
            let at = self.free_from[slot].max(cycle);
            if at == cycle {
                return Some((slot as Slot, at));
            }
            if best.is_none_or(|(_, other)| at < other) {
                best = Some((slot as Slot, at));
            }
        }
        best
    }

    /// Puts a command into a free slot; returns whether it can issue from the
    /// next cycle on, as far as commands are concerned.
    #[inline(always)]
    pub(super) fn allocate(
        &mut self,
        slot: Slot,
        job: &Job,
        pc: u64,
        origin: Origin,
        cycle: u64,
        blocked: Option<Class>,
    ) -> bool {
        let deps = self.dependencies(job);
        let bit = 1u64 << slot;
        for other in bits(deps) {
            self.dependents[other] |= bit;
        }
        let slot_idx = slot as usize;
        self.deps[slot_idx] = deps;
        self.dependents[slot_idx] = 0;
        self.ranges[slot_idx] = (job.a, job.b);
        if let Some(hull) = self.hulls.get_mut(job.class as usize) {
            hull.cover(&job.a);
        }
        self.writes = self.writes & !bit | u64::from(job.a_is_dest) << slot;
        self.valid |= bit;
        let order = &mut self.order[job.class as usize];
        self.entries[slot_idx] = Entry {
            pc,
            origin,
            is_config: job.is_config,
            queued: order.len > 0,
            allocated: cycle,
            ready: cycle + 1,
            issued: 0,
            waited_for: None,
            blocked,
            work: job.work,
        };
        order.push(slot);
        order.len == 1 && deps == 0
    }

    /// Returns the commands of the other sections, and of its own if they are
    /// waited for until they complete, that a new command has to wait for.
    #[inline(always)]
    fn dependencies(&mut self, job: &Job) -> u64 {
        let (a, b) = (&job.a, &job.b);
        if job.class == Class::Execute {
            if job.is_config {
                return 0;
            }
            let on_loads = self.moves_over(Class::Load, a, b);
            return if job.a_is_dest {
                on_loads | self.moves_over(Class::Store, a, &RowRange::default())
            } else {
                on_loads
            };
        }
        self.dependencies_of_move(job)
    }

    /// Returns the commands that a move or its configuration has to wait for.
    #[inline(never)]
    fn dependencies_of_move(&self, job: &Job) -> u64 {
        let mut deps = 0;
        if job.class == Class::Store && self.ordered_stores {
            deps = self.valid & section(Class::Store);
        }
        if job.is_config {
            return deps;
        }
        let among = |mask: u64, conflict: &dyn Fn(&(RowRange, RowRange)) -> bool| {
            bits(self.valid & mask)
                .filter(|other| conflict(&self.ranges[*other]))
                .fold(0, |found, other| found | 1 << other)
        };
        let (loads, stores, executes) = (
            section(Class::Load),
            section(Class::Store),
            section(Class::Execute),
        );
        let a = &job.a;
        if job.class == Class::Load {
            deps | among(executes, &|other| {
                a.overlaps(&other.0) | a.overlaps(&other.1)
            }) | among(stores, &|other| a.overlaps(&other.0))
        } else {
            deps | among(loads, &|other| a.overlaps(&other.0))
                | among(executes & self.writes, &|other| a.overlaps(&other.0))
        }
    }

    /// Returns the loads or stores that touch either of two ranges.
    #[inline]
    fn moves_over(&mut self, class: Class, a: &RowRange, b: &RowRange) -> u64 {
        let hull = &self.hulls[class as usize];
        if !(hull.meets(a) | hull.meets(b)) {
            return 0;
        }
        self.moves_found(class, a, b)
    }

    /// Looks for the loads or stores that touch either of two ranges one by one.
    #[inline(never)]
    fn moves_found(&mut self, class: Class, a: &RowRange, b: &RowRange) -> u64 {
        let (mut found, mut hull) = (0, RowRange::default());
        for slot in bits(self.valid & section(class)) {
            let other = &self.ranges[slot].0;
            hull.cover(other);
            found |= u64::from(a.overlaps(other) | b.overlaps(other)) << slot;
        }
        // Commands that are complete are in it no longer.
        self.hulls[class as usize] = hull;
        found
    }

    /// Returns the cycle at which the oldest unissued command of a class can
    /// issue, or `None` if that waits for another command.
    #[inline]
    pub(super) fn next_issue(&self, class: Class) -> Option<u64> {
        let slot = self.order[class as usize].front()?;
        if self.deps[slot as usize] != 0 {
            return None;
        }
        let ready = self.entry(slot).ready;
        Some(ready.max(self.last_issue[class as usize] + 1))
    }

    /// Issues the oldest command of a class; returns its slot.
    #[inline]
    pub(super) fn issue(&mut self, class: Class, cycle: u64) -> Slot {
        let order = &mut self.order[class as usize];
        let slot = order.front().expect("a command to issue");
        order.pop();
        let last = self.last_issue[class as usize];
        self.last_issue[class as usize] = cycle;
        let entry = &mut self.entries[slot as usize];
        entry.issued = cycle;
        if entry.queued {
            entry.ready = entry.ready.max(last + 1);
        }
        if entry.is_config && class != Class::Execute {
            self.release(slot, cycle);
        }
        slot
    }

    /// Completes a command; returns whether another one waited for it.
    #[inline]
    pub(super) fn complete(&mut self, slot: Slot, cycle: u64) -> bool {
        self.release(slot, cycle)
    }

    #[inline]
    fn release(&mut self, slot: Slot, cycle: u64) -> bool {
        self.valid &= !(1 << slot);
        self.free_from[slot as usize] = cycle + 1;
        let waiting = std::mem::take(&mut self.dependents[slot as usize]);
        if waiting == 0 {
            return false;
        }
        let class = class_of(slot);
        let pc = self.entries[slot as usize].pc;
        for other in bits(waiting) {
            self.deps[other] &= !(1 << slot);
            let entry = &mut self.entries[other];
            entry.ready = entry.ready.max(cycle + 1);
            if class_of(other as Slot) != class {
                entry.waited_for = Some((class, pc));
            }
        }
        true
    }
}
