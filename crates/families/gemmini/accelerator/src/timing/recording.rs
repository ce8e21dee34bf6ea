//! A record of what the engine did when, for profiles and timelines.

mod entries;

use super::job::{ExecuteKind, Job, RowRange, Work};
use super::station::{Entry, Origin, SLOTS, Slot};
use autocomp_riscv::LineAccess;
pub use entries::{
    Action, CommandIndex, RecordedCommand, RecordedMiss, RecordedOperation, RecordedSpan,
    TouchedRows, Unit,
};

/// Instructions whose operations are told apart while they are added up.
const MOST_JOINED: usize = 8;

/// What the engine did since recording began, up to a limit of commands.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// Commands in order of allocation.
    pub commands: Vec<RecordedCommand>,
    /// Places of the moves in and of the moves out among them, and of changes of
    /// their settings.
    pub moves: [Vec<u32>; 2],
    /// Cycle and place of the command that completed last, the youngest of several.
    pub last: Option<(u64, usize)>,
    /// Local rows that each command reads or writes, if that is wanted.
    pub rows: Vec<[Option<TouchedRows>; 2]>,
    /// Operations in order of time. Those of one instruction may be one, if the
    /// array goes on working between them and nothing is in the way of any of
    /// that: only sums are then known, and where all begins and ends.
    pub operations: Vec<RecordedOperation>,
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
    whole: bool,
    /// Place of the first of the last operations that others may be added to.
    joins_from: usize,
    /// Index of the command in each slot, if that is known.
    slots: Vec<Option<CommandIndex>>,
    blocked_from: Option<u64>,
}

impl Recording {
    /// Empties the recording for at most `limit` commands, with the local rows
    /// that they touch and every operation by itself if `whole`; its memory stays.
    pub(crate) fn restart(&mut self, limit: usize, whole: bool) {
        // Whoever adds a field has to say here what becomes of it.
        let Self {
            commands,
            moves,
            last,
            rows,
            operations,
            fences,
            misses,
            arriving,
            outer,
            dropped,
            limit: old_limit,
            whole: whole_before,
            joins_from,
            slots,
            blocked_from,
        } = self;
        commands.clear();
        moves.iter_mut().for_each(Vec::clear);
        rows.clear();
        operations.clear();
        fences.clear();
        misses.clear();
        arriving.clear();
        outer.clear();
        slots.clear();
        slots.resize(SLOTS, None);
        (*dropped, *old_limit, *blocked_from) = (0, limit, None);
        (*last, *whole_before, *joins_from) = (None, whole, 0);
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
        let blocked_from = self.blocked_from.take().unwrap_or(at);
        let idx = self.commands.len();
        let known = CommandIndex::new(idx).filter(|_| idx < self.limit);
        self.slots[slot as usize] = known;
        if known.is_none() {
            self.dropped += 1;
            return;
        }
        let (action, adds) = match &job.work {
            Work::Execute(execute) => {
                let action = match execute.kind {
                    ExecuteKind::Config => Action::Config,
                    ExecuteKind::Preload => Action::Preload,
                    ExecuteKind::Flip | ExecuteKind::Stay => Action::Compute,
                };
                (action, execute.second.accumulates())
            }
            work => {
                self.moves[usize::from(unit == Unit::Store)].push(idx as u32);
                moved(work)
            }
        };
        // Written where it stays: a copy would wait for what it is made of.
        self.commands.push(RecordedCommand::EMPTY);
        if let Some(command) = self.commands.last_mut() {
            command.pc = pc;
            command.allocated = at;
            command.action = action;
            command.unit = unit;
            command.unrolled = origin != Origin::Core;
            command.arrived = short(at.saturating_sub(arrived));
            command.blocked = short(at.saturating_sub(blocked_from));
        }
        if self.whole {
            self.rows.push([
                touched(&job.a, job.a_is_dest, adds),
                touched(&job.b, false, false),
            ]);
        }
    }

    pub(super) fn issue(&mut self, slot: Slot, entry: &Entry, at: u64) {
        let Some(command) = self.command(slot) else {
            return;
        };
        command.ready = command.since(entry.ready);
        command.issued = command.since(at);
        if let Some((class, pc)) = entry.waited_for {
            command.waited_unit = Some(Unit::of(class));
            command.waited_pc = pc;
        }
        if entry.is_config && command.unit != Unit::Execute {
            self.complete(slot, at);
        }
    }

    pub(super) fn complete(&mut self, slot: Slot, at: u64) {
        let Some(idx) = self.index(Some(slot)).map(CommandIndex::place) else {
            return;
        };
        let command = &mut self.commands[idx];
        command.completed = command.since(at);
        let end = (at, idx);
        if self.last.is_none_or(|last| last < end) {
            self.last = Some(end);
        }
    }

    pub(crate) fn operate(&mut self, operation: RecordedOperation) {
        let known = self.operations.len();
        let joins = !self.whole && operation.is_alone();
        let follows = self.operations.last().map(RecordedOperation::end) == Some(operation.start);
        if joins && follows && self.joins_from < known {
            let mut last = self.operations[self.joins_from..].iter_mut();
            if last.any(|it| it.join(&operation)) {
                last.for_each(|it| it.start += u64::from(operation.cycles));
                return;
            }
        }
        if !(joins && follows) || MOST_JOINED <= known - self.joins_from.min(known) {
            self.joins_from = known + usize::from(!joins);
        }
        if known < self.limit {
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
    pub(super) fn index(&self, slot: Option<Slot>) -> Option<CommandIndex> {
        *self.slots.get(slot? as usize)?
    }

    fn command(&mut self, slot: Slot) -> Option<&mut RecordedCommand> {
        let idx = self.index(Some(slot))?;
        self.commands.get_mut(idx.place())
    }
}

/// Returns a number of cycles as one that takes less room; nothing in a call
/// lasts as long as the largest.
pub(super) fn short(cycles: u64) -> u32 {
    u32::try_from(cycles).unwrap_or(u32::MAX)
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
                    load.row_bytes.saturating_mul(load.rows)
                },
                accumulator: load.accumulator,
            };
            (action, load.accumulate)
        }
        Work::Store(store) => {
            let action = Action::Move {
                address: store.dram,
                bytes: if store.writes {
                    store.bytes.saturating_mul(store.rows)
                } else {
                    0
                },
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
