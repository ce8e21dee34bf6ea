//! The reservation station: which command may leave for its controller when.

use std::collections::VecDeque;

use super::job::{Class, Job, RowRange, Work};

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
    pub(super) work: Work,
    a: RowRange,
    a_is_dest: bool,
    b: RowRange,
    deps: u64,
    pub(super) allocated: u64,
    /// Cycle from which no dependency is left.
    pub(super) ready: u64,
    pub(super) issued: u64,
    /// Section and instruction address of the last dependency.
    pub(super) waited_for: Option<(Class, u64)>,
    /// Cycle at which the command could have been allocated but for a full
    /// section, and that section.
    pub(super) blocked: Option<Class>,
}

#[derive(Clone, Debug)]
pub(super) struct Station {
    entries: Vec<Option<Entry>>,
    valid: u64,
    unissued: u64,
    /// Cycle from which a free slot can be used again.
    free_from: [u64; SLOTS],
    sizes: [usize; 3],
    /// Slots in order of allocation that have not issued yet.
    order: [VecDeque<Slot>; 3],
    ordered_stores: bool,
    pub(super) last_issue: [u64; 3],
}

pub(super) fn class_of(slot: Slot) -> Class {
    match slot as usize / SECTION {
        0 => Class::Load,
        1 => Class::Store,
        _ => Class::Execute,
    }
}

fn section(class: Class) -> u64 {
    0xffff << (class as usize * SECTION)
}

impl Station {
    pub(super) fn new(sizes: [usize; 3], ordered_stores: bool) -> Self {
        Self {
            entries: vec![None; SLOTS],
            valid: 0,
            unissued: 0,
            free_from: [0; SLOTS],
            sizes: sizes.map(|size| size.clamp(1, SECTION)),
            order: std::array::from_fn(|_| VecDeque::with_capacity(SECTION)),
            ordered_stores,
            last_issue: [0; 3],
        }
    }

    #[inline]
    pub(super) fn entry(&self, slot: Slot) -> &Entry {
        self.entries[slot as usize].as_ref().expect("slot in use")
    }

    /// Returns the number of slots in use in each section.
    pub(super) fn occupied(&self) -> [u64; 3] {
        [Class::Load, Class::Store, Class::Execute]
            .map(|class| (self.valid & section(class)).count_ones().into())
    }

    /// Returns the cycle, `cycle` or later, at which a slot is free, or `None`
    /// if that waits for a completion.
    pub(super) fn room(&self, class: Class, cycle: u64) -> Option<(Slot, u64)> {
        let base = class as usize * SECTION;
        let mut best: Option<(Slot, u64)> = None;
        for slot in base..base + self.sizes[class as usize] {
            if self.valid >> slot & 1 == 0 {
                let at = self.free_from[slot].max(cycle);
                if at == cycle {
                    return Some((slot as Slot, at));
                }
                if best.is_none_or(|(_, other)| at < other) {
                    best = Some((slot as Slot, at));
                }
            }
        }
        best
    }

    /// Puts a command into a free slot.
    pub(super) fn allocate(
        &mut self,
        slot: Slot,
        job: &Job,
        pc: u64,
        origin: Origin,
        cycle: u64,
        blocked: Option<Class>,
    ) {
        let mut deps = 0u64;
        let mut rest = self.valid;
        let same = section(job.class);
        // Same class: in order of issue.
        deps |= self.unissued & same;
        if job.class == Class::Store && self.ordered_stores {
            deps |= self.valid & same;
        }
        rest &= !same;
        if !job.is_config {
            while rest != 0 {
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                let other = self.entries[bit as usize].as_ref().expect("valid slot");
                let conflict = match (job.class, class_of(bit as Slot)) {
                    (Class::Load, Class::Execute) => {
                        job.a.overlaps(&other.a) || job.a.overlaps(&other.b)
                    }
                    (Class::Load, _) | (Class::Store, Class::Load) => job.a.overlaps(&other.a),
                    (Class::Execute, Class::Load) => {
                        job.a.overlaps(&other.a) || job.b.overlaps(&other.a)
                    }
                    (Class::Execute, _) => job.a_is_dest && job.a.overlaps(&other.a),
                    (Class::Store, _) => other.a_is_dest && job.a.overlaps(&other.a),
                };
                if conflict {
                    deps |= 1 << bit;
                }
            }
        }
        self.entries[slot as usize] = Some(Entry {
            pc,
            origin,
            is_config: job.is_config,
            work: job.work,
            a: job.a,
            a_is_dest: job.a_is_dest,
            b: job.b,
            deps,
            allocated: cycle,
            ready: cycle + 1,
            issued: 0,
            waited_for: None,
            blocked,
        });
        self.valid |= 1 << slot;
        self.unissued |= 1 << slot;
        self.order[job.class as usize].push_back(slot);
    }

    /// Returns the cycle at which the oldest unissued command of a class can
    /// issue, or `None` if that waits for another command.
    #[inline]
    pub(super) fn next_issue(&self, class: Class) -> Option<u64> {
        let slot = *self.order[class as usize].front()?;
        let entry = self.entry(slot);
        // A dependency of the same class is on an older command, which has
        // issued by the time this one is the oldest.
        if entry.deps != 0 {
            return None;
        }
        Some(
            entry
                .ready
                .max(entry.allocated + 1)
                .max(self.last_issue[class as usize] + 1),
        )
    }

    /// Issues the oldest command of a class; returns its slot.
    pub(super) fn issue(&mut self, class: Class, cycle: u64) -> Slot {
        let slot = self.order[class as usize]
            .pop_front()
            .expect("a command to issue");
        self.last_issue[class as usize] = cycle;
        self.unissued &= !(1 << slot);
        let entry = self.entries[slot as usize].as_mut().expect("slot in use");
        entry.issued = cycle;
        let completes = entry.is_config && class != Class::Execute;
        if completes {
            self.release(slot, cycle);
        } else if !(class == Class::Store && self.ordered_stores) {
            self.clear(slot, cycle, section(class));
        }
        slot
    }

    /// Completes a command.
    pub(super) fn complete(&mut self, slot: Slot, cycle: u64) {
        self.release(slot, cycle);
    }

    fn release(&mut self, slot: Slot, cycle: u64) {
        self.valid &= !(1 << slot);
        self.free_from[slot as usize] = cycle + 1;
        self.clear(slot, cycle, u64::MAX);
    }

    fn clear(&mut self, slot: Slot, cycle: u64, among: u64) {
        let class = class_of(slot);
        let pc = self.entries[slot as usize]
            .as_ref()
            .expect("slot in use")
            .pc;
        let mut rest = self.unissued & among;
        while rest != 0 {
            let bit = rest.trailing_zeros();
            rest &= rest - 1;
            let entry = self.entries[bit as usize].as_mut().expect("valid slot");
            if entry.deps >> slot & 1 != 0 {
                entry.deps &= !(1 << slot);
                entry.ready = entry.ready.max(cycle + 1);
                if class_of(bit as Slot) != class {
                    entry.waited_for = Some((class, pc));
                }
            }
        }
    }
}
