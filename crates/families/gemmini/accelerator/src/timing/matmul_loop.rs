//! The matrix loop unit: five generators that turn one command into moves,
//! preloads and multiplications.
//!
//! Stepped cycle by cycle while anything in it can move.

use super::frontend::{Pending, UNROLLED};
use super::station::Origin;
use crate::loop_ws::MatmulLoop;
use autocomp_riscv_machine::Ring;

/// Stages of one of the two loops.
pub(super) const LD_A: usize = 0;
pub(super) const LD_B: usize = 1;
pub(super) const LD_D: usize = 2;
pub(super) const EX: usize = 3;
pub(super) const ST: usize = 4;
/// One bit for each generator.
const ALL: u8 = 0b1_1111;
const LOADS: u8 = 1 << LD_A | 1 << LD_B | 1 << LD_D;
/// Generators of each section.
const OF_CLASS: [u8; 3] = [LOADS, 1 << ST, 1 << EX];

/// A loop that the unit works on. Masks have one bit for each generator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) plan: MatmulLoop,
    pub(super) pc: u64,
    started: u8,
    completed: u8,
    running: bool,
    /// Generators whose operand has no place in memory.
    absent: u8,
}

impl Slot {
    /// Returns which generators have not begun with the loop and may.
    #[inline]
    fn may_start(&self) -> u8 {
        let mut may = LOADS;
        if self.started & LOADS == LOADS {
            may |= 1 << EX;
        }
        if self.plan.run.is_resadd || self.started >> EX & 1 != 0 {
            may |= 1 << ST;
        }
        may & !self.started
    }
}

/// One generator: the loop it works for and where it is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Generator {
    pub(super) of: usize,
    pub(super) i: u32,
    pub(super) j: u32,
    pub(super) k: u32,
    /// A multiplication follows (execute).
    pub(super) second: bool,
}

/// What a unit in which nothing moves waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waits {
    /// Something may move in the next cycle.
    No,
    /// Nothing moves before a command can leave.
    ForRoom,
    /// Nothing moves before a command of a section of which as many as may be
    /// are under way is complete, or a loop starts.
    ForCommands,
}

#[derive(Clone, Debug)]
pub(super) struct MatmulUnit {
    pub(super) slots: [Option<Slot>; 2],
    pub(super) head: usize,
    pub(super) generators: [Generator; 5],
    /// Generators that have commands to send, one bit each.
    busy: u8,
    /// No generator can begin or end before one falls idle or a loop starts.
    settled: bool,
    waits: Waits,
    /// The generator that sends next if nothing begins, ends or completes
    /// before, as far as that is known.
    upcoming: Option<usize>,
    /// Commands sent and not completed, by section.
    outstanding: [u32; 3],
    limits: [u32; 3],
    /// Generators of whose section as many commands as may be are under way.
    full: u8,
    pub(super) block_len: u32,
    pub(super) block_len_acc: u32,
    pub(super) element_bytes: u64,
    pub(super) acc_bytes: u64,
}

impl MatmulUnit {
    pub(super) fn new(
        limits: [u32; 3],
        block_len: u32,
        block_len_acc: u32,
        element_bytes: u32,
        acc_bytes: u32,
    ) -> Self {
        Self {
            slots: [None; 2],
            head: 0,
            generators: [Generator::default(); 5],
            busy: 0,
            settled: false,
            waits: Waits::No,
            upcoming: None,
            outstanding: [0; 3],
            limits,
            full: (0..3).fold(0, |full, class| match limits[class] {
                0 => full | OF_CLASS[class],
                _ => full,
            }),
            block_len: block_len.max(1),
            block_len_acc: block_len_acc.max(1),
            element_bytes: u64::from(element_bytes),
            acc_bytes: u64::from(acc_bytes),
        }
    }

    #[inline]
    pub(super) fn is_active(&self) -> bool {
        self.slots[0].is_some() || self.slots[1].is_some()
    }

    #[inline]
    pub(super) fn has_room(&self) -> bool {
        self.slots[0].is_none() || self.slots[1].is_none()
    }

