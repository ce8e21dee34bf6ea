//! Instructions against values that were worked out by hand.

use crate::kernels::{kernel_of, read, run};
use autocomp_cuda_sim::machine::Order;

/// Returns what one thread puts into `%r1`.
fn word(body: &str) -> u32 {
    let text = kernel_of(&format!("{body} st.global.b32 [%y], %r1;"));
    let y = run(&text, (1, 1), &[0; 4], 8, Order::Forward)
        .unwrap_or_else(|it| panic!("{body}: {it:?}"));
    u32::from_le_bytes([y[0], y[1], y[2], y[3]])
}

#[test]
fn integers() {
    let cases: &[(&str, u32)] = &[
        ("mov.b32 %r1, -1; shr.u32 %r1, %r1, 40;", 0),
        ("mov.b32 %r1, -8; shr.s32 %r1, %r1, 40;", u32::MAX),
        ("mov.b32 %r1, 1; shl.b32 %r1, %r1, 32;", 0),
        ("mul.hi.u32 %r1, -1, -1;", 0xffff_fffe),
        ("mul.hi.s32 %r1, -1, -1;", 0),
        ("div.u32 %r1, 7, 0;", u32::MAX),
        ("rem.s32 %r1, -7, 3;", u32::MAX),
        ("bfe.u32 %r1, 0xabcd, 4, 8;", 0xbc),
        ("bfe.s32 %r1, 0xabcd, 4, 8;", 0xffff_ffbc),
        ("bfi.b32 %r1, 0xff, 0, 8, 4;", 0xf00),
        ("prmt.b32 %r1, 0x44332211, 0x88776655, 0x7060;", 0x8811_7711),
        ("shf.l.wrap.b32 %r1, 0x80000000, 1, 4;", 0x18),
        ("lop3.b32 %r1, 0xf0, 0xcc, 0xaa, 0x96;", 0x96),
        ("clz.b32 %r1, 1;", 31),
        ("bfind.u32 %r1, 0x100;", 8),
        ("brev.b32 %r1, 1;", 0x8000_0000),
        ("dp4a.s32.s32 %r1, 0xff01ff01, 0x01010101, 5;", 5),
        ("mov.b16 %h1, -1; cvt.s32.s16 %r1, %h1;", u32::MAX),
        ("mov.b16 %h1, -1; cvt.u32.u16 %r1, %h1;", 0xffff),
        ("cvt.s8.s32 %r1, 200;", 0xffff_ffc8),
        ("cvt.sat.s8.s32 %r1, 200;", 127),
        (
            "{ .reg .pred p; setp.gt.s32 p, 1, 2; selp.b32 %r1, 3, 4, p; }",
            4,
        ),
        ("mov.b64 %d1, {1, 2}; mov.b64 {_, %r1}, %d1;", 2),
    ];
    for (body, right) in cases {
        assert_eq!(word(body), *right, "{body}");
    }
}

#[test]
fn floats() {
    let cases: &[(&str, f32)] = &[
        ("add.f32 %r1, 0f3F800000, 0f40000000;", 3.0),
        (
            "fma.rn.f32 %r1, 0f3F800001, 0f3F800001, 0fBF800002;",
            1.421_085_5e-14,
        ),
        ("min.f32 %r1, 0f7FC00000, 0f40000000;", 2.0),
        ("rcp.rn.f32 %r1, 0f40800000;", 0.25),
        ("div.approx.f32 %r1, 0f40400000, 0f40800000;", 0.75),
        ("div.full.f32 %r1, 0f7F000000, 0f7F000000;", 1.0),
        // Beyond 2^126 the reciprocal is 0.
        ("div.approx.f32 %r1, 0f7E800000, 0f7E800000;", 1.0),
        ("div.approx.f32 %r1, 0f7F000000, 0f7F000000;", 0.0),
        ("sqrt.rn.f32 %r1, 0f40800000;", 2.0),
        ("ex2.approx.f32 %r1, 0f40400000;", 8.0),
        ("lg2.approx.f32 %r1, 0f41000000;", 3.0),
        ("cvt.rn.f32.s32 %r1, -3;", -3.0),
        ("cvt.rni.f32.f32 %r1, 0f40200000;", 2.0),
        ("mov.b16 %h1, 0x3c00; cvt.f32.f16 %r1, %h1;", 1.0),
        ("mov.b16 %h1, 0x0001; cvt.f32.f16 %r1, %h1;", 5.960_464_5e-8),
        ("add.sat.f32 %r1, 0f3F800000, 0f40000000;", 1.0),
    ];
    for (body, right) in cases {
        assert_eq!(f32::from_bits(word(body)), *right, "{body}");
    }
    assert_eq!(word("cvt.rzi.s32.f32 %r1, 0fC0200000;"), -2_i32 as u32);
    assert_eq!(word("cvt.rzi.s32.f32 %r1, 0f7FC00000;"), 0);
    assert_eq!(word("cvt.rzi.u32.f32 %r1, 0fBF800000;"), 0);
    assert_eq!(
        word("cvt.rn.f16x2.f32 %r1, 0f40000000, 0f3F800000;"),
        0x4000_3c00
    );
    assert_eq!(word("sub.f32 %r1, 0f7F800000, 0f7F800000;"), 0x7fff_ffff);
}

