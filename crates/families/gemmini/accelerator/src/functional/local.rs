//! Scratchpad and accumulator, and what is known about every row.

use super::overwrites::Trail;
use crate::config::GemminiConfig;

/// The first `cols` columns of a row.
pub(crate) fn column_mask(cols: u32) -> u64 {
    if cols >= 64 {
        u64::MAX
    } else {
        (1 << cols) - 1
    }
}

/// What is known about a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Known {
    /// Columns written since the memory was last poisoned.
    written: u64,
    /// Address of the instruction that wrote last.
    writer: u64,
    /// Number of the last load that must have ended before the row has its
    /// content; see [`super::race`].
    after_load: u32,
}

impl Known {
    #[inline]
    fn note(&mut self, mask: u64, pc: u64, after_load: u32) {
        self.written |= mask;
        self.writer = pc;
        self.after_load = self.after_load.max(after_load);
    }
}

/// A block of `dim` rows.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// What is known about every row, if `alike`.
    known: Known,
    /// The same is known about all rows; otherwise each has its own entry.
    alike: bool,
    /// Rows written since [`Rows::forget_touched`].
    touched: u64,
}

/// What is known about the rows of one memory.
///
/// Commands nearly always write and read whole blocks of rows, all with the
/// same columns; one entry then stands for the block.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    /// Rows of a block are a power of two, this one.
    shift: u32,
    blocks: Vec<Block>,
    /// Entries of the rows of blocks that are not alike; others are stale.
    /// Empty until there is such a block, which many programs never make.
    rows: Vec<Known>,
    /// What is unread, while somebody wants to know.
    pub trail: Option<Box<Trail>>,
}

/// Columns of a row that were read but never written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Missing {
    pub row: u32,
    pub columns: u64,
    pub writer: Option<u64>,
}

impl Rows {
    fn new(rows: u32, dim: u32) -> Self {
        let block = Block {
            known: Known::default(),
            alike: true,
            touched: 0,
        };
        Self {
            shift: dim.ilog2(),
            blocks: vec![block; rows.div_ceil(dim) as usize],
            rows: Vec::new(),
            trail: None,
        }
    }

    /// Notes from now on what is overwritten before it is read.
    pub fn note_overwritten(&mut self) {
        self.trail = Some(Box::new(Trail::new(self.blocks.len() << self.shift)));
    }

    fn forget(&mut self) {
        if let Some(trail) = &mut self.trail {
            trail.forget();
        }
        for block in &mut self.blocks {
            (block.known, block.alike) = (Known::default(), true);
        }
    }

    /// Returns the rows of a block.
    #[inline]
    fn dim(&self) -> u32 {
        1 << self.shift
    }

    /// Notes a write to `count` rows from `first`.
    #[inline]
    pub fn note_write(&mut self, first: u32, count: u32, mask: u64, pc: u64, after_load: u32) {
        if let Some(trail) = &mut self.trail {
            trail.note_write(first, count, mask, pc);
        }
        let whole = first & (self.dim() - 1) == 0 && count == self.dim();
        let block = &mut self.blocks[(first >> self.shift) as usize];
        if whole && block.alike {
            block.known.note(mask, pc, after_load);
            block.touched = u64::MAX;
        } else {
            self.note_rows(first, count, mask, pc, after_load);
        }
    }

    #[inline(never)]
    fn note_rows(&mut self, first: u32, count: u32, mask: u64, pc: u64, after_load: u32) {
        for (index, first, count) in parts(self.shift, first, count) {
            let dim = self.dim();
            let block = &mut self.blocks[index];
            let start = index << self.shift;
            let inside = (first as usize - start)..(first as usize - start) + count as usize;
            if count == dim {
                block.touched = u64::MAX;
                if block.alike {
                    block.known.note(mask, pc, after_load);
                    continue;
                }
            } else {
                block.touched |= (u64::MAX >> (64 - count)) << inside.start;
                if block.alike {
                    let mut known = block.known;
                    known.note(mask, pc, after_load);
                    if known == block.known {
                        continue;
                    }
                    if self.rows.is_empty() {
                        let rows = self.blocks.len() << self.shift;
                        self.rows.resize(rows, Known::default());
                    }
                    let block = &mut self.blocks[index];
                    self.rows[start..start + dim as usize].fill(block.known);
                    block.alike = false;
                }
            }
            let (block, rows) = (
                &mut self.blocks[index],
                &mut self.rows[start..start + dim as usize],
            );
            let reaches_end = inside.end == dim as usize;
            for known in &mut rows[inside] {
                known.note(mask, pc, after_load);
            }
            if reaches_end && rows.iter().all(|known| *known == rows[0]) {
                (block.known, block.alike) = (rows[0], true);
            }
        }
    }

    /// Returns what is known about one row.
    #[inline]
    fn known(&self, row: u32) -> &Known {
        let block = &self.blocks[(row >> self.shift) as usize];
        if block.alike {
            &block.known
        } else {
            &self.rows[row as usize]
        }
    }

    /// Hands the entries of `count` rows from `first` to `visit`; rows that
    /// are known alike may share one.
    #[inline]
    fn each(&self, first: u32, count: u32, mut visit: impl FnMut(&Known)) {
        for (index, first, count) in parts(self.shift, first, count) {
            let block = &self.blocks[index];
            if block.alike {
                visit(&block.known);
            } else {
                let rows = &self.rows[first as usize..(first + count) as usize];
                rows.iter().for_each(&mut visit);
            }
        }
    }

