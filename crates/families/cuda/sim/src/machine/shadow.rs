//! Who used which bytes: races and reads of what nobody wrote.

use super::precedence::{Mark, Precedence, Who};
use crate::decode::Meant;

/// The number that stands for several blocks.
pub(crate) const SEVERAL: u32 = u32::MAX;

/// The earlier one of two uses that meet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Met {
    /// A thread of it: its number in its block.
    pub(crate) thread: u32,
    /// Its block, if that is another one.
    pub(crate) block: Option<u32>,
    /// Whether it wrote.
    pub(crate) wrote: bool,
}

/// How a use is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    /// Atomic, or volatile: others of this kind may use the same bytes at once.
    Strong,
    /// A write of a copy that is on its way from now on.
    Begun,
    /// The same when it has landed.
    Landed,
    /// A read of what never changes during a launch.
    Constant,
}

impl From<Meant> for Kind {
    fn from(meant: Meant) -> Self {
        match meant {
            Meant::Plain => Self::Plain,
            Meant::Strong => Self::Strong,
            Meant::Constant => Self::Constant,
        }
    }
}

/// Uses of one kind of some bytes: those of the latest time that nothing orders before a later
/// one.
#[derive(Clone, Copy, Debug, Default)]
struct Uses {
    mark: Mark,
    /// The block, or several; nothing if `mark` is empty.
    block: u32,
    /// Number of the list of further marks, of earlier times; 0 if there are none.
    more: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    writes: Uses,
    reads: Uses,
    is_strong: bool,
    are_reads_strong: bool,
    is_written: bool,
    is_on_its_way: bool,
    is_outside: bool,
}

/// Uses of one memory: of a block, or of a buffer in one launch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shadow {
    cells: Vec<Cell>,
    shift: u32,
    /// Marks of uses at several times; the first list stays empty.
    lists: Vec<Vec<Mark>>,
    free: Vec<u32>,
}

/// What a use of memory finds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Trouble {
    Race(Met),
    Uninitialised,
    /// It is read as what never changes, and was written.
    Changed(Met),
}

impl Shadow {
    /// Begins anew with so many bytes. `granule` is the width of the narrowest access.
    pub(crate) fn begin(&mut self, bytes: usize, granule: u32) {
        self.shift = granule.max(1).trailing_zeros();
        self.cells.clear();
        self.cells
            .resize((bytes >> self.shift) + 1, Cell::default());
        self.free.clear();
        self.lists.clear();
        self.lists.push(Vec::new());
    }

    fn cells(&self, at: usize, bytes: usize) -> std::ops::Range<usize> {
        at >> self.shift..(at + bytes).div_ceil(1 << self.shift)
    }

    /// Returns a use that nothing orders before one of `by`.
    #[inline(always)]
    fn met(&self, uses: Uses, by: Who, order: &Precedence, wrote: bool) -> Option<Met> {
        if uses.mark.warps == 0 {
            return None;
        }
        if uses.block == SEVERAL {
            // Which of them published is not kept: the benefit of the doubt.
            return (!order.has_heard_of_any(by)).then_some(Met {
                thread: 0,
                block: Some(SEVERAL),
                wrote,
            });
        }
        let found = order.unknown(by, (uses.block, uses.mark)).or_else(|| {
            let more = self.lists[uses.more as usize].iter();
            more.copied()
                .find_map(|mark| order.unknown(by, (uses.block, mark)))
        });
        found.map(|who| Met {
            thread: who.warp * 32 + who.lane,
            block: (uses.block != order.block()).then_some(uses.block),
            wrote,
        })
    }

    /// Returns the uses that stand for these and one of `by`.
    #[inline(always)]
    fn joined(&mut self, uses: Uses, by: Who, order: &Precedence) -> Uses {
        let now = Uses {
            mark: order.mark(by),
            block: order.block(),
            more: 0,
        };
        if uses.mark.warps == 0 {
            return now;
        }
        if uses.block != now.block {
            self.dropped(uses);
            return Uses {
                block: SEVERAL,
                ..now
            };
        }
        if uses.mark.time == now.mark.time {
            return Uses {
                mark: Mark {
                    warps: uses.mark.warps | now.mark.warps,
                    lanes: uses.mark.lanes | now.mark.lanes,
                    ..now.mark
                },
                ..uses
            };
        }
        let is_open = |mark: &Mark| order.unknown(by, (now.block, *mark)).is_some();
        let mut list = std::mem::take(&mut self.lists[uses.more as usize]);
        list.retain(is_open);
        if is_open(&uses.mark) {
            list.push(uses.mark);
        }
        let mut more = uses.more;
        if list.is_empty() {
            self.dropped(uses);
            more = 0;
        } else if more == 0 {
            more = self.free.pop().unwrap_or(self.lists.len() as u32);
        }
        if more as usize == self.lists.len() {
            self.lists.push(Vec::new());
        }
        self.lists[more as usize] = list;
        Uses { more, ..now }
    }

    fn dropped(&mut self, uses: Uses) {
        if uses.more != 0 {
            self.lists[uses.more as usize].clear();
            self.free.push(uses.more);
        }
    }

    /// Says that some bytes are nobody's.
    pub(crate) fn close(&mut self, bytes: std::ops::Range<usize>) {
        let first = bytes.start.div_ceil(1 << self.shift);
        let cells = first..(bytes.end >> self.shift).max(first);
        self.cells[cells]
            .iter_mut()
            .for_each(|it| it.is_outside = true);
    }

