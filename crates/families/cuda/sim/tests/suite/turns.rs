//! Blocks and warps that have their turns in other orders, and side by side.

use crate::kernels::{kernel_of, run_if};
use crate::timing::{repeated, time};
use autocomp_cuda_sim::machine::Order;

const ORDERS: [Order; 3] = [Order::Forward, Order::Backward, Order::Mixed(77)];

/// Returns the sum of the words of `y` after a body of two blocks of eight warps has run in each order.
fn words(body: &str) -> [u32; 3] {
    ORDERS.map(|order| {
        let y = run_if(false, &kernel_of(body), (2, 256), &[0; 2048], 2048, order);
        let y = y.unwrap_or_else(|finding| panic!("{order:?}: {finding:?}"));
        y.chunks(4)
            .map(|it| u32::from_le_bytes([it[0], it[1], it[2], it[3]]))
            .fold(0, u32::wrapping_add)
    })
}

/// Lets the first thread of each warp do `body`.
fn by_warps(body: &str) -> String {
    format!("and.b32 %r1, %t, 31; setp.ne.u32 %p1, %r1, 0; @%p1 bra end; {body} end:")
}

#[test]
fn numbers_of_warps_and_multiprocessors_are_no_numbers_of_threads() {
    // Each warp marks the place among those of its block that its slot gives it; each block the
    // one that its SM gives it.
    let mark = |place: &str| {
        by_warps(&format!(
            "mov.u32 %r5, %ctaid.x; mov.u32 %r6, %warpid; mov.u32 %r7, %smid; {place}
             mul.wide.u32 %d1, %r2, 4; add.u64 %d1, %y, %d1; mov.u32 %r3, 1;
             atom.global.exch.b32 %r4, [%d1], %r3;"
        ))
    };
    let slots = words(&mark(
        "and.b32 %r6, %r6, 7; shl.b32 %r2, %r5, 3; add.u32 %r2, %r2, %r6;",
    ));
    assert!(slots.iter().any(|it| *it != 16), "{slots:?}");
    let sms = words(&mark("and.b32 %r2, %r7, 1;"));
    assert!(sms.iter().any(|it| *it != 2), "{sms:?}");
}

#[test]
fn updates_that_others_may_come_between_get_lost() {
    let update = by_warps(
        "ld.volatile.global.u32 %r2, [%y]; add.u32 %r2, %r2, 1; st.volatile.global.u32 [%y], %r2;",
    );
    let counts = words(&update);
    assert!(counts[0] == 16 && counts[2] < 16, "{counts:?}");
    // One warp of each block: others come between two blocks, too.
    let alone = "setp.ne.u32 %p1, %t, 0; @%p1 bra end;
         mov.u32 %r1, 0; atom.global.add.u32 %r2, [%y], %r1; add.u32 %r3, %r2, 1;
         atom.global.cas.b32 %r4, [%y], %r2, %r3; end:";
    let counts = words(alone);
    assert_eq!(counts, [2, 2, 1]);
    let again = "setp.ne.u32 %p1, %t, 0; @%p1 bra end;
         ld.volatile.global.u32 %r2, [%y];
         again: mov.u32 %r5, %r2; add.u32 %r3, %r2, 1;
         atom.global.cas.b32 %r2, [%y], %r5, %r3; setp.ne.u32 %p2, %r2, %r5; @%p2 bra again; end:";
    assert_eq!(words(again), [2; 3]);
}

#[test]
fn a_queue_costs_what_its_items_cost_shared_out() {
    let work = |next: &str, begin: &str| {
        format!(
            "{begin}
             take: {next}
             setp.ge.u32 %p1, %r8, 64; @%p1 bra end;
             mov.u32 %r4, 200; mov.f32 %f1, 0f3f800000;
             {}
             bra take; end:",
            repeated("fma.rn.f32 %f1, %f1, %f1, %f1; fma.rn.f32 %f1, %f1, %f1, %f1;")
        )
    };
    let counter = work("mov.u32 %r7, 1; atom.global.add.u32 %r8, [%y], %r7;", "");
    let turns = work(
        "add.u32 %r8, %r8, %r9;",
        "mov.u32 %r9, %nctaid.x; mov.u32 %r8, %ctaid.x; sub.u32 %r8, %r8, %r9;",
    );
    let (counter, turns) = (time(&counter, (16, 1)).ns, time(&turns, (16, 1)).ns);
    assert!(counter < 1.6 * turns, "{counter} {turns}");
    assert!(turns < 1.1 * counter, "{counter} {turns}");
}

