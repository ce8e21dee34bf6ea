//! Single instructions on special values, bit for bit on interpreter and device: `corners`.

use crate::small::{kernel_of, run};
use crate::{Place, told, two_buffers};
use autocomp_core::Seed;
use autocomp_cuda::inside::Program;
use autocomp_cuda_sim::machine::Order;
use std::fmt::Write as _;

/// Threads, each of which computes with three numbers of 64 bits.
const THREADS: usize = 4096;
/// Instructions of one worker.
const AT_ONCE: usize = 30;

/// Instructions by what they take and give, with `D` for the result and `A`, `B` and `C` for what
/// is given, each ended by a semicolon: `r` and `f` are 32 bits, `d` 64, `h` 16, `p` a predicate.
const INSTRUCTIONS: &[(&str, &str)] = &[
    (
        "r r",
        "div.u32 D, A, B; div.s32 D, A, B; rem.u32 D, A, B; rem.s32 D, A, B; shl.b32 D, A, B; \
         shr.u32 D, A, B; shr.s32 D, A, B; abs.s32 D, A; neg.s32 D, A; cnot.b32 D, A; \
         popc.b32 D, A; clz.b32 D, A; brev.b32 D, A; bfind.u32 D, A; bfind.s32 D, A; \
         bfind.shiftamt.u32 D, A; bfind.shiftamt.s32 D, A; bfe.u32 D, A, B, C; \
         bfe.s32 D, A, B, C; bfi.b32 D, A, B, C, 5; bfi.b32 D, A, B, 3, C; prmt.b32 D, A, B, C; \
         prmt.b32.f4e D, A, B, C; prmt.b32.b4e D, A, B, C; prmt.b32.rc8 D, A, B, C; \
         prmt.b32.ecl D, A, B, C; prmt.b32.ecr D, A, B, C; prmt.b32.rc16 D, A, B, C; \
         shf.l.wrap.b32 D, A, B, C; shf.l.clamp.b32 D, A, B, C; shf.r.wrap.b32 D, A, B, C; \
         shf.r.clamp.b32 D, A, B, C; mad.lo.s32 D, A, B, C; mad.hi.s32 D, A, B, C; \
         mad.hi.u32 D, A, B, C; mul.hi.s32 D, A, B; mul.hi.u32 D, A, B; mul24.lo.s32 D, A, B; \
         mul24.lo.u32 D, A, B; mad24.lo.s32 D, A, B, C; sad.s32 D, A, B, C; sad.u32 D, A, B, C; \
         add.sat.s32 D, A, B; sub.sat.s32 D, A, B; min.s32 D, A, B; max.u32 D, A, B; \
         dp4a.u32.u32 D, A, B, C; dp4a.s32.s32 D, A, B, C; dp2a.lo.s32.s32 D, A, B, C; \
         dp2a.hi.u32.s32 D, A, B, C; lop3.b32 D, A, B, C, 0x96; slct.u32.s32 D, A, B, C; \
         cvt.s32.s8 D, A; cvt.sat.s8.s32 D, A; cvt.sat.u8.s32 D, A; cvt.sat.u8.u32 D, A; \
         cvt.sat.s16.s32 D, A; cvt.sat.u32.s32 D, A;",
    ),
    (
        "d d",
        "div.u64 D, A, B; div.s64 D, A, B; rem.u64 D, A, B; rem.s64 D, A, B; mul.lo.s64 D, A, B; \
         mul.hi.s64 D, A, B; mul.hi.u64 D, A, B; mad.lo.s64 D, A, B, C; mad.hi.u64 D, A, B, C; \
         abs.s64 D, A; neg.s64 D, A; brev.b64 D, A; min.s64 D, A, B; max.u64 D, A, B; \
         add.f64 D, A, B; sub.f64 D, A, B; mul.f64 D, A, B; fma.rn.f64 D, A, B, C; \
         div.rn.f64 D, A, B; sqrt.rn.f64 D, A; rcp.rn.f64 D, A; abs.f64 D, A; neg.f64 D, A; \
         min.f64 D, A, B; max.f64 D, A, B; cvt.rni.f64.f64 D, A; cvt.rmi.f64.f64 D, A; \
         cvt.rzi.s64.f64 D, A; cvt.rni.u64.f64 D, A; cvt.rn.f64.s64 D, A; cvt.rn.f64.u64 D, A; \
         copysign.f64 D, A, B;",
    ),
    (
        "r d",
        "popc.b64 D, A; clz.b64 D, A; bfind.u64 D, A; bfind.s64 D, A; cvt.rzi.s32.f64 D, A; \
         cvt.rzi.u32.f64 D, A; cvt.sat.s32.s64 D, A; cvt.u32.u64 D, A;",
    ),
    (
        "d r",
        "mul.wide.s32 D, A, B; mul.wide.u32 D, A, B; cvt.s64.s32 D, A; cvt.rn.f64.s32 D, A;",
    ),
    (
        "f d",
        "cvt.rn.f32.f64 D, A; cvt.rn.f32.s64 D, A; cvt.rn.f32.u64 D, A;",
    ),
    (
        "d f",
        "cvt.f64.f32 D, A; cvt.rzi.s64.f32 D, A; cvt.rzi.u64.f32 D, A;",
    ),
    (
        "f f",
        "add.f32 D, A, B; add.ftz.f32 D, A, B; add.sat.f32 D, A, B; sub.f32 D, A, B; \
         mul.f32 D, A, B; mul.ftz.f32 D, A, B; mul.sat.f32 D, A, B; fma.rn.f32 D, A, B, C; \
         fma.rn.ftz.f32 D, A, B, C; fma.rn.sat.f32 D, A, B, C; div.rn.f32 D, A, B; \
         div.full.f32 D, A, B; div.approx.f32 D, A, B; sqrt.rn.f32 D, A; sqrt.approx.f32 D, A; \
         sqrt.approx.ftz.f32 D, A; rcp.rn.f32 D, A; rcp.approx.f32 D, A; rcp.approx.ftz.f32 D, A; \
         rsqrt.approx.f32 D, A; rsqrt.approx.ftz.f32 D, A; ex2.approx.f32 D, A; \
         ex2.approx.ftz.f32 D, A; lg2.approx.f32 D, A; lg2.approx.ftz.f32 D, A; \
         sin.approx.f32 D, A; cos.approx.f32 D, A; tanh.approx.f32 D, A; min.f32 D, A, B; \
         max.f32 D, A, B; min.ftz.f32 D, A, B; min.NaN.f32 D, A, B; max.NaN.f32 D, A, B; \
         abs.f32 D, A; abs.ftz.f32 D, A; neg.f32 D, A; neg.ftz.f32 D, A; copysign.f32 D, A, B; \
         cvt.rni.f32.f32 D, A; cvt.rzi.f32.f32 D, A; cvt.rmi.f32.f32 D, A; cvt.rpi.f32.f32 D, A; \
         cvt.sat.f32.f32 D, A; selp.f32 D, A, B, %p1;",
    ),
    (
        "r f",
        "cvt.rni.s32.f32 D, A; cvt.rzi.s32.f32 D, A; cvt.rmi.s32.f32 D, A; cvt.rpi.s32.f32 D, A; \
         cvt.rni.u32.f32 D, A; cvt.rzi.u32.f32 D, A; cvt.rzi.ftz.s32.f32 D, A; \
         cvt.rna.tf32.f32 D, A; cvt.rn.f16x2.f32 D, A, B; cvt.rn.bf16x2.f32 D, A, B; \
         cvt.rn.relu.f16x2.f32 D, A, B; cvt.rzi.s8.f32 D, A; cvt.rzi.u8.f32 D, A; \
         cvt.rni.sat.s8.f32 D, A; cvt.rni.sat.u8.f32 D, A; cvt.rzi.s16.f32 D, A; \
         cvt.rzi.u16.f32 D, A;",
    ),
    (
        "f r",
        "cvt.rn.f32.s32 D, A; cvt.rn.f32.u32 D, A; cvt.rn.f32.u8 D, A; cvt.rz.f32.s32 D, A;",
    ),
    (
        "h f",
        "cvt.rn.f16.f32 D, A; cvt.rz.f16.f32 D, A; cvt.rn.bf16.f32 D, A; cvt.rz.bf16.f32 D, A;",
    ),
    ("f h", "cvt.f32.f16 D, A;"),
    ("r h", "cvt.rni.s32.f16 D, A; cvt.rzi.u32.f16 D, A;"),
    ("h r", "cvt.rn.f16.s32 D, A; cvt.rn.f16.u32 D, A;"),
    ("h d", "cvt.rn.f16.f64 D, A;"),
    (
        "h h",
        "add.f16 D, A, B; sub.f16 D, A, B; mul.f16 D, A, B; fma.rn.f16 D, A, B, C; \
         add.sat.f16 D, A, B; fma.rn.relu.f16 D, A, B, C; neg.f16 D, A; abs.f16 D, A; \
         min.f16 D, A, B; max.f16 D, A, B; max.NaN.f16 D, A, B; ex2.approx.f16 D, A; \
         tanh.approx.f16 D, A; fma.rn.bf16 D, A, B, C; fma.rn.relu.bf16 D, A, B, C; \
         neg.bf16 D, A; abs.bf16 D, A; min.bf16 D, A, B; max.bf16 D, A, B; max.NaN.bf16 D, A, B; \
         tanh.approx.bf16 D, A; ex2.approx.ftz.bf16 D, A; cvt.rni.f16.f16 D, A; \
         cvt.rzi.f16.f16 D, A; mul.lo.s16 D, A, B; mul.hi.s16 D, A, B; div.s16 D, A, B; \
         rem.u16 D, A, B; shl.b16 D, A, %r2; shr.s16 D, A, %r2; min.s16 D, A, B;",
    ),
    (
        "r r2",
        "add.f16x2 D, A, B; mul.f16x2 D, A, B; fma.rn.f16x2 D, A, B, C; neg.f16x2 D, A; \
         abs.f16x2 D, A; min.f16x2 D, A, B; max.f16x2 D, A, B; fma.rn.bf16x2 D, A, B, C; \
         neg.bf16x2 D, A; abs.bf16x2 D, A; min.bf16x2 D, A, B; max.bf16x2 D, A, B; \
         ex2.approx.f16x2 D, A; tanh.approx.f16x2 D, A;",
    ),
    (
        "p f",
        "setp.eq.f32 D, A, B; setp.ne.f32 D, A, B; setp.lt.f32 D, A, B; setp.ltu.f32 D, A, B; \
         setp.equ.f32 D, A, B; setp.neu.f32 D, A, B; setp.num.f32 D, A, B; setp.nan.f32 D, A, B; \
         setp.gt.ftz.f32 D, A, B; testp.finite.f32 D, A; testp.subnormal.f32 D, A; \
         testp.normal.f32 D, A; testp.notanumber.f32 D, A;",
    ),
    (
        "p d",
        "setp.lt.f64 D, A, B; setp.geu.f64 D, A, B; setp.lt.s64 D, A, B;",
    ),
    (
        "p h",
        "setp.lt.f16 D, A, B; setp.neu.f16 D, A, B; setp.gtu.bf16 D, A, B;",
    ),
];

