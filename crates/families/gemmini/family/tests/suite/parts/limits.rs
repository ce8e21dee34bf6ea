//! What the paragraph says, tried on profiles made up for it.

use autocomp_gemmini_family::inside::describe;
use autocomp_gemmini_family::profile::{Cause, CauseCycles, Profile, Removal, UnitCycles, WhatIf};

/// A kernel whose moves in would take hardly any time on another machine.
fn paragraph(busy_cycles: u64, bytes_moved: u64) -> String {
    let mut profile = Profile {
        cycles: 1000,
        causes: vec![CauseCycles {
            cause: Cause::LoadMemory,
            cycles: 600,
            share: 0.6,
            absent_because: None,
        }],
        what_if: vec![WhatIf {
            without: Removal::Loads,
            cycles: 450,
            gain: 550,
        }],
        units: vec![UnitCycles {
            unit: "outer-memory",
            busy_cycles,
            occupancy: busy_cycles as f64 / 1000.0,
            commands: 1,
            mean_entries: None,
        }],
        bytes_moved,
        bytes_minimum: 10_000,
        ..Profile::default()
    };
    describe(&mut profile);
    profile.bottleneck
}

#[test]
fn without_an_experiment_no_more_is_promised_than_array_and_ways_to_memory_allow() {
    let paragraph = |compute_cycles, memory_cycles| {
        let mut profile = Profile {
            cycles: 1000,
            ideal_cycles: compute_cycles,
            causes: vec![CauseCycles {
                cause: Cause::Latency,
                cycles: 900,
                share: 0.9,
                absent_because: None,
            }],
            bytes_moved: 1,
            ..Profile::default()
        };
        profile.units = vec![UnitCycles {
            unit: "port-in",
            busy_cycles: memory_cycles,
            occupancy: memory_cycles as f64 / 1000.0,
            commands: 1,
            mean_entries: None,
        }];
        describe(&mut profile);
        profile.bottleneck
    };
    for (compute, memory, least) in [(50, 50, 100), (300, 50, 300), (50, 400, 400)] {
        let text = paragraph(compute, memory);
        let told = format!("Without these it would take about {least} cycles.");
        assert!(text.contains(&told), "{text}");
    }
}

#[test]
fn the_loss_with_most_to_gain_is_not_said_to_be_the_largest_if_it_is_not() {
    let cause = |cause, cycles| CauseCycles {
        cause,
        cycles,
        share: cycles as f64 / 1000.0,
        absent_because: None,
    };
    let paragraph = |latency| {
        let mut profile = Profile {
            cycles: 1000,
            causes: vec![
                cause(Cause::Latency, latency),
                cause(Cause::LoadMemory, 200),
            ],
            what_if: vec![WhatIf {
                without: Removal::Loads,
                cycles: 500,
                gain: 500,
            }],
            bytes_moved: 1,
            ..Profile::default()
        };
        describe(&mut profile);
        profile.bottleneck
    };
    let larger = paragraph(300);
    assert!(
        larger.contains(". Where most is to be gained: in 200 cycles (20 %)")
            && larger.contains(" Next: in 300 cycles (30 %)"),
        "{larger}"
    );
    let smaller = paragraph(100);
    assert!(
        smaller.contains(". What limits it most: in 200 cycles (20 %)"),
        "{smaller}"
    );
}

#[test]
fn what_an_experiment_gains_is_not_promised_where_memory_is_the_limit() {
    let limited = paragraph(830, 10_000);
    assert!(
        limited.contains("it would take 450 cycles; but while the memory behind the L2 has that much to move, at most 17 % are to be gained.")
            && limited.contains("at most 17 % are left to gain.")
            && !limited.contains("55 %"),
        "{limited}"
    );
    // It is so however much else there is to gain, but then not said twice.
    let less = paragraph(700, 10_000);
    assert!(
        less.contains("at most 30 % are to be gained.") && !less.contains("left to gain"),
        "{less}"
    );
    // Nor where it could be less so, as nothing of that is what is to be done about it.
    let more = paragraph(830, 20_000);
    assert!(
        more.contains("at most 17 % are to be gained.")
            && more.contains("only moving less there helps.")
            && !more.contains("Remedy"),
        "{more}"
    );
    let other = paragraph(400, 10_000);
    assert!(
        other.contains("so at most 55 % are to be gained there.")
            && !other.contains("left to gain"),
        "{other}"
    );
}

#[test]
fn what_the_memory_behind_the_l2_needs_is_told_where_it_is_more_than_the_port_does() {
    let paragraph = |memory_cycles, outer_cycles, compute_cycles| {
        let mut profile = Profile {
            cycles: 1000,
            bytes_moved: 1,
            ..Profile::default()
        };
        profile.roofline.memory_cycles = memory_cycles;
        profile.roofline.outer_cycles = outer_cycles;
        profile.roofline.compute_cycles = compute_cycles;
        describe(&mut profile);
        profile.bottleneck
    };
    for (cycles, told) in [
        (
            [200, 500, 400],
            "needs 200 cycles for these bytes, the memory behind the L2 500, and the array \
             400 for the multiplications: memory-bound",
        ),
        (
            [200, 300, 400],
            "the memory behind the L2 300, and the array 400 for the multiplications: \
             compute-bound",
        ),
        (
            [200, 100, 150],
            "needs 200 cycles for these bytes and the array 150 for the multiplications: \
             memory-bound",
        ),
        (
            [200, 300, 0],
            "for these bytes, the memory behind the L2 300.",
        ),
    ] {
        let [memory, outer, compute] = cycles;
        let text = paragraph(memory, outer, compute);
        assert!(text.contains(told), "{text}");
    }
}
