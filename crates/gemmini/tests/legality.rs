//! Every rule that stops the machine, broken once; and its legal neighbour.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod driver;

use autocomp_gemmini::{Checks, Dataflows, GemminiConfig, Severity};
use autocomp_riscv::{AccessKind, Fault, FaultKind, RoccCommand};
use driver::instances::{int8_16, int8_32};
use driver::{ACC, ADD, BASE, Driver, FULL, NONE, high, tile};

fn ready() -> Driver {
    let mut driver = Driver::new(int8_16());
    driver.configure(64);
    driver.mvin(BASE, 0, 64, 16);
    driver.mvin(BASE, 4096, 64, 16);
    driver.mvin(0, ACC, 16, 16);
    driver.fence();
    driver
}

#[track_caller]
fn refused(fault: &Fault, rule: &str, parts: &[&str]) {
    assert_eq!(fault.rule, rule, "{}", fault.message);
    for part in parts {
        assert!(
            fault.message.contains(part),
            "`{part}` is missing in `{}`",
            fault.message
        );
    }
}

#[test]
fn moves_in_name_the_legal_range() {
    let mut d = ready();
    refused(
        &d.fails(2, BASE, tile(0, 16, 17)),
        "mvin-rows",
        &["17 rows", "1 to 16"],
    );
    refused(&d.fails(2, BASE, tile(0, 16, 0)), "mvin-rows", &["0 rows"]);
    refused(
        &d.fails(2, BASE, tile(0, 65, 16)),
        "mvin-columns",
        &["65 columns", "1 to 64"],
    );
    refused(
        &d.fails(2, BASE, tile(ACC, 17, 16)),
        "mvin-columns",
        &["17 columns", "1 to 16"],
    );
    refused(
        &d.fails(2, BASE, tile(16384 - 15, 16, 16)),
        "mvin-range",
        &["16383"],
    );
    refused(
        &d.fails(2, BASE, tile(ACC + 1024, 16, 1)),
        "mvin-range",
        &["1023"],
    );
    refused(
        &d.fails(2, BASE, tile(NONE, 16, 1)),
        "mvin-destination",
        &[],
    );
    d.mvin(BASE, 16384 - 16, 16, 16);
    d.config_ld(0, 64, true);
    d.mvin(BASE, ACC, 64, 16);
    refused(
        &d.fails(2, BASE, tile(ACC + 1024 - 63, 64, 16)),
        "mvin-range",
        &["1024"],
    );
    let fault = d.fails(2, 0x4000_0000, tile(0, 16, 16));
    refused(&fault, "unmapped", &["mvin, row 0 of 16", "0x40000000"]);
}

#[test]
fn moves_out_name_the_legal_range() {
    let mut d = ready();
    refused(&d.fails(3, BASE, tile(0, 16, 17)), "mvout-rows", &["17"]);
    refused(&d.fails(3, BASE, tile(0, 65, 16)), "mvout-columns", &["65"]);
    refused(
        &d.fails(3, BASE, tile(FULL, 17, 16)),
        "mvout-columns",
        &["1 to 16"],
    );
    refused(
        &d.fails(3, BASE, tile(16384 - 15, 16, 16)),
        "mvout-range",
        &["16383"],
    );
    refused(&d.fails(3, BASE, tile(NONE, 16, 16)), "mvout-source", &[]);
    let mut narrow = int8_16();
    narrow.features.acc_read_full_width = false;
    let mut d = Driver::new(narrow);
    refused(&d.fails(3, BASE, tile(FULL, 16, 16)), "mvout-width", &[]);
    refused(
        &d.fails(3, BASE, tile(ACC | 2 << 26, 16, 1)),
        "norm-unsupported",
        &["normalisation"],
    );
}