/// Integers, and floats of 32 bits.
const WORDS: &[u32] = &[
    0,
    1,
    2,
    3,
    5,
    7,
    8,
    24,
    31,
    32,
    33,
    63,
    64,
    127,
    128,
    255,
    256,
    32_767,
    32_768,
    65_535,
    65_536,
    0x007f_ffff,
    0x0080_0000,
    0x0080_0001,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_ff80,
    0xffff_ffff,
    0xffff_fffe,
    0x8080_8080,
    0x3f80_0000,
    0xbf80_0000,
    0x3f00_0000,
    0x3fc0_0000,
    0x4020_0000,
    0xc020_0000,
    0x3f80_0001,
    0x3f7f_ffff,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0x7f80_0001,
    0xffc1_2345,
    0x4f00_0000,
    0xcf00_0000,
    0xcf00_0001,
    0x4eff_ffff,
    0x4f80_0000,
    0x4f7f_ffff,
    0x5f00_0000,
    0x5f80_0000,
    0x3300_0000,
    0x3880_0000,
    0x387f_e000,
    0x477f_e000,
    0x477f_f000,
    0x3f80_8000,
    0x3f81_8000,
    0x3f80_1000,
    0x3f80_3000,
    0x42fe_0000,
    0x42ff_0000,
    0x437f_8000,
    0x4300_8000,
    0xc300_8000,
    0x1e3c_e508,
    0x6000_0000,
    0x1f80_0000,
    0x7e80_0000,
    0x7f00_0000,
    0x4300_0000,
    0xc316_0000,
    0x42fd_8000,
];

