//! How long instructions keep the pipes of an SM.

use crate::timing::{h100, part, repeated, time, time_on};
use autocomp_cuda_sim::timing::{L2, Machine};

const L40S: &str = include_str!("../../../../../../targets/cuda-sm89/machines/l40s.toml");

/// Returns the cycles that an instruction keeps the pipe that it needs most, on an SM of an H100
/// that does nothing else.
fn cycles_of(instruction: &str) -> f64 {
    cycles_on(&h100(), instruction)
}

/// The same on another machine, from loops with 16 and with 8 of them.
fn cycles_on(machine: &Machine, instruction: &str) -> f64 {
    const TURNS: u32 = 64;
    const WARPS: u32 = 32;
    let of = |count: usize| {
        let body = format!(
            "mov.u32 %r4, {TURNS}; {}",
            repeated(&instruction.repeat(count))
        );
        let estimate = time_on(machine, &body, (1, 32 * WARPS), &mut L2::cold());
        let pipes = ["issue", "fma", "alu", "int", "special", "double", "shared"];
        let longest = pipes.map(|it| part(&estimate, it)).into_iter();
        longest.fold(0.0, f64::max) * machine.clock_mhz / 1000.0 / f64::from(TURNS * WARPS)
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
        "cvt.s32.s8 %r6, %r7;",
        "cvt.u32.u8 %r6, %r7;",
        "cvt.s32.s16 %r6, %h1;",
        "cvt.u32.u16 %r6, %h1;",
        "cvt.s16.s8 %h2, %h1;",
        "cvt.s64.s8 %d1, %r7;",
    ];
    let all = of_64_lanes.map(|it| (it, cycles_of(it)));
    let failed: Vec<_> = all.iter().filter(|it| 0.01 < (it.1 - 0.5).abs()).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    // 128 additions and as many exclusive ors take 68.8 cycles (H100, `op iadd_then_xor` of
    // micro.tsv): the multipliers add.
    let both = cycles_of("add.u32 %r6, %r7, %r8; xor.b32 %r7, %r6, %r8;");
    assert!((both - 0.5).abs() < 0.04, "{both}");
    let fma = cycles_of("fma.rn.f32 %f1, %f2, %f3, %f1;");
    assert!((fma - 0.25).abs() < 0.01, "{fma}");
}

