//! Kernels with a defect, and what is found.

use crate::kernels::{kernel_of, run};
use autocomp_cuda_sim::machine::{Fault, Order, Thread};
use autocomp_cuda_sim::ptx::Space;

/// Runs a body with 64 threads in each of two blocks, on 1 KiB.
fn fault(body: &str) -> Option<Fault> {
    let text = kernel_of(body);
    run(&text, (2, 64), &[1; 1024], 1024, Order::Forward)
        .err()
        .map(|it| it.fault)
}

const TO_OWN_PLACE: &str = "
 mov.u32 %r1, %ctaid.x;
 mad.lo.u32 %r2, %r1, 64, %t;
 mul.wide.u32 %d1, %r2, 4;
 add.u64 %d2, %y, %d1;
 add.u64 %d3, %x, %d1;
";

#[test]
fn a_right_kernel_has_none() {
    let body = format!("{TO_OWN_PLACE} ld.global.u32 %r3, [%d3]; st.global.u32 [%d2], %r3;");
    assert_eq!(fault(&body), None);
}

#[test]
fn an_access_behind_a_buffer_tells_its_distance() {
    let body = format!("{TO_OWN_PLACE} ld.global.u32 %r3, [%d3+800];");
    let Some(Fault::OutOfBounds {
        space,
        area,
        distance,
        ..
    }) = fault(&body)
    else {
        panic!("{:?}", fault(&body));
    };
    assert_eq!((space, area, distance), (Space::Global, Some(0), 0));
    let body = format!("{TO_OWN_PLACE} st.global.u32 [%d2+-4], %r1;");
    let Some(Fault::OutOfBounds { area, distance, .. }) = fault(&body) else {
        panic!("{:?}", fault(&body));
    };
    assert_eq!((area, distance), (Some(1), -4));
}

#[test]
fn shared_memory_has_bounds() {
    let body = "cvt.u32.u64 %r1, %t4; mov.u32 %r2, s; add.u32 %r3, %r2, %r1; st.shared.u32 [%r3+960], %r1;";
    let Some(Fault::OutOfBounds {
        space, distance, ..
    }) = fault(body)
    else {
        panic!("{:?}", fault(body));
    };
    assert_eq!((space, distance), (Space::Shared, 0));
}

#[test]
fn vectors_must_be_aligned() {
    let body = "ld.global.v2.u32 {%r1, %r2}, [%x+4];";
    assert!(matches!(
        fault(body),
        Some(Fault::Misaligned { bytes: 8, .. })
    ));
}

#[test]
fn barriers_are_for_whole_warps() {
    let fault = fault("bar.sync 1, 60;");
    assert_eq!(fault, Some(Fault::BarrierSize { threads: 60 }));
}

#[test]
fn fragments_lie_at_whole_rows() {
    let load = |from: &str, stride: u32| {
        fault(&format!(
            "mov.u32 %r9, {stride};
             wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}}, [{from}], %r9;"
        ))
    };
    assert_eq!(load("%x", 24), None);
    assert!(matches!(
        load("%x+2", 24),
        Some(Fault::Misaligned { bytes: 32, .. })
    ));
    assert!(matches!(
        load("%x+16", 24),
        Some(Fault::Misaligned { bytes: 32, .. })
    ));
    assert!(matches!(
        load("%x", 20),
        Some(Fault::Misaligned { bytes: 16, .. })
    ));
    // A thread holds 8 bytes of a matrix of bytes.
    let load_bytes = |from: &str, stride: u32| {
        fault(&format!(
            "mov.u32 %r9, {stride};
             wmma.load.a.sync.aligned.row.m16n16k16.global.u8 {{%r1, %r2}}, [{from}], %r9;"
        ))
    };
    assert_eq!(load_bytes("%x+8", 24), None);
    for (from, stride) in [("%x+4", 24), ("%x", 20)] {
        assert!(matches!(
            load_bytes(from, stride),
            Some(Fault::Misaligned { bytes: 8, .. })
        ));
    }
}

