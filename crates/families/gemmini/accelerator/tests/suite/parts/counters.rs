//! Counters, snapshots and events.

use autocomp_gemmini::CounterAccess;
use autocomp_gemmini::inside::{Counters, Event, EventTotals, External};

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
