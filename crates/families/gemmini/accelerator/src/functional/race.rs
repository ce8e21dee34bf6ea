//! Which bytes of DRAM the accelerator may still be reading or writing.
//!
//! Until the next fence, a byte that a store command writes may be written at
//! any time, and a byte that a load command reads may be read at any time. The
//! only other order is through local memory: a store whose rows depend on a
//! load starts after that load has ended. (Loads are taken to end in order,
//! which holds but for the two that may be in flight at once.)
//!
//! Bytes are kept as bit maps of whole pages, so a command costs a few
//! operations per row, however many commands are outstanding.
//!
//! Source: the reservation station compares local rows only, never DRAM
//! addresses.

#![allow(
    missing_docs,
    clippy::new_without_default,
    reason = "public for the suite alone, see `inside`"
)]

use super::overwrites::NotedMove;
use autocomp_riscv::Memory;

const PAGE_SHIFT: u32 = 12;
const LINES: usize = 64;
const NO_SLOT: u32 = u32::MAX;

/// Two accesses to the same byte that nothing orders.
#[derive(Clone, Copy, Debug)]
pub struct Conflict {
    /// First byte in common.
    pub address: u64,
    /// Instruction of the outstanding command.
    pub other_pc: u64,
    /// The outstanding command writes; otherwise it reads.
    pub other_writes: bool,
}

/// Rows of bytes in DRAM.
#[derive(Clone, Copy, Debug)]
pub struct DramRows {
    /// First byte.
    pub address: u64,
    /// Bytes from one row to the next.
    pub stride: u64,
    /// Number of rows.
    pub count: u32,
    /// Bytes of a row.
    pub len: usize,
}

impl DramRows {
    /// Returns what is to be known of a move of these rows by the instruction at `pc`.
    pub fn noted(self, pc: u64, out: bool) -> NotedMove {
        NotedMove {
            pc,
            dram: self.address,
            stride: self.stride,
            rows: self.count,
            row_bytes: self.len,
            out,
        }
    }

    /// Largest distance between first and last byte that is looked at as one.
    const MAX_SPAN: u64 = 1 << 20;

    /// Returns the bytes from the first to the last one, if that is not too
    /// far and all of it may be accessed without a look at single rows.
    pub fn open_span(self, memory: &Memory, writes: bool) -> Option<usize> {
        let span = self
            .stride
            .checked_mul(u64::from(self.count.checked_sub(1)?))?
            .checked_add(self.len as u64)
            .filter(|span| *span <= Self::MAX_SPAN)? as usize;
        memory
            .is_open_to_dma(self.address, span, writes)
            .then_some(span)
    }
}

/// What is outstanding on 64 bytes.
#[derive(Clone, Copy, Default)]
struct Line {
    /// Bytes that loads read.
    read: u64,
    /// Bytes that stores write.
    written: u64,
    /// Instruction and number of the last load.
    reader: (u64, u32),
    /// Instruction of the last store.
    writer: u64,
}

struct Page {
    epoch: u32,
    number: u32,
    lines: [Line; LINES],
}

/// Outstanding DMA, byte by byte.
pub struct Outstanding {
    slots: Vec<u32>,
    pages: Vec<Page>,
    used: Vec<u32>,
    epoch: u32,
    loads: u32,
}

impl Outstanding {
    pub fn new() -> Self {
        Self {
            slots: Vec::new(),
            pages: Vec::new(),
            used: Vec::new(),
            epoch: 1,
            loads: 0,
        }
    }

    /// Starts a load command and returns its number.
    pub fn next_load(&mut self) -> u32 {
        self.loads = self.loads.saturating_add(1);
        self.loads
    }

