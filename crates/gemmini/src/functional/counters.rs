//! The counter instruction.
//!
//! Without cycles only the counts of bytes have a value: external events 4
//! (bytes read) and 5 (bytes written). With them the timing engine adds the
//! events of [`TimedEvents`]. Every other event reads as zero.

use super::statistics::Statistics;
use crate::isa::CounterAccess;

/// Events counted by cycle or by command, up to the cycle of an access.
///
/// *Source*: Gemmini, `CounterFile` (codes of the events).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TimedEvents {
    /// Cycles in which beats were read from memory: `LOAD_ACTIVE_CYCLE` and
    /// `RDMA_ACTIVE_CYCLE`, without the cycles of waiting.
    pub load: u64,
    /// Cycles in which beats were written: `STORE_ACTIVE_CYCLE` and
    /// `WDMA_ACTIVE_CYCLE`, without the cycles of waiting.
    pub store: u64,
    /// Cycles with an operation in the array: `EXE_ACTIVE_CYCLE`.
    pub execute: u64,
    /// Load, store and execute commands in the reservation station now.
    pub station: [u64; 3],
}

impl TimedEvents {
    fn total(&self, event: u8) -> u64 {
        match event {
            9 | 18 => self.load,
            12 | 21 => self.store,
            24 => self.execute,
            _ => 0,
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Counter {
    event: u8,
    external: bool,
    start: u64,
    snapshot: u64,
}

/// The event counters.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    counters: [Counter; 8],
    frozen: bool,
}

impl Counters {
    /// Executes one access and returns the value of the counter.
    pub fn access(
        &mut self,
        access: CounterAccess,
        statistics: &Statistics,
        events: TimedEvents,
    ) -> u64 {
        let total = |counter: &Counter| match (counter.external, counter.event) {
            (true, event @ 1..=3) => events.station[usize::from(event) - 1],
            (true, 4) => statistics.dma_read_bytes,
            (true, 5) => statistics.dma_written_bytes,
            (true, _) => 0,
            (false, event) => events.total(event),
        };
        // How full the station is does not count from a beginning.
        let start = |counter: &Counter| match (counter.external, counter.event) {
            (true, 1..=3) => 0,
            _ => total(counter),
        };
        let value = |counter: &Counter| total(counter).wrapping_sub(counter.start);
        if access.reset {
            for counter in &mut self.counters {
                counter.start = start(counter);
            }
        }
        if access.release_snapshot {
            self.frozen = false;
        }
        if access.take_snapshot {
            for counter in &mut self.counters {
                counter.snapshot = value(counter);
            }
            self.frozen = true;
        }
        let counter = &mut self.counters[usize::from(access.index)];
        if access.configure {
            (counter.event, counter.external) = (access.event, access.external);
            counter.start = start(counter);
        }
        let shown = if self.frozen {
            counter.snapshot
        } else {
            value(counter)
        };
        u64::from(shown as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::{Counters, Statistics, TimedEvents};
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

    #[test]
    fn bytes_are_counted_from_configuration_and_frozen_by_snapshots() {
        let none = TimedEvents::default();
        let (mut counters, mut statistics) = (Counters::default(), Statistics::default());
        statistics.dma_read_bytes = 100;
        counters.access(
            CounterAccess {
                configure: true,
                event: 4,
                external: true,
                ..READ
            },
            &statistics,
            none,
        );
        statistics.dma_read_bytes = 164;
        assert_eq!(counters.access(READ, &statistics, none), 64);
        counters.access(
            CounterAccess {
                take_snapshot: true,
                ..READ
            },
            &statistics,
            none,
        );
        statistics.dma_read_bytes = 1000;
        assert_eq!(counters.access(READ, &statistics, none), 64);
        assert_eq!(
            counters.access(
                CounterAccess {
                    release_snapshot: true,
                    ..READ
                },
                &statistics,
                none
            ),
            900
        );
        assert_eq!(
            counters.access(
                CounterAccess {
                    reset: true,
                    ..READ
                },
                &statistics,
                none
            ),
            0
        );
    }

    #[test]
    fn timed_events_count_from_configuration_but_the_station_is_as_full_as_it_is() {
        let (mut counters, statistics) = (Counters::default(), Statistics::default());
        let mut events = TimedEvents {
            load: 40,
            station: [3, 0, 1],
            ..TimedEvents::default()
        };
        let configure = CounterAccess {
            configure: true,
            event: 9,
            ..READ
        };
        assert_eq!(counters.access(configure, &statistics, events), 0);
        events.load = 52;
        assert_eq!(counters.access(READ, &statistics, events), 12);
        let configure = CounterAccess {
            configure: true,
            event: 1,
            external: true,
            ..READ
        };
        assert_eq!(counters.access(configure, &statistics, events), 3);
    }
}
