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
pub(crate) struct Counters {
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

#[cfg(test)]
mod tests {
    use super::Counters;
    use crate::events::{Event, EventTotals, External};
    use crate::isa::CounterAccess;

    const READ: CounterAccess = CounterAccess {
        reset: false,
        release_snapshot: false,
        take_snapshot: false,
        configure: false,
        index: 3,
        event: 0,
        external: false,
    };
    const RESET: CounterAccess = CounterAccess {
        reset: true,
        ..READ
    };
    const TAKE: CounterAccess = CounterAccess {
        take_snapshot: true,
        ..READ
    };
    const RELEASE: CounterAccess = CounterAccess {
        release_snapshot: true,
        ..READ
    };

    fn configure(index: u8, event: u8, external: bool) -> CounterAccess {
        CounterAccess {
            configure: true,
            index,
            event,
            external,
            ..READ
        }
    }

    fn loads(cycles: u64) -> EventTotals {
        let mut totals = EventTotals::default();
        totals.set(Event::LoadActive, 0, cycles);
        totals
    }

    fn bytes(count: u64) -> EventTotals {
        let mut totals = EventTotals::default();
        totals.set_external(External::BytesRead, 0, count);
        totals
    }

    #[test]
    fn events_count_from_configuration_and_reset() {
        let mut counters = Counters::default();
        counters.access(configure(3, 9, false), &loads(40));
        assert_eq!(counters.access(READ, &loads(40)), 0);
        assert_eq!(counters.access(READ, &loads(52)), 12);
        assert_eq!(counters.access(RESET, &loads(60)), 20, "shown as before");
        assert_eq!(counters.access(READ, &loads(61)), 1);
    }

    #[test]
    fn external_values_count_from_reset_and_the_station_from_nothing() {
        let mut counters = Counters::default();
        counters.access(configure(3, 4, true), &bytes(100));
        assert_eq!(counters.access(READ, &bytes(164)), 164);
        counters.access(RESET, &bytes(164));
        assert_eq!(counters.access(READ, &bytes(200)), 36);
        let mut totals = EventTotals::default();
        totals.set_external(External::StationCommands, 1, 5);
        counters.access(configure(3, 2, true), &totals);
        counters.access(RESET, &totals);
        assert_eq!(counters.access(READ, &totals), 5);
    }

    #[test]
    fn snapshots_stand_still_until_release_or_reset() {
        let mut counters = Counters::default();
        counters.access(configure(3, 9, false), &loads(0));
        assert_eq!(counters.access(TAKE, &loads(64)), 64);
        assert_eq!(counters.access(READ, &loads(1000)), 64);
        assert_eq!(counters.access(RELEASE, &loads(1000)), 64);
        assert_eq!(counters.access(READ, &loads(1000)), 1000);
        counters.access(TAKE, &loads(1000));
        counters.access(RESET, &loads(1000));
        assert_eq!(counters.access(READ, &loads(1007)), 7);
        let both = CounterAccess {
            take_snapshot: true,
            ..RELEASE
        };
        counters.access(both, &loads(1007));
        assert_eq!(counters.access(READ, &loads(1009)), 9, "release wins");
    }

    #[test]
    fn codes_without_an_event_read_as_zero_and_external_codes_wrap() {
        let mut counters = Counters::default();
        for code in [0, 45, 63] {
            counters.access(configure(3, code, false), &loads(5));
            assert_eq!(counters.access(READ, &loads(500)), 0, "{code}");
        }
        for (code, value) in [(0, 0), (4, 7), (12, 7), (60, 7), (63, 0)] {
            counters.access(configure(3, code, true), &bytes(0));
            assert_eq!(counters.access(READ, &bytes(7)), value, "{code}");
        }
    }
}
