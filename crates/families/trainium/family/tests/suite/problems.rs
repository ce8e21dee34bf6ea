//! The family, taken through every problem of its own, and through kernels that are wrong.

use crate::opening;
use autocomp_catalog::Catalog;
use autocomp_core::{Evaluation, Outcome};
use autocomp_eval::profile::Profiled;
use autocomp_eval::{Bench, EvalError, Family, Surroundings};
use autocomp_trainium_family::Trainium;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub(crate) fn open(
    problem: &str,
    cache: &std::path::Path,
) -> (Arc<dyn Bench>, autocomp_catalog::Problem) {
    let catalog = Catalog::built_in().expect("catalog");
    let problem = catalog.problem(problem).expect("problem");
    let target = catalog.target(&problem.targets[0]).expect("target");
    Trainium.check_target(&target).expect("machines");
    let bench = opening::open(&problem, &target, cache.to_owned(), 1, 2);
    (bench.expect("bench"), problem)
}

pub(crate) fn cache() -> std::path::PathBuf {
    std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("autocomp-cache")
}

/// Takes the problems in one dialect through all their kernels; `least` says how many problems
/// there are and how many of them have a tuned kernel, at least. Each core takes the next one,
/// so that none waits for the last of a long list.
fn every_kernel_is_right_and_tuned_ones_are_faster(is_second_dialect: bool, least: (usize, usize)) {
    let catalog = Catalog::built_in().expect("catalog");
    let names: Vec<&str> = catalog
        .problem_names()
        .filter(|name| name.starts_with("trainium/") && name.ends_with("-v2") == is_second_dialect)
        .collect();
    assert!(least.0 <= names.len(), "{names:?}");
    let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let take = || {
        let mut taken = Vec::new();
        while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
            taken.push((*name, costs(name)));
        }
        taken
    };
    let costs: Vec<(&str, (u64, Option<u64>))> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..n_threads).map(|_| scope.spawn(take)).collect();
        let taken = threads.into_iter().map(|it| it.join().expect("thread"));
        taken.flatten().collect()
    });
    let tuned = costs.iter().filter_map(|(name, (baseline, tuned))| {
        let tuned = (*tuned)?;
        Some((name, *baseline, tuned))
    });
    let (fast, slow): (Vec<_>, Vec<_>) = tuned.partition(|(_, baseline, tuned)| tuned < baseline);
    assert!(slow.is_empty(), "{slow:?}");
    assert!(least.1 <= fast.len());
}

/// Returns what the baseline of a problem costs and what its tuned kernel does, if there is one.
/// Both are right, and neither is below the floor.
fn costs(name: &str) -> (u64, Option<u64>) {
    let (bench, problem) = open(name, &cache());
    let cost = |source: &str| {
        let evaluation = bench.evaluate(source).expect("evaluated");
        let found = &evaluation.diagnostics;
        assert_eq!(evaluation.outcome, Outcome::Ok, "{name}: {found:?}");
        let cost = evaluation.cost().expect("cost").value;
        assert!(bench.facts().floor.value <= cost, "{name}");
        let told = evaluation
            .feedback
            .map(|it| it.bottleneck)
            .unwrap_or_default();
        let is_filled = !told.contains(['{', '}']);
        assert!(
            is_filled && told.contains(" us before its first instruction"),
            "{name}: {told}"
        );
        cost
    };
    let baseline = cost(problem.kernel("baseline").expect("kernel"));
    (baseline, problem.kernel("tuned").ok().map(cost))
}

#[test]
fn kernels_of_the_first_dialect_are_right_and_tuned_ones_faster() {
    every_kernel_is_right_and_tuned_ones_are_faster(false, (28, 8));
}

#[test]
fn kernels_of_the_second_dialect_are_right_and_tuned_ones_faster() {
    every_kernel_is_right_and_tuned_ones_are_faster(true, (15, 5));
}

fn verdict(bench: &Arc<dyn Bench>, source: &str) -> (Outcome, String, Option<u32>) {
    let evaluation: Evaluation = bench.evaluate(source).expect("evaluated");
    let first = evaluation.diagnostics.first().expect("a diagnostic");
    let line = first.location.as_ref().map(|place| place.line);
    (evaluation.outcome, first.code.clone(), line)
}

