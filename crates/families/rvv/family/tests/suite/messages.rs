//! What kernels are told that were written for another release, library or compiler.

use crate::attacks::{PROBLEM, bench_of};
use autocomp_catalog::Catalog;
use autocomp_core::Outcome;
use std::fmt::Write;

/// Statements in a kernel, and a part of the remedy of the message about their line.
const CASES: &[(&str, &str)] = &[
    // Names before release 0.11, and what was a segment before tuples.
    ("vsetvl_e32m8(5);", "`__riscv_vsetvl_e32m8`"),
    (
        "vfloat32m8_t v = vle32_v_f32m8(S, 5);",
        "`__riscv_vle32_v_f32m8`",
    ),
    ("vbool4_t m = vmset_m_b4(5);", "`__riscv_vmset_m_b4`"),
    (
        "vfloat32m1_t a, b; vlseg2e32_v_f32m1(&a, &b, S, 2);",
        "`__riscv_vlseg2e32_v_f32m1x2`",
    ),
    (
        "vfloat32m1_t a, b; __riscv_vlseg2e32_v_f32m1(&a, &b, S, 2);",
        "segments are tuples",
    ),
    (
        "__riscv_vadd_vv_i33m1(0, 0, 5);",
        "riscv_vector.h has no `__riscv_vadd_vv_i33m1`",
    ),
    // Operands and modes as they were.
    (
        "vint32m2_t d = __riscv_vmv_v_x_i32m2(0, 8); vbool16_t m = __riscv_vmset_m_b16(8); d = __riscv_vadd_vv_i32m2_m(m, d, d, d, 8);",
        "`__riscv_vadd_vv_i32m2_mu` or `__riscv_vadd_vv_i32m2_tumu`",
    ),
    (
        "vint32m2_t d = __riscv_vmv_v_x_i32m2(0, 8); vbool16_t m = __riscv_vmset_m_b16(8); d = __riscv_vcompress_vm_i32m2(m, d, d, 8);",
        "`__riscv_vcompress_vm_i32m2_tu`",
    ),
    (
        "vint16m1_t v = __riscv_vmv_v_x_i16m1(100, 8); v = __riscv_vsmul_vv_i16m1(v, (v), 8);",
        "`__RISCV_VXRM_RNU`",
    ),
    (
        "vfloat32m1_t v = __riscv_vle32_v_f32m1(S);",
        "the number of elements",
    ),
    // Functions of a library that is not there.
    ("int *t = malloc(64); t[0] = 1;", "use a static array"),
    ("assert(S);", "remove it"),
    ("printf(\"%f\", S[0]);", "nothing can be printed to"),
    ("S[0] = floor(S[0]);", "there is no C library but: memcpy"),
    (
        "double pow(double, double); S[0] = pow(S[0], 2);",
        "there is no C library but: memcpy",
    ),
    (
        "void *malloc(unsigned long); S = malloc(64); S[0] = 1;",
        "use a static array",
    ),
    // Assembly.
    (
        "__asm__ volatile(\"nop\");",
        "the intrinsics of riscv_vector.h",
    ),
];

#[test]
fn what_is_of_another_release_or_library_has_its_line_and_remedy() {
    let catalog = Catalog::built_in().expect("built-in data");
    let bench = bench_of(&catalog, PROBLEM, "rvv-k230");
    let mut failed = String::new();
    for (statements, expected) in CASES {
        let source = format!("void solution(float X[5][333], float S[5]) {{\n  {statements}\n}}\n");
        let found = bench.evaluate(&source).expect("an evaluation");
        let fits = found.diagnostics.iter().any(|it| {
            let remedy = it.remedy.as_deref().unwrap_or_default();
            let line = it.location.as_ref().map(|it| it.line);
            remedy.contains(expected) && line == Some(2)
        });
        if !fits {
            let text = format!("{:?}", found.diagnostics);
            writeln!(failed, "{statements}\n  {expected}\n  {text}").expect("a text");
        }
    }
    assert!(failed.is_empty(), "\n{failed}");
}