#[test]
fn preload_and_compute_come_in_pairs() {
    let mut d = ready();
    refused(
        &d.fails(4, tile(0, 16, 16), tile(NONE, 16, 16)),
        "compute-without-preload",
        &[],
    );
    d.run(6, tile(4096, 16, 16), tile(ACC, 16, 16));
    let first = d.pc;
    let fault = d.fails(6, tile(4096, 16, 16), tile(ACC, 16, 16));
    refused(&fault, "preload-without-compute", &[]);
    assert_eq!(fault.other_pc, Some(first));
    refused(&d.fails(0, 4, 0), "preload-without-compute", &[]);
    assert_eq!(d.gemmini.pending_preload(), Some(first));
    d.run(4, tile(0, 16, 16), tile(NONE, 16, 16));
    d.run(6, tile(NONE, 16, 16), tile(NONE, 16, 16));
    let preload = d.pc;
    d.fence();
    let warning = d.gemmini.warnings().last().unwrap();
    assert_eq!(warning.rule, "preload-at-fence");
    assert_eq!(warning.other_pc, Some(preload));
}

#[test]
fn operands_of_the_array_are_checked() {
    let mut d = ready();
    let pair = |d: &mut Driver, b: u64, c: u64, a: u64| {
        let first = d.try_run(6, b, c);
        first
            .and_then(|_| d.try_run(4, a, tile(NONE, 16, 16)))
            .unwrap_err()
    };
    let (b, c, a) = (tile(4096, 16, 16), tile(ACC, 16, 16), tile(0, 16, 16));
    refused(
        &pair(&mut d, tile(ACC, 16, 16), c, a),
        "operand-in-accumulator",
        &["B", "acc[0]"],
    );
    refused(
        &pair(&mut d, b, c, tile(ACC, 16, 16)),
        "operand-in-accumulator",
        &["A"],
    );
    refused(
        &pair(&mut d, b, c, tile(0, 17, 16)),
        "operand-size",
        &["17 columns"],
    );
    refused(
        &pair(&mut d, tile(0, 16, 17), c, a),
        "operand-size",
        &["B", "17 rows"],
    );
    refused(
        &pair(&mut d, b, tile(ACC, 17, 16), a),
        "result-size",
        &["17 columns"],
    );
    refused(
        &pair(&mut d, b, tile(ACC + 1009, 16, 16), a),
        "result-range",
        &["1023"],
    );
    refused(
        &pair(&mut d, tile(16384 - 8, 16, 16), c, a),
        "operand-range",
        &["16383"],
    );
    let mut lean = int8_16();
    lean.features.ex_write_to_spad = false;
    let mut d = Driver::new(lean);
    refused(
        &d.fails(6, b, tile(64, 16, 16)),
        "result-in-scratchpad",
        &[],
    );
}

#[test]
fn configurations_that_do_not_exist_are_refused() {
    let mut d = ready();
    let ex = |ws: u64, at: u64, bt: u64| ws << 2 | at << 8 | bt << 9;
    refused(&d.fails(0, ex(1, 1, 1), 0), "transpose", &["not both"]);
    refused(&d.fails(0, ex(0, 0, 1), 0), "transpose", &[]);
    d.run(0, ex(0, 1, 1), 0);
    refused(
        &d.fails(6, tile(NONE, 16, 16), tile(ACC, 16, 16)),
        "os-result-stride",
        &["c_stride is 0"],
    );
    refused(&d.fails(0, 3 << 3 | 1, 0), "load-channel", &["channel 3"]);
    refused(&d.fails(0, 3 << 2 | 2, 0), "activation", &["GELU"]);
    refused(&d.fails(23, 0, 0), "unknown-function", &["23"]);
    let command = RoccCommand {
        custom: 2,
        funct: 7,
        rs1: 0,
        rs2: 0,
        wants_reply: false,
        pc: 8,
        cycle: 0,
    };
    refused(&d.issue(command).unwrap_err(), "opcode", &["custom-2"]);
    let command = RoccCommand {
        custom: 3,
        wants_reply: true,
        ..command
    };
    refused(
        &d.issue(command).unwrap_err(),
        "no-reply",
        &["wait for ever"],
    );
    let mut d = Driver::new(GemminiConfig {
        dataflows: Dataflows::WeightStationary,
        ..int8_16()
    });
    refused(&d.fails(0, 0, 0), "dataflow", &["output-stationary"]);
    let mut plain = int8_16();
    plain.features.mvin_scale = false;
    plain.features.first_layer = false;
    plain.features.max_pool = false;
    let mut d = Driver::new(plain);
    d.run(0, high(2.0) | 1, 64);
    refused(
        &d.fails(2, BASE, tile(0, 16, 1)),
        "mvin-scale",
        &["scale is 2"],
    );
    d.run(0, high(1.0) | 2 << 8 | 1, 64);
    refused(&d.fails(2, BASE, tile(0, 4, 1)), "pixel-repeats", &[]);
    refused(&d.fails(0, 1 << 4 | 2, 64), "mvout-pool", &[]);
}

