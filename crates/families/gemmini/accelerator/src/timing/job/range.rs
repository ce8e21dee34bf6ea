//! Which rows of a local memory an operand covers.

use super::Sizes;
use crate::address::LocalAddress;

/// Bit that sets rows of the accumulator apart from those of the scratchpad.
const ACCUMULATOR: u32 = 1 << 31;

/// Half-open interval of rows in one of the two local memories; it overlaps
/// nothing if it belongs to no operand.
#[derive(Clone, Copy, Debug)]
pub(in crate::timing) struct RowRange {
    start: u32,
    end: u32,
}

impl Default for RowRange {
    fn default() -> Self {
        Self {
            start: u32::MAX,
            end: 0,
        }
    }
}

impl RowRange {
    /// Returns memory, first row and number of rows, if there are any. What
    /// wraps around is taken to reach up to the end.
    #[inline]
    pub(in crate::timing) fn rows(&self) -> Option<(bool, u32, u32)> {
        if self.end <= self.start {
            return None;
        }
        let count = self.end - self.start;
        let accumulator = self.start & ACCUMULATOR != 0;
        Some((accumulator, self.start & !ACCUMULATOR, count))
    }

    pub(super) fn new(at: LocalAddress, rows: u32, sizes: &Sizes) -> Self {
        if at.is_garbage() {
            return Self::default();
        }
        let end = at.row().saturating_add(rows);
        // What wraps around is taken to reach up to the end of everything.
        if at.is_accumulator() {
            Self {
                start: ACCUMULATOR | at.row(),
                end: if end > sizes.acc_rows {
                    u32::MAX
                } else {
                    ACCUMULATOR | end
                },
            }
        } else {
            Self {
                start: at.row(),
                end: if end > sizes.spad_rows {
                    ACCUMULATOR
                } else {
                    end
                },
            }
        }
    }

    /// Grows to cover another range, and what lies between, too.
    #[inline]
    pub(in crate::timing) fn cover(&mut self, other: &Self) {
        // An empty range lies within those that it overlaps.
        if other.start <= other.end {
            self.start = self.start.min(other.start);
            self.end = self.end.max(other.end).max(other.start.saturating_add(1));
        }
    }

    /// Returns whether another range overlaps this one, which is not empty unless
    /// it belongs to no operand.
    #[inline]
    pub(in crate::timing) fn meets(&self, other: &Self) -> bool {
        (other.start < self.end) & ((self.start < other.end) | (self.start <= other.start))
    }

    #[inline]
    pub(in crate::timing) fn overlaps(&self, other: &Self) -> bool {
        ((other.start <= self.start) & (self.start < other.end))
            | ((self.start <= other.start) & (other.start < self.end))
    }
}