/// By the description of PTX; what a device gave is not known.
#[test]
fn instructions_that_are_seldom_used() {
    let of_halves = |operation: &str, [a, b, c]: [u32; 3]| {
        word(&format!(
            "mov.b16 %h1, {a}; mov.b16 %h2, {b}; mov.b16 %h3, {c}; {operation}; cvt.u32.u16 %r1, %h1;"
        ))
    };
    let tested = |property: &str, number: &str| {
        word(&format!(
            "testp.{property} %p1, {number}; selp.u32 %r1, 1, 0, %p1;"
        ))
    };
    let cases: &[(&str, u32)] = &[
        ("bfind.shiftamt.u32 %r1, 0x100;", 23),
        ("bfind.shiftamt.u32 %r1, 0;", u32::MAX),
        ("bfind.shiftamt.s32 %r1, -1;", u32::MAX),
        ("bfind.shiftamt.s32 %r1, -256;", 24),
        ("mov.b64 %d1, 1; bfind.shiftamt.u64 %r1, %d1;", 63),
        ("prmt.b32.f4e %r1, 0x44332211, 0x88776655, 3;", 0x7766_5544),
        ("prmt.b32.b4e %r1, 0x44332211, 0x88776655, 1;", 0x7788_1122),
        ("prmt.b32.rc8 %r1, 0x44332211, 0x88776655, 2;", 0x3333_3333),
        ("prmt.b32.ecl %r1, 0x44332211, 0x88776655, 2;", 0x4433_3333),
        ("prmt.b32.ecr %r1, 0x44332211, 0x88776655, 2;", 0x3333_2211),
        ("prmt.b32.rc16 %r1, 0x44332211, 0x88776655, 7;", 0x4433_4433),
        ("mul24.lo.s32 %r1, 0x1ffffff, 3;", -3_i32 as u32),
        ("mul24.lo.u32 %r1, 0x1ffffff, 0x1ffffff;", 0xfe00_0001),
        ("mul24.hi.u32 %r1, 0xffffff, 0xffffff;", 0xffff_fe00),
        ("mul24.hi.s32 %r1, 0x800000, 0x800000;", 0x4000_0000),
        ("mad24.lo.s32 %r1, 0xffffff, 0xffffff, 4;", 5),
        (
            "mad24.hi.sat.s32 %r1, 0x800000, 0x800000, 0x40000000;",
            0x7fff_ffff,
        ),
        (
            "mad.hi.sat.s32 %r1, 0x80000000, 0x7fffffff, 0x80000001;",
            0x8000_0000,
        ),
        ("add.sat.s32 %r1, 0x7fffffff, 1;", 0x7fff_ffff),
        ("add.sat.s32 %r1, 0x80000000, -1;", 0x8000_0000),
        ("sub.sat.s32 %r1, 0, 0x80000000;", 0x7fff_ffff),
        ("dp2a.lo.s32.s32 %r1, 0xffff0002, 0x04030201, 10;", 10),
        (
            "dp2a.hi.u32.s32 %r1, 0xffff0002, 0xff030201, 0;",
            (6 - 65_535_i32) as u32,
        ),
        ("cvt.rz.f16x2.f32 %r1, 0f477FF000, 0fBF801FFF;", 0x7bff_bc00),
        (
            "cvt.rz.relu.bf16x2.f32 %r1, 0f7F7FFFFF, 0fBF800000;",
            0x7f7f_0000,
        ),
    ];
    for (body, right) in cases {
        assert_eq!(word(body), *right, "{body}");
    }
    let half = "%h1, %h1, %h2";
    for (operation, given, right) in [
        ("add.sat.f16", [0x3c00, 0x3c00, 0], 0x3c00),
        ("add.sat.f16", [0xbc00, 0x3800, 0], 0),
        ("add.sat.f16", [0x7e00, 0x3800, 0], 0),
        ("sub.sat.f16", [0x3c00, 0x3800, 0], 0x3800),
        ("mul.sat.f16", [0x8000, 0x3800, 0], 0),
        ("fma.rn.sat.f16", [0x4000, 0x4000, 0xc400], 0),
        ("fma.rn.sat.f16", [0x4000, 0x4000, 0x7e00], 0),
        ("fma.rn.relu.f16", [0xbc00, 0x4000, 0x3c00], 0),
        ("fma.rn.relu.f16", [0x3c00, 0x4000, 0x3c00], 0x4200),
        ("fma.rn.relu.f16", [0x3c00, 0x7e00, 0x3c00], 0x7fff),
        ("fma.rn.relu.f16", [0xbc00, 0x7c00, 0x3c00], 0),
        ("fma.rn.relu.f16", [0x8000, 0x3c00, 0x8000], 0),
        ("fma.rn.relu.bf16", [0x3f80, 0x4000, 0x3f80], 0x4040),
        ("fma.rn.relu.bf16", [0x3f80, 0xc000, 0x3f80], 0),
        ("fma.rn.relu.bf16", [0x3f80, 0x7fc0, 0x3f80], 0x7fff),
    ] {
        let third = if operation.starts_with("fma") {
            ", %h3"
        } else {
            ""
        };
        let whole = format!("{operation} {half}{third}");
        assert_eq!(of_halves(&whole, given), right, "{whole} {given:x?}");
    }
    for (to, number, right) in [
        ("rz.f16.f32", "0f477FF000", 0x7bff),
        ("rz.f16.f32", "0fFF800000", 0xfc00),
        ("rz.f16.f32", "0f33FFFFFF", 0x0001),
        ("rz.f16.f32", "0f00000001", 0),
        ("rp.f16.f32", "0f00000001", 1),
        ("rm.f16.f32", "0f80000001", 0x8001),
        ("rm.f16.f32", "0fC77FF000", 0xfc00),
        ("rz.f16.f32", "0fFFC00000", 0x7fff),
        ("rz.bf16.f32", "0f3F80FFFF", 0x3f80),
        ("rz.bf16.f32", "0f7F7FFFFF", 0x7f7f),
        ("rz.bf16.f32", "0f7F800001", 0x7fff),
        ("rz.f16.s32", "-70000", 0xfbff),
    ] {
        let whole = format!("cvt.{to} %h1, {number}");
        assert_eq!(of_halves(&whole, [0; 3]), right, "{whole}");
    }
    for (property, number, right) in [
        ("finite.f32", "0f7F7FFFFF", 1),
        ("finite.f32", "0f7FC00000", 0),
        ("finite.f32", "0fFF800000", 0),
        ("infinite.f32", "0fFF800000", 1),
        ("number.f32", "0fFF800000", 1),
        ("notanumber.f32", "0f7F800001", 1),
        ("normal.f32", "0f80000000", 1),
        ("normal.f32", "0f007FFFFF", 0),
        ("subnormal.f32", "0f007FFFFF", 1),
        ("subnormal.f32", "0f00000000", 0),
        ("normal.f64", "0d0010000000000000", 1),
        ("subnormal.f64", "0d800FFFFFFFFFFFFF", 1),
        ("infinite.f64", "0d7FF0000000000000", 1),
    ] {
        assert_eq!(tested(property, number), right, "testp.{property} {number}");
    }
}

