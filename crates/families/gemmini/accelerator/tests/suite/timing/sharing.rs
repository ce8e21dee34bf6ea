//! What loads and the array share at the accumulator beside its banks: the adders, and the
//! address that the writer of zeros and the loads put to a bank.

use super::bench::{ACC, BANK, BASE, Bench, int8, tile};
use super::instances::fp32_4;
use crate::driver::noise;
use autocomp_gemmini::timing::{Recording, Unit};
use autocomp_gemmini::{Checks, Severity, Warning};

/// The upper half of the accumulator.
const UPPER: u64 = ACC + 512;
/// The bit of an address that says that what is written is added.
const ADDS: u64 = 1 << 30;
/// Where the code of loads lies, and that of operations.
const LOADS: u64 = 0x1000;
const OPERATIONS: u64 = 0x2000;

fn warned(bench: Bench) -> Bench {
    let mut bench = bench;
    bench.gemmini.functional_mut().set_checks(Checks {
        uninitialized: Severity::Off,
        races: Severity::Off,
        hazards: Severity::Warn,
    });
    bench
}

/// Returns what was found of `rule`.
fn found(bench: &Bench, rule: &str) -> Vec<Warning> {
    let all = bench.gemmini.functional().warnings().iter();
    all.filter(|it| it.rule == rule).cloned().collect()
}

/// A load of full width to `to`, in the middle of `pairs` operations whose results go to
/// `result`.
fn load_beside_pairs(bench: &mut Bench, to: u64, result: u64, pairs: u64) {
    for at in 0..pairs {
        if at == pairs / 2 {
            bench.code = LOADS;
            bench.mvin(BASE, to, 16, 16);
        }
        bench.code = OPERATIONS;
        bench.pair(0, BANK, result + at % 4 * 16);
    }
    bench.drain();
}

#[test]
fn a_load_and_the_array_that_add_in_two_banks_at_once_are_found() {
    let mut bench = warned(int8());
    load_beside_pairs(&mut bench, ACC + ADDS, UPPER + ADDS, 16);
    let warnings = found(&bench, "shared-adders");
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    let warning = &warnings[0];
    // A move in is command 2, a preload 6.
    assert_eq!(
        (warning.pc, warning.other_pc),
        (LOADS + 8, Some(OPERATIONS + 24))
    );
    assert!(warning.message.contains("adder"), "{}", warning.message);

    // The same as a fault: at the latest when all is done.
    let mut bench = warned(int8());
    bench.gemmini.functional_mut().set_checks(Checks::default());
    for row in 0..16 {
        bench.mvin(BASE, row * 64 % 512, 16, 16);
        bench.mvin(BASE, BANK + row * 64 % 512, 16, 16);
    }
    bench.drain();
    let mut is_refused = false;
    for at in 0..16 {
        is_refused |= !bench.try_issue(2, BASE, tile(ACC + ADDS + at % 4 * 16, 16, 16));
        is_refused |= !bench.try_issue(6, tile(BANK, 16, 16), tile(UPPER + ADDS, 16, 16));
        is_refused |= !bench.try_issue(4, tile(0, 16, 16), tile(super::NONE, 16, 16));
    }
    let at_end = {
        use autocomp_riscv::Rocc;
        bench
            .gemmini
            .fence(0, bench.cycle, &mut bench.memory)
            .is_err()
    };
    assert!(is_refused || at_end);
}

#[test]
fn what_does_not_add_in_two_banks_at_once_is_left_alone() {
    let cases = [
        ("overwriting load", ACC, UPPER + ADDS),
        ("overwriting operations", ACC + ADDS, UPPER),
        ("one bank", ACC + ADDS, ACC + ADDS + 256),
        ("load to the scratchpad", 2048, UPPER + ADDS),
    ];
    for (what, to, result) in cases {
        let mut bench = warned(int8());
        load_beside_pairs(&mut bench, to, result, 16);
        assert_eq!(found(&bench, "shared-adders"), [], "{what}");
    }
    // A fence between the two.
    let mut bench = warned(int8());
    bench.mvin(BASE, ACC + ADDS, 16, 16);
    bench.drain();
    for _ in 0..4 {
        bench.pair(0, BANK, UPPER + ADDS);
    }
    bench.drain();
    bench.mvin(BASE, ACC + ADDS, 16, 16);
    bench.drain();
    assert_eq!(found(&bench, "shared-adders"), []);
    // An accumulator of one bank has adders of its own.
    let mut bench = warned(Bench::new(fp32_4()));
    for _ in 0..8 {
        bench.issue(2, BASE, tile(ACC + ADDS, 4, 4));
        bench.issue(6, tile(BANK, 4, 4), tile(ACC + ADDS + 2048, 4, 4));
        bench.issue(4, tile(0, 4, 4), tile(super::NONE, 4, 4));
    }
    bench.drain();
    assert_eq!(found(&bench, "shared-adders"), []);
}

