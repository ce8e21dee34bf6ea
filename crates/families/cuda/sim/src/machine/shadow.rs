//! Who used which bytes: races and reads of what nobody wrote.

use std::collections::HashMap;

/// When and by whom something was used. Two uses are ordered if they are of one thread, if a
/// barrier of the block lies between them, or if they are of one warp with a meeting of the
/// warp between them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Use {
    /// Number of the thread in its block.
    pub(crate) thread: u16,
    /// Barriers that the block has passed.
    pub(crate) barriers: u32,
    /// Meetings that the warp has had.
    pub(crate) meetings: u32,
}

/// Somebody of a warp, more than one.
const OF_WARP: u16 = 0x8000;
/// Threads of several warps.
const OF_BLOCK: u16 = 0xffff;
/// The number that stands for several blocks.
const SEVERAL: u32 = u32::MAX;
/// Nobody.
const NOBODY: u16 = 0xfffe;

impl Use {
    const NONE: Self = Self {
        thread: NOBODY,
        barriers: 0,
        meetings: 0,
    };

    fn warp(self) -> u16 {
        match self.thread {
            OF_BLOCK => OF_BLOCK,
            it if it & OF_WARP != 0 => it & !OF_WARP,
            it => it / 32,
        }
    }

    /// Returns whether nothing orders this use before `later`.
    fn meets(self, later: Self) -> bool {
        if self.thread == NOBODY || self.thread == later.thread || self.barriers != later.barriers {
            return false;
        }
        self.warp() != later.warp() || self.meetings == later.meetings
    }

    /// Returns the use that stands for this one and a later read.
    fn joined(self, later: Self) -> Self {
        if self.thread == NOBODY || self.thread == later.thread || self.barriers != later.barriers {
            return later;
        }
        if self.warp() != later.warp() {
            return Self {
                thread: OF_BLOCK,
                ..later
            };
        }
        if self.meetings != later.meetings {
            return later;
        }
        Self {
            thread: OF_WARP | later.warp(),
            ..later
        }
    }

    /// Returns a thread that it was, if that is known.
    fn somebody(self) -> u16 {
        match self.thread {
            OF_BLOCK => 0,
            it if it & OF_WARP != 0 => (it & !OF_WARP) * 32,
            it => it,
        }
    }
}

/// The earlier one of two uses that meet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Met {
    /// A thread of it.
    pub(crate) thread: u16,
    /// Its block, if that is another one.
    pub(crate) block: Option<u32>,
    /// Whether it wrote.
    pub(crate) wrote: bool,
}

#[derive(Clone, Copy, Debug)]
struct SharedCell {
    write: Use,
    read: Use,
    is_atomic: bool,
    is_written: bool,
}

/// Uses of the memory of one block.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedShadow {
    cells: Vec<SharedCell>,
    shift: u32,
}

/// What a use of shared memory finds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Trouble {
    Race(Met),
    Uninitialised,
}

impl SharedShadow {
    /// Makes that of a block that begins.
    pub(crate) fn begin(&mut self, bytes: usize, granule: u32) {
        self.shift = granule.max(1).trailing_zeros();
        self.cells.clear();
        let empty = SharedCell {
            write: Use::NONE,
            read: Use::NONE,
            is_atomic: false,
            is_written: false,
        };
        self.cells.resize((bytes >> self.shift) + 1, empty);
    }

    pub(crate) fn read(
        &mut self,
        at: usize,
        bytes: usize,
        by: Use,
        atomic: bool,
    ) -> Result<(), Trouble> {
        for cell in &mut self.cells[at >> self.shift..(at + bytes).div_ceil(1 << self.shift)] {
            if !cell.is_written {
                return Err(Trouble::Uninitialised);
            }
            if cell.write.meets(by) && !(atomic && cell.is_atomic) {
                return Err(Trouble::Race(Met {
                    thread: cell.write.somebody(),
                    block: None,
                    wrote: true,
                }));
            }
            if !atomic {
                cell.read = cell.read.joined(by);
            }
        }
        Ok(())
    }

    /// `same` says that the bytes hold already what is written: two threads that write the
    /// same value do no harm.
    pub(crate) fn write(
        &mut self,
        at: usize,
        bytes: usize,
        by: Use,
        atomic: bool,
        same: bool,
    ) -> Result<(), Trouble> {
        for cell in &mut self.cells[at >> self.shift..(at + bytes).div_ceil(1 << self.shift)] {
            let met = if cell.write.meets(by) && !(atomic && cell.is_atomic) && !same {
                Some((cell.write, true))
            } else if cell.read.meets(by) && !same {
                Some((cell.read, false))
            } else {
                None
            };
            if let Some((earlier, wrote)) = met {
                return Err(Trouble::Race(Met {
                    thread: earlier.somebody(),
                    block: None,
                    wrote,
                }));
            }
            cell.write = by;
            cell.is_atomic = atomic;
            cell.is_written = true;
        }
        Ok(())
    }
}