#[test]
fn loops_that_do_not_fit_are_refused() {
    let mut d = ready();
    let mut bounds = |i: u64, j: u64, k: u64, pad: u64| {
        d.run(9, pad, k << 32 | j << 16 | i);
        d.fails(8, 0, 0)
    };
    refused(&bounds(0, 1, 1, 0), "loop-ws-bounds", &["0 x 1 x 1"]);
    refused(&bounds(1, 1, 1, 16), "loop-ws-pads", &["16"]);
    refused(&bounds(8, 8, 1, 0), "loop-ws-accumulator", &["1024", "512"]);
    refused(
        &bounds(2, 2, 200, 0),
        "loop-ws-scratchpad",
        &["6400", "8192"],
    );
    refused(&bounds(65535, 65535, 65535, 0), "loop-ws-accumulator", &[]);
    refused(&d.fails(15, 1 << 8, 1), "loop-conv-size", &["batches is 0"]);
    let mut plain = int8_16();
    plain.features.loop_conv = false;
    refused(
        &Driver::new(plain).fails(16, 0, 0),
        "loop-conv-unsupported",
        &[],
    );
}

#[test]
fn uninitialized_elements_are_named_with_their_last_writer() {
    let mut d = ready();
    d.run(6, tile(4096, 16, 16), tile(ACC, 16, 16));
    let fault = d.fails(4, tile(64, 16, 16), tile(NONE, 16, 16));
    refused(
        &fault,
        "uninitialized-operand",
        &["A", "row 64", "columns 0 to 15"],
    );
    assert_eq!(
        (fault.kind, fault.other_pc),
        (FaultKind::Uninitialized, None)
    );

    d.mvin(BASE, 64, 12, 16);
    let writer = d.pc;
    d.run(6, tile(4096, 16, 16), tile(ACC, 16, 16));
    let fault = d.fails(4, tile(64, 16, 16), tile(NONE, 16, 16));
    refused(
        &fault,
        "uninitialized-operand",
        &["row 64", "columns 12 to 15"],
    );
    assert_eq!(fault.other_pc, Some(writer));
    // Twelve columns are enough if the weights have twelve rows.
    d.run(6, tile(4096, 16, 12), tile(ACC, 16, 16));
    d.run(4, tile(64, 16, 16), tile(NONE, 16, 16));

    d.run(6, tile(8000, 16, 16), tile(ACC, 16, 16));
    let preload = d.pc;
    let fault = d.fails(4, tile(0, 16, 16), tile(NONE, 16, 16));
    refused(
        &fault,
        "uninitialized-weights",
        &["row 0 (scratchpad row 8000)"],
    );
    assert_eq!(fault.other_pc, Some(preload));

    d.run(6, tile(4096, 16, 16), tile(ADD + 64, 16, 16));
    refused(
        &d.fails(4, tile(0, 16, 16), tile(NONE, 16, 16)),
        "uninitialized-accumulator",
        &["adds to accumulator row 64"],
    );
    refused(
        &d.fails(3, BASE, tile(FULL + 64, 16, 1)),
        "uninitialized-store",
        &["accumulator row 64"],
    );
    refused(
        &d.fails(2, BASE, tile(ADD + 64, 16, 1)),
        "uninitialized-accumulator",
        &[],
    );
    d.gemmini.poison(0x5a);
    refused(
        &d.fails(3, BASE, tile(0, 16, 1)),
        "uninitialized-store",
        &["scratchpad row 0"],
    );
    assert_eq!(d.gemmini.spad_row(3).unwrap(), [0x5a; 16]);
    d.run(6, tile(NONE, 16, 16), tile(ACC, 16, 16));
    d.gemmini.set_checks(Checks {
        uninitialized: Severity::Warn,
        ..Checks::default()
    });
    d.run(5, tile(0, 16, 16), tile(NONE, 16, 16));
    assert!(
        d.gemmini
            .warnings()
            .iter()
            .any(|w| w.rule == "uninitialized-array")
    );
}