    /// Takes a loop; effective from the next cycle on.
    pub(super) fn start(&mut self, plan: MatmulLoop, pc: u64) {
        let slot = if self.slots[self.head].is_some() {
            1 - self.head
        } else {
            self.head
        };
        let mut absent = 0;
        for (generator, operand) in [(LD_A, 0), (LD_B, 1), (LD_D, 2), (ST, 3)] {
            absent |= u8::from(plan.parameters.dram[operand] == 0) << generator;
        }
        self.slots[slot] = Some(Slot {
            plan,
            pc,
            started: 0,
            completed: 0,
            running: false,
            absent,
        });
        self.settled = false;
        self.waits = Waits::No;
        self.upcoming = None;
    }

    /// Notes that a command that the unit has sent is complete.
    #[inline]
    pub(super) fn command_done(&mut self, class: usize) {
        let outstanding = self.outstanding[class].saturating_sub(1);
        self.outstanding[class] = outstanding;
        if self.full & OF_CLASS[class] != 0 {
            // One of a higher priority may send instead.
            self.upcoming = None;
            if self.waits == Waits::ForCommands {
                self.waits = Waits::No;
            }
            if outstanding < self.limits[class] {
                self.full &= !OF_CLASS[class];
            }
        }
    }

    /// Returns whether a step does nothing, whether or not a command can leave.
    #[inline]
    pub(super) fn waits_for_commands(&self) -> bool {
        self.waits == Waits::ForCommands
    }

    /// Returns whether a step does nothing as long as it did so before: no loop
    /// starts, and no room is made for a command.
    #[inline]
    pub(super) fn waits(&self) -> bool {
        self.waits != Waits::No
    }

    /// Notes that the queue is full in the next cycle; returns whether the unit
    /// can then do nothing.
    #[inline]
    pub(super) fn waits_for_room(&mut self) -> bool {
        if self.settled && self.waits == Waits::No {
            self.waits = Waits::ForRoom;
        }
        self.settled
    }

    /// Does one cycle; a command can leave for `queue` if there is `room`, and is
    /// seen there in cycle `since`. Returns whether one has left and whether the
    /// unit has to look again in the next cycle.
    pub(super) fn step(
        &mut self,
        room: bool,
        queue: &mut Ring<Pending, UNROLLED>,
        since: u64,
    ) -> (bool, bool) {
        match self.waits {
            Waits::ForCommands => return (false, false),
            Waits::ForRoom if !room => return (false, false),
            _ => {}
        }
        // Beginnings and ends look at the state before this cycle.
        let (busy, was_settled) = (self.busy, self.settled);
        self.settled = true;
        let next = if !room {
            None
        } else if let Some(upcoming) = self.upcoming.take() {
            Some(upcoming)
        } else {
            let absent = if was_settled { 0 } else { self.absent() };
            self.next_to_send(busy & !absent)
        };
        if let Some(generator) = next {
            // Written where it stays, not field by field and then copied.
            let out = queue.next_place();
            (out.since, out.origin) = (since, Origin::Matmul);
            self.emit(generator, out);
        }
        let emitted = next.is_some();
        if !was_settled {
            // What has no place in memory is there already, or stays.
            let absent = busy & self.absent();
            if absent != 0 {
                self.busy &= !absent;
                self.settled = false;
            }
            if self.begin_and_end(!busy & ALL) {
                self.settled = false;
            }
        }
        self.waits = if !self.settled {
            Waits::No
        } else if emitted {
            self.upcoming = self.next_to_send(self.busy);
            match self.upcoming {
                Some(_) => Waits::No,
                None => Waits::ForCommands,
            }
        } else if room {
            Waits::ForCommands
        } else {
            Waits::ForRoom
        };
        (emitted, self.waits == Waits::No)
    }

    /// Returns the generators whose operand has no place in memory.
    #[inline]
    fn absent(&self) -> u8 {
        let of = |slot: usize| self.slots[slot].as_ref().map_or(0, |slot| slot.absent);
        let (first, second) = (of(0), of(1));
        if first | second == 0 {
            return 0;
        }
        let theirs = self.working_on(1);
        first & !theirs | second & theirs
    }

    /// Returns the generators that work on a loop or have done so last.
    fn working_on(&self, slot: usize) -> u8 {
        (0..5)
            .filter(|generator| self.generators[*generator].of == slot)
            .fold(0, |mask, generator| mask | 1 << generator)
    }

