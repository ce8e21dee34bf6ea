//! A record of what the engine did when, for profiles and timelines.

use super::job::{Class, ExecuteKind, Job, RowRange, Work};
use super::station::{Entry, Origin, SLOTS, Slot};
use autocomp_riscv::LineAccess;

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

    pub(super) fn of(class: Class) -> Self {
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
        bytes: u64,
        /// First local row.
        row: u32,
        /// Whether that is a row of the accumulator.
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

/// The life of a command. Cycles are those of the core; 0 where the command
/// did not get that far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedCommand {
    /// Instruction address.
    pub pc: u64,
    /// Its controller.
    pub unit: Unit,
    /// What it does.
    pub action: Action,
    /// Whether a loop unit made it.
    pub unrolled: bool,
    /// Cycle at which it came to the reservation station.
    pub arrived: u64,
    /// Cycle at which it got an entry.
    pub allocated: u64,
    /// Cycle from which nothing was left to wait for.
    pub ready: u64,
    /// Cycle at which it went to its controller.
    pub issued: u64,
    /// Cycle at which it was complete.
    pub completed: u64,
    /// Controller and instruction address of the last command waited for.
    pub waited_for: Option<(Unit, u64)>,
    /// Local rows read or written.
    pub rows: [Option<TouchedRows>; 2],
}

/// An operation of the array: a multiplication, a preload, or both at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedOperation {
    /// Instruction address of the multiplication, or of the preload.
    pub pc: u64,
    /// Index of the command that begins it.
    pub command: Option<usize>,
    /// Index of the multiplication that had to be in sight to preload alone.
    pub partner: Option<usize>,
    /// First cycle.
    pub start: u64,
    /// Cycle after the last one.
    pub end: u64,
    /// Cycles in which a row was taken; 0 for a change of settings.
    pub rows: u64,
    /// Of these, cycles in which only a stationary operand was taken, because
    /// the multiplication beside it has fewer rows.
    pub preload_rows: u64,
    /// Cycles in which the array had no room.
    pub full: u64,
    /// Cycles per row because operands lie in one bank; 1 if they do not.
    pub pace: u64,
    /// Whether it multiplies (it only preloads otherwise).
    pub computes: bool,
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

/// In place of the index of a command that is not recorded.
const NOT_KNOWN: usize = usize::MAX;

/// What the engine did since recording began, up to a limit of commands.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// Commands in order of allocation.
    pub commands: Vec<RecordedCommand>,
    /// Operations in order of time.
    pub operations: Vec<RecordedOperation>,
    /// Stretches in which the reservation station had no entry for the next
    /// command, with the controller whose entries were used up.
    pub full: Vec<(Unit, RecordedSpan)>,
    /// Stretches in which the core waited in fences.
    pub fences: Vec<RecordedSpan>,
    /// Requests of the core's L1 caches.
    pub misses: Vec<RecordedMiss>,
    /// Stretches in which bytes of moves in came through the port.
    pub arriving: Vec<RecordedSpan>,
    /// Stretches from a read of a move in that missed the L2 to its first bytes.
    pub outer: Vec<RecordedSpan>,
    /// Commands beyond the limit, of which nothing is known.
    pub dropped: u64,
    limit: usize,
    /// Index of the command in each slot, or [`NOT_KNOWN`].
    slots: Vec<usize>,
    blocked_from: Option<u64>,
}

