//! The cycle model by itself: single commands, steady rates, and that any
//! sequence of commands comes to an end.

#![allow(clippy::unwrap_used, reason = "helpers of tests may fail")]

#[path = "driver/instances.rs"]
mod instances;

use autocomp_gemmini::timing::{Ideal, IdleReason};
use autocomp_gemmini::{
    Checks, Gemmini, GemminiConfig, Instruction, MatmulLoop, MatmulParameters, MatmulRun, Severity,
};
use autocomp_riscv::{Coprocessor, LineAccess, Memory, RoccCommand};
use instances::{fp32_4, int8_16, int8_32, rtl};
use proptest::prelude::*;

const BASE: u64 = 0x8000_0000;
const BANK: u64 = 4096;
const ACC: u64 = 0x8000_0000;
const NONE: u64 = 0xffff_ffff;

struct Bench {
    gemmini: Gemmini,
    memory: Memory,
    cycle: u64,
}

impl Bench {
    fn new(config: GemminiConfig) -> Self {
        Self::with_memory(config, 1 << 20)
    }

    fn with_memory(config: GemminiConfig, bytes: usize) -> Self {
        let mut gemmini = Gemmini::new(config, Some(&rtl())).unwrap();
        gemmini.functional_mut().set_checks(Checks {
            uninitialized: Severity::Off,
            races: Severity::Off,
            hazards: Severity::Off,
        });
        let mut bench = Self {
            gemmini,
            memory: Memory::new(BASE, bytes),
            cycle: 1000,
        };
        // Weight stationary, rows of 64 bytes.
        bench.issue(0, 1 << 16 | 4, 1 << 48);
        for channel in 0..3 {
            bench.issue(
                0,
                0x3f80_0000 << 32 | 16 << 16 | 1 << 8 | channel << 3 | 1,
                64,
            );
        }
        bench.issue(0, 2, 0x3f80_0000 << 32 | 64);
        // Warm the L2.
        for at in (0..64 << 10).step_by(64).cycle().take(8 << 10) {
            for access in [LineAccess::Read, LineAccess::WriteBack] {
                bench.gemmini.line_access(BASE + at, access, bench.cycle);
            }
            bench.cycle += 40;
        }
        bench.cycle += 1000;
        bench.drain();
        bench
    }

    fn try_issue(&mut self, funct: u8, rs1: u64, rs2: u64) -> bool {
        let command = RoccCommand {
            custom: 3,
            funct,
            rs1,
            rs2,
            wants_reply: false,
            pc: 0x100 + u64::from(funct) * 4,
            cycle: self.cycle,
        };
        let Ok(reply) = self.gemmini.execute(command, &mut self.memory) else {
            return false;
        };
        assert!(
            reply.accepted >= self.cycle,
            "a command was taken before it was there"
        );
        self.cycle = reply.accepted + 1;
        true
    }

    fn issue(&mut self, funct: u8, rs1: u64, rs2: u64) {
        assert!(self.try_issue(funct, rs1, rs2), "illegal command {funct}");
    }

    /// Waits for everything; returns the cycles since `self.cycle`.
    fn drain(&mut self) -> u64 {
        let idle = self.gemmini.fence(0, self.cycle, &mut self.memory).unwrap();
        assert!(idle >= self.cycle, "a fence ended before it began");
        let waited = idle - self.cycle;
        self.cycle = idle + 100;
        waited
    }

    /// Returns the cycles from the first command to the end of all.
    fn time(&mut self, commands: impl FnOnce(&mut Self)) -> u64 {
        let start = self.cycle;
        commands(self);
        let issued = self.cycle;
        self.drain() + issued - start
    }

    fn mvin(&mut self, at: u64, row: u64, cols: u64, rows: u64) {
        self.issue(2, at, tile(row, cols, rows));
    }

    fn mvout(&mut self, at: u64, row: u64, cols: u64, rows: u64) {
        self.issue(3, at, tile(row, cols, rows));
    }

    fn pair(&mut self, a: u64, b: u64, c: u64) {
        self.issue(6, tile(b, 16, 16), tile(c, 16, 16));
        self.issue(4, tile(a, 16, 16), tile(NONE, 16, 16));
    }
}

