//! What orders uses of memory, and what does not.

use crate::kernels::{kernel_of, run};
use autocomp_cuda_sim::machine::{Fault, Order};

/// Runs a body with 64 threads in each of two blocks, on 1 KiB.
pub fn fault(body: &str) -> Option<Fault> {
    let text = kernel_of(body);
    run(&text, (2, 64), &[0; 1024], 1024, Order::Forward)
        .err()
        .map(|it| it.fault)
}

/// How a body ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Right,
    Race,
    Changed,
    Outside,
}

/// Each thread writes its word of shared memory.
const WRITE: &str = "cvt.u32.u64 %r1, %t4; st.shared.u32 [%r1], %t;";
/// Each thread reads the word of the fourth thread from it.
const READ: &str = "xor.b32 %r2, %r1, 16; ld.shared.u32 %r3, [%r2];";

#[test]
fn meetings_order_those_that_they_name() {
    use End::{Race, Right};
    let low = "setp.ge.u32 %p1, %t, 16; @%p1 bra end;";
    let cases: &[(&str, String, End)] = &[
        ("whole warp", format!("{WRITE} bar.warp.sync -1; {READ}"), Right),
        ("nothing", format!("{WRITE} {READ}"), Race),
        (
            "a shuffle orders no memory",
            format!("{WRITE} shfl.sync.bfly.b32 %r4, %t, 1, 31, -1; {READ}"),
            Race,
        ),
        (
            "nor does a vote",
            format!("setp.eq.u32 %p2, %t, 0; {WRITE} vote.sync.any.pred %p3, %p2, -1; {READ}"),
            Race,
        ),
        (
            "nor a fence alone",
            format!("{WRITE} membar.cta; {READ}"),
            Race,
        ),
        (
            "half of a warp, which reads its own half",
            format!("{WRITE} {low} bar.warp.sync 65535; {READ} end:"),
            Right,
        ),
        (
            "half of a warp, which reads the other half",
            format!(
                "{WRITE} {low} bar.warp.sync 65535; xor.b32 %r2, %r1, 64; ld.shared.u32 %r3, [%r2]; end:"
            ),
            Race,
        ),
        (
            "pairs, each of which meets by itself",
            format!(
                "{WRITE} and.b32 %r4, %t, 30; mov.u32 %r5, 3; shl.b32 %r5, %r5, %r4;
                 bar.warp.sync %r5; xor.b32 %r2, %r1, 4; ld.shared.u32 %r3, [%r2];"
            ),
            Right,
        ),
        (
            "pairs that read further",
            format!(
                "{WRITE} and.b32 %r4, %t, 30; mov.u32 %r5, 3; shl.b32 %r5, %r5, %r4;
                 bar.warp.sync %r5; xor.b32 %r2, %r1, 8; ld.shared.u32 %r3, [%r2];"
            ),
            Race,
        ),
        (
            "a chain of meetings",
            format!(
                "{WRITE} and.b32 %r4, %t, 30; mov.u32 %r5, 3; shl.b32 %r5, %r5, %r4; bar.warp.sync %r5;
                 and.b32 %r4, %t, 29; mov.u32 %r5, 5; shl.b32 %r5, %r5, %r4; bar.warp.sync %r5;
                 xor.b32 %r2, %r1, 12; ld.shared.u32 %r3, [%r2];"
            ),
            Right,
        ),
        (
            "barrier of the block",
            format!("{WRITE} bar.sync 0; xor.b32 %r2, %r1, 128; ld.shared.u32 %r3, [%r2];"),
            Right,
        ),
        (
            "barrier of one warp",
            format!(
                "setp.ge.u32 %p1, %t, 32; {WRITE} @%p1 bra other; bra end; other: bar.sync 1, 32;
                 xor.b32 %r2, %r1, 128; ld.shared.u32 %r3, [%r2]; end:"
            ),
            Race,
        ),
        (
            "barrier of both warps by number",
            format!("{WRITE} bar.sync 1, 64; xor.b32 %r2, %r1, 128; ld.shared.u32 %r3, [%r2];"),
            Right,
        ),
        (
            "what an arrival comes after",
            format!(
                "setp.ge.u32 %p1, %t, 32; @%p1 bra waits; {WRITE} bar.arrive 1, 64; bra end;
                 waits: bar.sync 1, 64; cvt.u32.u64 %r1, %t4; ld.shared.u32 %r3, [%r1+-128]; end:"
            ),
            Right,
        ),
        (
            "what comes after an arrival",
            "setp.ge.u32 %p1, %t, 32; cvt.u32.u64 %r1, %t4; @%p1 bra waits;
                 st.shared.u32 [%r1], 9; bar.arrive 1, 64; st.shared.u32 [%r1], %t; bra end;
                 waits: bar.sync 1, 64; ld.shared.u32 %r3, [%r1+-128]; end:"
                .to_owned(),
            Race,
        ),
        (
            "readers that have arrived, one warp after the other",
            "setp.ge.u32 %p1, %t, 32; setp.eq.u32 %p2, %t, 0; @%p2 st.shared.u32 [s], 1; bar.sync 0;
             ld.shared.u32 %r3, [s]; bar.warp.sync -1; @%p1 bra waits; bar.arrive 1, 64; bra end;
             waits: bar.sync 1, 64; setp.eq.u32 %p2, %t, 32; @%p2 st.shared.u32 [s], 2; end:"
                .to_owned(),
            Right,
        ),
    ];
    check(cases);
}