#[test]
fn blocks_that_wait_in_a_queue_leave_its_items_to_others() {
    // The first `chains` of 512 items are chains of loads, as many steps as eight of the others.
    let with = |chains: u32| {
        let chain = "chain: mul.wide.u32 %d8, %r7, 4; add.u64 %d9, %x, %d8; ld.volatile.global.u32 %r7, [%d9];
             add.u32 %r5, %r5, 1; setp.lt.u32 %p5, %r5, 800; @%p5 bra chain;";
        let body = format!(
            "take: mov.u32 %r6, 1; atom.global.add.u32 %r8, [%y], %r6; setp.ge.u32 %p1, %r8, 512; @%p1 bra end;
             mov.u32 %r5, 0; mov.u32 %r7, 0; setp.lt.u32 %p1, %r8, {chains}; @!%p1 bra others;
             {chain} bra take;
             others: mov.u32 %r4, 150; mov.f32 %f1, 0f3f800000; {} bra take; end:",
            repeated("fma.rn.f32 %f1, %f1, %f1, %f1; fma.rn.f32 %f2, %f2, %f2, %f2;")
        );
        time(&body, (16, 1)).ns
    };
    let machine = crate::timing::h100();
    let chain = 800.0 * machine.l2_latency * 1000.0 / machine.clock_mhz;
    let (none, eight, sixteen) = (with(0), with(8), with(16));
    for (chains, found) in [(8.0, eight), (16.0, sixteen)] {
        let shared_out = (none + chains * chain / 16.0).max(chain);
        let ratio = found / shared_out;
        assert!(
            (0.9..1.15).contains(&ratio),
            "{chains}: {found} ns of {shared_out}, {none}"
        );
    }
}

#[test]
fn what_few_blocks_do_in_as_many_steps_costs() {
    // Of 64 blocks, one multiplies in double precision; all others as often in single precision.
    let body = |heavy: u32| {
        format!(
            "mov.u32 %r4, 400; mov.u32 %r8, %ctaid.x; setp.eq.u32 %p1, %r8, {heavy};
             mov.f64 %d6, 0d3ff0000000000000; mov.f32 %f1, 0f3f800000; @%p1 bra heavy;
             {} bra end;
             heavy: mov.u32 %r5, 0;
             twice: fma.rn.f64 %d6, %d6, %d6, %d6; add.u32 %r5, %r5, 1;
             setp.lt.u32 %p5, %r5, %r4; @%p5 bra twice; end:",
            repeated("fma.rn.f32 %f1, %f1, %f1, %f1;")
        )
    };
    let (all, none) = (
        time(&body(41), (64, 1024)).ns,
        time(&body(64), (64, 1024)).ns,
    );
    assert!(1.1 * none < all, "{all} {none}");
}

#[test]
fn volatile_words_are_seen_late_unless_something_orders_them() {
    let own = "cvt.u32.u64 %r1, %t4; st.volatile.shared.u32 [%r1], %t;";
    let of_neighbour = "xor.b32 %r2, %r1, 4; ld.volatile.shared.u32 %r3, [%r2];
         mov.u32 %r4, %ctaid.x; shl.b32 %r4, %r4, 10; add.u32 %r4, %r4, %r1;
         cvt.u64.u32 %d1, %r4; add.u64 %d1, %y, %d1; st.global.u32 [%d1], %r3;";
    let exchange = |order: &str| words(&format!("{own} {order} {of_neighbour}"));
    let right = 255 * 256;
    let counts = exchange("");
    assert!(counts[0] == right && counts[2] != right, "{counts:?}");
    for order in ["bar.warp.sync -1;", "bar.sync 0;", "membar.cta;"] {
        assert_eq!(exchange(order), [right; 3], "{order}");
    }
    // The block that comes last adds up what both have left.
    let last = |fence: &str| {
        words(&format!(
            "setp.ne.u32 %p1, %t, 0; @%p1 bra end; mov.u32 %r1, %ctaid.x;
             mul.wide.u32 %d1, %r1, 4; add.u64 %d1, %y, %d1; add.u32 %r1, %r1, 1;
             st.volatile.global.u32 [%d1], %r1; {fence}
             mov.u32 %r2, 1; atom.global.add.u32 %r3, [%y+8], %r2;
             setp.ne.u32 %p1, %r3, 1; @%p1 bra end;
             ld.volatile.global.u32 %r4, [%y]; ld.volatile.global.u32 %r5, [%y+4];
             add.u32 %r4, %r4, %r5; st.global.u32 [%y+12], %r4; end:"
        ))
    };
    let sums = last("");
    assert!(sums[0] == 8 && sums[2] != 8, "{sums:?}");
    assert_eq!(last("membar.gl;"), [8; 3]);
    // What orders words for the block orders none for others; what the block has met over, any
    // thread's fence of the device passes on.
    for order in ["bar.sync 0;", "bar.warp.sync -1;", "membar.cta;"] {
        let order = order.replace("-1", "1");
        let sums = last(&order);
        assert!(sums[0] == 8 && sums[2] != 8, "{order} {sums:?}");
    }
    // The second warp waits for a word of the first one.
    let waits = by_warps(
        "cvt.u32.u64 %r1, %t4; mov.u32 %r3, 0; st.volatile.shared.u32 [%r1], %r3; bar.sync 0;
         setp.eq.u32 %p2, %r1, 128; @%p2 bra wait; mov.u32 %r3, 7; st.volatile.shared.u32 [%r1], %r3; bra end;
         wait: ld.volatile.shared.u32 %r3, [%r1+-128]; setp.eq.u32 %p3, %r3, 0; @%p3 bra wait;
         st.global.u32 [%y], %r3;",
    );
    assert_eq!(words(&waits), [7; 3]);
}