#[test]
fn unfenced_accesses_to_the_same_bytes_are_races() {
    let out = BASE + 0x1000;
    let mut d = ready();
    d.mvout(out, ACC, 16, 16);
    let store = d.pc;
    let fault = d.fails(2, out + 64, tile(128, 16, 1));
    refused(&fault, "unfenced-dma", &["0x80001040", "fence"]);
    assert_eq!(
        (fault.kind, fault.other_pc, fault.address),
        (FaultKind::Race, Some(store), Some(out + 64))
    );
    let fault = d.gemmini.cpu_access(out + 15, 1, false, 900).unwrap_err();
    refused(&fault, "unfenced-dma", &["CPU load"]);
    assert!(
        d.gemmini.cpu_access(out + 16, 8, false, 900).is_ok(),
        "between the rows"
    );
    assert!(d.memory.is_watched(out, 1));
    d.fence();
    assert!(d.gemmini.cpu_access(out + 15, 1, false, 900).is_ok());
    d.mvin(out + 64, 128, 16, 1);
    assert!(
        d.gemmini.cpu_access(out + 64, 8, false, 900).is_ok(),
        "two reads"
    );
    let fault = d.gemmini.cpu_access(out + 64, 8, true, 900).unwrap_err();
    refused(&fault, "unfenced-dma", &["CPU store"]);

    // Stores of what was loaded wait for the load; others do not.
    let mut d = ready();
    d.mvin(BASE, 256, 16, 16);
    d.mvout(BASE, 256, 16, 16);
    d.fence();
    d.mvin(BASE, 256, 16, 16);
    refused(
        &d.fails(3, BASE, tile(0, 16, 16)),
        "unfenced-dma",
        &["mvout", "writes"],
    );
    d.fence();
    d.mvin(BASE, 256, 16, 16);
    d.run(6, tile(4096, 16, 16), tile(ACC, 16, 16));
    d.run(4, tile(256, 16, 16), tile(NONE, 16, 16));
    d.mvout(BASE, ACC, 16, 16);
}

#[test]
fn an_adding_load_must_not_follow_an_overwriting_one_directly() {
    let mut d = ready();
    d.mvin(BASE, ACC + 512, 16, 16);
    d.config_ld(0, 64, true);
    d.config_ld(1, 64, true);
    d.mvin(BASE, ACC, 64, 16);
    let first = d.pc;
    let fault = d.fails(1, BASE, tile(ADD, 64, 16));
    refused(&fault, "load-order", &["rows 0 to 63"]);
    assert_eq!(fault.other_pc, Some(first));
    d.mvin(BASE, ACC, 64, 16);
    d.mvin(BASE, ACC + 64, 64, 16);
    d.run(1, BASE, tile(ADD, 64, 16));
    d.mvin(BASE, ACC, 64, 16);
    d.fence();
    d.run(1, BASE, tile(ADD, 64, 16));
    d.mvin(0, ACC, 64, 16);
    d.run(1, BASE, tile(ADD, 64, 16));
    // A move out between the two, or an operation.
    d.mvin(BASE, ACC, 64, 16);
    d.mvout(BASE + 0x8000, ACC + 512, 16, 16);
    d.run(1, BASE, tile(ADD, 64, 16));
    d.mvin(BASE, ACC, 64, 16);
    d.run(6, tile(4096, 16, 16), tile(256, 16, 16));
    d.run(4, tile(0, 16, 16), tile(NONE, 16, 16));
    d.run(1, BASE, tile(ADD, 64, 16));
}

#[test]
fn operands_must_not_overlap_results_in_flight_partly() {
    let mut d = ready();
    let pair = |d: &mut Driver, a: u32, c: u32| {
        d.run(6, tile(4096, 16, 16), tile(c, 16, 16));
        d.try_run(4, tile(a, 16, 16), tile(NONE, 16, 16))
    };
    pair(&mut d, 0, 128).unwrap();
    let producer = d.pc - 4;
    d.mvin(BASE, 144, 16, 16);
    pair(&mut d, 128, 256).unwrap();
    let fault = pair(&mut d, 136, 256).unwrap_err();
    refused(
        &fault,
        "partial-overlap",
        &["rows 136 to 151", "rows 128 to 143"],
    );
    assert_eq!(fault.other_pc, Some(producer));
    d.fence();
    pair(&mut d, 136, 512).unwrap();
    // A configuration of the array waits for the results too.
    pair(&mut d, 0, 128).unwrap();
    d.config_ex(true, false, false);
    pair(&mut d, 136, 256).unwrap();
}

