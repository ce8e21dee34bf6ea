//! The cycle model by itself: single commands, steady rates, and that any
//! sequence of commands comes to an end.

#![allow(clippy::unwrap_used, reason = "helpers of tests may fail")]

mod bench;
use crate::driver::instances;
mod looks;
mod loops;
mod sharing;
mod warming;

use autocomp_gemmini::timing::{Ideal, IdleReason};
use autocomp_riscv::{Rocc, RoccCommand};
use bench::{ACC, BANK, BASE, Bench, NONE, int8, tile};
use instances::{int8_16, rtl};

/// Returns what the counter instruction answers to `access`.
fn counter(bench: &mut Bench, access: u64) -> u64 {
    let command = RoccCommand {
        custom: 3,
        funct: 126,
        rs1: access,
        rs2: 0,
        wants_reply: true,
        pc: 0,
        cycle: bench.cycle,
    };
    let reply = bench.gemmini.execute(command, &mut bench.memory).unwrap();
    assert!(reply.value_ready > bench.cycle);
    bench.cycle = reply.accepted + 1;
    reply.value
}

#[test]
fn counters_grow_while_the_machine_works_and_snapshots_stand_still() {
    let mut bench = Bench::new(int8_16());
    // Counter 0: cycles of loads; counter 7: load commands in the station.
    let (configure, index_7, external) = (8, 7 << 4, 1 << 31);
    assert_eq!(counter(&mut bench, 9 << 12 | configure), 0);
    assert_eq!(
        counter(&mut bench, external | 1 << 12 | index_7 | configure),
        0
    );
    for at in 0..8 {
        bench.mvin(BASE + at * 0x400, at * 16, 16, 16);
    }
    bench.cycle += 60;
    let under_way = counter(&mut bench, 0);
    assert!(
        under_way > 0 && under_way < 120,
        "{under_way} of 120 cycles"
    );
    assert!(counter(&mut bench, index_7) >= 2);
    let frozen = counter(&mut bench, 4);
    bench.drain();
    assert_eq!(counter(&mut bench, 0), frozen);
    assert_eq!(counter(&mut bench, 2), frozen, "shown before the release");
    let all = counter(&mut bench, 1);
    assert!(all >= 8 * 15, "a cycle for each row but the first: {all}");
    assert_eq!(counter(&mut bench, index_7), 0);
    assert_eq!(counter(&mut bench, 0), 0);
}

#[test]
fn counters_that_hide_time_count_bytes_alone_and_begin_anew_after_a_reset() {
    let mut bench = Bench::new(int8_16());
    let (configure, index_7, external) = (8, 7 << 4, 1 << 31);
    bench.gemmini.set_time_hidden(true);
    // After the reset no stride is configured: all rows are one.
    for bytes in [256, 16] {
        // Cycles of loads, and bytes read.
        counter(&mut bench, 9 << 12 | configure);
        counter(&mut bench, external | 4 << 12 | index_7 | configure);
        assert_eq!(counter(&mut bench, index_7), 0);
        bench.mvin(BASE, 0, 16, 16);
        bench.drain();
        assert_eq!(counter(&mut bench, 0), 0);
        assert_eq!(counter(&mut bench, index_7), bytes);
        bench.gemmini.functional_mut().reset(0, &mut bench.memory);
        assert_eq!(counter(&mut bench, index_7), 0, "not configured");
    }
}

#[test]
fn a_load_takes_its_latency_and_a_cycle_per_beat() {
    let narrow = int8().time(|bench| bench.mvin(BASE, 0, 16, 16));
    let wide = int8().time(|bench| bench.mvin(BASE, 0, 64, 16));
    assert_eq!(wide - narrow, 48);
    // Six cycles to issue, 35 to complete, then the fence.
    assert!((41..=45).contains(&narrow), "{narrow}");
}