/// A use of global memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GlobalUse {
    pub(crate) by: Use,
    /// Number of the block.
    pub(crate) block: u32,
    /// Steps that the launch had taken.
    pub(crate) time: u64,
}

#[derive(Clone, Copy, Debug)]
struct GlobalCell {
    write: GlobalUse,
    read: GlobalUse,
    is_atomic: bool,
}

/// Uses of one buffer in one launch.
#[derive(Clone, Debug)]
pub(crate) struct GlobalShadow {
    cells: Vec<GlobalCell>,
    shift: u32,
}

/// What blocks have published: the time of the last fence that an atomic operation followed,
/// and the time of that operation.
#[derive(Clone, Copy, Debug, Default)]
struct Published {
    fence: u64,
    before: u64,
    at: u64,
}

/// How blocks of a launch are ordered.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockOrder {
    /// What blocks have published, by their numbers: those that had a fence.
    published: HashMap<u32, Published>,
    /// When the block that runs last used an atomic operation.
    pub(crate) acquired: u64,
}

impl BlockOrder {
    /// Notes a fence of the block `number`.
    pub(crate) fn fence(&mut self, number: u32, time: u64) {
        self.published.entry(number).or_default().fence = time;
    }

    /// Notes an atomic operation of the block `number`. Before a fence it publishes nothing.
    pub(crate) fn publish(&mut self, number: u32, time: u64) {
        self.acquired = time;
        if let Some(published) = self.published.get_mut(&number) {
            published.before = published.fence;
            published.at = time;
        }
    }

    fn orders(&self, earlier: &GlobalUse) -> bool {
        if earlier.block == SEVERAL {
            // Which of them published is not kept: the benefit of the doubt.
            return earlier.time < self.acquired;
        }
        let Some(published) = self.published.get(&earlier.block) else {
            return false;
        };
        earlier.time < published.before && published.at <= self.acquired
    }
}

impl GlobalShadow {
    pub(crate) fn new(bytes: usize, granule: u32) -> Self {
        let shift = granule.max(1).trailing_zeros();
        let none = GlobalUse {
            by: Use::NONE,
            block: 0,
            time: 0,
        };
        let empty = GlobalCell {
            write: none,
            read: none,
            is_atomic: false,
        };
        Self {
            cells: vec![empty; (bytes >> shift) + 1],
            shift,
        }
    }

    fn meets(earlier: &GlobalUse, later: &GlobalUse, order: &BlockOrder) -> Option<Option<u32>> {
        if earlier.by.thread == NOBODY {
            return None;
        }
        if earlier.block == later.block {
            return earlier.by.meets(later.by).then_some(None);
        }
        (!order.orders(earlier)).then_some(Some(earlier.block).filter(|it| *it != SEVERAL))
    }

    pub(crate) fn read(
        &mut self,
        at: usize,
        bytes: usize,
        by: GlobalUse,
        atomic: bool,
        order: &BlockOrder,
    ) -> Result<(), Met> {
        for cell in &mut self.cells[at >> self.shift..(at + bytes).div_ceil(1 << self.shift)] {
            if !(atomic && cell.is_atomic)
                && let Some(block) = Self::meets(&cell.write, &by, order)
            {
                return Err(Met {
                    thread: cell.write.by.somebody(),
                    block,
                    wrote: true,
                });
            }
            if !atomic {
                let is_other = cell.read.by.thread != NOBODY && cell.read.block != by.block;
                cell.read = match is_other {
                    true => GlobalUse {
                        block: SEVERAL,
                        ..by
                    },
                    false => GlobalUse {
                        by: cell.read.by.joined(by.by),
                        ..by
                    },
                };
            }
        }
        Ok(())
    }

    /// `same` is as for shared memory.
    pub(crate) fn write(
        &mut self,
        at: usize,
        bytes: usize,
        by: GlobalUse,
        atomic: bool,
        same: bool,
        order: &BlockOrder,
    ) -> Result<(), Met> {
        for cell in &mut self.cells[at >> self.shift..(at + bytes).div_ceil(1 << self.shift)] {
            if !(same || atomic && cell.is_atomic)
                && let Some(block) = Self::meets(&cell.write, &by, order)
            {
                return Err(Met {
                    thread: cell.write.by.somebody(),
                    block,
                    wrote: true,
                });
            }
            if !same && let Some(block) = Self::meets(&cell.read, &by, order) {
                return Err(Met {
                    thread: cell.read.by.somebody(),
                    block,
                    wrote: false,
                });
            }
            cell.write = by;
            cell.is_atomic = atomic;
        }
        Ok(())
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

    pub(crate) fn is_written(&self, at: usize, bytes: usize) -> bool {
        let ones = ((1_u64 << bytes) - 1) << (at % 64);
        self.written[at / 64] & ones == ones
    }
}
