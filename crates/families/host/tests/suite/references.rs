//! What is said of references that give no answer, and of tests that let too much pass.

use crate::support;
use autocomp_core::Outcome;
use autocomp_eval::EvalError;
use autocomp_host::bench::HostBench;

const PROBLEM: &str = r#"
target = "host-x86-64-avx2"
description = "Twice 300 numbers"
entry = "solution"
signature = "void solution(float x[300], float y[300])"
tolerance = { kind = "close", relative = 0.0, absolute = 1e-3 }
work = { macs = 300, bytes = 2400 }
buffer = [
  { name = "x", dtype = "float32", shape = [300], role = "input" },
  { name = "y", dtype = "float32", shape = [300], role = "output" },
]
[[input_set]]
name = "real"
fill.x = { kind = "real", low = -1.0, high = 1.0 }
"#;

const HONEST: &str = "void solution(float x[300], float y[300]) {
  for (int i = 0; i < 300; i++) { y[i] = 2.0f * x[i]; }
}";

/// Returns what is said when a kernel is to be tested.
fn said(bench: &HostBench) -> String {
    let program = bench
        .build(HONEST)
        .expect("a compiler")
        .expect("it is right");
    match bench.test(&program, HONEST) {
        Err(EvalError::Input { message, remedies }) => {
            format!("{message}; {}", remedies.join("; "))
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_reference_without_an_answer_is_told_with_file_and_remedy() {
    let cases = [
        (
            "void solution(float x[300], float y[300]) { y[400000] = 1.0f; }",
            "reference.c of own/small gives no answer: it writes",
        ),
        (
            "void solution(float x[300], float y[300]) {
               for (int i = 0; i < 301; i++) { y[i] = x[0]; }
             }",
            "gives no answer: 4 bytes were written behind y on input set `real`; correct reference.c of the problem",
        ),
        (
            "static volatile char big[1900000000];
             void solution(float x[300], float y[300]) { big[7] = 1; }",
            "reference.c of own/small has 19",
        ),
        (
            "#include <stdio.h>\nvoid solution(float x[300], float y[300]) { }",
            "line 1: 'stdio.h' file not found; correct reference.c of the problem; there is no C library but: memcpy",
        ),
        (
            "void solution(float x[300], float y[300]) { y[0] = sinf(x[0]); }",
            "there is no C library but: memcpy",
        ),
        (
            "static float kept;
             void solution(float x[300], float y[300]) {
               for (int i = 0; i < 300; i++) { y[i] = x[i] + kept; }
               kept += 1.0f;
             }",
            "contradicts itself: called again on input set `real`, y[0] is",
        ),
    ];
    for (reference, wanted) in cases {
        let Some(bench) = support::bench_of(PROBLEM, reference) else {
            return;
        };
        let said = said(&bench);
        assert!(said.contains(wanted), "{said}");
        let is_kept = said.contains("it must keep nothing from call to call");
        assert_eq!(is_kept, said.contains("contradicts itself"), "{said}");
    }
}

#[test]
fn a_reference_may_compute_with_numbers_of_16_bits() {
    for (kind, error) in [("_Float16", "1e-3"), ("__bf16", "1e-2")] {
        let reference = format!(
            "void solution(float x[300], float y[300]) {{
               for (int i = 0; i < 300; i++) {{ y[i] = ({kind})(2.0 * ({kind})x[i]); }}
             }}"
        );
        let problem = PROBLEM.replace("1e-3", error);
        let Some(bench) = support::bench_of(&problem, &reference) else {
            return;
        };
        let (outcome, found) = support::outcome(&bench, HONEST);
        assert_eq!(outcome, Outcome::Ok, "{kind}: {found:?}");
    }
}

#[test]
fn an_axis_that_is_none_is_refused() {
    let problem = format!("{PROBLEM}[[axis]]\nname = \"i\"\nof = [\"x.0\", \"y.0\"]\n");
    let reference = "void solution(float x[300], float y[300]) {
  for (int i = 0; i < 300; i++) { y[i] = x[i] + i; }
}";
    let Some(bench) = support::bench_of(&problem, reference) else {
        return;
    };
    let said = said(&bench);
    assert!(said.contains("with the indices of the axis `i`"), "{said}");
}

/// What counts calls is found wherever it begins to answer otherwise, and in whichever rhythm.
#[test]
fn a_reference_that_counts_its_calls_contradicts_itself() {
    let problem = format!(
        "{PROBLEM}[[input_set]]\nname = \"other\"\nfill.x = {{ kind = \"real\", low = -2.0, high = 2.0 }}\n"
    );
    for is_other in ["n % 2 == 1", "n > 1", "n == 0", "first"] {
        let reference = format!(
            "static int n;
             static float first;
             void solution(float x[300], float y[300]) {{
               if (n == 0) {{ first = x[0]; }}
               for (int i = 0; i < 300; i++) {{ y[i] = x[i] + ({is_other}); }}
               n++;
             }}"
        );
        let Some(bench) = support::bench_of(&problem, &reference) else {
            return;
        };
        let said = said(&bench);
        assert!(said.contains("contradicts itself: called again"), "{said}");
    }
}