#[test]
fn wrong_kernels_are_told_what_is_wrong_and_where() {
    let (bench, problem) = open("trainium/rope", &cache());
    let baseline = problem.kernel("baseline").expect("kernel");
    let line_of = |source: &str, part: &str| {
        let at = source.lines().position(|line| line.contains(part));
        at.map(|at| at as u32 + 1)
    };
    // Values: an output of ones.
    let ones = "import neuronxcc.nki as nki\nimport neuronxcc.nki.language as nl\n\n\n@nki.jit\ndef solution(x, cos, sin):\n    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)\n    nl.store(y, nl.ones((128, 4096), dtype=nl.float32))\n    return y\n";
    let (outcome, code, _) = verdict(&bench, ones);
    assert_eq!(
        (outcome, code.as_str()),
        (Outcome::Wrong, "output-mismatch")
    );
    // Half of it is never written.
    let half = ones.replace(
        "nl.store(y, nl.ones((128,",
        "nl.store(y[0:64], nl.ones((64,",
    );
    assert_eq!(verdict(&bench, &half).0, Outcome::Wrong);
    // The wrong shape.
    let flat = ones
        .replace("x.shape", "(64, 4096)")
        .replace("(128, 4096)", "(64, 4096)");
    let (outcome, code, _) = verdict(&bench, &flat);
    assert_eq!((outcome, code.as_str()), (Outcome::Wrong, "output-shape"));
    // A tile of more partitions than there are.
    let wide = ones.replace("nl.ones((128, 4096)", "nl.ones((256, 4096)");
    let (outcome, _, line) = verdict(&bench, &wide);
    assert_eq!((outcome, line), (Outcome::Illegal, Some(8)));
    // A name that there is not.
    let unknown = ones.replace("return y", "return missing");
    let (outcome, _, line) = verdict(&bench, &unknown);
    assert_eq!((outcome, line), (Outcome::Crashed, Some(9)));
    // No end.
    let endless = ones.replace(
        "    return y",
        "    while True:\n        pass\n    return y",
    );
    let (outcome, _, line) = verdict(&bench, &endless);
    assert_eq!(outcome, Outcome::TimedOut);
    assert!(line.is_some());
    // No Python.
    let (outcome, _, _) = verdict(&bench, &baseline.replace("return y", "return (y"));
    assert_eq!(outcome, Outcome::BuildFailed);
    // Files cannot be reached.
    let opens = ones.replace("    return y", "    open('/etc/passwd')\n    return y");
    let (outcome, _, line) = verdict(&bench, &opens);
    assert_ne!(outcome, Outcome::Ok);
    assert_eq!(line, line_of(&opens, "open("));
}

#[test]
fn a_reference_with_a_type_that_c_lacks_is_told_how_to_spell_it() {
    let catalog = Catalog::built_in().expect("catalog");
    let mut problem = catalog.problem("trainium/rope").expect("problem");
    problem.reference = problem.reference.replace("float", "bfloat16");
    let target = catalog.target(&problem.targets[0]).expect("target");
    let bench = opening::open(&problem, &target, cache(), 1, 2);
    let kernel = problem.kernel("baseline").expect("kernel");
    let error = bench
        .and_then(|bench| bench.evaluate(kernel))
        .expect_err("no such type");
    let EvalError::Input { message, remedies } = error else {
        panic!("{error:?}");
    };
    assert!(message.contains("unknown type name"), "{message}");
    assert!(
        remedies.iter().any(|it| it.contains("`uint16_t`")),
        "{remedies:?}"
    );
}

#[test]
fn a_kernel_with_many_possible_changes_has_plans() {
    let catalog = Catalog::built_in().expect("catalog");
    let problem = catalog
        .problem("trainium/sd-attention-v2")
        .expect("problem");
    let target = catalog.target(&problem.targets[0]).expect("target");
    let rewriter = Trainium.rewriter(&problem, &target, &target.default_machine);
    let rewriter = rewriter.expect("opened").expect("a rewriter");
    let choice = autocomp_core::PlanChoice {
        menu: &target.menu,
        iteration: 1,
        place: 0,
        plan: 0,
        earlier: &[],
    };
    let plan = rewriter.plan(problem.kernel("baseline").expect("kernel"), choice);
    assert!(plan.is_ok(), "{plan:?}");
}