/// Halves and bfloat16.
const HALVES: &[u16] = &[
    0, 0x8000, 1, 0x8001, 0x03ff, 0x0400, 0x3c00, 0xbc00, 0x3800, 0x3e00, 0x4100, 0xc100, 0x7bff,
    0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x7c01, 0xfe55, 0x3c01, 0x3bff, 0x6800, 0x77ff, 0x7800, 0x0080,
    0x007f, 0x3f80, 0xbf80, 0x7f7f, 0x7f80, 0xff80, 0x7fc0, 0x7f81, 0xffc1, 0x4000, 0x0003, 0x0010,
    0xffff, 0x5640, 0x1400,
];

/// Integers, and floats of 64 bits.
const DOUBLES: &[u64] = &[
    0,
    1,
    2,
    3,
    7,
    63,
    64,
    65,
    0xffff_ffff,
    0x1_0000_0000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff_7fff_ffff,
    0xffff_ffff_8000_0000,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0x8000_0000_0000_0001,
    0xffff_ffff_ffff_ffff,
    0xffff_ffff_ffff_fffe,
    0x3ff0_0000_0000_0000,
    0xbff0_0000_0000_0000,
    0x3fe0_0000_0000_0000,
    0x3ff8_0000_0000_0000,
    0x4004_0000_0000_0000,
    0xc004_0000_0000_0000,
    0x000f_ffff_ffff_ffff,
    0x0010_0000_0000_0000,
    0x7fef_ffff_ffff_ffff,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0x7ff8_0000_0000_0000,
    0x7ff0_0000_0000_0001,
    0xfff8_1234_5678_9abc,
    0x41df_ffff_ffc0_0000,
    0x41e0_0000_0000_0000,
    0x41ef_ffff_ffe0_0000,
    0xc1e0_0000_0000_0000,
    0xc1e0_0000_0020_0000,
    0x43e0_0000_0000_0000,
    0xc3e0_0000_0000_0000,
    0x43f0_0000_0000_0000,
    0x3ff0_0000_0000_0001,
    0x3ff0_0000_1000_0000,
    0x3ff0_0000_3000_0000,
    0x47ef_ffff_e000_0000,
    0x47ef_ffff_f000_0000,
    0x3690_0000_0000_0000,
    0x36a0_0000_0000_0000,
    0x380f_ffff_ffff_ffff,
    0x40ef_fc00_0000_0000,
    0x40ef_fe00_0000_0000,
    0x3e50_0000_0000_0000,
];

