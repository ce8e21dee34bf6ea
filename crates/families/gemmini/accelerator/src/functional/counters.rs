//! The counter instruction.
//!
//! Without a timing engine only the counts of bytes have a value, since
//! nothing else happens; cycles then read as zero.
//!
//! *Source*: Gemmini, `CounterFile`.

use crate::events::{EVENTS, EXTERNALS, EventTotals};
use crate::isa::CounterAccess;

#[derive(Clone, Copy, Debug, Default)]
struct Counter {
    code: u8,
    external: bool,
    /// What the event had been counted to when this counter was zero.
    start: u64,
    snapshot: u64,
}

/// The event counters.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    counters: [Counter; 8],
    /// External values at the last reset.
    start: EventTotals,
    frozen: bool,
}

const _: () = assert!(EVENTS <= 64 && EXTERNALS == 8, "codes are of 6 and 3 bits");

impl Counters {
    /// Makes counters as after a reset, before which events had been counted to `totals`.
    pub fn starting_at(totals: EventTotals) -> Self {
        Self {
            start: totals,
            ..Self::default()
        }
    }

    /// Executes one access, when events have been counted up to `totals`;
    /// returns what the counter showed before.
    pub fn access(&mut self, access: CounterAccess, totals: &EventTotals) -> u64 {
        let index = usize::from(access.index);
        let counter = &self.counters[index];
        let shown = if self.frozen {
            counter.snapshot
        } else {
            self.value(counter, totals)
        };
        if access.take_snapshot && !access.release_snapshot {
            for index in 0..self.counters.len() {
                self.counters[index].snapshot = self.value(&self.counters[index], totals);
            }
            self.frozen = true;
        }
        if access.release_snapshot {
            self.frozen = false;
        }
        if access.reset {
            for counter in &mut self.counters {
                counter.start = totals.event(counter.code);
                counter.snapshot = 0;
            }
            self.start = *totals;
            self.frozen = false;
        }
        if access.configure {
            let counter = &mut self.counters[index];
            (counter.code, counter.external) = (access.event, access.external);
            counter.start = totals.event(access.event);
        }
        shown
    }

    fn value(&self, counter: &Counter, totals: &EventTotals) -> u64 {
        if !counter.external {
            return totals.event(counter.code).wrapping_sub(counter.start);
        }
        let value = totals.external(counter.code);
        // How full the station is does not count from a beginning.
        let start = match counter.code % EXTERNALS as u8 {
            0..=3 => 0,
            code => self.start.external(code),
        };
        u64::from(value.wrapping_sub(start) as u32)
    }
}