#[test]
fn what_a_shuffle_gives_of_a_thread_that_is_not_named_is_nothing() {
    let sum = |mask: &str, used: &str| {
        let body = format!(
            "and.b32 %r9, %t, 31; setp.ge.u32 %p1, %r9, 4; @%p1 bra end; mov.u32 %r1, 1;
             shfl.sync.down.b32 %r2, %r1, 2, 31, {mask}; add.u32 %r1, %r1, %r2;
             shfl.sync.down.b32 %r2, %r1, 1, 31, {mask}; add.u32 %r1, %r1, %r2;
             setp.gt.u32 %p2, %r9, {used}; @%p2 bra end;
             add.u64 %d2, %y, %t4; st.global.u32 [%d2], %r1; end:"
        );
        run(&kernel_of(&body), (1, 32), &[0; 4], 16, Order::Forward)
    };
    // The first thread has the sum of all four; the last one has what nobody may rely on.
    assert_eq!(sum("15", "0").unwrap_or_default()[..4], [4, 0, 0, 0]);
    assert_ne!(sum("15", "3").unwrap_or_default()[12..], [1, 0, 0, 0]);
    let fault = sum("-1", "0").err().map(|it| it.fault);
    let (members, missing) = (u32::MAX, !15);
    assert_eq!(fault, Some(Fault::MissingThreads { members, missing }));
}

#[test]
fn a_missing_barrier_is_a_race() {
    let exchange = |between: &str| {
        format!(
            "cvt.u32.u64 %r1, %t4; st.shared.u32 [%r1], %t; {between}
             xor.b32 %r2, %r1, 128; ld.shared.u32 %r3, [%r2]; {TO_OWN_PLACE} st.global.u32 [%d2], %r3;"
        )
    };
    assert!(matches!(
        fault(&exchange("")),
        // The neighbour has not even written.
        Some(
            Fault::Uninitialised {
                space: Space::Shared,
                ..
            } | Fault::Race {
                space: Space::Shared,
                ..
            }
        )
    ));
    assert_eq!(fault(&exchange("bar.sync 0;")), None);
}

#[test]
fn a_missing_meeting_of_the_warp_is_a_race() {
    let exchange = |between: &str| {
        format!(
            "cvt.u32.u64 %r1, %t4; st.shared.u32 [%r1], %t; {between}
             xor.b32 %r2, %r1, 4; ld.shared.u32 %r3, [%r2]; {TO_OWN_PLACE} st.global.u32 [%d2], %r3;"
        )
    };
    assert!(matches!(
        fault(&exchange("")),
        Some(Fault::Race {
            same_warp: true,
            ..
        })
    ));
    assert_eq!(fault(&exchange("bar.warp.sync -1;")), None);
}

#[test]
fn blocks_that_write_the_same_place_race() {
    let body = "mov.u32 %r1, %ctaid.x; add.u64 %d1, %y, %t4; st.global.u32 [%d1], %r1;";
    assert!(matches!(
        fault(body),
        Some(Fault::Race {
            space: Space::Global,
            other: Some(Thread {
                block: [0, 0, 0],
                ..
            }),
            writes: [true, true],
            ..
        })
    ));
}

#[test]
fn what_a_fence_and_an_atomic_publish_may_be_read() {
    // Each block writes and publishes; the one that comes last reads what both wrote.
    let body = |fence: &str| {
        format!(
            "{TO_OWN_PLACE} st.global.u32 [%d2], %t; {fence}
             bar.sync 0;
             atom.global.add.u32 %r3, [%x], 1;
             bar.sync 0;
             setp.lt.u32 %p1, %r3, 16843136;
             @%p1 bra end;
             ld.global.u32 %r4, [%y];
             end:"
        )
    };
    assert_eq!(fault(&body("membar.gl;")), None);
    assert!(matches!(
        fault(&body("")),
        Some(Fault::Race {
            other: Some(Thread {
                block: [0, 0, 0],
                ..
            }),
            ..
        })
    ));
}