#[test]
fn zeros_written_beside_a_load_of_the_other_bank_are_found() {
    // Four rows of bytes come in a packet.
    let beside = |to: u64, (narrow, columns): (u64, u64)| {
        let mut bench = warned(int8());
        bench.issue(0, 0x3f80_0000 << 32 | 16 << 16 | 1 << 8 | narrow | 1, 64);
        for at in 0..4 {
            bench.code = LOADS;
            bench.mvin(BASE + at * 0x400, ACC + at * 64, columns, 16);
        }
        bench.code = OPERATIONS;
        bench.mvin(0, to, 16, 16);
        bench.drain();
        found(&bench, "zeros-beside-load")
    };
    let zeros = |to: u64| beside(to, (1 << 2, 64));
    let warnings = zeros(UPPER);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(
        (warnings[0].pc, warnings[0].other_pc),
        (OPERATIONS + 8, Some(LOADS + 8))
    );
    assert_eq!(
        zeros(ACC + 256),
        [],
        "they wait for the load's turn in its bank"
    );
    assert_eq!(zeros(2048), [], "zeros for the scratchpad");
    // Zeros wait for what ends a packet: rows of full width are packets by themselves.
    assert_eq!(beside(UPPER, (0, 16)), []);
}

#[test]
fn an_addition_waits_for_the_row_that_the_accumulator_still_writes() {
    // Rows of 16 bytes that lie in two lines each, and so come in two pieces. On RTL one
    // such move takes 24 cycles more when it adds than when it overwrites, eight take 76
    // more; whole programs of 99 and 376 cycles are met within 5 %.
    let times = |adds: u64, moves: u64| {
        let mut bench = int8();
        bench.issue(0, 0x3f80_0000 << 32 | 16 << 16 | 1 << 8 | 1 << 2 | 1, 64);
        bench.time(|bench| {
            for at in 0..moves {
                bench.mvin(BASE + 56, ACC + adds + at * 16, 16, 16);
            }
        })
    };
    let more = |moves: u64| times(ADDS, moves) - times(0, moves);
    assert!((21..=28).contains(&more(1)), "{}", more(1));
    assert!((66..=95).contains(&more(8)), "{}", more(8));
    // In one piece nothing waits.
    let whole = |adds: u64| {
        let mut bench = int8();
        bench.issue(0, 0x3f80_0000 << 32 | 16 << 16 | 1 << 8 | 1 << 2 | 1, 64);
        bench.time(|bench| bench.mvin(BASE + 48, ACC + adds, 16, 16))
    };
    assert_eq!(whole(ADDS), whole(0));
}

/// Commands at random: loads of full width and of bytes, pairs and moves out, in both halves
/// of the accumulator, adding and overwriting.
fn mixture(bench: &mut Bench, seed: u64) {
    let bytes = noise(seed, 4 * 80);
    for (at, four) in bytes.chunks(4).enumerate() {
        bench.code = 0x1000 + at as u64 * 0x100;
        let half = if four[1] & 1 == 0 { ACC } else { UPPER };
        let adds = if four[1] & 2 == 0 { ADDS } else { 0 };
        let to = half + adds + u64::from(four[2] % 16) * 16;
        match four[0] % 8 {
            0..3 => bench.pair(u64::from(four[3]) * 16, BANK, to),
            3 | 4 => bench.mvin(BASE + u64::from(four[3]) * 64, to, 16, 16),
            5 => bench.issue(1, BASE + u64::from(four[3]) * 16, tile(to, 16, 16)),
            6 => bench.mvout(BASE + 0x8000, to & !ADDS, 16, 16),
            _ if four[3] % 4 == 0 => {
                bench.drain();
            }
            _ => bench.mvin(BASE, 8192, 16, 16),
        }
    }
    bench.drain();
}

#[test]
fn mixtures_whose_additions_end_at_once_are_found_and_others_are_not() {
    let (mut found_in, mut close_in, mut clean) = (0, 0, 0);
    for seed in 1..=120 {
        let mut bench = warned(int8());
        // Channel 1 takes bytes.
        bench.issue(
            0,
            0x3f80_0000 << 32 | 16 << 16 | 1 << 8 | 1 << 3 | 1 << 2 | 1,
            64,
        );
        let engine = bench.gemmini.timing_mut().unwrap();
        engine.record(Recording::default(), 1000, true);
        mixture(&mut bench, seed);
        let recording = bench
            .gemmini
            .timing_mut()
            .unwrap()
            .take_recording()
            .unwrap();
        let is_found = bench
            .gemmini
            .functional()
            .warnings()
            .iter()
            .any(|it| it.rule.starts_with("shared-adders"));
        // What adds to the accumulator: of a load the cycle of its last write is known, of
        // an operation that of its last result.
        let adding = |unit: Unit| {
            let commands = recording.commands.iter().zip(&recording.rows);
            commands.filter_map(move |(command, rows)| {
                let written = rows[0].filter(|rows| rows.adds && command.unit == unit)?;
                Some((*command, written.first / 512))
            })
        };
        let (mut close, mut overlap) = (false, false);
        for (load, load_half) in adding(Unit::Load) {
            for (pair, pair_half) in adding(Unit::Execute) {
                if load_half == pair_half {
                    continue;
                }
                close |= (load.completed() - 1).abs_diff(pair.completed()) <= 8;
                overlap |=
                    load.issued() < pair.completed() + 32 && pair.issued() < load.completed() + 32;
            }
        }
        assert!(
            is_found || !close,
            "seed {seed}: additions that end together are not found"
        );
        assert!(
            overlap || !is_found,
            "seed {seed}: what is found is not under way at once"
        );
        found_in += u32::from(is_found);
        close_in += u32::from(close);
        clean += u32::from(!is_found);
    }
    assert!(
        20 < close_in && close_in <= found_in && 0 < clean,
        "{close_in} {found_in} {clean}"
    );
}