#[test]
fn what_a_word_asks_for_is_not_left_out() {
    for text in [
        "min.xorsign.abs.f32 %f1, %f2, %f3;",
        "add.ftz.f16 %h1, %h2, %h3;",
        "fma.rn.oob.f16 %h1, %h2, %h3, %h4;",
        "cvt.rn.satfinite.f16x2.f32 %r1, %f2, %f3;",
        "cvt.rz.tf32.f32 %r1, %f2;",
        "add.sat.u32 %r1, %r2, %r3;",
        "add.relu.f32 %f1, %f2, %f3;",
    ] {
        let error = read(&kernel_of(text)).map(|_| ()).expect_err(text);
        assert!(error.is_unsupported, "{text}: {error}");
    }
}

/// What one H200 gave (`benches/device/cuda.sh`, `corners.tsv`), where manuals leave it open or a
/// faithful guess would be another.
#[test]
fn corners_are_as_on_a_device() {
    let cases: &[(&str, u32)] = &[
        ("rem.s32 %r1, 7, 0;", u32::MAX),
        ("rem.u32 %r1, 7, 0;", u32::MAX),
        ("rem.s64 %d1, 7, 0; cvt.u32.u64 %r1, %d1;", u32::MAX),
        ("neg.f32 %r1, 0f7FC00000;", 0x7fff_ffff),
        ("abs.f32 %r1, 0fFFFFFF80;", 0x7fff_ffff),
        (
            "mov.b16 %h1, 0x7e00; neg.f16 %h1, %h1; cvt.u32.u16 %r1, %h1;",
            0x7fff,
        ),
        (
            "mov.b16 %h1, 0x7fc0; abs.bf16 %h1, %h1; cvt.u32.u16 %r1, %h1;",
            0x7fff,
        ),
        ("copysign.f32 %r1, 0f00000000, 0fFFFFFF80;", 0x7fff_ff80),
        ("div.approx.f32 %r1, 0f7F800000, 0f7F000000;", 0x7fff_ffff),
        ("tanh.approx.f32 %r1, 0f80000000;", 0x8000_0000),
        ("sin.approx.f32 %r1, 0f00000001;", 0),
        ("mul.ftz.f32 %r1, 0f00800000, 0f3F7FFFFF;", 0),
        ("mul.f32 %r1, 0f00800000, 0f3F7FFFFF;", 0x0080_0000),
        (
            "mov.b16 %h1, 0xf636; mov.b16 %h2, 0x3020; mov.b16 %h3, 0x4000; fma.rn.bf16 %h1, %h1, %h2, %h3; cvt.u32.u16 %r1, %h1;",
            0xe6e3,
        ),
        (
            "mov.b64 %d1, 0x7ff8000000000000; cvt.rzi.s32.f64 %r1, %d1;",
            0x8000_0000,
        ),
        (
            "mov.b64 %d1, 0x7ff8000000000000; cvt.rzi.u32.f64 %r1, %d1;",
            0x8000_0000,
        ),
    ];
    for (body, right) in cases {
        assert_eq!(word(body), *right, "{body}");
    }
}