#[test]
fn a_profile_names_engines_and_lines() {
    let (bench, problem) = open("trainium/rope", &cache());
    let source = problem.kernel("tuned").expect("kernel");
    let Profiled::Right(profile) = bench.profile(source).expect("profiled") else {
        panic!("the kernel is right");
    };
    let text: String = profile.sections.iter().map(|it| it.text.as_str()).collect();
    assert!(
        text.contains("vector") && text.contains("tensor_tensor"),
        "{text}"
    );
    assert!(
        profile.data["total_time_us"]
            .as_f64()
            .is_some_and(|us| 0.0 < us)
    );
}

#[test]
fn remarks_on_a_right_kernel_are_warnings() {
    let (bench, problem) = open("trainium/rmsnorm", &cache());
    let baseline = problem.kernel("baseline").expect("kernel");
    let carried = "    s = nl.ndarray((128, 4), dtype=nl.float32, buffer=nl.sbuf)\n    s[:, 0:1] = nl.load(a[0:128, 0:1])\n    for k in nl.affine_range(3):\n        s[:, nl.ds(k + 1, 1)] = nl.copy(s[:, nl.ds(k, 1)])\n    return y";
    let source = baseline.replace("    return y", carried);
    let evaluation = bench.evaluate(&source).expect("evaluated");
    assert_eq!(evaluation.outcome, Outcome::Ok, "{evaluation:?}");
    let warning = evaluation.diagnostics.first().expect("a warning");
    let line = source
        .lines()
        .position(|line| line.contains("nl.copy(s"))
        .map(|at| at as u32 + 1);
    assert_eq!(warning.code, "affine-hazard");
    assert_eq!(warning.severity, autocomp_core::Severity::Warning);
    assert_eq!(warning.location.as_ref().map(|it| it.line), line);
    assert!(warning.remedy.is_some());
    let plain = bench.evaluate(baseline).expect("evaluated");
    assert!(plain.diagnostics.is_empty(), "{:?}", plain.diagnostics);
}

#[test]
fn targets_of_the_second_dialect_take_no_other() {
    let (bench, problem) = open("trainium/rmsnorm-v2", &cache());
    let catalog = Catalog::built_in().expect("catalog");
    let first = catalog.problem("trainium/rmsnorm").expect("problem");
    let (outcome, code, line) = verdict(&bench, first.kernel("baseline").expect("kernel"));
    assert_eq!(
        (outcome, code.as_str()),
        (Outcome::BuildFailed, "other-dialect")
    );
    assert!(line.is_some());
    // A comment makes no difference.
    let baseline = problem.kernel("baseline").expect("kernel");
    let cost = |source: &str| bench.evaluate(source).expect("evaluated").cost();
    assert!(cost(baseline).is_some());
    assert_eq!(cost(&format!("# neuronxcc\n{baseline}")), cost(baseline));
}

/// The compiler of the first dialect keeps 16 KiB of each partition; the second has all of them,
/// and no compiler that spills.
#[test]
fn kernels_of_the_second_dialect_have_all_of_the_memory() {
    let (bench, problem) = open("trainium/rmsnorm-v2", &cache());
    let baseline = problem.kernel("baseline").expect("kernel");
    let tiles = ["q", "r", "s"].map(|name| {
        format!("    {name} = nl.ndarray((128, 18000), dtype=nl.float32, buffer=nl.sbuf)\n")
    });
    let sum = "    nisa.memset(dst=q, value=0.0)\n    nisa.memset(dst=r, value=0.0)\n    nisa.tensor_tensor(dst=s, data1=q, data2=r, op=nl.add)\n    return y";
    let source = baseline.replace("    return y", &(tiles.concat() + sum));
    let evaluation = bench.evaluate(&source).expect("evaluated");
    assert_eq!(evaluation.outcome, Outcome::Ok, "{evaluation:?}");
    let counters = evaluation.feedback.expect("feedback").counters;
    assert_eq!(counters["spill_reload_bytes"], 0.0, "{counters:?}");
}

