//! Spans of addresses.

use autocomp_gemmini::inside::{Latency, Level, PageRegister, Spans};

#[test]
fn spans_count_each_cycle_once_and_only_what_is_past() {
    let mut spans = Spans::default();
    spans.add(10, 20);
    spans.add(15, 25);
    spans.add(22, 24);
    spans.add(30, 30);
    assert_eq!(spans.before(100), 15);
    assert_eq!(spans.before(23), 13);
    assert_eq!(spans.before(5), 10, "all but the last span are over");
}

#[test]
fn levels_count_while_they_are_on() {
    let mut level = Level::default();
    level.set(true, 10);
    level.set(true, 20);
    assert_eq!((level.before(5), level.before(15)), (0, 5));
    level.set(false, 30);
    assert_eq!(level.before(50), 20);
}

#[test]
fn latencies_are_summed_while_packets_are_under_way() {
    let mut latency = Latency::default();
    latency.begin(10);
    latency.begin(14);
    assert_eq!(latency.before(20), 16);
    latency.end(30);
    assert_eq!(latency.before(30), 36);
    latency.end(40);
    assert_eq!(latency.before(99), 46);
    latency.begin(120);
    assert_eq!(latency.before(99), 46, "noted ahead");
}

#[test]
fn a_page_is_asked_for_until_the_register_has_it() {
    let mut pages = PageRegister::EMPTY;
    pages.request(0x1000, 10, 1);
    pages.request(0x1040, 11, 1);
    pages.request(0x1080, 12, 1);
    assert_eq!(pages.misses, 2);
    pages.request(0x2000, 20, 4);
    assert_eq!(pages.misses, 4);
    pages.empty();
    pages.request(0x2000, 90, 1);
    assert_eq!(pages.misses, 5);
}
