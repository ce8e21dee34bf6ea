//! What one launch of a call leaves in the L2 for the next.

use crate::timing::{part, time_after};
use autocomp_cuda_sim::timing::L2;

/// Each thread copies a word of `x` to `y`, or of `y` to `x`.
fn copy(from: &str, to: &str) -> String {
    format!(
        " mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.u32 %r3, %r1, %r2, %t;
 mul.wide.u32 %d4, %r3, 4; add.u64 %d5, %{from}, %d4; add.u64 %d6, %{to}, %d4;
 ld.global.u32 %r6, [%d5]; st.global.u32 [%d6], %r6;"
    )
}

#[test]
fn a_launch_finds_what_the_one_before_has_written() {
    let bytes = 4.0 * f64::from(1 << 20);
    let shape = (4096, 256);
    let mut l2 = L2::cold();
    let first = time_after(&copy("x", "y"), shape, &mut l2);
    let second = time_after(&copy("y", "x"), shape, &mut l2);
    assert!((first.dram_bytes - bytes).abs() < 0.01 * bytes, "{first:?}");
    assert_eq!(second.dram_bytes, 0.0);
    assert!(second.ns < first.ns, "{first:?} {second:?}");
    // Half of what another launch needs is there.
    let mut l2 = L2::cold();
    time_after(&copy("x", "y"), (2048, 256), &mut l2);
    let third = time_after(&copy("y", "x"), shape, &mut l2);
    assert!(
        (third.dram_bytes - bytes / 2.0).abs() < 0.01 * bytes,
        "{third:?}"
    );
}

#[test]
fn what_passes_through_the_l2_pushes_out_what_was_there_and_is_written_at_last() {
    let mut l2 = L2::cold();
    let shape = (4096, 256);
    time_after(&copy("x", "y"), shape, &mut l2);
    let machine = crate::timing::h100();
    l2.transfer(&machine, None, 1 << 60, 64 << 20);
    let after = time_after(&copy("y", "x"), shape, &mut l2);
    let cold = time_after(&copy("y", "x"), shape, &mut L2::cold());
    assert!(cold.dram_bytes < after.dram_bytes, "{after:?}");
    assert_eq!(part(&after, "latency"), part(&cold, "latency"));
}

#[test]
fn copies_that_stay_in_the_l2_need_no_memory() {
    let machine = crate::timing::h100();
    let again = |bytes: u64| {
        let mut l2 = L2::cold();
        l2.transfer(&machine, Some(1 << 60), 1 << 50, bytes);
        l2.transfer(&machine, Some(1 << 50), 1 << 60, bytes) - machine.launch_ns
    };
    let small = f64::from(4 << 20) / machine.l2_write_bytes_per_ns();
    assert!((again(4 << 20) - small).abs() < 1.0);
    assert!(f64::from(2 << 26) / machine.dram_peak_bytes_per_ns < again(1 << 26));
}