impl Recording {
    /// Makes an empty recording of at most `limit` commands.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            slots: vec![NOT_KNOWN; SLOTS],
            ..Self::default()
        }
    }

    /// Empties the recording for at most `limit` commands; its memory stays.
    pub fn restart(&mut self, limit: usize) {
        // Whoever adds a field has to say here what becomes of it.
        let Self {
            commands,
            operations,
            full,
            fences,
            misses,
            arriving,
            outer,
            dropped,
            limit: old_limit,
            slots,
            blocked_from,
        } = self;
        commands.clear();
        operations.clear();
        full.clear();
        fences.clear();
        misses.clear();
        arriving.clear();
        outer.clear();
        slots.clear();
        slots.resize(SLOTS, NOT_KNOWN);
        (*dropped, *old_limit, *blocked_from) = (0, limit, None);
    }

    /// The command in turn finds no free entry from cycle `at` on.
    pub(super) fn block(&mut self, at: u64) {
        self.blocked_from.get_or_insert(at);
    }

    #[inline(always)]
    pub(super) fn allocate(
        &mut self,
        slot: Slot,
        job: &Job,
        origin: Origin,
        pc: u64,
        arrived: u64,
        at: u64,
    ) {
        let unit = Unit::of(job.class);
        if let Some(start) = self.blocked_from.take() {
            self.end_block(unit, start, at, pc);
        }
        let idx = self.commands.len();
        if self.limit <= idx {
            self.slots[slot as usize] = NOT_KNOWN;
            self.dropped += 1;
            return;
        }
        // Copied from where it stands as a whole, not put together here.
        let (other, adds);
        let action = match &job.work {
            Work::Execute(execute) => {
                adds = execute.second.accumulates();
                match execute.kind {
                    ExecuteKind::Config => &Action::Config,
                    ExecuteKind::Preload => &Action::Preload,
                    ExecuteKind::Flip | ExecuteKind::Stay => &Action::Compute,
                }
            }
            work => {
                (other, adds) = moved(work);
                &other
            }
        };
        self.slots[slot as usize] = idx;
        self.commands.push(RecordedCommand {
            pc,
            unit,
            action: *action,
            unrolled: origin != Origin::Core,
            arrived: arrived.min(at),
            allocated: at,
            ready: 0,
            issued: 0,
            completed: 0,
            waited_for: None,
            rows: [
                touched(&job.a, job.a_is_dest, adds),
                touched(&job.b, false, false),
            ],
        });
    }

    /// The stretch is over in which there was no entry for the command in turn.
    #[inline(never)]
    fn end_block(&mut self, unit: Unit, start: u64, end: u64, pc: u64) {
        if start < end && self.full.len() < self.limit {
            // Written where it stays: a copy would wait for what it is made of.
            self.full.push((unit, RecordedSpan::default()));
            if let Some((_, span)) = self.full.last_mut() {
                (span.start, span.end, span.pc) = (start, end, pc);
            }
        }
    }

    pub(super) fn issue(&mut self, slot: Slot, entry: &Entry, at: u64) {
        if let Some(command) = self.command(slot) {
            command.ready = entry.ready;
            command.issued = at;
            command.waited_for = entry.waited_for.map(|(class, pc)| (Unit::of(class), pc));
            if entry.is_config && command.unit != Unit::Execute {
                command.completed = at;
            }
        }
    }

    pub(super) fn complete(&mut self, slot: Slot, at: u64) {
        if let Some(command) = self.command(slot) {
            command.completed = at;
        }
    }

    pub(super) fn operate(&mut self, operation: RecordedOperation) {
        if self.operations.len() < self.limit {
            self.operations.push(operation);
        }
    }

    pub(super) fn fence(&mut self, start: u64, end: u64) {
        if self.fences.len() < self.limit {
            self.fences.push(RecordedSpan { start, end, pc: 0 });
        }
    }

    pub(super) fn name_fence(&mut self, pc: u64) {
        if let Some(last) = self.fences.last_mut().filter(|span| span.pc == 0) {
            last.pc = pc;
        }
    }

    pub(super) fn miss(&mut self, start: u64, end: u64, outer: bool, access: LineAccess) {
        if start < end && self.misses.len() < self.limit {
            self.misses.push(RecordedMiss {
                start,
                end,
                fetch: access == LineAccess::Fetch,
                outer,
            });
        }
    }

    /// The port is given a read in cycle `at`, whose beats come from cycle
    /// `first` on.
    pub(super) fn arrive(&mut self, at: u64, first: u64, beats: u64, hit: bool) {
        if !hit {
            extend(&mut self.outer, at, first, self.limit);
        }
        extend(&mut self.arriving, first, first + beats, self.limit);
    }

    /// Returns the index of the command in a slot.
    pub(super) fn index(&self, slot: Option<Slot>) -> Option<usize> {
        let idx = *self.slots.get(slot? as usize)?;
        (idx != NOT_KNOWN).then_some(idx)
    }

    fn command(&mut self, slot: Slot) -> Option<&mut RecordedCommand> {
        self.commands.get_mut(*self.slots.get(slot as usize)?)
    }
}

/// Returns what a move or a configuration does, and whether it adds to what is
/// there.
#[inline(never)]
fn moved(work: &Work) -> (Action, bool) {
    match work {
        Work::Load(load) => {
            let action = Action::Move {
                address: load.dram,
                bytes: if load.zero {
                    0
                } else {
                    u64::from(load.row_bytes) * u64::from(load.rows)
                },
                row: load.row,
                accumulator: load.accumulator,
            };
            (action, load.accumulate)
        }
        Work::Store(store) => {
            let action = Action::Move {
                address: store.dram,
                bytes: if store.writes {
                    u64::from(store.bytes) * u64::from(store.rows)
                } else {
                    0
                },
                row: store.row,
                accumulator: store.accumulator,
            };
            (action, false)
        }
        Work::Execute(_) | Work::Config => (Action::Config, false),
    }
}

#[inline]
fn touched(rows: &RowRange, written: bool, adds: bool) -> Option<TouchedRows> {
    let (accumulator, first, count) = rows.rows()?;
    Some(TouchedRows {
        accumulator,
        first,
        count,
        written,
        adds: written && accumulator && adds,
    })
}

/// Adds a stretch to the last one if they touch, or behind it.
fn extend(spans: &mut Vec<RecordedSpan>, start: u64, end: u64, limit: usize) {
    let room = spans.len() < limit;
    match spans.last_mut() {
        Some(last) if last.start <= start && start <= last.end => last.end = last.end.max(end),
        _ if room => spans.push(RecordedSpan { start, end, pc: 0 }),
        _ => {}
    }
}