#[test]
fn atomic_operations_of_others_are_remembered() {
    use End::{Race, Right};
    let begin =
        "setp.eq.u32 %p1, %t, 0; @%p1 st.shared.u32 [s], 0; bar.sync 0; red.shared.add.u32 [s], 1;";
    let last = "setp.ne.u32 %p2, %t, 63; @%p2 bra end; ld.shared.u32 %r3, [s]; end:";
    let of_device = "red.global.add.u32 [%x], 1;";
    let cases: &[(&str, String, End)] = &[
        ("no barrier", format!("{begin} {last}"), Race),
        ("a barrier", format!("{begin} bar.sync 0; {last}"), Right),
        (
            "of several blocks",
            format!(
                "{of_device} bar.sync 0; setp.eq.u32 %p1, %t, 0; @%p1 ld.global.u32 %r3, [%x];"
            ),
            Race,
        ),
    ];
    check(cases);
}

#[test]
fn fences_publish_what_their_thread_knows() {
    use End::{Race, Right};
    let write =
        "mov.u32 %r1, %ctaid.x; shl.b32 %r1, %r1, 8; cvt.u64.u32 %d1, %r1; add.u64 %d2, %y, %d1;
                 add.u64 %d2, %d2, %t4; st.global.u32 [%d2], %t;";
    let ticket = "setp.ne.u32 %p1, %t, 63; @%p1 bra meet;";
    let last = "meet: bar.sync 0; ld.shared.u32 %r4, [s]; setp.ne.u32 %p2, %r4, 1; @%p2 bra end;
                ld.global.u32 %r5, [%y]; end:";
    let publish = |fence: &str| {
        format!("{ticket} {fence} atom.global.add.u32 %r3, [%x], 1; st.shared.u32 [s], %r3; {last}")
    };
    let flag = |fence: &str, store: &str, load: &str| {
        format!(
            "setp.ge.u32 %p1, %t, 32; cvt.u32.u64 %r1, %t4; setp.eq.u32 %p3, %t, 0; @%p3 st.shared.u32 [s+512], 0; bar.sync 0;
             @%p1 bra waits; st.shared.u32 [%r1], %t; bar.warp.sync -1; {fence} @%p3 {store}.shared.u32 [s+512], 1; bra end;
             waits: {load}.shared.u32 %r2, [s+512]; setp.eq.u32 %p2, %r2, 0; @%p2 bra waits;
             bar.warp.sync -1; ld.shared.u32 %r3, [%r1+-128]; end:"
        )
    };
    let lock = |fence: &str| {
        format!(
            "and.b32 %r1, %t, 31; setp.ne.u32 %p1, %r1, 0; setp.eq.u32 %p3, %t, 0; @%p3 st.shared.u32 [s+4], 0;
             @%p3 st.shared.u32 [s], 0; bar.sync 0; @%p1 bra end;
             again: atom.shared.cas.b32 %r2, [s], 0, 1; setp.ne.u32 %p2, %r2, 0; @%p2 bra again; {fence}
             ld.shared.u32 %r3, [s+4]; add.u32 %r3, %r3, 1; st.shared.u32 [s+4], %r3; {fence}
             atom.shared.exch.b32 %r2, [s], 0; end:"
        )
    };
    // Each thread adds one to a word of all.
    let guess = |expected: &str| {
        format!(
            "ld.global.u32 %r5, [%x]; again: mov.u32 %r3, %r5; add.u32 %r4, %r3, 1; mov.u32 %r6, 7;
             atom.global.cas.b32 %r5, [%x], {expected}, %r4; setp.ne.u32 %p1, %r5, %r3; @%p1 bra again;"
        )
    };
    let cases: &[(&str, String, End)] = &[
        (
            "a barrier, then a fence of one thread",
            format!("{write} bar.sync 0; {}", publish("membar.gl;")),
            Right,
        ),
        (
            "no barrier before the fence of one thread",
            format!("{write} {}", publish("membar.gl;")),
            Race,
        ),
        (
            "a fence of every thread, then a barrier",
            format!("{write} membar.gl; bar.sync 0; {}", publish("")),
            Right,
        ),
        (
            "a fence of other warps, then a barrier",
            format!(
                "{write} setp.ge.u32 %p3, %t, 32; @%p3 membar.gl; bar.sync 0; {}",
                publish("")
            ),
            Race,
        ),
        (
            "writes behind the fence of every thread",
            format!("membar.gl; {write} bar.sync 0; {}", publish("")),
            Race,
        ),
        (
            "atomic operations behind a barrier on a word that was read before it",
            "setp.eq.u32 %p3, %t, 0; @%p3 st.shared.u32 [s], 0; bar.sync 0; ld.shared.u32 %r2, [s];
             bar.sync 0; atom.shared.add.u32 %r3, [s], 1;"
                .to_owned(),
            Right,
        ),
        (
            "atomic operations on a word that is read beside them",
            "setp.eq.u32 %p3, %t, 0; @%p3 st.shared.u32 [s], 0; bar.sync 0; ld.shared.u32 %r2, [s];
             atom.shared.add.u32 %r3, [s], 1;"
                .to_owned(),
            Race,
        ),
        (
            "a fence for the block alone",
            format!("{write} bar.sync 0; {}", publish("membar.cta;")),
            Race,
        ),
        (
            "volatile flags",
            flag("membar.cta;", "st.volatile", "ld.volatile"),
            Right,
        ),
        (
            "volatile flags without a fence",
            flag("", "st.volatile", "ld.volatile"),
            Race,
        ),
        (
            "release and acquire",
            flag("", "st.release.cta", "ld.acquire.cta"),
            Right,
        ),
        (
            "a flag that is plain",
            flag("membar.cta;", "st", "ld.volatile"),
            Race,
        ),
        (
            "a guess that a compare-and-swap checks",
            guess("%r3"),
            Right,
        ),
        ("a guess that is used beside", guess("%r6"), Race),
        ("a lock", lock("membar.cta;"), Right),
        ("a lock without fences", lock(""), Race),
    ];
    check(cases);
}

