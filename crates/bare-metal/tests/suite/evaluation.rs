//! Kernels of a family for a core alone, from C to a verdict.

use crate::plain::{DEVICE, Plain};
use autocomp_catalog::{Catalog, Problem};
use autocomp_core::{Evaluation, Outcome, Seed, Unit};
use autocomp_eval::profile::Profiled;
use autocomp_eval::{Bench, EvaluatorSettings, Family, Opening, Surroundings};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn open() -> (Problem, Arc<dyn Bench>) {
    open_problem("dot")
}

fn open_problem(name: &str) -> (Problem, Arc<dyn Bench>) {
    open_on("unit", name)
}

fn open_on(machine: &str, name: &str) -> (Problem, Arc<dyn Bench>) {
    let mut catalog = Catalog::built_in().expect("built-in data");
    catalog.add_folder(Path::new("tests/data")).expect("data");
    let problem = catalog.problem(name).expect("a problem");
    let target = catalog.target("plain").expect("a target");
    Plain.check_target(&target).expect("machines");
    let cache = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("autocomp-cache");
    let surroundings = Surroundings::installing(cache, std::env::var_os("PATH"));
    let bench = Plain
        .open(Opening {
            problem: &problem,
            target: &target,
            machine,
            settings: EvaluatorSettings {
                use_cache: false,
                seed: Seed(1),
                threads: 1,
                max_instructions: None,
                experiments: false,
            },
            surroundings: &surroundings,
            progress: &mut |_| (),
        })
        .expect("a bench");
    (problem, bench)
}

fn summary(evaluation: &Evaluation) -> String {
    let found = evaluation.diagnostics.iter();
    let found: Vec<String> = found
        .map(|it| format!("{} {}", it.code, it.message))
        .collect();
    format!("{:?} {}", evaluation.outcome, found.join("; "))
}

#[test]
fn c_is_compiled_for_the_core_tested_and_timed() {
    let (problem, bench) = open();
    let baseline = problem.kernel("baseline").expect("a baseline");
    let evaluation = bench.evaluate(baseline).expect("an evaluation");
    assert_eq!(evaluation.outcome, Outcome::Ok, "{}", summary(&evaluation));
    let measured = evaluation.measurement.expect("a measurement");
    // A cycle for each instruction, warm as cold.
    assert_eq!(measured.cost.value, measured.figures["instructions"]);
    assert_eq!(measured.cost.value, measured.figures["cold_cycles"]);
    assert_eq!(bench.facts().floor.value, 2048);

    let Profiled::Right(profile) = bench.profile(baseline).expect("a profile") else {
        panic!("the baseline is not right");
    };
    let lines = profile.data["lines"].as_array().expect("lines");
    let cycles: u64 = lines
        .iter()
        .filter_map(|it| it["issue_cycles"].as_u64())
        .sum();
    assert_eq!(cycles, measured.cost.value);
    assert_eq!(lines[0]["line"], 4, "{lines:?}");
}