fn tile(row: u64, cols: u64, rows: u64) -> u64 {
    rows << 48 | cols << 32 | row
}

fn int8() -> Bench {
    Bench::new(int8_16())
}

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

/// Runs a matrix loop of 4 x 4 x 4 tiles.
fn matrix_loop(bench: &mut Bench, depth: u64, operands: [u64; 2], run: [u64; 2]) {
    bench.issue(9, 0, depth << 32 | 4 << 16 | 4);
    bench.issue(10, operands[0], operands[1]);
    bench.issue(11, 0, BASE + 0xc000);
    bench.issue(12, 64, 64);
    bench.issue(13, 64, 64);
    bench.issue(8, run[0], run[1]);
}

#[test]
fn a_sum_by_the_loop_moves_both_operands_whatever_its_depth() {
    let sum = |depth: u64| {
        let mut bench = int8();
        for channel in 0..2 {
            let shrunk = 0x3f80_0000 << 32 | 16 << 16 | 1 << 8 | channel << 3 | 1 << 2 | 1;
            bench.issue(0, shrunk, 64);
        }
        bench.drain();
        bench.gemmini.timing_mut().unwrap().reset_stats();
        let cycles = bench.time(|bench| {
            matrix_loop(bench, depth, [BASE, BASE + 0x4000], [0, 1 << 2]);
        });
        (cycles, bench.gemmini.timing().unwrap().stats().read_beats)
    };
    let (cycles, beats) = sum(0);
    // Twice 64 rows of 64 bytes, 16 bytes per cycle; stores take seven cycles per row.
    assert_eq!(beats, 2 * 64 * 4);
    assert!(cycles > beats + 64 * 7 / 4, "{cycles}");
    assert_eq!(sum(1), (cycles, beats));
    assert_eq!(sum(9), (cycles, beats));
}