#[test]
fn what_the_launch_writes_is_not_constant() {
    use End::{Changed, Right};
    let own = "mov.u32 %r1, %ctaid.x; shl.b32 %r1, %r1, 8; cvt.u64.u32 %d1, %r1; add.u64 %d2, %y, %d1; add.u64 %d2, %d2, %t4;";
    let cases: &[(&str, String, End)] = &[
        (
            "another buffer",
            format!("{own} ld.global.nc.u32 %r2, [%x]; st.global.u32 [%d2], %r2;"),
            Right,
        ),
        (
            "its own word",
            format!("{own} st.global.u32 [%d2], %t; ld.global.nc.u32 %r2, [%d2];"),
            Changed,
        ),
    ];
    check(cases);
}

#[test]
fn variables_of_shared_memory_have_bounds_of_their_own() {
    use End::{Outside, Right};
    let body = |at: u32| {
        format!(
            ".shared .align 4 .b8 other[512]; mov.u32 %r2, other; cvt.u32.u64 %r1, %t4; add.u32 %r2, %r2, %r1;
             st.shared.u32 [%r2], 0; st.shared.u32 [%r1+{at}], 0;"
        )
    };
    check(&[
        ("inside", body(768), Right),
        ("right behind", body(1024), Outside),
    ]);
}

#[test]
fn what_nobody_set_is_no_zero() {
    for body in [
        "add.u32 %r1, %r9, 0; st.global.u32 [%y], %r1;",
        ".local .align 4 .b8 own[16]; mov.u64 %d1, own; ld.local.u32 %r1, [%d1+8]; st.global.u32 [%y], %r1;",
    ] {
        let found = run(&kernel_of(body), (1, 1), &[0; 4], 4, Order::Forward);
        assert_ne!(found.map(|it| it[0]), Ok(0), "{body}");
    }
}

#[test]
fn warps_and_threads_come_in_other_orders_too() {
    // Each thread takes a number and leaves its own under it.
    let body = "atom.global.add.u32 %r2, [%x], 1; mul.wide.u32 %d1, %r2, 4; add.u64 %d2, %y, %d1;
                st.global.u32 [%d2], %t;";
    let text = kernel_of(body);
    let of = |order| run(&text, (1, 64), &[0; 4], 256, order).map(|it| it[0]);
    assert_eq!(of(Order::Forward), Ok(0));
    assert_eq!(of(Order::Backward), Ok(63));
    // Each warp adds one, in two steps between which others come.
    let body = "and.b32 %r1, %t, 31; setp.ne.u32 %p1, %r1, 0; @%p1 bra end; atom.global.add.u32 %r2, [%x], 0;
                add.u32 %r3, %r2, 1; atom.global.cas.b32 %r4, [%x], %r2, %r3; st.global.u32 [%y], 0; end:";
    let added = |order| {
        let text = kernel_of(&format!(
            "{body} bar.sync 0; ld.volatile.global.u32 %r5, [%x]; st.global.u32 [%y], %r5;"
        ));
        run(&text, (1, 64), &[0; 4], 4, order).map(|it| it[0])
    };
    assert_eq!(added(Order::Forward), Ok(2));
    assert_eq!(added(Order::Mixed(0x5_0000_3039)), Ok(1));
}

#[track_caller]
pub fn check(cases: &[(&str, String, End)]) {
    let mut wrong = Vec::new();
    for (name, body, end) in cases {
        let found = fault(body);
        let got = match &found {
            None => Some(End::Right),
            Some(Fault::Race { .. }) => Some(End::Race),
            Some(Fault::Changed { .. }) => Some(End::Changed),
            Some(Fault::OutOfBounds { .. }) => Some(End::Outside),
            Some(_) => None,
        };
        if got != Some(*end) {
            wrong.push(format!("{name}: {found:?} instead of {end:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
