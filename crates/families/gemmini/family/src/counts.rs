//! What the functional model counts during a call.

#![allow(missing_docs, reason = "public for the suite alone, see `inside`")]

use autocomp_gemmini::{Gemmini, Statistics};

/// What the functional model counted during a call.
pub struct CallCounts {
    pub statistics: Statistics,
    /// Whether each row of the scratchpad and of the accumulator was written.
    pub rows_touched: [Vec<bool>; 2],
}

impl CallCounts {
    /// Returns what was counted since counting last began.
    pub(super) fn of(gemmini: &Gemmini) -> Self {
        let functional = gemmini.functional();
        Self {
            statistics: functional.statistics().clone(),
            rows_touched: [false, true].map(|accumulator| functional.rows_touched(accumulator)),
        }
    }

    /// Returns how many rows of the scratchpad and of the accumulator were written.
    pub(super) fn rows_used(&self) -> [u64; 2] {
        let count = |rows: &Vec<bool>| rows.iter().filter(|touched| **touched).count() as u64;
        self.rows_touched.each_ref().map(count)
    }

    /// Returns whether another call sent the same commands with the same operands.
    pub fn agrees(&self, other: &Self) -> bool {
        let sent = |counts: &Self| (counts.statistics.commands, counts.statistics.digest);
        sent(self) == sent(other)
    }
}
