//! What does not stop the machine but is noted: warnings, statistics, pages moved out to.

use super::driver::instances::{int8_16, int8_32};
use super::driver::{ACC, BASE, Driver, FULL, NONE, high, tile};
use super::{ready, refused};
use autocomp_riscv::{AccessKind, RoccCommand};

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