    /// Returns the entry that stands for `count` rows from `first`, if there is one.
    #[inline]
    fn shared(&self, first: u32, count: u32) -> Option<&Known> {
        let index = first >> self.shift;
        let block = &self.blocks[index as usize];
        let end = (index + 1) << self.shift;
        (block.alike && first + count <= end).then_some(&block.known)
    }

    /// Returns the columns of a row that were written.
    #[inline]
    pub fn written(&self, row: u32) -> u64 {
        self.known(row).written
    }

    /// Returns the number of the last load that `count` rows depend on.
    #[inline]
    pub fn newest_load(&self, first: u32, count: u32) -> u32 {
        self.summary(first, count).1
    }

    /// Returns the columns written in all of `count` rows, and the number of
    /// the last load that they depend on.
    #[inline]
    pub fn summary(&self, first: u32, count: u32) -> (u64, u32) {
        if count == 0 {
            return (u64::MAX, 0);
        }
        if let Some(trail) = &self.trail {
            trail.note_read(first, count);
        }
        match self.shared(first, count) {
            Some(known) => (known.written, known.after_load),
            None => self.summary_of_rows(first, count),
        }
    }

    #[inline(never)]
    fn summary_of_rows(&self, first: u32, count: u32) -> (u64, u32) {
        let mut all = (u64::MAX, 0);
        self.each(first, count, |known| {
            all = (all.0 & known.written, all.1.max(known.after_load));
        });
        all
    }

    /// Returns whether all columns of `mask` were written in `count` rows.
    #[inline]
    pub fn is_written(&self, first: u32, count: u32, mask: u64) -> bool {
        self.summary(first, count).0 & mask == mask
    }

    /// Returns the first row that lacks columns of `mask`.
    #[cold]
    pub fn missing(&self, first: u32, count: u32, mask: u64) -> Option<Missing> {
        (first..first + count).find_map(|row| {
            let known = self.known(row);
            let columns = mask & !known.written;
            (columns != 0).then(|| Missing {
                row,
                columns,
                writer: (known.written != 0).then_some(known.writer),
            })
        })
    }

    /// Returns whether each row has been written since [`Self::forget_touched`].
    pub fn touched(&self) -> impl Iterator<Item = bool> {
        let dim = self.dim();
        let block = move |block: &Block| {
            let touched = block.touched;
            (0..dim).map(move |row| touched >> row & 1 == 1)
        };
        self.blocks.iter().flat_map(block)
    }

    pub fn forget_touched(&mut self) {
        for block in &mut self.blocks {
            block.touched = 0;
        }
    }
}

/// Cuts `count` rows from `first` at the ends of blocks: index of the block,
/// first row, number of rows.
#[inline]
fn parts(shift: u32, first: u32, count: u32) -> impl Iterator<Item = (usize, u32, u32)> {
    let end = first + count;
    let mut at = first;
    std::iter::from_fn(move || {
        let index = at >> shift;
        let stop = end.min((index + 1) << shift);
        let part = (index as usize, at, stop.saturating_sub(at));
        at = stop;
        (part.2 > 0).then_some(part)
    })
}

/// Both local memories.
#[derive(Clone, Debug)]
pub(crate) struct LocalMemory {
    /// Scratchpad bytes, row after row.
    pub bytes: Vec<u8>,
    /// Accumulator elements, row after row; bit patterns if they are floats.
    pub words: Vec<i32>,
    /// Scratchpad rows.
    pub spad: Rows,
    /// Accumulator rows.
    pub acc: Rows,
    /// Bytes of a scratchpad row.
    pub row_bytes: usize,
    /// Elements of a row of either memory.
    pub dim: usize,
    /// Number of scratchpad rows.
    pub spad_rows: u32,
    /// Number of accumulator rows.
    pub acc_rows: u32,
}

impl LocalMemory {
    pub fn new(config: &GemminiConfig) -> Self {
        let (spad_rows, acc_rows) = (config.spad_rows(), config.acc_rows());
        Self {
            bytes: vec![0; (spad_rows * config.spad_row_bytes()) as usize],
            words: vec![0; (acc_rows * config.dim) as usize],
            spad: Rows::new(spad_rows, config.dim),
            acc: Rows::new(acc_rows, config.dim),
            row_bytes: config.spad_row_bytes() as usize,
            dim: config.dim as usize,
            spad_rows,
            acc_rows,
        }
    }

    /// Fills both memories with a byte and forgets that anything was written.
    pub fn poison(&mut self, pattern: u8) {
        self.bytes.fill(pattern);
        self.words.fill(i32::from_le_bytes([pattern; 4]));
        self.spad.forget();
        self.acc.forget();
    }

    /// Returns the bytes of one scratchpad row.
    pub fn spad_row(&self, row: u32) -> &[u8] {
        &self.bytes[row as usize * self.row_bytes..][..self.row_bytes]
    }

    /// Returns the elements of one accumulator row.
    pub fn acc_row(&self, row: u32) -> &[i32] {
        &self.words[row as usize * self.dim..][..self.dim]
    }
}
