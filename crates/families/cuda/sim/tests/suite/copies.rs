//! Copies to shared memory that land later: when they do, and for whom.

use crate::ordering::{End, check};

#[test]
fn copies_write_from_their_begin_to_their_end() {
    use End::{Race, Right};
    let begin = "mul.lo.u32 %r1, %t, 4; add.u64 %d2, %x, %t4; setp.lt.u32 %p1, %t, 32;
                 st.shared.u32 [%r1], %t; bar.sync 0;
                 and.b32 %r4, %t, 16; setp.ne.u32 %p2, %r4, 0;";
    let copy = "@%p1 cp.async.ca.shared.global [%r1], [%d2], 4; cp.async.commit_group;";
    let wait = "cp.async.wait_group 0;";
    let read = "and.b32 %r2, %r1, 127; ld.shared.u32 %r3, [%r2];";
    let cases: &[(&str, String, End)] = &[
        (
            "others read after a barrier",
            format!("{begin} {copy} {wait} bar.sync 0; {read}"),
            Right,
        ),
        (
            "others still read what was there before",
            format!("{begin} {read} {copy} {wait} bar.sync 0;"),
            Race,
        ),
        (
            "it is read before it has landed",
            format!("{begin} {copy} @%p1 ld.shared.u32 %r3, [%r1]; {wait}"),
            Race,
        ),
        (
            "the wait comes after the barrier",
            format!("{begin} {copy} bar.sync 0; {wait} {read}"),
            Race,
        ),
        (
            "half of the threads wait, and all read their own",
            format!(
                "{begin} {copy} @%p2 bra on; {wait} bra end; on: @%p1 ld.shared.u32 %r3, [%r1]; {wait} end:"
            ),
            Race,
        ),
        (
            "half of the threads wait before the barrier",
            format!("{begin} {copy} @%p2 bra on; {wait} on: bar.sync 0; {read} {wait}"),
            Race,
        ),
        (
            "half of the threads wait, and those read",
            format!("{begin} {copy} @%p2 bra on; {wait} @%p1 ld.shared.u32 %r3, [%r1]; on: {wait}"),
            Right,
        ),
        (
            "half of the threads have a later group, which the wait leaves",
            format!(
                "{begin} {copy} @%p2 bra on; cp.async.commit_group; on: cp.async.wait_group 1; @%p1 ld.shared.u32 %r3, [%r1]; {wait}"
            ),
            Race,
        ),
        (
            "those that have one may read",
            format!(
                "{begin} {copy} @%p2 bra on; cp.async.commit_group; cp.async.wait_group 1; @%p1 ld.shared.u32 %r3, [%r1]; on: {wait}"
            ),
            Right,
        ),
    ];
    check(cases);
}
