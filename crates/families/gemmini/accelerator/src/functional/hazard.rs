//! Operands that overlap a result still on its way out of the array.
//!
//! The execute unit holds a command back only if its operand starts exactly
//! where such a result starts; any other overlap reads old rows.
//!
//! Source: Gemmini `ExecuteController` (comparison of whole addresses).

/// One result on its way to the scratchpad.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    first: u32,
    end: u32,
    arrives: u64,
    pc: u64,
}

/// Scratchpad results that may still be in flight, on a clock that counts the
/// rows that have certainly entered the array.
#[derive(Clone, Debug)]
pub struct ResultsInFlight {
    results: Vec<InFlight>,
    rows_fired: u64,
    latency: u64,
}

impl ResultsInFlight {
    /// Makes an empty list; a row leaves an array of `dim` rows
    /// `2 * dim + 6` cycles after it entered.
    pub fn new(dim: u32) -> Self {
        Self {
            results: Vec::new(),
            rows_fired: 0,
            latency: u64::from(2 * dim + 6),
        }
    }

    /// The array has drained.
    pub fn clear(&mut self) {
        self.results.clear();
    }

    /// Returns whether nothing is in flight.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

    /// An operation of `rows` rows has fired whose result, if it has one, goes
    /// to scratchpad rows `first..end`.
    #[inline]
    pub fn fire(&mut self, rows: u32, result: Option<(u32, u32)>, pc: u64) {
        self.rows_fired += u64::from(rows);
        if let Some((first, end)) = result {
            self.send(first, end, pc);
        }
    }

    #[inline(never)]
    fn send(&mut self, first: u32, end: u32, pc: u64) {
        let now = self.rows_fired;
        self.results.retain(|r| r.arrives > now);
        self.results.push(InFlight {
            first,
            end,
            arrives: now + self.latency,
            pc,
        });
    }

    /// Returns the instruction and the rows of a result in flight that
    /// overlaps rows `first..end` without starting at `first`.
    pub fn overlapped_by(&self, first: u32, end: u32) -> Option<(u64, u32, u32)> {
        // The youngest result that starts at the operand holds the command
        // back until it has left; older ones have then left too.
        let held = self.results.iter().rposition(|r| r.first == first);
        let candidates = &self.results[held.map_or(0, |at| at + 1)..];
        candidates
            .iter()
            .find(|r| r.arrives > self.rows_fired && r.first < end && first < r.end)
            .map(|r| (r.pc, r.first, r.end))
    }
}