#[test]
fn an_operand_that_is_there_is_not_moved_in_by_the_loop() {
    let beats = |operands: [u64; 2]| {
        let mut bench = int8();
        bench.gemmini.timing_mut().unwrap().reset_stats();
        let cycles = bench.time(|bench| matrix_loop(bench, 4, operands, [0, 0]));
        (cycles, bench.gemmini.timing().unwrap().stats().read_beats)
    };
    let (both, a_only, none) = (
        beats([BASE, BASE + 0x4000]),
        beats([BASE, 0]),
        beats([0, 0]),
    );
    assert_eq!((both.1, a_only.1, none.1), (512, 256, 0));
    assert!(
        both.0 >= a_only.0 && a_only.0 >= none.0,
        "{both:?} {a_only:?} {none:?}"
    );
    assert!(none.0 >= 64 * 16, "{none:?}");
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

fn command() -> impl Strategy<Value = (u8, u64, u64, u64)> {
    let row = prop_oneof![
        0u64..0x4000,
        (0u64..1024).prop_map(|row| ACC | row),
        Just(NONE),
        any::<u32>().prop_map(u64::from)
    ];
    let tile = (row, 0u64..80, 0u64..20).prop_map(|(row, cols, rows)| tile(row, cols, rows));
    let address = prop_oneof![Just(0), (0u64..1 << 17).prop_map(|at| BASE + at)];
    let funct = prop_oneof![
        4 => Just(2u8), 2 => Just(1), 2 => Just(14), 3 => Just(3), 4 => Just(6), 2 => Just(4),
        2 => Just(5), 1 => Just(0), 1 => 7u8..23,
    ];
    (funct, tile.clone(), tile, address, any::<u64>(), 0u64..60).prop_map(
        |(funct, a, b, address, word, wait)| match funct {
            1 | 2 | 3 | 14 => (funct, address, b, wait),
            4..=6 => (funct, a, b, wait),
            0 => (
                funct,
                word & 0x0001_03ff | 0x3f80_0000 << 32 | 16 << 16,
                word >> 40,
                wait,
            ),
            9 => (
                funct,
                word & 0x0007_0007_0007,
                word >> 16 & 0x0007_0007_0007,
                wait,
            ),
            10 | 11 | 20 | 21 => (funct, address, BASE + (word & 0xffff), wait),
            12 | 13 => (funct, word & 0xff, word >> 8 & 0xff, wait),
            _ => (
                funct,
                word & 0x0003_0003_0003_0003,
                word >> 32 & 0x0003_0003,
                wait,
            ),
        },
    )
}

fn play(config: GemminiConfig, commands: &[(u8, u64, u64, u64)]) -> (u64, u64, u64) {
    let mut bench = Bench::new(config);
    bench.gemmini.timing_mut().unwrap().reset_stats();
    let mut legal = 0;
    let begin = bench.cycle;
    for (funct, rs1, rs2, wait) in commands {
        bench.cycle += wait;
        legal += u64::from(bench.try_issue(*funct, *rs1, *rs2));
        if wait % 16 == 1 {
            let at =
                bench
                    .gemmini
                    .line_access(BASE + (rs1 & 0xffc0), LineAccess::Write, bench.cycle);
            assert!(at >= bench.cycle);
        }
    }
    bench.drain();
    // The port moves a beat per cycle each way, the array takes a row.
    let (cycles, stats) = (bench.cycle - begin, bench.gemmini.timing().unwrap().stats());
    let floor = stats
        .read_beats
        .max(stats.write_beats)
        .max(stats.array_busy);
    assert!(cycles >= floor, "{cycles} cycles for {stats:?}");
    // Nothing may be left over.
    bench.cycle += 10_000;
    let rest = bench.drain();
    assert_eq!(rest, 0, "work was left after a fence");
    (
        bench.cycle,
        legal,
        bench.gemmini.timing().unwrap().stats().array_busy,
    )
}

/// A run of the matrix loop: bounds, which operands have an address, fields.
#[derive(Clone, Debug)]
struct LoopRun {
    bounds: [u16; 3],
    present: [bool; 4],
    run: MatmulRun,
}

fn loop_run() -> impl Strategy<Value = LoopRun> {
    let bounds = prop::array::uniform3(1u16..7);
    let flags = any::<[bool; 5]>();
    (bounds, any::<[bool; 4]>(), flags, 0u8..3).prop_map(|(mut bounds, present, flags, id)| {
        let [sum, a_transpose, b_transpose, full_c, low_d] = flags;
        bounds[1] = bounds[1].min(32 / bounds[0]);
        if sum && a_transpose {
            bounds[2] = 0;
        }
        let run = MatmulRun {
            accumulate: false,
            full_c: full_c && !sum,
            low_d,
            activation: 0,
            b_spad_id: id,
            a_spad_id: id,
            a_transpose: a_transpose && !sum,
            b_transpose: b_transpose && !a_transpose && !sum,
            is_resadd: sum,
        };
        LoopRun {
            bounds,
            present,
            run,
        }
    })
}

/// What a row of `bytes` bytes at the beginning of a line takes: one packet of
/// one, two or four beats per line.
fn beats(bytes: u64) -> u64 {
    let last = match bytes % 64 {
        0 => 0,
        1..=16 => 1,
        17..=32 => 2,
        _ => 4,
    };
    bytes / 64 * 4 + last
}

/// Commands by section of the station, beats read and beats written of what a
/// loop stands for.
fn expected(case: &LoopRun, plan: &MatmulLoop, config: &GemminiConfig) -> ([u64; 3], u64, u64) {
    let (mut issued, mut read, mut written) = ([0; 3], 0, 0);
    let count = |instruction: Instruction| -> Result<(), ()> {
        match instruction {
            Instruction::Mvin { channel, tile, .. } => {
                issued[0] += 1;
                let wide = channel == 2 && !case.run.low_d;
                let width = if wide { 4 } else { 1 };
                read += u64::from(tile.rows) * beats(u64::from(tile.cols) * width);
            }
            Instruction::Mvout { tile, .. } => {
                issued[1] += 1;
                let width = if case.run.full_c { 4 } else { 1 };
                written += u64::from(tile.rows) * beats(u64::from(tile.cols) * width);
            }
            _ => issued[2] += 1,
        }
        Ok(())
    };
    plan.expand(config, &mut { count }).unwrap();
    (issued, read, written)
}

fn check_loop(case: &LoopRun) -> Result<(), TestCaseError> {
    let config = int8_16();
    let [i, j, k] = case.bounds.map(u64::from);
    let address = |operand: usize| {
        if case.present[operand] {
            BASE + (operand as u64) * 0x2_0000
        } else {
            0
        }
    };
    let dram = std::array::from_fn(address);
    let parameters = MatmulParameters {
        bounds: case.bounds,
        pads: [0; 3],
        dram,
        strides: [512; 4],
    };
    let plan = MatmulLoop::place(&config, case.run, parameters, 0, 0);
    prop_assume!(plan.check(&config).is_ok());
    let mut bench = Bench::with_memory(config.clone(), 2 << 20);
    for channel in 0..3 {
        // Operands of a sum and a narrow D are widened on their way in.
        let narrow = if channel == 2 {
            case.run.low_d
        } else {
            case.run.is_resadd
        };
        let fields = 1 << 8 | channel << 3 | u64::from(narrow) << 2 | 1;
        bench.issue(0, 0x3f80_0000 << 32 | 16 << 16 | fields, 512);
    }
    bench.issue(0, 2, 0x3f80_0000 << 32 | 512);
    bench.drain();
    bench.gemmini.timing_mut().unwrap().reset_stats();
    let run = case.run;
    let flag = |set: bool, bit: u32| u64::from(set) << bit;
    let cycles = bench.time(|bench| {
        bench.issue(9, 0, k << 32 | j << 16 | i);
        bench.issue(10, dram[0], dram[1]);
        bench.issue(11, dram[2], dram[3]);
        bench.issue(12, 512, 512);
        bench.issue(13, 512, 512);
        bench.issue(
            8,
            u64::from(run.a_spad_id) << 18
                | u64::from(run.b_spad_id) << 16
                | flag(run.low_d, 2)
                | flag(run.full_c, 1),
            flag(run.is_resadd, 2) | flag(run.b_transpose, 1) | flag(run.a_transpose, 0),
        );
    });
    let stats = bench.gemmini.timing().unwrap().stats();
    let (issued, read, written) = expected(case, &plan, &config);
    prop_assert_eq!(stats.issued, issued);
    prop_assert_eq!((stats.read_beats, stats.write_beats), (read, written));
    prop_assert!(
        cycles >= read.max(written).max(stats.array_busy),
        "{cycles} {read} {written}"
    );
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_loop_unit_sends_what_the_loop_stands_for(case in loop_run()) {
        check_loop(&case)?;
    }

    #[test]
    fn any_sequence_of_commands_ends_and_ends_the_same(commands in prop::collection::vec(command(), 1..80), which in 0usize..3) {
        let config = [int8_16(), int8_32(), fp32_4()][which].clone();
        prop_assert_eq!(play(config.clone(), &commands), play(config, &commands));
    }
}

#[test]
fn loops_and_other_commands_that_wait_for_each_other_are_done_before_a_fence_ends() {
    // (moves before the loops, loops, products behind them)
    for (moves, loops, pairs) in
        (0..20).flat_map(|moves| [(moves, 1, 1), (moves, 4, 0), (moves, 4, 2)])
    {
        let mut bench = int8();
        bench.gemmini.timing_mut().unwrap().reset_stats();
        for at in 0..moves {
            bench.mvin(BASE + at * 1024, 2 * BANK + at % 4 * 16, 64, 16);
        }
        for _ in 0..loops {
            matrix_loop(&mut bench, 2, [BASE, BASE + 0x1000], [0, 0]);
        }
        for _ in 0..pairs {
            bench.pair(0, 16, ACC);
        }
        bench.drain();
        // A loop is 4 x 4 x 2 products, 4 + 2 moves in and 4 moves out.
        let issued = bench.gemmini.timing().unwrap().stats().issued;
        let expected = [moves + loops * 6, loops * 4, 2 * (loops * 32 + pairs)];
        assert_eq!(issued, expected, "{moves} {loops} {pairs}");
    }
}
