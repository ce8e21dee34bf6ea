//! The matrix loop unit: what it sends and when.

use super::bench::{ACC, BANK, BASE, Bench, int8};
use super::instances::int8_16;
use autocomp_gemmini::timing::{RecordedCommand, Recording, TouchedRows, Unit};
use autocomp_gemmini::{GemminiConfig, Instruction, MatmulLoop, MatmulParameters, MatmulRun};
use proptest::prelude::*;
use std::collections::BTreeMap;

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

/// Where the operands of a loop lie, as far as they have a place in memory.
fn operands(case: &LoopRun) -> [u64; 4] {
    std::array::from_fn(|operand| {
        if case.present[operand] {
            BASE + (operand as u64) * 0x2_0000
        } else {
            0
        }
    })
}

/// Sets the moves of a loop.
fn configure(bench: &mut Bench, case: &LoopRun) {
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
}

/// Sends a loop to its unit.
fn send(bench: &mut Bench, case: &LoopRun, dram: [u64; 4]) {
    let [i, j, k] = case.bounds.map(u64::from);
    let run = case.run;
    let flag = |set: bool, bit: u32| u64::from(set) << bit;
    bench.issue(9, 0, k << 32 | j << 16 | i);
    bench.issue(10, dram[0], dram[1]);
    bench.issue(11, dram[2], dram[3]);
    bench.issue(12, 512, 512);
    bench.issue(13, 512, 512);
    bench.issue(
        8,
        u64::from(run.a_spad_id) << 18
            | u64::from(run.b_spad_id) << 16
            | u64::from(run.activation) << 8
            | flag(run.low_d, 2)
            | flag(run.full_c, 1),
        flag(run.is_resadd, 2) | flag(run.b_transpose, 1) | flag(run.a_transpose, 0),
    );
}

/// Returns the plan of a loop, if the machine takes it.
fn plan(case: &LoopRun, config: &GemminiConfig) -> Option<MatmulLoop> {
    let parameters = MatmulParameters {
        bounds: case.bounds,
        pads: [0; 3],
        dram: operands(case),
        strides: [512; 4],
    };
    let plan = MatmulLoop::place(config, case.run, parameters, 0, 0);
    plan.check(config).is_ok().then_some(plan)
}

/// Rows that a command reads or writes.
type Touched = [Option<TouchedRows>; 2];

/// What a command does with rows, in the order in which it has to be done.
fn stage(command: &RecordedCommand, adds: bool) -> u32 {
    match command.unit {
        Unit::Load => u32::from(adds),
        Unit::Execute => 2,
        Unit::Store => 3,
    }
}

/// Returns the commands that the loop unit sends for loops, each of them with its number
/// for an instruction address, and the rows that they touch.
fn sent(config: &GemminiConfig, cases: &[LoopRun]) -> Vec<(RecordedCommand, Touched)> {
    let mut bench = Bench::with_memory(config.clone(), 2 << 20);
    let engine = bench.gemmini.timing_mut().unwrap();
    engine.record(Recording::default(), 1 << 20, true);
    let mut set = None;
    for (number, case) in (1..).zip(cases) {
        bench.code = number << 12;
        // Loops overlap unless moves are set between them.
        if set.replace((case.run.is_resadd, case.run.low_d)) != set {
            configure(&mut bench, case);
        }
        send(&mut bench, case, operands(case));
    }
    bench.drain();
    let recording = bench.gemmini.timing_mut().unwrap().take_recording();
    let Recording { commands, rows, .. } = recording.unwrap();
    assert_eq!(commands.len(), rows.len());
    let commands = commands.into_iter().zip(rows);
    commands.filter(|(command, _)| command.unrolled).collect()
}

/// A loop moves a row in before the array uses it, the first operand of a sum before the
/// second, and a row out when the array is done with it.
fn check_order(cases: &[LoopRun]) -> Result<(), TestCaseError> {
    let config = int8_16();
    let mut cases = cases.to_vec();
    for case in cases.iter_mut().filter(|case| case.run.is_resadd) {
        // A sum without an operand or a result is nothing that programs ask for; its stores
        // may go by the moves of the loop before.
        case.present = [true; 4];
    }
    cases.retain(|case| plan(case, &config).is_some());
    let mut reached = BTreeMap::new();
    for (command, touched) in sent(&config, &cases) {
        for rows in touched.into_iter().flatten() {
            let stage = stage(&command, rows.adds);
            for row in rows.first..rows.first + rows.count {
                let before = reached.insert((command.pc, rows.accumulator, row), stage);
                prop_assert!(
                    before.is_none_or(|before| before <= stage),
                    "row {row}: {command:?} in {cases:?}"
                );
            }
        }
    }
    Ok(())
}

fn check_loop(case: &LoopRun) -> Result<(), TestCaseError> {
    let config = int8_16();
    let dram = operands(case);
    let plan = plan(case, &config);
    prop_assume!(plan.is_some());
    let plan = plan.unwrap();
    let mut bench = Bench::with_memory(config.clone(), 2 << 20);
    configure(&mut bench, case);
    bench.drain();
    bench.gemmini.timing_mut().unwrap().reset_stats();
    let cycles = bench.time(|bench| send(bench, case, dram));
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
    fn rows_are_moved_in_used_and_moved_out_in_this_order(cases in prop::collection::vec(loop_run(), 1..5)) {
        check_order(&cases)?;
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

#[test]
fn a_loop_that_normalises_stores_nothing_before_the_last_product() {
    let mut config = int8_16();
    config.features.normalizations = true;
    for (activation, waits) in [(0, false), (2, true), (4, true)] {
        let case = LoopRun {
            bounds: [4, 4, 2],
            present: [true, true, false, true],
            run: MatmulRun {
                activation,
                ..MatmulRun::default()
            },
        };
        let commands = sent(&config, &[case]);
        let first = commands.iter().position(|(it, _)| it.unit == Unit::Store);
        let last = commands
            .iter()
            .rposition(|(it, _)| it.unit == Unit::Execute);
        assert_eq!(last < first, waits, "activation {activation}");
    }
}
