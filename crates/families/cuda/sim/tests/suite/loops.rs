//! Turns of loops that wait for each other, and those that do not.

use crate::timing::{h100, part, time};

/// Loads a line in each of 128 turns of a warp; `step` adds to the counter `%r5`, `setp` compares.
fn turns(step: &str, compared: &str) -> f64 {
    let body = format!(
        "mov.u32 %r9, %ntid.x; mov.u32 %r5, %t; mov.u32 %r10, %t; mov.u32 %r4, 4096;
         again: mul.wide.u32 %d8, %r5, 4; add.u64 %d9, %x, %d8; ld.global.u32 %r7, [%d9];
         add.u32 %r6, %r6, %r7; {step} setp.lt.u32 %p5, {compared}, %r4; @%p5 bra again;
         st.global.u32 [%y], %r6;"
    );
    part(&time(&body, (1, 32)), "latency")
}

#[test]
fn loops_that_go_on_by_a_variable_are_not_unrolled() {
    let machine = h100();
    let alone = 128.0 * machine.l2_latency * 1000.0 / machine.clock_mhz;
    // How the counter goes on, what is compared, and whether a turn waits for the one before.
    let cases = [
        ("add.u32 %r5, %r5, %r9;", "%r5", true),
        ("add.u32 %r8, %r9, %r5; mov.u32 %r5, %r8;", "%r8", true),
        ("add.u32 %r8, %r5, %r9; mov.u32 %r5, %r8;", "%r5", true),
        // Another counter than that of the loads.
        (
            "add.u32 %r5, %r5, 32; add.u32 %r10, %r10, %r9;",
            "%r10",
            true,
        ),
        ("add.u32 %r5, %r5, 32;", "%r5", false),
        ("add.u32 %r8, %r5, 32; mov.u32 %r5, %r8;", "%r8", false),
        // A variable is added, but not in each turn anew.
        (
            "add.u32 %r10, %r10, 32; add.u32 %r5, %r10, %r9;",
            "%r5",
            false,
        ),
        (
            "add.u32 %r5, %r5, %r9; add.u32 %r10, %r10, 32;",
            "%r10",
            false,
        ),
    ];
    let found = cases.map(|(step, compared, waits)| (step, turns(step, compared), waits));
    let failed: Vec<_> = found
        .iter()
        .filter(|(_, ns, waits)| (alone < *ns) != *waits)
        .collect();
    assert!(failed.is_empty(), "{alone}: {failed:#?}");
}
