//! How long instructions keep the pipes of an SM.

use crate::timing::{h100, part, repeated, time};

/// Returns the cycles that an instruction keeps the pipe that it needs most, on an SM that does
/// nothing else: from loops with 16 and with 8 of them.
fn cycles_of(instruction: &str) -> f64 {
    const TURNS: u32 = 64;
    const WARPS: u32 = 32;
    let of = |count: usize| {
        let body = format!(
            "mov.u32 %r4, {TURNS}; {}",
            repeated(&instruction.repeat(count))
        );
        let estimate = time(&body, (1, 32 * WARPS));
        let pipes = ["issue", "fma", "alu", "int", "special", "double", "shared"];
        let longest = pipes.map(|it| part(&estimate, it)).into_iter();
        longest.fold(0.0, f64::max) * h100().clock_mhz / 1000.0 / f64::from(TURNS * WARPS)
    };
    (of(16) - of(8)) / 8.0
}

#[test]
fn arithmetic_takes_the_lanes_that_are_documented() {
    // Throughput of native arithmetic instructions, CUDA C++ programming guide, 9.0: 64 lanes.
    let of_64_lanes = [
        "and.b32 %r6, %r7, %r8;",
        "xor.b32 %r6, %r7, %r8;",
        "not.b32 %r6, %r7;",
        "shl.b32 %r6, %r7, %r8;",
        "shr.u32 %r6, %r7, %r8;",
        "shf.l.wrap.b32 %r6, %r7, %r8, %r9;",
        "min.s32 %r6, %r7, %r8;",
        "max.u32 %r6, %r7, %r8;",
        "min.f32 %f1, %f2, %f3;",
        "prmt.b32 %r6, %r7, %r8, %r9;",
        "lop3.b32 %r6, %r7, %r8, %r9, 0x96;",
        "dp4a.u32.u32 %r6, %r7, %r8, %r9;",
        "sad.u32 %r6, %r7, %r8, %r9;",
        "setp.lt.u32 %p1, %r7, %r8;",
        "setp.lt.f32 %p1, %f2, %f3;",
        "selp.u32 %r6, %r7, %r8, %p1;",
        "add.u32 %r6, %r7, %r8;",
        "sub.u32 %r6, %r7, %r8;",
        "mul.lo.u32 %r6, %r7, %r8;",
        "vote.sync.any.pred %p1, %p2, -1;",
    ];
    for instruction in of_64_lanes {
        let cycles = cycles_of(instruction);
        assert!((cycles - 0.5).abs() < 0.01, "{instruction} {cycles}");
    }
    // 128 additions and as many exclusive ors take 68.8 cycles (H100, `op iadd_then_xor` of
    // micro.tsv): the multipliers add.
    let both = cycles_of("add.u32 %r6, %r7, %r8; xor.b32 %r7, %r6, %r8;");
    assert!((both - 0.5).abs() < 0.04, "{both}");
    let fma = cycles_of("fma.rn.f32 %f1, %f2, %f3, %f1;");
    assert!((fma - 0.25).abs() < 0.01, "{fma}");
}
