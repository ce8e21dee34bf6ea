//! The L2 and the memory behind it by themselves.

use crate::described;
use autocomp_riscv_machine::{Client, Kind, MemoryConfig, MemorySystem};

const WHOLE: Kind = Kind::Put {
    partial: false,
    whole: true,
    written: 0xf,
};

/// Sends requests for whole lines, each in the cycle given, and returns
/// the cycles of their answers' first beats in the order of the answers.
fn answers(memory: &mut MemorySystem, requests: &[(u64, u64)], kind: Kind) -> Vec<u64> {
    for (line, at) in requests {
        memory.send(line * 64, 4, *at, kind, Client::Writer);
    }
    let mut answers = Vec::new();
    while memory.next_event() != u64::MAX {
        let now = memory.next_event();
        answers.extend(memory.advance(now).map(|reply| reply.first));
    }
    answers
}

/// An L2 of 16 lines, each of which has one place, all dirty.
fn dirty(config: MemoryConfig) -> MemorySystem {
    let mut memory = MemorySystem::new(&MemoryConfig {
        l2_kib: 1,
        l2_ways: 1,
        l2_mshrs: 4,
        ..config
    });
    let lines: Vec<_> = (0..16).map(|line| (line, line * 1000)).collect();
    answers(&mut memory, &lines, WHOLE);
    memory
}

/// Cycle at which the last of sixteen requests for new lines is answered.
fn last(config: MemoryConfig, kind: Kind) -> u64 {
    let mut memory = dirty(config);
    let lines: Vec<_> = (16..32).map(|line| (line, 100_000 + line * 4)).collect();
    let answers = answers(&mut memory, &lines, kind);
    assert_eq!(answers.len(), 16);
    answers[15] - 100_064
}

#[test]
fn a_tracker_is_busy_until_the_write_of_its_victim_is_acknowledged() {
    let slow = |outer_write_latency| MemoryConfig {
        outer_write_latency,
        ..described().memory
    };
    // Sixteen lines, of which four can be under way.
    let (fast, slow) = (last(slow(0), WHOLE), last(slow(200), WHOLE));
    assert!(fast < 16 * 12, "{fast}");
    assert!((3 * 200..4 * 230).contains(&slow), "{slow}");
}

#[test]
fn a_line_that_throws_nothing_out_takes_as_long_as_the_machine_says() {
    for outer_latency in [0, 40] {
        let config = MemoryConfig {
            outer_latency,
            ..described().memory
        };
        let latency = u64::from(config.miss_latency + config.outer_latency);
        let mut memory = MemorySystem::new(&config);
        let read = answers(&mut memory, &[(5, 1000)], Kind::Get);
        // The line's second 8 bytes are still on their way to the same bank.
        assert_eq!(read, [1000 + latency + 1]);
        let again = answers(&mut memory, &[(5, 2000)], Kind::Get);
        assert_eq!(again, [2000 + u64::from(config.hit_latency)]);
    }
}

#[test]
fn stores_wait_for_banks_that_victims_use() {
    // Each line throws a dirty one out, which is read while the line before is
    // written: without that, a line of four beats takes eight cycles behind
    // the L2.
    let alone = last(described().memory, WHOLE);
    assert!((16 * 8..16 * 12).contains(&alone), "{alone}");
}

#[test]
fn a_request_may_be_overtaken_by_later_ones_in_trackers_that_have_a_turn_before() {
    let mut memory = MemorySystem::new(&described().memory);
    let lines: Vec<_> = (0..8).map(|line| (line, line * 1000)).collect();
    answers(&mut memory, &lines, WHOLE);
    // Eight lines that hit, one request per cycle, each of four beats: the
    // fourth request gets the tracker that the first one has left, whose
    // next turn comes only after those of the trackers above it.
    for line in 0..8 {
        memory.send(line * 64, 4, 20_000 + line, Kind::Get, Client::Nobody);
    }
    let mut order = Vec::new();
    while memory.next_event() != u64::MAX {
        let now = memory.next_event();
        order.extend(memory.advance(now).map(|reply| reply.sent - 20_000));
    }
    assert_eq!(order, [0, 1, 2, 4, 5, 6, 3, 7]);
}

#[test]
fn requests_for_one_line_are_answered_in_order_by_one_tracker() {
    let mut memory = MemorySystem::new(&described().memory);
    let lines: Vec<_> = (0..6).map(|idx| (7, idx)).collect();
    let answers = answers(&mut memory, &lines, Kind::Get);
    assert_eq!(answers.len(), 6);
    assert!(answers.is_sorted(), "{answers:?}");
    assert_eq!((memory.counts.misses, memory.counts.hits), (1, 5));
}
