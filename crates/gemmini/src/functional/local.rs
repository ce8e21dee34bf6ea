//! Scratchpad and accumulator, and what is known about every row.

use crate::config::GemminiConfig;

/// The first `cols` columns of a row.
pub(crate) fn column_mask(cols: u32) -> u64 {
    if cols >= 64 {
        u64::MAX
    } else {
        (1 << cols) - 1
    }
}

/// What is known about the rows of one memory.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    /// Columns written since the memory was last poisoned.
    pub written: Vec<u64>,
    /// Address of the instruction that wrote last.
    pub writer: Vec<u64>,
    /// Number of the last load that must have ended before the row has its
    /// content; see [`super::race`].
    pub after_load: Vec<u32>,
    touched: Vec<bool>,
}

/// Columns of a row that were read but never written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Missing {
    pub row: u32,
    pub columns: u64,
    pub writer: Option<u64>,
}

impl Rows {
    fn new(rows: u32) -> Self {
        let rows = rows as usize;
        Self {
            written: vec![0; rows],
            writer: vec![0; rows],
            after_load: vec![0; rows],
            touched: vec![false; rows],
        }
    }

    fn forget(&mut self) {
        self.written.fill(0);
        self.writer.fill(0);
        self.after_load.fill(0);
    }

    /// Notes a write to `count` rows from `first`.
    #[inline]
    pub fn note_write(&mut self, first: u32, count: u32, mask: u64, pc: u64, after_load: u32) {
        let range = first as usize..(first + count) as usize;
        for written in &mut self.written[range.clone()] {
            *written |= mask;
        }
        self.writer[range.clone()].fill(pc);
        for tag in &mut self.after_load[range.clone()] {
            *tag = after_load.max(*tag);
        }
        self.touched[range].fill(true);
    }

    /// Returns the number of the last load that `count` rows depend on.
    #[inline]
    pub fn newest_load(&self, first: u32, count: u32) -> u32 {
        self.after_load[first as usize..(first + count) as usize]
            .iter()
            .fold(0, |newest, tag| newest.max(*tag))
    }

    /// Returns whether all columns of `mask` were written in `count` rows.
    #[inline]
    pub fn is_written(&self, first: u32, count: u32, mask: u64) -> bool {
        self.written[first as usize..(first + count) as usize]
            .iter()
            .fold(u64::MAX, |all, row| all & row)
            & mask
            == mask
    }

    /// Returns the first row that lacks columns of `mask`.
    #[cold]
    pub fn missing(&self, first: u32, count: u32, mask: u64) -> Option<Missing> {
        (first..first + count).find_map(|row| {
            let written = self.written[row as usize];
            let columns = mask & !written;
            (columns != 0).then(|| Missing {
                row,
                columns,
                writer: (written != 0).then_some(self.writer[row as usize]),
            })
        })
    }

    /// Returns the number of rows written since [`Self::forget_touched`].
    pub fn touched(&self) -> u64 {
        self.touched.iter().map(|touched| u64::from(*touched)).sum()
    }

    pub fn forget_touched(&mut self) {
        self.touched.fill(false);
    }
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
}

impl LocalMemory {
    pub fn new(config: &GemminiConfig) -> Self {
        let (spad_rows, acc_rows) = (config.spad_rows(), config.acc_rows());
        Self {
            bytes: vec![0; (spad_rows * config.spad_row_bytes()) as usize],
            words: vec![0; (acc_rows * config.dim) as usize],
            spad: Rows::new(spad_rows),
            acc: Rows::new(acc_rows),
            row_bytes: config.spad_row_bytes() as usize,
            dim: config.dim as usize,
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