#[test]
fn kernels_get_the_outcomes_they_deserve() {
    let (problem, bench) = open();
    let baseline = problem.kernel("baseline").expect("a baseline");
    for (from, to, expected) in [
        ("sum += ", "sum -= ", "Wrong output-mismatch"),
        ("j < 32", "j <= 32", "Illegal out-of-bounds-read"),
        ("A[i][j]", "A[i + 999][j]", "Illegal out-of-bounds-read"),
        ("y[i] = sum", "x[i] = y[i] = sum", "Wrong input-changed"),
        (
            "int32_t sum = 0",
            "static int32_t sum",
            "Wrong output-mismatch",
        ),
        (
            "int32_t sum = 0",
            "static volatile int8_t t[64]; volatile int far = 100000; t[far] = 1; int32_t sum = 0",
            "Illegal out-of-bounds-write",
        ),
        (
            "y[i] = sum",
            "((void (*)(void))0x80000000)(); y[i] = sum",
            "Illegal execute-start-code",
        ),
        // Wrong where what nothing has written is equal to one element.
        (
            "int32_t sum = 0",
            "volatile int32_t last; int32_t sum = last == A[5][7]",
            "Wrong uninitialized-memory",
        ),
        (
            "int32_t sum = 0",
            "volatile int64_t last; int32_t sum = last == A[5][7]",
            "Wrong uninitialized-memory",
        ),
        (
            "int32_t sum = 0",
            "volatile int16_t last; int32_t sum = last == x[9]",
            "Wrong uninitialized-memory",
        ),
        (
            "int32_t sum = 0",
            "volatile double last; int32_t sum = last == A[5][7]",
            "Wrong uninitialized-memory",
        ),
        ("i++", "i += 0", "TimedOut time-limit"),
        ("y[i] = sum", "y[i] = sun", "BuildFailed "),
        (
            "y[i] = sum",
            "__asm__(\".word 0x5200000b\"); y[i] = sum",
            "Rejected inline-assembly",
        ),
    ] {
        assert!(baseline.contains(from), "{from}");
        let evaluation = bench
            .evaluate(&baseline.replace(from, to))
            .expect("an evaluation");
        let found = summary(&evaluation);
        assert!(found.starts_with(expected), "{to}: {found}");
        assert_ne!(evaluation.outcome, Outcome::Ok, "{to}");
    }
}

/// Numbers of a table are compared like others; a kernel that is right only for those that are in it,
/// such as one that turns a permutation round, is right.
#[test]
fn unwritten_memory_is_found_where_numbers_come_from_a_table() {
    let (problem, bench) = open_problem("permuted");
    let baseline = problem.kernel("baseline").expect("a baseline");
    let body = "for (int i = 0; i < 32; i++) y[i] = w[i] * x[p[i]];";
    for (instead, expected) in [
        (body, "Ok"),
        (
            "int32_t q[32];
  for (int i = 0; i < 32; i++) q[p[i]] = i;
  for (int j = 0; j < 32; j++) y[q[j]] = w[q[j]] * x[j];",
            "Ok",
        ),
        (
            "volatile int32_t last; int32_t found = last == p[9];
  for (int i = 0; i < 32; i++) y[i] = w[i] * x[found ? 0 : p[i]];",
            "Wrong uninitialized-memory",
        ),
        (
            "volatile float last; float found = last == w[20];
  for (int i = 0; i < 32; i++) y[i] = w[i] * x[p[i]] + found;",
            "Wrong uninitialized-memory",
        ),
        (
            "volatile double last; float found = last == w[20];
  for (int i = 0; i < 32; i++) y[i] = w[i] * x[p[i]] + found;",
            "Wrong uninitialized-memory",
        ),
        (
            "volatile double last; float found = last == x[11];
  for (int i = 0; i < 32; i++) y[i] = w[i] * x[p[i]] + found;",
            "Wrong uninitialized-memory",
        ),
    ] {
        let evaluation = bench.evaluate(&baseline.replace(body, instead));
        let found = summary(&evaluation.expect("an evaluation"));
        assert!(found.starts_with(expected), "{instead}: {found}");
    }
}

/// An axis of one index has one order: nothing that is permuted along it is new.
#[test]
fn answers_known_by_heart_are_wrong_where_axes_have_one_order() {
    let (problem, bench) = open_problem("sum");
    let baseline = problem.kernel("baseline").expect("a baseline");
    let honest = bench.evaluate(baseline).expect("an evaluation");
    assert_eq!(honest.outcome, Outcome::Ok, "{}", summary(&honest));
    let by_heart = baseline.replace("y[0] = sum", "y[0] = 77");
    let told = summary(&bench.evaluate(&by_heart).expect("an evaluation"));
    let answer = told
        .split_once("77 instead of ")
        .map(|(_, rest)| rest.split(|it: char| !it.is_numeric() && it != '-').next());
    let answer = answer.flatten().expect(&told);
    for kernel in [
        baseline.replace("y[0] = sum", &format!("y[0] = {answer}")),
        baseline.replace(
            "int32_t sum = 0;",
            "static int32_t kept, is_kept; if (is_kept) { y[0] = kept; return; } int32_t sum = 0;",
        )
        .replace("y[0] = sum", "y[0] = kept = sum; is_kept = 1"),
    ] {
        let found = bench.evaluate(&kernel).expect("an evaluation");
        assert_eq!(found.outcome, Outcome::Wrong, "{kernel}{}", summary(&found));
    }
}

