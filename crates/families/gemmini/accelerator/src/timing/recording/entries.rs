//! What a recording holds: the lives of commands, operations, stretches of time.

use super::short;
use crate::timing::job::Class;
use std::num::NonZeroU32;

/// Controller that a command goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// Moves in.
    Load,
    /// Moves out.
    Store,
    /// The array.
    Execute,
}

impl Unit {
    /// All units.
    pub const ALL: [Self; 3] = [Self::Load, Self::Store, Self::Execute];

    pub(in crate::timing) fn of(class: Class) -> Self {
        match class {
            Class::Load => Self::Load,
            Class::Store => Self::Store,
            Class::Execute => Self::Execute,
        }
    }
}

/// What a recorded command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Changes settings.
    Config,
    /// Moves bytes between memory and local rows.
    Move {
        /// Address of the first byte in memory; 0 if zeros are moved in.
        address: u64,
        /// Useful bytes.
        bytes: u32,
        /// Whether its local rows are those of the accumulator.
        accumulator: bool,
    },
    /// Brings the stationary operand into the array.
    Preload,
    /// Multiplies.
    Compute,
}

/// Local rows that a command reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TouchedRows {
    /// Whether they are rows of the accumulator.
    pub accumulator: bool,
    /// First row.
    pub first: u32,
    /// Number of rows; those between the blocks of a wide move are counted too.
    pub count: u32,
    /// Whether they are written (else read).
    pub written: bool,
    /// Whether what is written is added to what is there.
    pub adds: bool,
}

/// The life of a command. Of a call there are tens of thousands, so it is kept
/// small: 64 bytes. A step that the command did not get to is given the cycle in
/// which it got its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedCommand {
    /// Instruction address.
    pub pc: u64,
    /// Cycle at which it got an entry.
    pub allocated: u64,
    /// What it does.
    pub action: Action,
    /// Its controller.
    pub unit: Unit,
    /// Whether a loop unit made it.
    pub unrolled: bool,
    /// Controller of the last command waited for, and its instruction address.
    pub(super) waited_unit: Option<Unit>,
    pub(super) waited_pc: u64,
    /// Cycles before the allocation, and those of them without a free entry.
    pub(super) arrived: u32,
    pub(super) blocked: u32,
    /// Cycles after it.
    pub(super) ready: u32,
    pub(super) issued: u32,
    pub(super) completed: u32,
}

impl RecordedCommand {
    pub(super) const EMPTY: Self = Self {
        pc: 0,
        allocated: 0,
        action: Action::Config,
        unit: Unit::Execute,
        unrolled: false,
        waited_unit: None,
        waited_pc: 0,
        arrived: 0,
        blocked: 0,
        ready: 0,
        issued: 0,
        completed: 0,
    };

    /// Returns the cycle at which it came to the reservation station.
    #[must_use]
    pub fn arrived(&self) -> u64 {
        self.allocated - u64::from(self.arrived)
    }

    /// Returns the cycle from which on it was its turn but no entry of its
    /// controller was free; that of the allocation if it found one at once.
    #[must_use]
    pub fn blocked_from(&self) -> u64 {
        self.allocated - u64::from(self.blocked)
    }

    /// Returns whether it found no free entry when its turn came.
    #[must_use]
    pub fn was_blocked(&self) -> bool {
        0 < self.blocked
    }

    /// Returns the cycle from which nothing was left to wait for.
    #[must_use]
    pub fn ready(&self) -> u64 {
        self.allocated + u64::from(self.ready)
    }

    /// Returns the cycle at which it went to its controller.
    #[must_use]
    pub fn issued(&self) -> u64 {
        self.allocated + u64::from(self.issued)
    }

    /// Returns the cycle at which it was complete.
    #[must_use]
    pub fn completed(&self) -> u64 {
        self.allocated + u64::from(self.completed)
    }

    /// Returns controller and instruction address of the last command waited for.
    #[must_use]
    pub fn waited_for(&self) -> Option<(Unit, u64)> {
        Some((self.waited_unit?, self.waited_pc))
    }

    /// Returns the cycles from its allocation to cycle `at`.
    pub(super) fn since(&self, at: u64) -> u32 {
        short(at.saturating_sub(self.allocated))
    }
}

/// An operation of the array: a multiplication, a preload, or both at once; or
/// several of one instruction ([`Recording::operations`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedOperation {
    /// Instruction address of the multiplication, or of the preload.
    pub pc: u64,
    /// First cycle.
    pub start: u64,
    /// Cycles from that to the one after the last.
    pub cycles: u32,
    /// Index of the command that begins it.
    pub command: Option<CommandIndex>,
    /// Index of the multiplication that had to be in sight to preload alone.
    pub partner: Option<CommandIndex>,
    /// Cycles in which the array had no room.
    pub full: u32,
    /// Cycles in which a row was taken; 0 for a change of settings.
    pub rows: u32,
    /// Of these, cycles in which only a stationary operand was taken, because
    /// the multiplication beside it has fewer rows.
    pub preload_rows: u32,
    /// Cycles per row because operands lie in one bank; 1 if they do not.
    pub pace: u16,
    /// Whether it multiplies (it only preloads otherwise).
    pub computes: bool,
}

impl RecordedOperation {
    /// Returns the cycle after the last one.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.start + u64::from(self.cycles)
    }

    /// Returns whether all its cycles are its own: nothing else was in the way.
    pub fn is_alone(&self) -> bool {
        let own = self.rows.saturating_mul(u32::from(self.pace));
        0 < self.rows && self.cycles == own.saturating_add(self.full)
    }

    /// Adds one that is alone to this one, if they are alike.
    pub(super) fn join(&mut self, other: &Self) -> bool {
        let alike = (self.pc, self.pace, self.computes) == (other.pc, other.pace, other.computes);
        if alike {
            self.cycles = self.cycles.saturating_add(other.cycles);
            self.full = self.full.saturating_add(other.full);
            self.rows = self.rows.saturating_add(other.rows);
            self.preload_rows = self.preload_rows.saturating_add(other.preload_rows);
        }
        alike
    }
}

/// Index of a recorded command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandIndex(NonZeroU32);

impl CommandIndex {
    pub(super) fn new(idx: usize) -> Option<Self> {
        let number = u32::try_from(idx).ok()?.checked_add(1)?;
        NonZeroU32::new(number).map(Self)
    }

    /// Returns the place in [`Recording::commands`].
    #[must_use]
    pub fn place(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// A stretch of time in which something was held up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordedSpan {
    /// First cycle.
    pub start: u64,
    /// Cycle after the last one.
    pub end: u64,
    /// Instruction address, 0 if unknown.
    pub pc: u64,
}

/// A request of one of the core's L1 caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedMiss {
    /// Cycle of the request.
    pub start: u64,
    /// Cycle at which the line is usable.
    pub end: u64,
    /// Whether it is a line of code.
    pub fetch: bool,
    /// Whether the line came from the memory behind the L2.
    pub outer: bool,
}