#[test]
fn memory_that_nobody_wrote_is_told() {
    assert!(matches!(
        fault("ld.shared.u32 %r1, [s];"),
        Some(Fault::Uninitialised {
            space: Space::Shared,
            ..
        })
    ));
    assert!(matches!(
        fault("ld.global.u32 %r1, [%y];"),
        Some(Fault::Uninitialised {
            space: Space::Global,
            area: Some(1),
            ..
        })
    ));
}

#[test]
fn barriers_in_diverged_code_are_told() {
    // Half of a warp.
    let body =
        "setp.lt.u32 %p1, %t, 16; @%p1 bra there; bar.sync 0; bra end; there: bar.sync 0; end:";
    assert!(matches!(fault(body), Some(Fault::DivergedBarrier { .. })));
    // One of two warps.
    let body =
        "setp.lt.u32 %p1, %t, 32; @%p1 bra there; bar.sync 0; bra end; there: bar.sync 0; end:";
    assert!(matches!(fault(body), Some(Fault::DivergedBarrier { .. })));
    // All threads of both, by the same way.
    let body =
        "setp.lt.u32 %p1, %t, 99; @%p1 bra there; bar.sync 0; bra end; there: bar.sync 0; end:";
    assert_eq!(fault(body), None);
}

#[test]
fn a_barrier_that_not_all_reach_is_told() {
    let body = "setp.lt.u32 %p1, %t, 32; @%p1 bra end; bar.sync 1, 96; end:";
    assert!(matches!(fault(body), Some(Fault::Deadlock)));
}

#[test]
fn shuffles_need_those_that_they_name() {
    let body = "setp.lt.u32 %p1, %t, 16; @%p1 bra end; shfl.sync.bfly.b32 %r1, %t, 1, 31, -1; end:";
    assert_eq!(
        fault(body),
        None,
        "those that have ended need not take part"
    );
    let body =
        "setp.lt.u32 %p1, %t, 16; @%p1 bra there; shfl.sync.bfly.b32 %r1, %t, 1, 31, -1; bra end;
                there: bar.warp.sync -1; end:";
    assert!(matches!(fault(body), Some(Fault::MissingThreads { .. })));
    let body = "shfl.sync.bfly.b32 %r1, %t, 1, 31, 255;";
    assert!(matches!(
        fault(body),
        Some(Fault::NotNamed { members: 255 })
    ));
}

#[test]
fn copies_that_nobody_waits_for_are_told() {
    let copy = "mul.lo.u32 %r1, %t, 16; mul.wide.u32 %d1, %t, 16; add.u64 %d2, %x, %d1;
                cp.async.cg.shared.global [%r1], [%d2], 16;";
    assert!(matches!(
        fault(copy),
        Some(Fault::LeftInFlight { copies: 1 })
    ));
    let read = format!("{copy} ld.shared.u32 %r2, [%r1];");
    assert!(matches!(
        fault(&read),
        Some(Fault::Uninitialised {
            space: Space::Shared,
            ..
        })
    ));
    let right =
        format!("{copy} cp.async.commit_group; cp.async.wait_group 0; ld.shared.u32 %r2, [%r1];");
    assert_eq!(fault(&right), None);
}

#[test]
fn endless_loops_end() {
    assert!(matches!(
        fault("again: bra again;"),
        Some(Fault::TooLong { .. })
    ));
}