    /// Everything outstanding is done.
    pub fn clear(&mut self, memory: &mut Memory) {
        for slot in self.used.drain(..) {
            let start = memory.base() + (u64::from(self.pages[slot as usize].number) << PAGE_SHIFT);
            memory.unwatch(start..start + (1 << PAGE_SHIFT));
        }
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            for page in &mut self.pages {
                page.epoch = 0;
            }
            self.epoch = 1;
        }
    }

    /// Notes that load number `load` reads checked bytes; reports an
    /// outstanding store of them.
    #[inline]
    pub fn load(
        &mut self,
        memory: &mut Memory,
        address: u64,
        len: usize,
        pc: u64,
        load: u32,
    ) -> Result<(), Conflict> {
        self.for_lines(memory, address, len, |line, mask| {
            let conflict = line.written & mask;
            if conflict != 0 {
                return Err((conflict, line.writer, true));
            }
            line.read |= mask;
            line.reader = (pc, load);
            Ok(())
        })
    }

    /// Notes that a store that depends on all loads up to number `after_load`
    /// writes checked bytes; reports a later outstanding load of them.
    #[inline]
    pub fn store(
        &mut self,
        memory: &mut Memory,
        address: u64,
        len: usize,
        pc: u64,
        after_load: u32,
    ) -> Result<(), Conflict> {
        self.for_lines(memory, address, len, |line, mask| {
            let conflict = line.read & mask;
            if conflict != 0 && line.reader.1 > after_load {
                return Err((conflict, line.reader.0, false));
            }
            line.written |= mask;
            line.writer = pc;
            Ok(())
        })
    }

    /// Notes that load number `load` reads rows of checked bytes, each `len`
    /// long and `stride` from the one before, as [`load`](Self::load) would for
    /// each. Returns whether no store of them is outstanding; otherwise some may
    /// not have been noted.
    pub fn load_rows(&mut self, memory: &mut Memory, rows: DramRows, pc: u64, load: u32) -> bool {
        self.for_lines_of_rows(memory, rows, |line, mask| {
            if line.written & mask != 0 {
                return false;
            }
            line.read |= mask;
            line.reader = (pc, load);
            true
        })
    }

    /// Notes that a store that depends on all loads up to number `after_load`
    /// writes rows of checked bytes, as [`store`](Self::store) would for each.
    /// Returns whether no later load of them is outstanding; otherwise some may
    /// not have been noted.
    pub fn store_rows(
        &mut self,
        memory: &mut Memory,
        rows: DramRows,
        pc: u64,
        after_load: u32,
    ) -> bool {
        self.for_lines_of_rows(memory, rows, |line, mask| {
            if line.read & mask != 0 && line.reader.1 > after_load {
                return false;
            }
            line.written |= mask;
            line.writer = pc;
            true
        })
    }

    #[inline(always)]
    fn for_lines_of_rows(
        &mut self,
        memory: &mut Memory,
        rows: DramRows,
        mut visit: impl FnMut(&mut Line, u64) -> bool,
    ) -> bool {
        let start = rows.address - memory.base();
        let (mut number, mut slot) = (u64::MAX, 0);
        for row in 0..rows.count {
            let mut offset = start + u64::from(row) * rows.stride;
            let end = offset + rows.len as u64;
            while offset < end {
                if offset >> PAGE_SHIFT != number {
                    number = offset >> PAGE_SHIFT;
                    slot = self.page(memory, number as u32);
                }
                let (first, line) = (offset & 63, (offset >> 6 & 63) as usize);
                let count = (64 - first).min(end - offset);
                let mask = (u64::MAX >> (64 - count)) << first;
                if !visit(&mut self.pages[slot].lines[line], mask) {
                    return false;
                }
                offset += count;
            }
        }
        true
    }

    /// Reports outstanding work that a CPU access of checked bytes races with.
    /// `base` is the first address of memory.
    pub fn cpu(&self, base: u64, address: u64, len: u64, store: bool) -> Option<Conflict> {
        for byte in address..address.saturating_add(len) {
            let offset = byte.wrapping_sub(base);
            let slot = *usize::try_from(offset >> PAGE_SHIFT)
                .ok()
                .and_then(|page| self.slots.get(page))?;
            let Some(page) = self
                .pages
                .get(slot as usize)
                .filter(|page| page.epoch == self.epoch)
            else {
                continue;
            };
            let line = &page.lines[(offset >> 6 & 63) as usize];
            let bit = 1u64 << (offset & 63);
            if line.written & bit != 0 {
                return Some(Conflict {
                    address: byte,
                    other_pc: line.writer,
                    other_writes: true,
                });
            }
            if store && line.read & bit != 0 {
                return Some(Conflict {
                    address: byte,
                    other_pc: line.reader.0,
                    other_writes: false,
                });
            }
        }
        None
    }

    #[inline(always)]
    fn for_lines(
        &mut self,
        memory: &mut Memory,
        address: u64,
        len: usize,
        mut visit: impl FnMut(&mut Line, u64) -> Result<(), (u64, u64, bool)>,
    ) -> Result<(), Conflict> {
        let mut offset = address - memory.base();
        let end = offset + len as u64;
        while offset < end {
            let slot = self.page(memory, (offset >> PAGE_SHIFT) as u32);
            let page_end = end.min(((offset >> PAGE_SHIFT) + 1) << PAGE_SHIFT);
            let page = &mut self.pages[slot];
            while offset < page_end {
                let (first, line) = (offset & 63, (offset >> 6 & 63) as usize);
                let count = (64 - first).min(page_end - offset);
                let mask = (u64::MAX >> (64 - count)) << first;
                if let Err((conflict, other_pc, other_writes)) = visit(&mut page.lines[line], mask)
                {
                    let byte = u64::from(conflict.trailing_zeros());
                    let address = memory.base() + (offset & !63) + byte;
                    return Err(Conflict {
                        address,
                        other_pc,
                        other_writes,
                    });
                }
                offset += count;
            }
        }
        Ok(())
    }

    #[inline]
    fn page(&mut self, memory: &mut Memory, number: u32) -> usize {
        match self.slots.get(number as usize) {
            Some(&slot) if slot != NO_SLOT && self.pages[slot as usize].epoch == self.epoch => {
                slot as usize
            }
            _ => self.open_page(memory, number),
        }
    }

    #[cold]
    fn open_page(&mut self, memory: &mut Memory, number: u32) -> usize {
        let needed = number as usize + 1;
        if self.slots.len() < needed {
            self.slots
                .resize(needed.max(memory.size() >> PAGE_SHIFT), NO_SLOT);
        }
        if self.slots[number as usize] == NO_SLOT {
            self.slots[number as usize] = self.pages.len() as u32;
            self.pages.push(Page {
                epoch: 0,
                number,
                lines: [Line::default(); LINES],
            });
        }
        let slot = self.slots[number as usize];
        let page = &mut self.pages[slot as usize];
        page.epoch = self.epoch;
        page.lines.fill(Line::default());
        self.used.push(slot);
        let start = memory.base() + (u64::from(number) << PAGE_SHIFT);
        memory.watch(start..start + (1 << PAGE_SHIFT));
        slot as usize
    }
}