/// Returns three numbers for each thread: all pairs of special ones as far as there is room, and
/// others.
fn given(kind: &str) -> Vec<[u64; 3]> {
    let special: Vec<u64> = match kind {
        "d" => DOUBLES.to_vec(),
        "h" => HALVES.iter().map(|it| u64::from(*it)).collect(),
        "r2" => HALVES
            .iter()
            .map(|it| u64::from(*it) << 16 | u64::from(it.rotate_left(3)))
            .collect(),
        _ => WORDS.iter().map(|it| u64::from(*it)).collect(),
    };
    let count = special.len();
    let mut seed = Seed(5);
    (0..THREADS)
        .map(|thread| {
            let at = |number: u64| special[(number % count as u64) as usize];
            if thread < count * count {
                let (a, b) = ((thread / count) as u64, (thread % count) as u64);
                [at(a), at(b), at(a + 3 * b + seed.next_u64() % 7)]
            } else {
                let mut drawn = [seed.next_u64(), seed.next_u64(), seed.next_u64()];
                drawn[thread % 3] = at(seed.next_u64());
                drawn
            }
        })
        .collect()
}

/// Returns a kernel that carries an instruction out.
fn kernel(kinds: &str, text: &str) -> String {
    let (to, from) = kinds.split_once(' ').unwrap();
    let from = from.trim_end_matches('2');
    let mut text = text.to_owned();
    for (name, register) in [
        ("D", format!("%{to}10")),
        ("A", format!("%{from}1")),
        ("B", format!("%{from}2")),
        ("C", format!("%{from}3")),
    ] {
        let (head, operands) = text.split_once(' ').unwrap();
        text = format!("{head} {}", operands.replace(name, &register));
    }
    let result = match to {
        "d" => "mov.b64 %d9, %d10;",
        "f" => "mov.b32 %r9, %f10; cvt.u64.u32 %d9, %r9;",
        "h" => "cvt.u64.u16 %d9, %h10;",
        "p" => "selp.u64 %d9, 1, 0, %p10;",
        _ => "cvt.u64.u32 %d9, %r10;",
    };
    let mut body = String::from(
        " mov.u32 %r9, %ctaid.x; mad.lo.u32 %r9, %r9, 32, %t;
 mul.wide.u32 %d7, %r9, 24; add.u64 %d7, %x, %d7;
 mul.wide.u32 %d8, %r9, 8; add.u64 %d8, %y, %d8;\n",
    );
    for number in 1..=3 {
        let _ = writeln!(
            body,
            " ld.global.u64 %d{number}, [%d7+{}]; cvt.u32.u64 %r{number}, %d{number};
 mov.b32 %f{number}, %r{number}; cvt.u16.u32 %h{number}, %r{number};",
            8 * (number - 1)
        );
    }
    kernel_of(&format!(
        "{body} setp.lt.u32 %p1, %r3, %r2;\n {text};\n {result}\n st.global.u64 [%d8], %d9;"
    ))
}