    /// Lets the generators that were `idle` end their work on a loop and begin
    /// with the next; returns whether anything changed.
    fn begin_and_end(&mut self, idle: u8) -> bool {
        let mut changed = false;
        let head = self.head;
        let second = self.working_on(1);
        let theirs = [!second, second];
        let starting = [head, 1 - head].map(|of| {
            let Some(slot) = &self.slots[of] else {
                return 0;
            };
            // The loop at the head goes first.
            let free = match &self.slots[head] {
                Some(first) if of != head => first.started,
                _ => ALL,
            };
            idle & free & slot.may_start()
        });
        let done = self.slots[head]
            .as_ref()
            .is_some_and(|slot| slot.running && slot.completed == ALL);
        for (slot, theirs) in self.slots.iter_mut().zip(theirs) {
            if let Some(slot) = slot
                && slot.running
            {
                let ended = idle & theirs & slot.started & !slot.completed;
                slot.completed |= ended;
                changed |= ended != 0;
            }
        }
        for (of, starting) in [head, 1 - head].into_iter().zip(starting) {
            if starting == 0 {
                continue;
            }
            changed = true;
            let slot = self.slots[of].as_mut().expect("a loop that starts");
            slot.started |= starting;
            slot.running = true;
            // The sum of two operands has no depth, no bias and no product.
            let resadd = slot.plan.run.is_resadd;
            let [bound_i, bound_j, bound_k] = slot.plan.parameters.bounds;
            let empty = bound_i == 0 || bound_j == 0 || (bound_k == 0 && !resadd);
            for generator in (0..5).filter(|generator| starting >> generator & 1 != 0) {
                let skipped = resadd && (generator == EX || generator == LD_D);
                if !empty && !skipped {
                    self.busy |= 1 << generator;
                }
                self.generators[generator] = Generator {
                    of,
                    ..Generator::default()
                };
            }
        }
        if done {
            self.slots[head] = None;
            self.head = 1 - head;
            changed = true;
        }
        changed
    }

    #[inline]
    pub(super) fn is_busy(&self, generator: usize) -> bool {
        self.busy >> generator & 1 != 0
    }

    /// Notes that a generator has sent its last command.
    #[inline]
    pub(super) fn falls_idle(&mut self, generator: usize) {
        self.busy &= !(1 << generator);
        self.settled = false;
    }

    /// Returns the loop that a busy generator works on.
    #[inline]
    pub(super) fn loop_of(&self, generator: usize) -> &Slot {
        self.slots[self.generators[generator].of]
            .as_ref()
            .expect("loop of a busy generator")
    }

    /// Returns the generator with the highest priority of those that can send a
    /// command. Those in `moving` have one.
    #[inline]
    fn next_to_send(&self, moving: u8) -> Option<usize> {
        let can = moving & !self.full;
        if can >> ST & 1 != 0 && self.store_is_due() {
            Some(ST)
        } else if can >> EX & 1 != 0 && self.execute_is_due() {
            Some(EX)
        } else if can >> LD_D & 1 != 0 {
            Some(LD_D)
        } else if can & LOADS != 0 {
            self.choose_load().filter(|choice| can >> choice & 1 != 0)
        } else {
            None
        }
    }

    /// Lets a generator send its next command to a place in the queue.
    fn emit(&mut self, generator: usize, out: &mut Pending) {
        let class = match generator {
            ST => {
                self.emit_store(out);
                1
            }
            EX => {
                self.emit_execute(out);
                2
            }
            LD_D => {
                self.emit_d(out);
                0
            }
            _ => {
                self.emit_ab(generator, out);
                0
            }
        };
        self.outstanding[class] += 1;
        if self.outstanding[class] >= self.limits[class] {
            self.full |= OF_CLASS[class];
        }
    }

    /// Chooses between the loads of A and B.
    fn choose_load(&self) -> Option<usize> {
        if self.busy & (1 << LD_A | 1 << LD_B) == 0 {
            return None;
        }
        let (a, b) = (&self.generators[LD_A], &self.generators[LD_B]);
        let (a_busy, b_busy) = (self.is_busy(LD_A), self.is_busy(LD_B));
        let newest = self.slots[1 - self.head]
            .as_ref()
            .or(self.slots[self.head].as_ref());
        let take_b = if newest.is_some_and(|slot| slot.plan.run.is_resadd) {
            // All of A comes before all of B.
            !a_busy || (a.of != b.of && b.of == self.head)
        } else if a.of != b.of && (a.of == self.head || b.of == self.head) {
            b.of == self.head
        } else if a_busy && b_busy {
            a.k > b.k || (b.k == 0 && b.j == 0)
        } else {
            !a_busy
        };
        Some(if take_b { LD_B } else { LD_A })
    }
}