/// Returns the words that a warp stores from `%r1`.
fn row(body: &str, x: &[u8]) -> Vec<u32> {
    let text = kernel_of(&format!(
        "{body} add.u64 %d9, %y, %t4; st.global.b32 [%d9], %r1;"
    ));
    let y =
        run(&text, (1, 32), x, 128, Order::Forward).unwrap_or_else(|it| panic!("{body}: {it:?}"));
    y.chunks(4)
        .map(|it| u32::from_le_bytes([it[0], it[1], it[2], it[3]]))
        .collect()
}

#[test]
fn shuffles_and_votes() {
    let of = |body: &str| row(body, &[0; 4]);
    assert_eq!(
        of("shfl.sync.bfly.b32 %r1, %t, 1, 31, -1;")[..4],
        [1, 0, 3, 2]
    );
    assert_eq!(
        of("shfl.sync.down.b32 %r1, %t, 3, 31, -1;")[28..],
        [31, 29, 30, 31]
    );
    assert_eq!(of("shfl.sync.up.b32 %r1, %t, 2, 0, -1;")[..4], [0, 1, 0, 1]);
    // Parts of 8 threads.
    assert_eq!(
        of("shfl.sync.idx.b32 %r1, %t, 1, 6175, -1;")[6..10],
        [1, 1, 9, 9]
    );
    assert_eq!(
        of("setp.lt.u32 %p1, %t, 5; vote.sync.ballot.b32 %r1, %p1, -1;")[7],
        31
    );
    assert_eq!(
        of("and.b32 %r2, %t, 3; match.any.sync.b32 %r1, %r2, -1;")[1],
        0x2222_2222
    );
    assert_eq!(of("redux.sync.add.u32 %r1, %t, -1;")[9], 496);
}