#[test]
fn problems_in_python_need_no_compiler() {
    let catalog = Catalog::built_in().expect("catalog");
    let mut problem = catalog.problem("trainium/transpose-v2").expect("problem");
    problem.reference = "def reference(x):\n    return [list(zip(*it)) for it in x]\n".into();
    problem.reference_language = autocomp_catalog::ReferenceLanguage::Python;
    let target = catalog.target(&problem.targets[0]).expect("target");
    let empty = tempfile::tempdir().expect("a folder");
    let surroundings = Surroundings {
        install: false,
        ..Surroundings::installing(empty.path(), std::env::var_os("PATH"))
    };
    let machine = (&target, target.default_machine.as_str());
    let bench = opening::open_in(&problem, machine, &surroundings, 1, 2);
    let bench = bench.expect("a bench");
    let evaluation = bench.evaluate(problem.kernel("baseline").expect("kernel"));
    let evaluation = evaluation.expect("evaluated");
    assert_eq!(evaluation.outcome, Outcome::Ok, "{evaluation:?}");
    let measured = evaluation.measurement.expect("a measurement");
    assert_eq!(measured.compiler, "no compiler");
}

#[test]
fn integers_that_nothing_wrote_are_no_zeros() {
    let catalog = Catalog::built_in().expect("catalog");
    let mut problem = catalog.problem("trainium/rmsnorm").expect("problem");
    problem.signature =
        "void solution(float a[512][4096], float g[4096], uint8_t y[512][4096])".into();
    problem.reference = format!(
        "{} {{ for (int i = 0; i < 512; i++) for (int j = 0; j < 4096; j++) y[i][j] = 0; }}",
        problem.signature
    );
    let output = problem.buffers.iter_mut().find(|it| it.is_written());
    output.expect("an output").dtype = autocomp_catalog::DataType::UInt8;
    let target = catalog.target(&problem.targets[0]).expect("target");
    let bench = opening::open(&problem, &target, cache(), 1, 2).expect("opened");
    let kernel = "import neuronxcc.nki as nki\nimport neuronxcc.nki.language as nl\n\n\n@nki.jit\ndef solution(a, g):\n    y = nl.ndarray(a.shape, dtype=nl.uint8, buffer=nl.shared_hbm)\n    t = nl.ndarray((128, 4096), dtype=nl.uint8, buffer=nl.sbuf)\n    for i in nl.affine_range(4):\n        nl.store(y[i * 128:(i + 1) * 128, :], t)\n    return y\n";
    let (outcome, code, line) = verdict(&bench, kernel);
    assert_eq!(
        (outcome, code.as_str(), line),
        (Outcome::Wrong, "unwritten-memory", Some(10))
    );
}

/// Attention that takes nothing, or the first score of the row, away in place of the largest
/// score is right for scores within a narrow range alone: some inputs have a wide one.
#[test]
fn softmax_without_the_largest_is_wrong() {
    let catalog = Catalog::built_in().expect("catalog");
    let mut n_problems = 0;
    for name in catalog.problem_names() {
        if !name.starts_with("trainium/") {
            continue;
        }
        let problem = catalog.problem(name).expect("problem");
        let kernel = problem.kernel("baseline").expect("kernel");
        let edits = [
            (
                "nl.max(scores, axis=[1])",
                "nl.multiply(scores[:, 0:1], 0.0)",
            ),
            ("nl.max(scores, axis=[1])", "nl.copy(scores[:, 0:1])"),
            ("nl.max(wide, axis=[1])", "nl.multiply(wide[:, 0:1], 0.0)"),
            ("nl.max(wide, axis=[1])", "nl.copy(wide[:, 0:1])"),
            (
                "nisa.tensor_reduce(dst=largest, op=nl.maximum, data=scores, axis=1)",
                "nisa.memset(dst=largest, value=0.0)",
            ),
            (
                "nisa.tensor_reduce(dst=largest, op=nl.maximum, data=scores, axis=1)",
                "nisa.tensor_copy(dst=largest, src=scores[:, 0:1])",
            ),
        ];
        let edits = edits.iter().filter(|(from, _)| kernel.contains(from));
        let edited: Vec<_> = edits.map(|(from, to)| kernel.replace(from, to)).collect();
        if edited.is_empty() {
            continue;
        }
        n_problems += 1;
        let (bench, _) = open(name, &cache());
        for text in edited {
            let evaluation = bench.evaluate(&text).expect("evaluated");
            let found = &evaluation.diagnostics;
            assert_eq!(
                evaluation.outcome,
                Outcome::Wrong,
                "{name}: {found:?}\n{text}"
            );
        }
    }
    assert_eq!(n_problems, 12, "problems with a largest score");
}