#[test]
fn a_result_has_left_when_as_many_rows_have_entered_as_it_takes() {
    let mut d = ready();
    d.mvin(BASE, 144, 16, 16);
    d.run(6, tile(4096, 16, 16), tile(128, 16, 16));
    d.run(4, tile(0, 16, 16), tile(NONE, 16, 16));
    // A row takes 38 cycles; an operation of one row takes the time of four.
    let short = |d: &mut Driver| {
        d.run(6, tile(NONE, 16, 16), tile(NONE, 16, 16));
        d.run(5, tile(0, 16, 1), tile(NONE, 16, 16));
    };
    for _ in 0..9 {
        short(&mut d);
    }
    let read = |d: &mut Driver| {
        d.run(6, tile(NONE, 16, 16), tile(256, 16, 16));
        d.try_run(5, tile(136, 16, 16), tile(NONE, 16, 16))
    };
    refused(&read(&mut d).unwrap_err(), "partial-overlap", &[]);
    short(&mut d);
    read(&mut d).unwrap();
}

#[test]
fn stores_of_what_was_computed_wait_for_the_loads_it_came_from() {
    // The moving operand in the array's sums, and the addend.
    let mut d = ready();
    d.config_ex(false, false, false);
    d.mvin(BASE, 512, 16, 16);
    d.run(6, tile(NONE, 16, 16), tile(ACC, 16, 16));
    d.run(4, tile(512, 16, 16), tile(4096, 16, 16));
    d.mvout(BASE, ACC, 16, 16);
    d.fence();
    d.config_ex(true, false, false);
    d.mvin(BASE, 512, 16, 16);
    d.run(6, tile(4096, 16, 16), tile(256, 16, 16));
    d.run(4, tile(0, 16, 16), tile(512, 16, 16));
    d.mvout(BASE, 256, 16, 16);
}

#[test]
fn repeated_pixels_stay_in_their_half_of_the_scratchpad() {
    let mut d = ready();
    d.run(0, high(1.0) | 16 << 16 | 2 << 8 | 1, 64);
    d.mvin(BASE, 8192, 8, 2);
    d.mvout(BASE + 0x1000, 8192, 16, 1);
    let fault = d.fails(3, BASE + 0x1000, tile(8191, 16, 1));
    refused(
        &fault,
        "uninitialized-store",
        &["row 8191", "columns 0 to 15"],
    );
}

#[test]
fn pages_that_are_moved_out_to_are_no_longer_the_cores_own() {
    let looks = |d: &mut Driver| {
        d.fence();
        let read = d.memory.read(BASE + 0x1000, 8, AccessKind::Load, 0);
        read.unwrap();
        d.memory.core_stands_alone()
    };
    let mut d = ready();
    d.memory.note_origins();
    assert!(looks(&mut d));
    d.mvout(BASE + 0x1000, 0, 16, 16);
    assert!(!looks(&mut d));
}

#[test]
fn pooling_is_of_operand_width_and_doubts_about_stores_are_told() {
    let mut d = ready();
    let pool = |size: u64, of: u64, to: u64| {
        of << 56 | of << 48 | to << 40 | to << 32 | to << 24 | size << 6 | 1 << 4 | 2
    };
    d.run(0, pool(2, 4, 3), high(1.0) | 64);
    refused(
        &d.fails(3, BASE, tile(FULL, 16, 16)),
        "mvout-pool",
        &["operand width"],
    );
    d.mvout(BASE + 0x1000, ACC, 16, 16);
    let doubts = |d: &Driver| {
        d.gemmini
            .warnings()
            .iter()
            .map(|w| w.rule)
            .collect::<Vec<_>>()
    };
    assert_eq!(doubts(&d), [""; 0]);
    d.config_st(64, 0.5, 1);
    d.mvout(BASE + 0x2000, ACC, 16, 16);
    assert_eq!(doubts(&d), [""; 0]);
    d.config_st(64, -0.5, 1);
    d.mvout(BASE + 0x3000, ACC, 16, 16);
    assert_eq!(doubts(&d), ["relu-negative-scale"]);
    // Blocks of 16 rows, 16 rows apart, then 15.
    d.mvin(BASE, 512, 64, 16);
    assert_eq!(doubts(&d).len(), 1);
    d.run(0, high(1.0) | 15 << 16 | 1 << 8 | 1, 64);
    d.mvin(BASE, 512, 64, 16);
    assert_eq!(doubts(&d)[1..], ["mvin-blocks-overlap"]);
}