#[test]
fn slow_instructions_take_as_long_as_documented() {
    let l40s = Machine::parse(L40S).unwrap_or_else(|error| panic!("{error}"));
    // Instruction, cycles of an SM on the H100 and on the L40S. Conversions of 64 bits: 16 lanes
    // and 2 (CUDA C++ programming guide).
    let cases = [
        ("cvt.f64.f32 %d1, %f1;", 2.0, 16.0),
        ("cvt.rn.f32.f64 %f1, %d1;", 2.0, 16.0),
        ("cvt.rn.f64.s32 %d1, %r6;", 2.0, 16.0),
        ("cvt.rn.f32.s64 %f1, %d1;", 2.0, 16.0),
        ("cvt.rn.f32.s32 %f1, %r6;", 1.0, 1.0),
        ("tanh.approx.f32 %f1, %f2;", 2.0, 2.0),
        ("tanh.approx.f16 %h1, %h2;", 2.0, 2.0),
        ("tanh.approx.f16x2 %r6, %r7;", 4.0, 4.0),
        ("ex2.approx.f16x2 %r6, %r7;", 4.0, 4.0),
        // A reciprocal and what stands beside it, not a whole division.
        ("div.approx.f32 %f1, %f2, %f3;", 2.0, 2.0),
        ("match.any.sync.b32 %r6, %r7, -1;", 2.0, 2.0),
        ("match.all.sync.b32 %r6, %r7, -1;", 2.0, 2.0),
        // Two words, 64 lanes each.
        ("and.b64 %d1, %d2, %d3;", 1.0, 1.0),
        ("or.b64 %d1, %d2, %d3;", 1.0, 1.0),
        ("xor.b64 %d1, %d2, %d3;", 1.0, 1.0),
        ("not.b64 %d1, %d2;", 1.0, 1.0),
        ("shl.b64 %d1, %d2, 5;", 1.0, 1.0),
        ("shr.u64 %d1, %d2, %r6;", 1.0, 1.0),
        ("add.u64 %d1, %d2, %d3;", 1.0, 1.0),
        ("sub.s64 %d1, %d2, %d3;", 1.0, 1.0),
        ("neg.s64 %d1, %d2;", 1.0, 1.0),
        ("setp.lt.u64 %p1, %d2, %d3;", 1.0, 1.0),
        ("selp.b64 %d1, %d2, %d3, %p1;", 1.0, 1.0),
        // A comparison, and what it chooses.
        ("min.s64 %d1, %d2, %d3;", 2.0, 2.0),
        ("abs.s64 %d1, %d2;", 2.0, 2.0),
        // 16 lanes.
        ("popc.b32 %r6, %r7;", 2.0, 2.0),
        ("popc.b64 %r6, %d2;", 4.0, 4.0),
        ("clz.b64 %r6, %d2;", 4.0, 4.0),
        ("brev.b64 %d1, %d2;", 4.0, 4.0),
        // The smaller and the larger one of two.
        ("cvt.sat.s8.s32 %r6, %r7;", 1.0, 1.0),
    ];
    let mut failed = Vec::new();
    for (instruction, on_h100, on_l40s) in cases {
        for (machine, expected) in [(&h100(), on_h100), (&l40s, on_l40s)] {
            let cycles = cycles_on(machine, instruction);
            if 0.01 < (cycles / expected - 1.0).abs() {
                failed.push(format!("{instruction} on {}: {cycles}", machine.name));
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn addresses_are_folded_into_what_uses_them() {
    // An index is widened, scaled and added: a shift and an addition of one word.
    let load = "cvt.s64.s32 %d1, %r7; shl.b64 %d2, %d1, 2; add.s64 %d3, %x, %d2; ld.global.u32 %r6, [%d3];";
    let alu = |body: &str| {
        let body = format!(
            "mov.u32 %r4, 64; mov.u32 %r7, 1; {}",
            repeated(&body.repeat(8))
        );
        part(&time(&body, (1, 1024)), "alu")
    };
    let word = "shl.b32 %r8, %r7, 2; add.s32 %r9, %r9, %r8; ld.global.u32 %r6, [%x];";
    let (wide, word) = (alu(load), alu(word));
    assert!((wide / word - 1.0).abs() < 0.01, "{wide} {word}");
    // A load of a byte makes a word of it.
    let byte = alu("ld.global.s8 %h1, [%x]; cvt.s32.s16 %r6, %h1; add.s32 %r8, %r6, 1;");
    let word = alu("ld.global.u32 %r6, [%x]; add.s32 %r8, %r6, 1;");
    assert!((byte / word - 1.0).abs() < 0.01, "{byte} {word}");
}

#[test]
fn what_shared_memory_does_not_add_is_done_in_turns() {
    // Threads of the warp that share a word, one behind the other.
    let with = |kind: &str, value: &str, shared: u32| {
        let body = format!(
            "mov.u32 %r6, 3; mov.f32 %f1, 0f3fc00000; mov.u64 %d1, 3; mov.f64 %d2, 0d3ff8000000000000;
             div.u32 %r7, %t, {shared}; shl.b32 %r7, %r7, 3; mov.u32 %r4, 100; {}",
            repeated(&format!("red.shared.{kind} [%r7], {value};"))
        );
        time(&body, (1, 32))
    };
    let cycles = |kind, value, shared| with(kind, value, shared).counts.shared_wavefronts / 100.0;
    // Two words of 32 lie in each bank; a float is loaded, and stored if nobody was first.
    assert!((cycles("add.u32", "%r6", 1) - 2.0).abs() < 0.1);
    assert!((cycles("add.f32", "%f1", 1) - 4.0).abs() < 0.1);
    assert!((cycles("add.u32", "%r6", 32) - 32.0).abs() < 0.1);
    for (kind, value) in [("add.f32", "%f1"), ("add.u64", "%d1"), ("add.f64", "%d2")] {
        let one = cycles(kind, value, 32);
        assert!((one - 64.0).abs() < 0.1, "{kind} {one}");
    }
    let machine = h100();
    let turn = 2.0 * machine.shared_latency * 1000.0 / machine.clock_mhz;
    let waits = part(&with("add.f32", "%f1", 32), "latency");
    assert!(100.0 * 32.0 * turn < waits, "{waits} ns");
    // Of eight warps, too, one thread stores at a time: each has loaded after the one before.
    let store = (machine.shared_latency + machine.latencies.turn) * 1000.0 / machine.clock_mhz;
    let warps = |apart: &str| {
        let body = format!(
            "mov.f32 %f1, 0f3fc00000; {apart} mov.u32 %r4, 100; {}",
            repeated("red.shared.add.f32 [%r7], %f1;")
        );
        part(&time(&body, (1, 256)), "latency")
    };
    let (one, own) = (
        warps("mov.u32 %r7, 0;"),
        warps("shr.u32 %r7, %t, 5; shl.b32 %r7, %r7, 2;"),
    );
    let stores = 100.0 * 256.0;
    assert!(
        stores * store < one && one < 1.1 * stores * store,
        "{one} ns"
    );
    assert!(own < 1.2 * waits, "{own} {waits} ns");
    // What it has natively.
    let exchange = with("min.u32", "%r6", 4);
    assert!((exchange.counts.shared_wavefronts / 100.0 - 4.0).abs() < 0.1);
}
