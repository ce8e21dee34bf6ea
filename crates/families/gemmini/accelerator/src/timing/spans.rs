//! Sums over time that can be read up to any cycle: spans, levels, latencies,
//! and the pages that are asked for.

#![allow(missing_docs, reason = "public for the suite alone, see `inside`")]

/// Bits of an address within a page.
const PAGE_SHIFT: u32 = 12;

/// Cycles covered by spans; what was covered before is not counted again.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spans {
    covered: u64,
    start: u64,
    end: u64,
}

impl Spans {
    /// Covers nothing; what is before cycle `at` will not count.
    pub(super) fn since(at: u64) -> Self {
        Self {
            covered: 0,
            start: at,
            end: at,
        }
    }

    /// Adds the cycles from `start` up to, but not including, `end`.
    #[inline]
    pub fn add(&mut self, start: u64, end: u64) {
        let start = start.max(self.end);
        if start < end {
            self.covered += end - start;
            self.start = start;
            self.end = end;
        }
    }

    /// Returns how many cycles before `cycle` are covered, that is, by all but
    /// the last span, and by that one up to `cycle`.
    pub fn before(&self, cycle: u64) -> u64 {
        self.covered - self.end.saturating_sub(cycle.max(self.start))
    }
}

/// A signal that is on or off until it changes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Level {
    is_on: bool,
    from: u64,
    cycles: u64,
}

impl Level {
    /// Counts from cycle `at` on.
    pub(super) fn since(at: u64, is_on: bool) -> Self {
        Self {
            is_on,
            from: at,
            cycles: 0,
        }
    }

    #[inline]
    pub fn set(&mut self, is_on: bool, at: u64) {
        if is_on != self.is_on {
            if self.is_on {
                self.cycles += at.saturating_sub(self.from);
            }
            (self.is_on, self.from) = (is_on, at);
        }
    }

    pub fn before(&self, cycle: u64) -> u64 {
        let last = if self.is_on {
            cycle.saturating_sub(self.from)
        } else {
            0
        };
        self.cycles + last
    }
}

/// The sum of the times that packets are under way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Latency {
    /// Sums of the cycles of beginning and end.
    begun: u64,
    ended: u64,
    under_way: u64,
    /// What was read last.
    told: u64,
}

impl Latency {
    #[inline]
    pub fn begin(&mut self, at: u64) {
        self.begun = self.begun.wrapping_add(at);
        self.under_way += 1;
    }

    #[inline]
    pub fn end(&mut self, at: u64) {
        self.ended = self.ended.wrapping_add(at);
        self.under_way = self.under_way.saturating_sub(1);
    }

    /// Takes in packets that are under way in cycle `at`: those that end in a
    /// `known` cycle, and a number of `others`.
    pub(super) fn join<'a>(
        &mut self,
        known: impl Iterator<Item = &'a u64>,
        others: usize,
        at: u64,
    ) {
        for end in known.filter(|end| at < **end) {
            self.begin(at);
            self.end(*end);
        }
        for _ in 0..others {
            self.begin(at);
        }
    }

    /// Returns the sum up to `cycle`; it never goes back, although a packet may
    /// have been noted a few cycles ahead.
    pub fn before(&mut self, cycle: u64) -> u64 {
        let sum = self
            .ended
            .wrapping_add(self.under_way.wrapping_mul(cycle))
            .wrapping_sub(self.begun);
        self.told = self.told.max(if sum >> 63 == 0 { sum } else { 0 });
        self.told
    }
}

/// The register in which reader or writer keep the page translated last.
#[derive(Clone, Copy, Debug)]
pub struct PageRegister {
    page: u64,
    /// Cycle from which requests find it there.
    from: u64,
    pub misses: u64,
}

impl PageRegister {
    pub const EMPTY: Self = Self {
        page: u64::MAX,
        from: 0,
        misses: 0,
    };

    /// Notes requests in `count` cycles from `at` on to one page.
    #[inline]
    pub fn request(&mut self, address: u64, at: u64, count: u64) {
        let page = address >> PAGE_SHIFT;
        if page != self.page {
            // What follows at once comes too early to find it.
            (self.page, self.from) = (page, at + 2);
        } else if self.from <= at {
            return;
        }
        self.misses += count.min(self.from - at);
    }

    pub fn empty(&mut self) {
        self.page = u64::MAX;
    }
}
