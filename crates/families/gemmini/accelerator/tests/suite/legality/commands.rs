//! Commands that no machine obeys, whatever was before: their operands, pairs,
//! configurations and loops.

use super::driver::instances::int8_16;
use super::driver::{ACC, BASE, Driver, FULL, NONE, high, tile};
use super::{ready, refused};
use autocomp_gemmini::{Dataflows, GemminiConfig};
use autocomp_riscv::RoccCommand;

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
    d.run(9, 0, 1 << 32 | 1 << 16 | 1);
    refused(&d.fails(8, 7 << 8, 0), "loop-ws-activation", &["7"]);
    refused(&d.fails(15, 1 << 8, 1), "loop-conv-size", &["batches is 0"]);
    let mut plain = int8_16();
    plain.features.loop_conv = false;
    refused(
        &Driver::new(plain).fails(16, 0, 0),
        "loop-conv-unsupported",
        &[],
    );
}