#[test]
fn doubtful_commands_are_warned_about_once_per_place() {
    let mut d = Driver::unchecked(int8_16());
    let command = |funct, rs1, rs2| RoccCommand {
        custom: 3,
        funct,
        rs1,
        rs2,
        wants_reply: false,
        pc: 40,
        cycle: 0,
    };
    for _ in 0..3 {
        d.issue(command(2, BASE, tile(0x4000_0000, 16, 16)))
            .unwrap();
    }
    d.issue(command(3, BASE, tile(0, 16, 16))).unwrap();
    d.issue(command(6, tile(0, 16, 16), tile(ACC, 16, 16)))
        .unwrap();
    d.issue(command(4, tile(NONE, 16, 16), tile(NONE, 16, 16)))
        .unwrap();
    let found: Vec<_> = d
        .gemmini
        .warnings()
        .iter()
        .map(|w| (w.rule, w.pc, w.count))
        .collect();
    assert_eq!(
        found,
        [
            ("load-unconfigured", 40, 3),
            ("accumulate-in-scratchpad", 40, 3),
            ("store-unconfigured", 40, 1),
            ("execute-unconfigured", 40, 1),
            ("compute-without-a", 40, 1),
        ]
    );
    for place in 0..100 {
        let mut elsewhere = command(2, BASE, tile(0, 16, 16));
        elsewhere.pc = 1000 + 4 * place;
        d.issue(elsewhere).unwrap();
    }
    assert_eq!(d.gemmini.warnings().len(), 64, "no more are kept");
}

#[test]
fn sums_wider_than_the_array_wrap_with_a_warning() {
    let mut d = Driver::new(int8_32());
    d.configure(64);
    d.write(BASE, &[0x80; 4096]);
    d.mvin(BASE, 0, 32, 32);
    d.mvin(BASE, 4096, 32, 32);
    d.run(6, tile(4096, 32, 32), tile(ACC, 32, 32));
    d.run(4, tile(0, 32, 32), tile(NONE, 32, 32));
    assert_eq!(d.gemmini.acc_row(31).unwrap(), [-(1 << 19); 32]);
    assert_eq!(d.gemmini.warnings()[0].rule, "partial-sum-wrapped");
}

#[test]
fn statistics_count_what_was_done() {
    let mut d = ready();
    d.gemmini.reset_statistics();
    d.mvin(BASE, 0, 64, 8);
    d.run(6, tile(4096, 12, 16), tile(ACC, 16, 8));
    d.run(4, tile(0, 16, 8), tile(NONE, 16, 16));
    d.mvout(BASE + 0x1000, ACC, 16, 8);
    let s = d.gemmini.statistics();
    assert_eq!((s.macs_useful, s.macs_issued), (8 * 16 * 12, 8 * 256));
    assert_eq!((s.dma_read_bytes, s.dma_written_bytes), (512, 128));
    assert_eq!(
        (s.commands[2], s.commands[3], s.commands[4], s.commands[6]),
        (1, 1, 1, 1)
    );
    let touched = [false, true].map(|accumulator| {
        let rows = d.gemmini.rows_touched(accumulator);
        rows.iter().filter(|touched| **touched).count()
    });
    assert_eq!(touched, [4 * 8, 8]);
    assert_eq!(s.commands_by_pc().len(), 4);
    // Eight rows from one in DRAM.
    d.config_ld(0, 0, false);
    d.mvin(BASE, 0, 64, 8);
    assert_eq!(d.gemmini.statistics().dma_read_bytes, 512 + 64);
}
