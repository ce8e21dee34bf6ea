//! Loops whose costs must stand in a relation to each other, whatever the numbers are.

use crate::attacks::bench_of;
use autocomp_catalog::Catalog;
use std::fmt::Write;

/// What stands before each loop: 1 MiB that is in no cache, and 4 KiB that are in the first.
const BEFORE: &str = "
static float big[1 << 18] __attribute__((aligned(64)));
static char near[4096] __attribute__((aligned(64))), other[4096] __attribute__((aligned(64)));
static volatile long sink;
static volatile double number = 3;
static char *volatile at_near = near, *volatile at_other = other;
static volatile size_t kib4 = 4096;
";

/// What stands for `ONCE` before a loop that stays one.
const ONCE: &str = "\n#pragma clang loop unroll(disable) vectorize(disable)\n";

/// A reason, a target, two loops, and by how many times more cycles the first takes at least and
/// at most.
type Relation = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    (f64, f64),
);

const RELATIONS: [Relation; 18] = [
    (
        "copies of four bytes are loads, not calls",
        "rvv-k230",
        "unsigned a = 0; ONCE for (int i = 0; i < 4096; i++) { unsigned u; memcpy(&u, big + i, 4); a ^= u; } sink = a;",
        "unsigned a = 0; ONCE for (int i = 0; i < 4096; i++) a ^= __builtin_bit_cast(unsigned, big[i]); sink = a;",
        (0.95, 1.05),
    ),
    (
        "loads of two lines each are foreseen downwards as upwards",
        "rvv-k230",
        "vfloat32m8_t v = __riscv_vfmv_v_f_f32m8(1, 32);
         ONCE for (int i = 0; i < 4096; i++)
           v = __riscv_vfadd_vv_f32m8(v, __riscv_vle32_v_f32m8(big + (1 << 18) - 32 - 32 * i, 32), 32);
         __riscv_vse32_v_f32m8((float *)near, v, 32);",
        "vfloat32m8_t v = __riscv_vfmv_v_f_f32m8(1, 32);
         ONCE for (int i = 0; i < 4096; i++)
           v = __riscv_vfadd_vv_f32m8(v, __riscv_vle32_v_f32m8(big + 32 * i, 32), 32);
         __riscv_vse32_v_f32m8((float *)near, v, 32);",
        (0.95, 1.1),
    ),
    (
        "loads of a core are foreseen downwards as upwards",
        "rvv-k1",
        "long a = 0; ONCE for (int i = 0; i < 16384; i++) a += ((volatile char *)big)[(1 << 20) - 1 - 64 * i]; sink = a;",
        "long a = 0; ONCE for (int i = 0; i < 16384; i++) a += ((volatile char *)big)[64 * i]; sink = a;",
        (0.95, 1.1),
    ),
    (
        "a line of which one byte is stored is read and written",
        "rvv-k230",
        "ONCE for (int i = 0; i < 16384; i++) ((volatile char *)big)[64 * i] = i;",
        "long a = 0; ONCE for (int i = 0; i < 16384; i++) a += ((volatile char *)big)[64 * i]; sink = a;",
        (1.4, 2.0),
    ),
    (
        "so it is where a vector stores it",
        "rvv-saturn",
        "vint32m8_t v = __riscv_vmv_v_x_i32m8(1, 32);
         ONCE for (int i = 0; i < 512; i++) __riscv_vsse32_v_i32m8((int *)big + 512 * i, 64, v, 32);",
        "vint32m8_t v = __riscv_vmv_v_x_i32m8(1, 32);
         ONCE for (int i = 0; i < 512; i++)
           v = __riscv_vadd_vv_i32m8(v, __riscv_vlse32_v_i32m8((int *)big + 512 * i, 64, 32), 32);
         __riscv_vse32_v_i32m8((int *)near, v, 32);",
        (1.4, 2.5),
    ),
    (
        "a line that is stored to in parts, all of them, is not read",
        "rvv-k230",
        "vint64m1_t v = __riscv_vmv_v_x_i64m1(1, 2);
         ONCE for (int i = 0; i < 65536; i++) __riscv_vse64_v_i64m1((long *)big + 2 * i, v, 2);",
        "vint64m8_t v = __riscv_vmv_v_x_i64m8(1, 16);
         ONCE for (int i = 0; i < 8192; i++) __riscv_vse64_v_i64m8((long *)big + 16 * i, v, 16);",
        (0.9, 1.1),
    ),
    (
        "bytes of a line that has been stored to in part have to be read",
        "rvv-k230",
        "long a = 0;
         ONCE for (int i = 0; i < 16384; i++) { ((volatile char *)big)[64 * i] = i; a += ((volatile char *)big)[64 * i + 1]; }
         sink = a;",
        "long a = 0; ONCE for (int i = 0; i < 16384; i++) a += ((volatile char *)big)[64 * i]; sink = a;",
        (1.4, 12.0),
    ),
    (
        "what is changed in place is read and written",
        "rvv-k1",
        "ONCE for (int i = 0; i < 8192; i++)
           __riscv_vse32_v_f32m4(big + 32 * i, __riscv_vfmul_vf_f32m4(__riscv_vle32_v_f32m4(big + 32 * i, 32), 1.5f, 32), 32);",
        "vfloat32m4_t v = __riscv_vfmv_v_f_f32m4(1, 32);
         ONCE for (int i = 0; i < 8192; i++)
           v = __riscv_vfadd_vv_f32m4(v, __riscv_vle32_v_f32m4(big + 32 * i, 32), 32);
         __riscv_vse32_v_f32m4((float *)near, v, 32);",
        (1.4, 2.0),
    ),
    (
        "nothing foresees the lines of a chain of loads",
        "rvv-saturn",
        "long at = 0; ONCE for (int i = 0; i < 16384; i++) at = (at + 8 + ((volatile long *)big)[at]) & 0x1ffff; sink = at;",
        "long a = 0; ONCE for (int i = 0; i < 16384; i++) a += ((volatile long *)near)[8 * (i & 63)]; sink = a;",
        (10.0, 60.0),
    ),
    (
        "two walks by turns take no longer for a line than one",
        "rvv-saturn",
        "long a = 0; ONCE for (int i = 0; i < 8192; i++) a += ((volatile char *)big)[64 * i] + ((volatile char *)big)[(1 << 19) + 64 * i]; sink = a;",
        "long a = 0; ONCE for (int i = 0; i < 16384; i++) a += ((volatile char *)big)[64 * i]; sink = a;",
        (0.4, 1.1),
    ),
    (
        "roots of binary64 take twice as many steps as those of binary32",
        "rvv-saturn",
        "double a = number; ONCE for (int i = 0; i < 300; i++) a = __builtin_sqrt(a) + 2; number = a;",
        "float a = number; ONCE for (int i = 0; i < 300; i++) a = __builtin_sqrtf(a) + 2; number = a;",
        (1.5, 2.5),
    ),
    (
        "segments of five fields take no less time than those of four",
        "rvv-k230",
        "vfloat32m1_t v = __riscv_vfmv_v_f_f32m1(1, 4);
         ONCE for (int i = 0; i < 999; i++)
           v = __riscv_vfadd_vv_f32m1(v, __riscv_vget_v_f32m1x5_f32m1(__riscv_vlseg5e32_v_f32m1x5((float *)at_near, 4), 1), 4);
         __riscv_vse32_v_f32m1((float *)near, v, 4);",
        "vfloat32m1_t v = __riscv_vfmv_v_f_f32m1(1, 4);
         ONCE for (int i = 0; i < 999; i++)
           v = __riscv_vfadd_vv_f32m1(v, __riscv_vget_v_f32m1x4_f32m1(__riscv_vlseg4e32_v_f32m1x4((float *)at_near, 4), 1), 4);
         __riscv_vse32_v_f32m1((float *)near, v, 4);",
        (1.0, 1.5),
    ),
    (
        "segments by indices take no less time than plain ones",
        "rvv-k230",
        "vfloat32m1_t v = __riscv_vfmv_v_f_f32m1(1, 4); vuint32m1_t at = __riscv_vsll_vx_u32m1(__riscv_vid_v_u32m1(4), 3, 4);
         ONCE for (int i = 0; i < 999; i++)
           v = __riscv_vfadd_vv_f32m1(v, __riscv_vget_v_f32m1x2_f32m1(__riscv_vluxseg2ei32_v_f32m1x2((float *)at_near, at, 4), 1), 4);
         __riscv_vse32_v_f32m1((float *)other, v, 4);",
        "vfloat32m1_t v = __riscv_vfmv_v_f_f32m1(1, 4);
         ONCE for (int i = 0; i < 999; i++)
           v = __riscv_vfadd_vv_f32m1(v, __riscv_vget_v_f32m1x2_f32m1(__riscv_vlseg2e32_v_f32m1x2((float *)at_near, 4), 1), 4);
         __riscv_vse32_v_f32m1((float *)other, v, 4);",
        (1.0, 2.0),
    ),
    (
        "the library copies as fast as a loop by hand",
        "rvv-k230",
        "ONCE for (int i = 0; i < 16; i++) memcpy(at_near, at_other, kib4);",
        "ONCE for (int i = 0; i < 16; i++) {
           unsigned char *x = (void *)at_near, *y = (void *)at_other;
           for (size_t left = kib4; left;) {
             size_t vl = __riscv_vsetvl_e8m8(left);
             __riscv_vse8_v_u8m8(x, __riscv_vle8_v_u8m8(y, vl), vl);
             x += vl; y += vl; left -= vl;
           }
         }",
        (0.9, 1.1),
    ),
    (
        "memmove copies as fast",
        "rvv-k1",
        "ONCE for (int i = 0; i < 16; i++) memmove(at_near, at_other, kib4);",
        "ONCE for (int i = 0; i < 16; i++) memcpy(at_near, at_other, kib4);",
        (0.9, 1.2),
    ),
    (
        "from odd addresses, too",
        "rvv-k230",
        "ONCE for (int i = 0; i < 16; i++) memcpy(at_near, at_other + 1, kib4 - 1);",
        "ONCE for (int i = 0; i < 16; i++) memcpy(at_near, at_other, kib4 - 1);",
        (0.9, 1.2),
    ),
    (
        "filling takes no longer than copying",
        "rvv-saturn",
        "ONCE for (int i = 0; i < 16; i++) memset(at_near, i, kib4);",
        "ONCE for (int i = 0; i < 16; i++) memcpy(at_near, at_other, kib4);",
        (0.3, 1.0),
    ),
    (
        "comparing takes no more than twice as long",
        "rvv-k230",
        "long a = 0; ONCE for (int i = 0; i < 16; i++) a += memcmp(at_near, at_near, kib4); sink = a;",
        "ONCE for (int i = 0; i < 16; i++) memcpy(at_near, at_other, kib4);",
        (0.5, 2.0),
    ),
];

#[test]
fn costs_of_loops_stand_in_relations() {
    let catalog = Catalog::built_in().expect("built-in data");
    let mut failed = String::new();
    for (reason, target, more, less, (low, high)) in RELATIONS {
        let bench = bench_of(&catalog, "rvv/vadd-i8-1000", target);
        let problem = catalog.problem("rvv/vadd-i8-1000").expect("a problem");
        let honest = problem.kernel("baseline").expect("a kernel");
        let cycles = |code: &str| {
            let code = code.replace("ONCE", ONCE);
            let kernel = honest.replacen("{\n", &format!("{{\n{{ {code} }}\n"), 1);
            let found = bench.evaluate(&format!("{BEFORE}{kernel}"));
            let found = found.expect("an evaluation");
            let cost = found.cost();
            let cost = cost.unwrap_or_else(|| panic!("{reason}: {:?}", found.diagnostics));
            cost.value as f64
        };
        let none = cycles("");
        let ratio = (cycles(more) - none) / (cycles(less) - none);
        if !(low..=high).contains(&ratio) {
            writeln!(failed, "{reason} ({target}): {ratio:.2} times").expect("a text");
        }
    }
    assert!(failed.is_empty(), "\n{failed}");
}
