//! The counter instruction.
//!
//! Without cycles only the counts of bytes have a value: external events 4
//! (bytes read) and 5 (bytes written). Every other event reads as zero.

use super::statistics::Statistics;
use crate::isa::CounterAccess;

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
    pub fn access(&mut self, access: CounterAccess, statistics: &Statistics) -> u64 {
        let total = |counter: &Counter| match (counter.external, counter.event) {
            (true, 4) => statistics.dma_read_bytes,
            (true, 5) => statistics.dma_written_bytes,
            _ => 0,
        };
        let value = |counter: &Counter| total(counter).wrapping_sub(counter.start);
        if access.reset {
            for counter in &mut self.counters {
                counter.start = total(counter);
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
            counter.start = total(counter);
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
    use super::{Counters, Statistics};
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
        );
        statistics.dma_read_bytes = 164;
        assert_eq!(counters.access(READ, &statistics), 64);
        counters.access(
            CounterAccess {
                take_snapshot: true,
                ..READ
            },
            &statistics,
        );
        statistics.dma_read_bytes = 1000;
        assert_eq!(counters.access(READ, &statistics), 64);
        assert_eq!(
            counters.access(
                CounterAccess {
                    release_snapshot: true,
                    ..READ
                },
                &statistics
            ),
            900
        );
        assert_eq!(
            counters.access(
                CounterAccess {
                    reset: true,
                    ..READ
                },
                &statistics
            ),
            0
        );
    }
}
