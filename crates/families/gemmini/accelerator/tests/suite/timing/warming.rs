//! Warming: commands that take no time leave caches as if they had.

use super::bench::{BASE, Bench, int8, tile};
use autocomp_riscv::{BelowL1, LineAccess};
use autocomp_riscv_machine::MemoryCounts;
use proptest::prelude::*;

/// Memory that the benches have not touched: one line for each set of the L2, so that
/// no line of it throws out another.
const FRESH: u64 = BASE + (64 << 10);

/// A command that moves something: function and operands.
type Move = (u8, u64, u64);

/// Moves of rows that are 64 bytes apart.
fn moves() -> impl Strategy<Value = Move> {
    let funct = prop_oneof![Just(2u8), Just(1), Just(14), Just(3)];
    let rows = (0u64..0x4000 - 64, 1u64..=64, 1u64..=16);
    (funct, 0u64..62_000, rows)
        .prop_map(|(funct, at, (row, cols, rows))| (funct, FRESH + at, tile(row, cols, rows)))
}

/// Lets the core write some lines, then sends commands, in time or without
/// a sense of it, and the commands once more; returns what that took and what it moved.
fn second_time(
    written: &[u64],
    in_time: bool,
    commands: impl Fn(&mut Bench),
) -> (u64, MemoryCounts) {
    let mut bench = int8();
    for at in written {
        let address = FRESH + at / 64 * 64;
        let access = LineAccess::ReadToWrite;
        bench.cycle = bench.gemmini.line_access(address, access, bench.cycle) + 1;
    }
    bench.gemmini.set_warming(!in_time);
    let first = bench.time(&commands);
    assert!(in_time || first < 1000, "{first} cycles");
    bench.gemmini.set_warming(false);
    bench.cycle += 10_000;
    bench.gemmini.timing_mut().unwrap().reset_stats();
    let cycles = bench.time(&commands);
    (cycles, bench.gemmini.timing().unwrap().memory_counts())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn moves_find_the_lines_that_earlier_ones_would_have_left(
        commands in prop::collection::vec(moves(), 1..40),
        written in prop::collection::vec(0u64..64 << 10, 0..40),
    ) {
        let send = |bench: &mut Bench| {
            for (funct, rs1, rs2) in &commands {
                bench.issue(*funct, *rs1, *rs2);
            }
        };
        let [in_time, warmed] = [true, false].map(|in_time| second_time(&written, in_time, send));
        prop_assert_eq!(warmed, in_time);
        prop_assert_eq!((warmed.1.misses, warmed.1.probes), (0, 0));
    }
}

/// The matrix loop of 3 x 2 x 4 tiles, with rows of 64 bytes.
fn matrix_loop(bench: &mut Bench) {
    bench.issue(9, 0, 4 << 32 | 2 << 16 | 3);
    bench.issue(10, FRESH, FRESH + 0x4000);
    bench.issue(11, 0, FRESH + 0x8000);
    bench.issue(12, 64, 64);
    bench.issue(13, 64, 64);
    bench.issue(8, 0, 0);
}

/// The convolution loop: 3 x 3, 16 channels to 16, of an image of 6 x 6 pixels.
fn convolution_loop(bench: &mut Bench) {
    let (channels, kernel, image, out) = (16u64, 3u64, 6u64, 4u64);
    bench.issue(0, 2, 0x3f80_0000 << 32 | channels);
    bench.issue(
        16,
        channels << 48 | channels << 32 | image << 16 | 1,
        1 << 48 | out << 32 | out,
    );
    bench.issue(17, kernel << 48, 1 << 48 | channels);
    bench.issue(18, kernel << 48 | kernel << 32 | channels << 16, image);
    bench.issue(
        19,
        out << 48 | 1,
        channels << 48 | channels << 32 | channels << 16 | out,
    );
    bench.issue(20, FRESH, FRESH + 0x8000);
    bench.issue(21, 0, FRESH + 0x4000);
    bench.issue(15, 1 << 8 | 1, 1);
}

#[test]
fn loops_find_the_lines_that_earlier_ones_would_have_left() {
    // Rows of the result, and what else the core has written, are its own before.
    let written: Vec<u64> = (0..0x9000).step_by(192).collect();
    let loops: [fn(&mut Bench); 2] = [matrix_loop, convolution_loop];
    for send in loops {
        let [in_time, warmed] = [true, false].map(|in_time| second_time(&written, in_time, send));
        assert_eq!(warmed, in_time);
        assert_eq!((warmed.1.misses, warmed.1.probes), (0, 0));
        assert!(warmed.1.hits > 30, "{warmed:?}");
    }
}

#[test]
fn of_more_than_the_l2_holds_about_as_much_is_left() {
    // Half of it is written.
    let send = |bench: &mut Bench| {
        for block in 0..640 {
            let at = FRESH + block * 1024;
            bench.issue(2 + block as u8 % 2, at, tile(block % 4 * 64, 64, 16));
        }
    };
    let [in_time, warmed] = [true, false].map(|in_time| second_time(&[], in_time, send).1);
    for (in_time, warmed) in [
        (in_time.misses, warmed.misses),
        (in_time.lines_written, warmed.lines_written),
    ] {
        assert!(in_time > 1000, "{in_time}");
        assert!(
            in_time.abs_diff(warmed) < in_time / 20,
            "{in_time} {warmed}"
        );
    }
}
