//! Commands that the machine may overtake by others: races for memory, and hazards in
//! local memory.

use super::driver::{ACC, ADD, BASE, Driver, NONE, tile};
use super::{ready, refused};
use autocomp_riscv::FaultKind;

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