fn unrolled(baseline: &str) -> String {
    baseline.replace(
        "j++) sum += A[i][j] * x[j]",
        "j += 4) sum += A[i][j] * x[j] + A[i][j + 1] * x[j + 1] + A[i][j + 2] * x[j + 2] + A[i][j + 3] * x[j + 3]",
    )
}

#[test]
fn the_same_kernel_costs_the_same_and_a_better_one_less() {
    let (problem, bench) = open();
    let baseline = problem.kernel("baseline").expect("a baseline");
    let cost = |source: &str| {
        let evaluation = bench.evaluate(source).expect("an evaluation");
        let measured = evaluation.measurement.expect("a measurement");
        measured.cost.value
    };
    let unrolled = unrolled(baseline);
    assert_eq!(cost(baseline), cost(baseline));
    assert!(cost(&unrolled) < cost(baseline));
}

/// Right for the two inputs that take turns in a program that is called more than once, and for
/// what is the same at both: neither helps with a third.
#[test]
fn what_a_kernel_keeps_of_two_inputs_does_not_help_with_a_third() {
    let (problem, bench) = open();
    let baseline = problem.kernel("baseline").expect("a baseline");
    let begin = "int32_t sum = 0;";
    assert!(baseline.contains(begin));
    let knows_two = format!(
        "static int32_t seen[2], n; if (n < 2 && (n == 0 || seen[0] != x[0])) seen[n++] = x[0]; if (x[0] != seen[0] && x[0] != seen[1]) return; {begin}"
    );
    let to_and_fro = format!(
        "static int32_t first, last, state; if (i == 0) {{ if (state == 0) {{ first = x[0]; state = 1; }} else if (x[0] != last) state = 3 - state; last = x[0]; }} if (state == 1 && x[0] != first) return; {begin}"
    );
    for kept in [knows_two, to_and_fro] {
        let evaluation = bench.evaluate(&baseline.replace(begin, &kept));
        let evaluation = evaluation.expect("an evaluation");
        assert_eq!(
            evaluation.outcome,
            Outcome::Wrong,
            "{kept}: {}",
            summary(&evaluation)
        );
    }
}

/// One target, two machines: the simulated one checks and ranks, the measured one tells the ratio
/// to the problem's own kernel.
#[test]
fn what_is_right_in_the_simulator_is_measured() {
    let (problem, bench) = open_on(DEVICE, "dot");
    let (_, simulated) = open();
    let baseline = problem.kernel("baseline").expect("a baseline");
    let unrolled = unrolled(baseline);
    assert_eq!(bench.facts().unit, Unit::Nanoseconds);
    assert_ne!(bench.key(&unrolled), simulated.key(&unrolled));
    let cycles = |source: &str| {
        let evaluation = simulated.evaluate(source).expect("an evaluation");
        evaluation.cost().expect("a cost").value as f64
    };
    let evaluation = bench.evaluate(&unrolled).expect("an evaluation");
    let tiers: Vec<&str> = evaluation.tiers.iter().map(|it| it.tier.as_str()).collect();
    assert_eq!(tiers, ["simulate", "measure"]);
    let measured = evaluation.measurement.expect("a measurement");
    let ratio = measured.ratio_to_baseline.expect("a ratio");
    let wanted = cycles(&unrolled) / cycles(baseline);
    assert!(
        ratio.low < wanted && wanted < ratio.high,
        "{ratio:?} {wanted}"
    );
    assert!(bench.facts().floor.value < measured.cost.value);

    let wrong = baseline.replace("sum += ", "sum -= ");
    let evaluation = bench.evaluate(&wrong).expect("an evaluation");
    assert_eq!(evaluation.outcome, Outcome::Wrong);
    assert_eq!(evaluation.tiers.len(), 1, "{:?}", evaluation.tiers);
    let profiled = bench.profile(&wrong).expect("a profile");
    assert!(matches!(profiled, Profiled::Failed(_)));
}
