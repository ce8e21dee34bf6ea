//! What is told of vectors in a call: whose doing they are, what is kept on the stack, what waits.

use crate::attacks::bench_of;
use autocomp_catalog::Catalog;
use autocomp_core::{Evaluation, Measurement, Outcome};

/// A sum of bytes whose loads are a turn ahead of their use, with `restrict`.
const AHEAD: &str = include_str!("../kernels/loads_ahead.c");

fn evaluate(source: &str) -> Evaluation {
    evaluate_for("rvv/vadd-i8-1000", source)
}

fn evaluate_for(problem: &str, source: &str) -> Evaluation {
    let catalog = Catalog::built_in().expect("built-in data");
    let bench = bench_of(&catalog, problem, "rvv-k230");
    let found = bench.evaluate(source).expect("an evaluation");
    assert_eq!(found.outcome, Outcome::Ok, "{:?}", found.diagnostics);
    found
}

fn told(found: &Evaluation) -> &str {
    let feedback = found.feedback.as_ref().expect("feedback");
    &feedback.bottleneck
}

fn spills(found: &Evaluation) -> u64 {
    let figures = &found.measurement.as_ref().expect("a cost").figures;
    figures.get(Measurement::SPILLS).copied().unwrap_or(0)
}

/// What the prompt says of `restrict` holds of the compiler that is pinned.
#[test]
fn registers_kept_on_the_stack_are_counted_and_told_with_their_lines() {
    let unrolled = evaluate(AHEAD);
    let kept = evaluate(&AHEAD.replace("  for (", "#pragma clang loop unroll(disable)\n  for ("));
    let plain = evaluate(&AHEAD.replace("*restrict ", "*"));
    assert!(0 < spills(&unrolled), "{}", told(&unrolled));
    let sentence = format!(
        " {} of these instructions store whole vector registers",
        spills(&unrolled)
    );
    assert!(told(&unrolled).contains(&sentence), "{}", told(&unrolled));
    assert!(
        told(&unrolled).contains("most in lines"),
        "{}",
        told(&unrolled)
    );
    for without in [&kept, &plain] {
        assert_eq!(spills(without), 0);
        assert!(!told(without).contains("whole vector registers"));
        let [fast, slow] = [without, &unrolled].map(|it| it.cost().expect("a cost").value);
        assert!(2 * fast < slow, "{fast} {slow}");
    }
}

#[test]
fn a_kernel_that_is_cut_keeps_what_is_known_without_its_time() {
    let found = evaluate(AHEAD);
    let instructions = found.measurement.as_ref().expect("a cost").figures["instructions"];
    let expected = format!(
        "it has {instructions} instructions, {} of them load or store vector registers kept on the stack",
        spills(&found)
    );
    let bound = autocomp_core::Cost::cycles(875);
    let cut = found.within(Some(bound));
    assert_eq!(cut.outcome, Outcome::Cut);
    let message = &cut.diagnostics[0].message;
    assert!(message.contains(&expected), "{message}");
}

#[test]
fn vectors_that_the_compiler_makes_of_plain_loops_are_told_as_such() {
    let plain = evaluate(
        "void solution(int8_t X[1000], int8_t Y[1000], int8_t Z[1000]) {\n  for (int i = 0; i < 1000; i++) {\n    int sum = (37 * X[i] + 21 * Y[i] + 16) >> 5;\n    Z[i] = sum < -128 ? -128 : sum > 127 ? 127 : sum;\n  }\n}\n",
    );
    assert!(
        told(&plain).contains("which the compiler has made of plain loops"),
        "{}",
        told(&plain)
    );
    let by_hand = evaluate(AHEAD);
    assert!(!told(&by_hand).contains("plain loops"));
    assert!(told(&by_hand).contains(" narrow"), "{}", told(&by_hand));
}

/// Its multiply-adds take 80 % of its cycles, and none of them can be left out.
#[test]
fn no_cheaper_instructions_are_asked_for_near_the_best() {
    let source = include_str!("../kernels/near_best.c");
    let near = evaluate_for("rvv/gemm-f32-128x128x128", source);
    let told = told(&near);
    let expected = "wait for a unit that earlier instructions keep busy";
    assert!(told.contains(expected), "{told}");
    assert!(told.contains("What helps: little here"), "{told}");
    assert!(!told.contains("divisions"), "{told}");
}

/// A scalar load of what a vector store still writes waits for another instruction, not for a line.
#[test]
fn loads_behind_vector_stores_wait_for_no_line() {
    let found = evaluate(
        "void solution(int8_t X[1000], int8_t Y[1000], int8_t Z[1000]) {
  volatile int8_t x[8], y[8];
  for (int i = 0; i < 1000; i++) {
    __riscv_vse8_v_i8m1((int8_t *)x, __riscv_vle8_v_i8m1(X + i, 1), 1);
    int a = x[0];
    __riscv_vse8_v_i8m1((int8_t *)y, __riscv_vle8_v_i8m1(Y + i, 1), 1);
    int sum = (37 * a + 21 * y[0] + 16) >> 5;
    Z[i] = sum > 127 ? 127 : sum < -128 ? -128 : sum;
  }
}
",
    );
    assert!(!told(&found).contains("first cache"), "{}", told(&found));
}