#[test]
fn steady_rates_are_those_of_the_hardware() {
    let per = |count: u64, commands: &dyn Fn(&mut Bench, u64)| {
        let total =
            |count: u64| int8().time(|bench| (0..count).for_each(|idx| commands(bench, idx)));
        (total(count) - total(count / 2)) as f64 / (count - count / 2) as f64
    };
    let close = |value: f64, expected: f64| {
        assert!(
            (value / expected - 1.0).abs() < 0.03,
            "{value} for {expected}"
        );
    };
    close(
        per(64, &|bench, idx| {
            bench.mvin(BASE + idx * 1024, idx % 64 * 64, 64, 16)
        }),
        64.3,
    );
    close(
        per(64, &|bench, idx| {
            bench.mvin(BASE + idx * 16, idx * 16, 16, 16)
        }),
        18.0,
    );
    close(per(64, &|bench, idx| bench.mvin(0, idx * 16, 16, 16)), 16.0);
    close(
        per(32, &|bench, idx| {
            bench.mvout(BASE + idx * 16, ACC + idx * 16, 16, 16)
        }),
        25.6,
    );
    close(
        per(16, &|bench, idx| {
            bench.mvout(BASE + idx * 1024, ACC + idx * 64, 64, 16)
        }),
        112.0,
    );
    close(
        per(64, &|bench, idx| bench.pair(0, BANK, ACC + idx % 64 * 16)),
        16.0,
    );
    close(
        per(64, &|bench, idx| bench.pair(0, 512, ACC + idx % 64 * 16)),
        32.0,
    );
}

#[test]
fn short_operations_wait_for_room_in_the_array() {
    // Five operations with weights that stay, by rows: counts from RTL.
    for (rows, five) in [
        (1, 37),
        (4, 37),
        (6, 39),
        (8, 41),
        (12, 60),
        (14, 70),
        (16, 80),
    ] {
        let total = |count: u64| {
            int8().time(|bench| {
                for idx in 0..count {
                    bench.issue(6, tile(NONE, 16, 16), tile(ACC + idx % 64 * 16, 16, rows));
                    bench.issue(5, tile(0, 16, rows), tile(NONE, 16, 16));
                }
            })
        };
        let measured = (total(120) - total(60)) as f64 / 12.0;
        let close = (measured - f64::from(five)).abs() < 0.5;
        assert!(
            close,
            "{measured} cycles for five operations of {rows} rows, {five} on RTL"
        );
    }
}

#[test]
fn a_configuration_of_the_array_drains_it() {
    let pairs = |config: bool| {
        int8().time(|bench| {
            bench.pair(0, BANK, ACC);
            if config {
                bench.issue(0, 1 << 16 | 4, 1 << 48);
            }
            bench.pair(0, BANK, ACC + 16);
        })
    };
    assert!(
        pairs(true) >= pairs(false) + 41,
        "{} {}",
        pairs(true),
        pairs(false)
    );
}

#[test]
fn loads_into_a_bank_hold_up_who_reads_it() {
    let with_bank = |bank: u64| {
        int8().time(|bench| {
            for idx in 0..16 {
                bench.mvin(BASE + idx * 1024, bank * BANK + 1024 + idx * 64, 64, 16);
                bench.pair(0, BANK, ACC + idx * 16);
                bench.pair(16, BANK + 16, ACC + 256 + idx * 16);
            }
        })
    };
    let (apart, together) = (with_bank(2), with_bank(0));
    assert!(together as f64 > apart as f64 * 1.3, "{apart} {together}");
}

#[test]
fn the_longer_operand_of_a_multiplication_counts() {
    let total = |a_rows: u64, d_rows: u64| {
        int8().time(|bench| {
            for idx in 0..32 {
                bench.issue(6, tile(NONE, 16, 16), tile(ACC + idx * 16, 16, a_rows));
                bench.issue(5, tile(0, 16, a_rows), tile(2 * BANK, 16, d_rows));
            }
        })
    };
    let long = total(14, 14);
    assert_eq!([total(8, 14), total(14, 8)], [long; 2]);
    assert!(total(8, 8) < long);
}

#[test]
fn moves_into_several_banks_hold_up_who_reads_any_of_them() {
    let with_blocks = |apart: u64| {
        let mut bench = int8();
        bench.issue(0, 0x3f80_0000 << 32 | apart << 16 | 1 << 8 | 1, 64);
        bench.drain();
        bench.time(|bench| {
            for idx in 0..16 {
                bench.mvin(BASE + idx * 1024, 1024 + idx * 16, 32, 16);
                bench.pair(2 * BANK - 16, 2 * BANK, ACC + idx * 16);
                bench.pair(2 * BANK - 32, 2 * BANK + 16, ACC + 256 + idx * 16);
            }
        })
    };
    // Both blocks in the first bank, or the second one in that of A.
    let (in_one, in_both) = (with_blocks(256), with_blocks(BANK));
    assert!(in_one < in_both, "{in_one} {in_both}");
}