    /// Returns whether a use reaches bytes that are nobody's.
    pub(crate) fn is_outside(&self, at: usize, bytes: usize) -> bool {
        self.cells[self.cells(at, bytes)]
            .iter()
            .any(|it| it.is_outside)
    }

    /// Notes a plain read of bytes that the whole block knows to be written, and that others read
    /// since the last meeting. Returns whether it was that; if not, nothing is noted.
    #[inline(always)]
    pub(crate) fn read_again(
        &mut self,
        at: usize,
        bytes: usize,
        by: Who,
        order: &Precedence,
    ) -> bool {
        let now = order.mark(by);
        let cells = self.cells(at, bytes);
        let cells = &mut self.cells[cells];
        let is_known = |cell: &Cell| {
            cell.reads.mark.time == now.time
                && cell.reads.block == order.block()
                && order.is_known_to_all(cell.writes.block, cell.writes.mark.time)
                && cell.is_written
                && !cell.is_on_its_way
                && !cell.are_reads_strong
        };
        if !cells.iter().all(is_known) {
            return false;
        }
        for cell in cells {
            cell.reads.mark.warps |= now.warps;
            cell.reads.mark.lanes |= now.lanes;
        }
        true
    }

    /// Notes a read by `by` of `bytes` bytes from `at` on.
    pub(crate) fn read(
        &mut self,
        at: usize,
        bytes: usize,
        by: Who,
        kind: Kind,
        order: &Precedence,
    ) -> Result<(), Trouble> {
        for number in self.cells(at, bytes) {
            let cell = self.cells[number];
            if kind == Kind::Constant && cell.writes.mark.warps != 0 {
                let who = cell.writes.mark;
                return Err(Trouble::Changed(Met {
                    thread: who.warps.trailing_zeros() * 32 + who.lanes.trailing_zeros(),
                    block: Some(cell.writes.block).filter(|it| *it != order.block()),
                    wrote: true,
                }));
            }
            if cell.is_on_its_way {
                return Err(Trouble::Race(in_flight(&cell)));
            }
            if !(kind == Kind::Strong && cell.is_strong)
                && let Some(met) = self.met(cell.writes, by, order, true)
            {
                return Err(Trouble::Race(met));
            }
            // Reads that come before whatever follows say nothing of those from now on.
            let is_first = cell.reads.mark.warps == 0
                || order.is_known_to_all(cell.reads.block, cell.reads.mark.time);
            self.cells[number].are_reads_strong =
                kind == Kind::Strong && (is_first || cell.are_reads_strong);
            self.cells[number].reads = self.joined(cell.reads, by, order);
        }
        Ok(())
    }

    /// Returns whether bytes of shared memory were written at all.
    pub(crate) fn is_written(&self, at: usize, bytes: usize) -> bool {
        self.cells[self.cells(at, bytes)]
            .iter()
            .all(|it| it.is_written)
    }

    /// Notes a write. `same` says that the bytes hold already what is written: two threads that
    /// write the same value do no harm.
    pub(crate) fn write(
        &mut self,
        at: usize,
        bytes: usize,
        by: Who,
        (kind, same): (Kind, bool),
        order: &Precedence,
    ) -> Result<(), Trouble> {
        for number in self.cells(at, bytes) {
            let cell = self.cells[number];
            let now = Uses {
                mark: order.mark(by),
                block: order.block(),
                more: 0,
            };
            if kind == Kind::Landed {
                let cell = &mut self.cells[number];
                cell.is_on_its_way = false;
                cell.is_written = true;
                cell.writes = now;
                continue;
            }
            if cell.is_on_its_way {
                return Err(Trouble::Race(in_flight(&cell)));
            }
            let are_strong = kind == Kind::Strong && cell.is_strong;
            if !same {
                let of_write = match are_strong {
                    true => None,
                    false => self.met(cell.writes, by, order, true),
                };
                let of_read = || match kind == Kind::Strong && cell.are_reads_strong {
                    true => None,
                    false => self.met(cell.reads, by, order, false),
                };
                let met = of_write.or_else(of_read);
                if let Some(met) = met {
                    return Err(Trouble::Race(met));
                }
            }
            let writes = match are_strong {
                true => self.joined(cell.writes, by, order),
                false => {
                    self.dropped(cell.writes);
                    now
                }
            };
            let cell = &mut self.cells[number];
            cell.writes = writes;
            cell.is_strong = kind == Kind::Strong;
            cell.is_on_its_way = kind == Kind::Begun;
            cell.is_written |= kind != Kind::Begun;
        }
        Ok(())
    }
}

fn in_flight(cell: &Cell) -> Met {
    let mark = cell.writes.mark;
    Met {
        thread: mark.warps.trailing_zeros() * 32 + mark.lanes.trailing_zeros(),
        block: None,
        wrote: true,
    }
}

/// Which bytes of a buffer were written.
#[derive(Clone, Debug)]
pub(crate) struct Initialised {
    written: Vec<u64>,
}

impl Initialised {
    pub(crate) fn new(bytes: usize) -> Self {
        Self {
            written: vec![0; bytes.div_ceil(64)],
        }
    }

    pub(crate) fn mark(&mut self, at: usize, bytes: usize) {
        let ones = (1_u64 << bytes) - 1;
        self.written[at / 64] |= ones << (at % 64);
    }

    pub(crate) fn unmark(&mut self, at: usize) {
        self.written[at / 64] &= !(1 << (at % 64));
    }

    pub(crate) fn is_written(&self, at: usize, bytes: usize) -> bool {
        let ones = ((1_u64 << bytes) - 1) << (at % 64);
        self.written[at / 64] & ones == ones
    }
}