#[test]
fn loops_that_wait_for_what_does_not_come_are_told_from_those_that_work() {
    let waits = "again: ld.volatile.global.u32 %r1, [%x]; setp.ne.u32 %p2, %r1, 0; @%p2 bra again;";
    let locks = "mov.u32 %r3, 1; st.volatile.global.u32 [%y], %r3; mov.u32 %r4, 0;
        again: atom.global.cas.b32 %r1, [%y], %r4, %r3; setp.ne.u32 %p2, %r1, 0; @%p2 bra again;";
    for body in [waits, locks] {
        let found = fault(body);
        assert!(
            matches!(found, Some(Fault::WaitsForOthers { .. })),
            "{found:?}"
        );
    }
    // It stores in each turn, as a kernel that works does.
    let works = "again: st.volatile.global.u32 [%y], %t;
        ld.volatile.global.u32 %r1, [%x]; setp.ne.u32 %p2, %r1, 0; @%p2 bra again;";
    let found = fault(works);
    assert!(matches!(found, Some(Fault::TooLong { .. })), "{found:?}");
}

#[test]
fn threads_that_wait_for_others_of_their_warp_let_them_go_on() {
    // Thread 0 waits in a loop that stands before what the others do.
    let body = "setp.ne.u32 %p1, %t, 0; mov.u32 %r5, 0; st.shared.u32 [s], 0; bar.sync 0; @%p1 bra others;
                again: ld.volatile.shared.u32 %r1, [s]; setp.eq.u32 %p2, %r1, 0; @%p2 bra again; bra end;
                others: atom.shared.exch.b32 %r2, [s], 1; end:";
    assert_eq!(fault(body), None);
}

#[test]
fn results_that_depend_on_the_order_of_blocks_differ() {
    // Each block takes a number and leaves its own under it.
    let body = "setp.ne.u32 %p1, %t, 0; @%p1 bra end; mov.u32 %r1, %ctaid.x;
                atom.global.add.u32 %r2, [%x], 1; mul.wide.u32 %d1, %r2, 4; add.u64 %d2, %y, %d1;
                st.global.u32 [%d2], %r1; end:";
    let text = kernel_of(body);
    let of = |order| run(&text, (8, 32), &[0; 64], 64, order).map(|it| it[0]);
    assert_eq!(of(Order::Forward), Ok(0));
    assert_eq!(of(Order::Backward), Ok(7));
    assert_ne!(of(Order::Mixed(0x5_0000_3039)), Ok(0));
}

#[test]
fn launches_that_no_device_accepts_are_told() {
    let text = kernel_of("");
    for shape in [(0, 32), (1, 0), (1, 1025)] {
        let found = run(&text, shape, &[0; 4], 4, Order::Forward).map_err(|it| it.fault);
        assert!(matches!(found, Err(Fault::BadLaunch { .. })), "{shape:?}");
    }
}

#[test]
fn a_launch_of_very_many_blocks_ends_with_its_limit() {
    // What blocks publish is kept for those that ran, not for those that are numbered.
    let body = "membar.gl; atom.global.add.u32 %r2, [%x], 1;";
    let text = kernel_of(body);
    for order in [Order::Forward, Order::Backward, Order::Mixed(7)] {
        let found = run(&text, (2_147_483_647, 32), &[0; 4], 4, order).map_err(|it| it.fault);
        assert!(matches!(found, Err(Fault::TooLong { .. })), "{found:?}");
    }
}

#[test]
fn what_ended_blocks_pass_on_is_bounded() {
    // Seven threads of each block meet, and publish a word of their own.
    let body = "setp.gt.u32 %p1, %t, 6; @%p1 bra end; bar.warp.sync 127; membar.gl;
         add.u64 %d1, %x, %t4; mov.u32 %r1, 1; atom.global.add.u32 %r2, [%d1], %r1; end:";
    let with = |blocks: u32| {
        let found = run(&kernel_of(body), (blocks, 32), &[0; 64], 64, Order::Forward);
        found.map(|_| ()).map_err(|it| it.fault)
    };
    assert_eq!(with(2000), Ok(()));
    let found = with(100_000);
    assert!(matches!(found, Err(Fault::TooLong { .. })), "{found:?}");
}
