//! Blocks that go on when others have come, and blocks that take numbers.

use crate::timing::{OWN_WORD, h100, part, repeated, time};
use autocomp_cuda_sim::timing::Estimate;

/// All of 1,024 blocks load. `count` leaves 0 in `%r2` for one thread of the block that comes last,
/// which goes through a chain of `turns` loads.
fn counted(count: &str, turns: u32) -> Estimate {
    let chain = repeated(
        "mul.wide.u32 %d8, %r7, 4; add.u64 %d9, %y, %d8; ld.volatile.global.u32 %r7, [%d9];",
    );
    let body = format!(
        ".file 1 \"kernel.cu\";
         .loc 1 2 0
         {OWN_WORD} ld.global.f32 %f1, [%d5]; add.f32 %f1, %f1, %f1; st.global.f32 [%d5], %f1;
         {count} setp.ne.u32 %p2, %r2, 0; @%p2 bra end; mov.u32 %r4, {turns}; mov.u32 %r7, 0;
         .loc 1 3 0
         {chain}
         .loc 1 4 0
         atom.global.exch.b32 %r8, [%x], 0; end:"
    );
    time(&body, (1024, 256))
}

/// Counts, by one thread of each block.
const COUNT: &str = "setp.ne.u32 %p1, %t, 0; @%p1 bra end;
     atom.global.inc.u32 %r2, [%x], 4095; sub.u32 %r2, 1023, %r2;";

#[test]
fn what_the_last_block_does_alone_comes_behind_what_all_do() {
    // Each way to find out who comes last: the count, and what else of it.
    let own = "mul.wide.u32 %d6, %r1, 4; add.u64 %d7, %x, %d6;";
    let ways = [
        COUNT.to_owned(),
        // A word of its own that each block changes before does not hide it.
        format!(
            "setp.ne.u32 %p1, %t, 0; @%p1 bra end; {own} atom.global.add.u32 %r9, [%d7+64], 1;
             @%p1 st.global.u32 [%d7], %r9; {COUNT}"
        ),
        // The same, by other threads in the same step.
        format!(
            "setp.lt.u32 %p1, %t, 224; @%p1 bra end; {own} setp.eq.u32 %p1, %t, 250; add.u64 %d7, %d7, 64;
             selp.b64 %d7, %x, %d7, %p1; atom.global.inc.u32 %r2, [%d7], 4095; @!%p1 bra end;
             sub.u32 %r2, 1023, %r2;"
        ),
        // Handed on to a thread of another warp.
        "setp.ne.u32 %p1, %t, 40; @%p1 bra wait; atom.global.inc.u32 %r2, [%x], 4095; st.shared.u32 [s], %r2;
         wait: bar.sync 0; ld.shared.u32 %r2, [s]; setp.ne.u32 %p1, %t, 77; @%p1 bra end; sub.u32 %r2, 1023, %r2;"
            .to_owned(),
        // Handed on within the warp.
        "setp.gt.u32 %p1, %t, 31; @%p1 bra end; setp.ne.u32 %p1, %t, 3; @%p1 bra wait;
         atom.global.inc.u32 %r2, [%x], 4095; wait: shfl.sync.idx.b32 %r2, %r2, 3, 31, -1;
         setp.ne.u32 %p1, %t, 9; @%p1 bra end; sub.u32 %r2, 1023, %r2;"
            .to_owned(),
        // Counted first, looked at then.
        "setp.ne.u32 %p1, %t, 0; @%p1 bra end; red.global.add.u32 [%x], 1; membar.gl;
         ld.volatile.global.u32 %r2, [%x]; sub.u32 %r2, 1024, %r2;"
            .to_owned(),
        "setp.ne.u32 %p1, %t, 0; @%p1 bra end; red.global.add.u32 [%x], 1; membar.gl;
         mov.u32 %r6, 0; atom.global.add.u32 %r2, [%x], %r6; sub.u32 %r2, 1024, %r2;"
            .to_owned(),
        // By compare-and-swap.
        "setp.ne.u32 %p1, %t, 0; @%p1 bra end; mov.u32 %r9, 0;
         again3: mov.u32 %r6, %r9; add.u32 %r8, %r6, 1; atom.global.cas.b32 %r9, [%x], %r6, %r8;
         setp.ne.u32 %p3, %r9, %r6; @%p3 bra again3; sub.u32 %r2, 1023, %r9;"
            .to_owned(),
    ];
    let each = h100().l2_latency * 1000.0 / h100().clock_mhz;
    let failed: Vec<_> = ways
        .iter()
        .map(|way| (way, counted(way, 40).ns - counted(way, 1).ns))
        .filter(|(_, more)| 0.1 < (more / (39.0 * each) - 1.0).abs())
        .collect();
    assert!(failed.is_empty(), "{each} ns each: {failed:#?}");
    let shares = counted(COUNT, 40).parts;
    let shares: f64 = shares.iter().map(|it| it.share).sum();
    assert!((shares - 1.0).abs() < 1e-9, "{shares}");
    // Blocks that all go on alike wait for nobody.
    let alike =
        "atom.global.add.u32 %r2, [%x], 1; and.b32 %r2, %r2, 1023; mul.wide.u32 %d4, %r2, 4;
 add.u64 %d5, %y, %d4; ld.global.u32 %r7, [%d5]; st.global.u32 [%d5], %r7;";
    assert!(part(&time(alike, (1024, 32)), "alone") < 1.0);
}

#[test]
fn what_one_block_does_alone_is_told_at_its_lines() {
    let found = counted(COUNT, 40);
    let lines = found.line_ns();
    let of = |line: u32| lines.get(&line).copied().unwrap_or(0.0);
    let alone = part(&found, "alone");
    assert!(1000.0 < alone && 0.9 * alone < of(3), "{alone} {lines:?}");
    // What all blocks do is no more than without it.
    let without = counted(COUNT, 1).line_ns();
    assert!(of(2) < 1.1 * without[&2], "{lines:?} {without:?}");
}

/// A chain of 400 loads in the block that takes the number `heavy`, of 4 in all others.
fn numbered(number: &str, heavy: u32, blocks: u32) -> f64 {
    let body = format!(
        "setp.ne.u32 %p1, %t, 0; @%p1 bra end; {number} setp.eq.u32 %p2, %r2, {heavy};
         selp.u32 %r4, 400, 4, %p2; mov.u32 %r7, 0; {} st.global.u32 [%y], %r7; end:",
        repeated(
            "mul.wide.u32 %d8, %r7, 4; add.u64 %d9, %y, %d8; ld.volatile.global.u32 %r7, [%d9];"
        )
    );
    time(&body, (blocks, 32)).ns
}

#[test]
fn a_block_that_takes_a_number_does_not_wait_for_those_before() {
    // All blocks begin at once.
    for heavy in [1, 700, 1999] {
        let taken = numbered("atom.global.add.u32 %r2, [%x], 1;", heavy, 2000);
        let given = numbered("mov.u32 %r2, %ctaid.x;", heavy, 2000);
        let more = taken / given;
        assert!((0.95..1.05).contains(&more), "{heavy}: {taken} {given}");
    }
}