/// Runs instructions on interpreter and device, and returns their rows.
fn rows(
    place: &Place,
    problem: &autocomp_catalog::Problem,
    instructions: &[(&'static str, &'static str)],
) -> String {
    place.work(120, problem, |session| {
        let mut rows = String::new();
        for (kinds, text) in instructions {
            let numbers = given(kinds.split(' ').nth(1).unwrap_or("r"));
            let x: Vec<u8> = numbers
                .iter()
                .flatten()
                .flat_map(|it| it.to_le_bytes())
                .collect();
            let ptx = kernel(kinds, text);
            let simulated = std::panic::catch_unwind(|| {
                run(
                    &ptx,
                    (THREADS as u32 / 32, 32),
                    &x,
                    8 * THREADS,
                    Order::Forward,
                )
            });
            let launch = crate::programs::launch("k".into(), THREADS as u32 / 32, 0);
            let program: &'static Program =
                Box::leak(Box::new(Program::of_launches(ptx, vec![launch])));
            let ran = session
                .load(program)
                .and_then(|mut loaded| session.run(&mut loaded, &[x, vec![0; 8 * THREADS]]));
            let words = match (ran, simulated) {
                (Err(failure), _) => told(&failure),
                (Ok(_), Err(_)) => "not simulated".into(),
                (Ok(_), Ok(Err(finding))) => format!("{finding:?}"),
                (Ok(left), Ok(Ok(right))) => differences(&numbers, &left[1], &right),
            };
            let _ = writeln!(rows, "{text}\t{}", words.replace(['\n', '\t'], " "));
        }
        Ok(rows)
    })
}

fn differences(numbers: &[[u64; 3]], device: &[u8], interpreter: &[u8]) -> String {
    let words = |of: &[u8]| -> Vec<u64> {
        let chunks = of.chunks_exact(8);
        chunks
            .map(|it| it.iter().rev().fold(0, |sum, it| sum << 8 | u64::from(*it)))
            .collect()
    };
    let (device, interpreter) = (words(device), words(interpreter));
    let unlike: Vec<String> = numbers
        .iter()
        .zip(device.iter().zip(&interpreter))
        .filter(|(_, (on_device, simulated))| on_device != simulated)
        .map(|(it, (on_device, simulated))| {
            format!(
                "{:x} {:x} {:x}: {on_device:x} not {simulated:x}",
                it[0], it[1], it[2]
            )
        })
        .collect();
    format!(
        "{} {}",
        unlike.len(),
        unlike[..unlike.len().min(6)].join(", ")
    )
}

/// `corners`: for each instruction, how many of the results differ, and the first of them.
pub fn corners(place: &Place) -> Result<(), String> {
    place.told()?;
    let problem = two_buffers(6 * THREADS as u64);
    let all: Vec<_> = INSTRUCTIONS
        .iter()
        .flat_map(|(kinds, texts)| {
            let texts = texts.split_terminator(';').map(str::trim);
            texts.map(move |text| (*kinds, text))
        })
        .collect();
    for some in all.chunks(AT_ONCE) {
        print!("{}", rows(place, &problem, some));
    }
    Ok(())
}