/// What stands in such a header is there, and others are named with what there is.
#[test]
fn harmless_headers_may_be_included() {
    let catalog = Catalog::built_in().expect("built-in data");
    let bench = bench_of(&catalog, PROBLEM, "rvv-k230");
    let kernel = "#include <riscv_vector.h>
#include <stdint.h> // types
#include <stddef.h>
# include <stdbool.h>
#include \"string.h\"
#include <math.h> /* floorf */
#include <stdlib.h>
#include <float.h>
#include <limits.h>
void solution(float X[5][333], float S[5]) {
  for (size_t i = 0; i < (size_t)abs(-5); i++) {
    S[i] = X[0][0] < -DBL_MAX ? floorf(INT_MAX) : 0;
    for (size_t j = 0; j < 333; j++) S[i] += X[i][j];
  }
}
";
    let found = bench.evaluate(kernel).expect("an evaluation");
    assert_eq!(found.outcome, Outcome::Ok, "{:?}", found.diagnostics);
    for line in [
        "#include <stdio.h>",
        "#include \"/etc/passwd\"",
        "#include <math.h> int x;",
        "#include <math.h> /* */ int x; /* */",
    ] {
        let kernel = kernel.replace("# include <stdbool.h>", line);
        let found = bench.evaluate(&kernel).expect("an evaluation");
        assert_eq!(found.outcome, Outcome::Rejected, "{line}");
        let [message] = &found.diagnostics[..] else {
            panic!("{line}: {:?}", found.diagnostics);
        };
        let remedy = message.remedy.as_deref().unwrap_or_default();
        let place = message.location.as_ref().map(|it| it.line);
        assert!(
            remedy.contains("<math.h>") && place == Some(4),
            "{message:?}"
        );
    }
}

#[test]
fn data_that_does_not_fit_has_its_name_line_and_size() {
    let catalog = Catalog::built_in().expect("built-in data");
    let bench = bench_of(&catalog, PROBLEM, "rvv-k230");
    let arrays = [
        "char big[1900000000]",
        "float big[10][1000000]",
        "char big[19000000000]",
    ];
    for array in arrays {
        for is_inside in [false, true] {
            let (before, inside) = match is_inside {
                false => (format!("static volatile {array};"), String::new()),
                true => (String::new(), format!("static volatile {array};")),
            };
            let source = format!(
                "{before}\nvoid solution(float X[5][333], float S[5]) {{\n{inside}\nvolatile float *at = (volatile float *)big; at[(int)X[0][0]] = 1;\n}}\n"
            );
            let found = bench.evaluate(&source).expect("an evaluation");
            let [message] = &found.diagnostics[..] else {
                panic!("{array}: {:?}", found.diagnostics);
            };
            assert_eq!(message.code, "program-too-large", "{array}: {message:?}");
            let line = message.location.as_ref().map(|it| it.line);
            assert_eq!(line, Some(if is_inside { 3 } else { 1 }), "{array}");
            assert!(
                message.notes[0].starts_with("`big` takes "),
                "{array}: {message:?}"
            );
        }
    }
}

/// Steps of the description of its frame are too long for the numbers that describe most.
#[test]
fn a_function_of_more_than_64_kib_that_saves_registers_is_built() {
    let mut source = "void solution(float X[5][333], float S[5]) {\n  for (int i = 0; i < 5; i++) {\n    S[i] = 0;\n    for (int j = 0; j < 333; j++) S[i] += X[i][j];\n  }\n  volatile long last = (long)(expf(X[0][0]) * 1000);\n".to_owned();
    // Ten bytes each, and nothing that the compiler could take long for.
    for number in 0..9000 {
        let _ = writeln!(source, "  last = {};", 123_456 + 4099 * number);
    }
    source += "  if (last == 5) S[0] += expf(S[0]);\n}\n";
    let catalog = Catalog::built_in().expect("built-in data");
    let bench = bench_of(&catalog, PROBLEM, "rvv-k230");
    let found = bench.evaluate(&source).expect("an evaluation");
    assert_eq!(found.outcome, Outcome::Ok, "{:?}", found.diagnostics);
}