#[test]
fn a_product_of_matrices_is_the_one_of_its_parts() {
    // All elements of the first factor are 1, those of the second 2: sums of 16 products.
    let body = "mov.b32 %r2, 0x3c003c00; mov.b32 %r3, 0x40004000; mov.b32 %r4, 0f3F800000;
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r5, %r6, %r7, %r8}, {%r2, %r2, %r2, %r2},
            {%r3, %r3}, {%r4, %r4, %r4, %r4}; mov.b32 %r1, %r8;";
    assert!(
        row(body, &[0; 4])
            .iter()
            .all(|it| f32::from_bits(*it) == 33.0)
    );
}

#[test]
fn matrices_load_as_the_manual_draws_them() {
    // Rows of 8 halves with their own number; transposed, a thread gets those of two rows.
    let body = |modifier: &str| {
        format!(
            "mul.lo.u32 %r2, %t, 16; cvt.u16.u32 %h1, %t;
             st.shared.v4.b16 [%r2], {{%h1, %h1, %h1, %h1}}; st.shared.v4.b16 [%r2+8], {{%h1, %h1, %h1, %h1}};
             bar.warp.sync -1;
             ldmatrix.sync.aligned.m8n8.x4{modifier}.shared.b16 {{%r3, %r4, %r5, %r1}}, [%r2];"
        )
    };
    assert_eq!(
        row(&body(""), &[0; 4])[..5],
        [0x18_0018, 0x18_0018, 0x18_0018, 0x18_0018, 0x19_0019]
    );
    assert_eq!(row(&body(".trans"), &[0; 4])[..2], [0x19_0018, 0x1b_001a]);
}

#[test]
fn arguments_have_addresses() {
    // Two pointers, of which the second is read word by word by its address, and by one that
    // differs from thread to thread.
    let body = "mov.b64 %d1, x; ld.param.u32 %r1, [%d1+8]; ld.param.u32 %r2, [y]; sub.u32 %r1, %r1, %r2;
        and.b32 %r3, %t, 1; mul.wide.u32 %d2, %r3, 8; add.u64 %d2, %d1, %d2; ld.param.u64 %d3, [%d2];
        setp.ne.u64 %p1, %d3, %x; selp.u32 %r4, 1, 0, %p1;
        shl.b32 %r1, %r1, 8; add.u32 %r1, %r1, %r4; add.u64 %d4, %y, %t4; st.global.u32 [%d4], %r1;";
    assert_eq!(row(body, &[0; 4])[..4], [0, 1, 0, 1]);
}

#[test]
fn special_registers_hold_in_every_block() {
    let body = "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.u32 %r2, %r1, %r2, %t;
        mul.wide.u32 %d1, %r2, 4; add.u64 %d2, %y, %d1;
        mov.u32 %r3, %nctaid.x; shl.b32 %r3, %r3, 4; or.b32 %r1, %r1, %r3;
        mov.u32 %r3, %warpid; shl.b32 %r3, %r3, 8; or.b32 %r1, %r1, %r3;
        mov.u32 %r3, %nwarpid; shl.b32 %r3, %r3, 14; or.b32 %r1, %r1, %r3;
        mov.u32 %r3, %lanemask_lt; popc.b32 %r3, %r3; shl.b32 %r3, %r3, 22; or.b32 %r1, %r1, %r3;
        mov.u32 %r3, %laneid; shl.b32 %r3, %r3, 27; or.b32 %r1, %r1, %r3;
        st.global.u32 [%d2], %r1;";
    let text = kernel_of(body);
    for order in [Order::Forward, Order::Backward] {
        let y =
            run(&text, (3, 64), &[0; 4], 3 * 64 * 4, order).unwrap_or_else(|it| panic!("{it:?}"));
        for (bytes, thread) in y.chunks_exact(4).zip(0_u32..) {
            let found = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            let (block, warp, lane) = (thread / 64, thread % 64 / 32, thread % 32);
            // The place of a warp in its SM is not that in its block.
            let warp = match order {
                Order::Backward => 2 * warp + block,
                _ => (warp + 32 + 7 * block) % 64,
            };
            assert_eq!(
                found,
                block | 3 << 4 | warp << 8 | 64 << 14 | lane << 22 | lane << 27
            );
        }
    }
}