#[test]
fn what_is_added_to_a_bank_of_the_accumulator_keeps_moves_out_from_it() {
    const ADDS: u64 = 1 << 30;
    // Zeros, and a row that is read once for all.
    for (from, stride) in [(0, 64), (BASE, 0)] {
        let beside = |adds: u64, row: u64| {
            let mut bench = int8();
            bench.issue(0, 0x3f80_0000 << 32 | 16 << 16 | 1 << 8 | 1, stride);
            bench.drain();
            bench.time(|bench| {
                for idx in 0..8 {
                    bench.mvout(BASE + 0x4000 + idx * 1024, ACC + row + idx * 16, 16, 16);
                    bench.mvin(from, (ACC | adds) + idx * 16, 16, 16);
                }
            })
        };
        let (other, same) = (beside(ADDS, 768), beside(ADDS, 256));
        assert!(other < same, "{from:#x} {stride}: {other} {same}");
        assert_eq!(beside(0, 256), beside(0, 768));
    }
}

#[test]
fn a_fence_waits_only_for_work_that_is_left() {
    let mut bench = int8();
    bench.mvin(BASE, 0, 16, 16);
    let engine = bench.gemmini.timing_mut().unwrap();
    let idle = engine.drain();
    let release = u64::from(rtl().frontend.fence_release);
    assert_eq!(
        [idle - 1, idle, idle + 1].map(|cycle| engine.fence(cycle)),
        [idle + release, idle, idle + 1]
    );
}

#[test]
fn idle_cycles_of_the_array_are_charged_to_what_it_waited_for() {
    let mut bench = int8();
    bench.gemmini.timing_mut().unwrap().reset_stats();
    bench.mvin(BASE, 0, 64, 16);
    bench.pair(0, BANK, ACC);
    bench.drain();
    let stats = bench.gemmini.timing().unwrap().stats();
    let load = stats.idle[IdleReason::Load as usize];
    assert!(load > 60, "waited {load} cycles for a load of 90");
    let mvin = stats
        .by_pc()
        .into_iter()
        .find(|(pc, _)| *pc == 0x100 + 2 * 4)
        .unwrap();
    assert_eq!(mvin.1.idle_caused, load, "the move in is to blame");
}

#[test]
fn a_machine_without_a_cost_lacks_it_and_nothing_else() {
    let time = |ideal: Ideal, commands: &dyn Fn(&mut Bench)| {
        let mut bench = int8();
        let engine = bench.gemmini.timing_mut().unwrap();
        engine.idealize(ideal);
        engine.reset_stats();
        let cycles = bench.time(commands);
        let stats = bench.gemmini.timing().unwrap().stats();
        (cycles, [stats.read_beats, stats.write_beats])
    };
    let real = Ideal::default();
    let (loads, stores) = (
        Ideal {
            loads: true,
            ..real
        },
        Ideal {
            stores: true,
            ..real
        },
    );
    // A setting is over once its controller has it, a move in the cycle after that.
    let (setting, _) = time(real, &|bench| bench.issue(0, 2, 0x3f80_0000 << 32 | 64));
    for count in [1, 2, 8] {
        let mvin = |bench: &mut Bench, idx| bench.mvin(BASE + idx * 1024, idx * 64, 64, 16);
        let mvout = |bench: &mut Bench, idx| bench.mvout(BASE + idx * 1024, ACC + idx * 64, 64, 16);
        let mvins = |bench: &mut Bench| (0..count).for_each(|idx| mvin(bench, idx));
        let mvouts = |bench: &mut Bench| (0..count).for_each(|idx| mvout(bench, idx));
        assert_eq!(time(loads, &mvins), (setting + count, [0, 0]));
        assert_eq!(time(stores, &mvouts), (setting + count, [0, 0]));
        assert_eq!(time(loads, &mvouts), time(real, &mvouts));
        assert_eq!(time(stores, &mvins), time(real, &mvins));
    }
    let banks = Ideal {
        banks: true,
        ..real
    };
    let pairs = |bank: u64| {
        move |bench: &mut Bench| (0..8).for_each(|idx| bench.pair(0, bank, ACC + idx * 16))
    };
    let apart = time(real, &pairs(BANK));
    assert!(apart < time(real, &pairs(512)));
    assert_eq!(
        [BANK, 512].map(|bank| time(banks, &pairs(bank))),
        [apart; 2]
    );
    let fences = Ideal {
        fences: true,
        ..real
    };
    // The core is free in the cycle after the one in which it has sent the command.
    assert_eq!(time(fences, &|bench| bench.mvin(BASE, 0, 64, 16)).0, 1);
}
