//! What is written to local rows and overwritten before anything reads it, and how far
//! apart moves take their rows in memory: what a wrong result may come from.
//!
//! Costs time with every command, so only a call that is made to explain another one
//! notes it.

use std::cell::RefCell;
use std::collections::BTreeMap;

/// Pairs of instructions, and moves, that are told apart.
const MAX_NOTED: usize = 64;

/// Rows whose content nothing had read when it was overwritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overwritten {
    /// Address of the instruction whose work is lost.
    pub writer: u64,
    /// Address of the instruction that overwrites it.
    pub by: u64,
    /// Whether the rows are those of the accumulator.
    pub accumulator: bool,
    /// The first such row.
    pub row: u32,
    /// How many rows, each as often as it was seen: at least so often did it happen.
    pub rows: u64,
}

/// A move of several rows to or from memory, the first of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotedMove {
    /// Address of the instruction.
    pub pc: u64,
    /// Address of the first byte in memory.
    pub dram: u64,
    /// Bytes from one row to the next in memory.
    pub stride: u64,
    /// Number of rows, at least two.
    pub rows: u32,
    /// Bytes of a row.
    pub row_bytes: usize,
    /// Whether it goes to memory.
    pub out: bool,
}

/// Moves by instruction and stride, the first of each.
pub(super) type Moves = BTreeMap<(u64, u64), NotedMove>;

/// Adds a move, if there is something to know about it and room.
pub(super) fn note_move(moves: &mut Moves, noted: NotedMove) {
    if 1 < noted.rows && moves.len() < MAX_NOTED {
        moves.entry((noted.pc, noted.stride)).or_insert(noted);
    }
}

/// Columns of a row that nothing has read since they were written, and who wrote last.
#[derive(Clone, Copy, Debug, Default)]
struct Unread {
    columns: u64,
    writer: u64,
}

/// What is unread in the rows of one memory, and what was lost.
#[derive(Clone, Debug)]
pub(super) struct Trail {
    /// Readers only look at rows, so what they clear lies in a cell.
    unread: RefCell<Vec<Unread>>,
    /// First row and number of rows by writer and overwriter.
    lost: BTreeMap<(u64, u64), (u32, u64)>,
}

impl Trail {
    pub fn new(rows: usize) -> Self {
        Self {
            unread: RefCell::new(vec![Unread::default(); rows]),
            lost: BTreeMap::new(),
        }
    }

    pub fn note_read(&self, first: u32, count: u32) {
        let mut unread = self.unread.borrow_mut();
        for row in unread.iter_mut().skip(first as usize).take(count as usize) {
            row.columns = 0;
        }
    }

    pub fn note_write(&mut self, first: u32, count: u32, columns: u64, pc: u64) {
        let unread = self.unread.get_mut().iter_mut().enumerate();
        for (idx, row) in unread.skip(first as usize).take(count as usize) {
            let pair = (row.writer, pc);
            let known = self.lost.len() < MAX_NOTED || self.lost.contains_key(&pair);
            if row.columns & columns != 0 && known {
                self.lost.entry(pair).or_insert((idx as u32, 0)).1 += 1;
            }
            *row = Unread {
                columns: row.columns | columns,
                writer: pc,
            };
        }
    }

    pub fn forget(&mut self) {
        *self = Self::new(self.unread.get_mut().len());
    }

    pub fn lost(&self, accumulator: bool) -> impl Iterator<Item = Overwritten> {
        self.lost
            .iter()
            .map(move |(&(writer, by), &(row, rows))| Overwritten {
                writer,
                by,
                accumulator,
                row,
                rows,
            })
    }
}
