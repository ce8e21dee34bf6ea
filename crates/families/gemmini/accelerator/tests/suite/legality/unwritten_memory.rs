//! Elements of local memory that nothing has written.

use super::driver::{ACC, ADD, BASE, FULL, NONE, high, tile};
use super::{ready, refused};
use autocomp_gemmini::{Checks, Severity};
use autocomp_riscv::FaultKind;

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
