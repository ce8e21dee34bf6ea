//! The evaluator as a whole: caches, keys, other compilers, known kernels.

mod calls;
use crate::evaluators;
use crate::support;

use autocomp_catalog::{Axis, AxisPosition, Catalog, Problem, Target};
use autocomp_core::{Cost, Evaluation, Outcome, Seed};
use autocomp_eval::{EvalError, Evaluator, EvaluatorSettings};
use autocomp_gemmini_family::GemminiEvaluator;
use autocomp_toolchain::find_toolchain;
use evaluators::{UNCACHED, evaluator_for};
use std::path::{Path, PathBuf};

const SETTINGS: EvaluatorSettings = EvaluatorSettings {
    use_cache: true,
    ..UNCACHED
};

fn catalog() -> Catalog {
    let mut catalog = Catalog::built_in().expect("built-in data");
    catalog
        .add_folder(Path::new("tests/data/problems"))
        .expect("problems of the tests");
    catalog
}

fn small() -> (Problem, Target) {
    let catalog = catalog();
    let problem = catalog.problem("gemm-64x64x64").expect("a problem");
    let target = catalog.target(&problem.targets[0]).expect("its target");
    (problem, target)
}

fn evaluator(cache: &Path, settings: EvaluatorSettings) -> GemminiEvaluator {
    let (problem, target) = small();
    evaluator_for(&problem, &target, cache, settings)
}

fn baseline() -> String {
    small().0.kernel("baseline").expect("a baseline").to_owned()
}

fn without_tiers(evaluation: &Evaluation) -> Evaluation {
    Evaluation {
        tiers: Vec::new(),
        ..evaluation.clone()
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            found.extend(files(&entry.path()));
        } else {
            found.push(entry.path());
        }
    }
    found
}

#[test]
fn equal_keys_are_computed_once_and_results_do_not_depend_on_the_cache() {
    let cache = tempfile::tempdir().expect("a folder");
    let kernel = baseline();
    let first = evaluator(cache.path(), SETTINGS)
        .evaluate(&kernel)
        .expect("works");
    assert_eq!(first.outcome, Outcome::Ok);
    assert_eq!(
        first
            .tiers
            .iter()
            .map(|tier| tier.tier.as_str())
            .collect::<Vec<_>>(),
        ["check", "build", "test", "time"]
    );
    let again = evaluator(cache.path(), SETTINGS)
        .evaluate(&kernel)
        .expect("works");
    assert_eq!(again.tiers[0].tier, "cache");
    let anew = EvaluatorSettings {
        use_cache: false,
        ..SETTINGS
    };
    let anew = evaluator(cache.path(), anew)
        .evaluate(&kernel)
        .expect("works");
    assert_eq!(anew.tiers.len(), 4);
    for other in [again, anew] {
        assert_eq!(without_tiers(&other), without_tiers(&first));
    }
}

#[test]
fn what_costs_more_than_the_bound_is_cut_whatever_is_known_of_it() {
    let cache = tempfile::tempdir().expect("a folder");
    let kernel = baseline();
    let wrong = kernel.replacen("k < 4", "k < 3", 2);
    let anew = EvaluatorSettings {
        use_cache: false,
        ..SETTINGS
    };
    let of_two = EvaluatorSettings { threads: 2, ..anew };
    let [known, anew, of_two] =
        [SETTINGS, anew, of_two].map(|settings| evaluator(cache.path(), settings));
    let whole = anew.evaluate(&kernel).expect("works");
    let cost = whole.cost().expect("right").value;
    for (bound, outcome) in [
        (cost, Outcome::Ok),
        (cost - 1, Outcome::Cut),
        (cost / 2, Outcome::Cut),
    ] {
        let bound = Some(Cost::cycles(bound));
        let expected = whole.clone().within(bound);
        assert_eq!(expected.outcome, outcome);
        // The first is not in the cache, and does not put what is cut there.
        for _ in 0..2 {
            for evaluator in [&anew, &of_two, &known] {
                let found = evaluator.evaluate_within(&kernel, bound).expect("works");
                assert_eq!(without_tiers(&found), without_tiers(&expected));
            }
            known.evaluate(&kernel).expect("works");
        }
        let found = anew.evaluate_within(&wrong, bound).expect("works");
        let expected = anew.evaluate(&wrong).expect("works");
        assert_eq!(without_tiers(&found), without_tiers(&expected));
    }
}

#[test]
fn damaged_caches_are_rebuilt_and_never_change_a_verdict() {
    let cache = tempfile::tempdir().expect("a folder");
    let kernel = baseline();
    let first = evaluator(cache.path(), SETTINGS)
        .evaluate(&kernel)
        .expect("works");
    let wrong = kernel.replacen("k < 4", "k < 3", 2);
    let first_wrong = evaluator(cache.path(), SETTINGS)
        .evaluate(&wrong)
        .expect("works");
    assert_ne!(first_wrong.outcome, Outcome::Ok);
    for folder in ["answers", "builds", "evaluations"] {
        let entries = files(&cache.path().join(folder));
        assert!(!entries.is_empty(), "{folder} is in use");
        for (idx, entry) in entries.iter().enumerate() {
            let mut bytes = std::fs::read(entry).expect("an entry");
            match idx % 3 {
                0 => *bytes.last_mut().expect("not empty") ^= 1,
                1 => bytes.truncate(bytes.len() / 2),
                _ => bytes.clear(),
            }
            std::fs::write(entry, bytes).expect("written");
        }
        for (kernel, first) in [(&kernel, &first), (&wrong, &first_wrong)] {
            let again = evaluator(cache.path(), SETTINGS)
                .evaluate(kernel)
                .expect("works");
            assert_eq!(
                without_tiers(&again),
                without_tiers(first),
                "after damage to {folder}"
            );
        }
    }
}

#[test]
fn a_cache_that_cannot_be_written_only_costs_time() {
    let cache = tempfile::tempdir().expect("a folder");
    // Files in the places of folders: writing fails even for the administrator.
    for folder in ["answers", "builds", "evaluations"] {
        std::fs::write(cache.path().join(folder), "in the way").expect("written");
    }
    let evaluation = evaluator(cache.path(), SETTINGS)
        .evaluate(&baseline())
        .expect("works");
    assert_eq!(evaluation.outcome, Outcome::Ok);
    // Without a place to build in there is no evaluation.
    std::fs::remove_dir_all(cache.path().join("scratch")).expect("removed");
    std::fs::write(cache.path().join("scratch"), "in the way").expect("written");
    let error = evaluator(cache.path(), SETTINGS)
        .evaluate(&baseline())
        .expect_err("no place");
    assert!(matches!(error, EvalError::Environment { remedies, .. } if !remedies.is_empty()));
}

#[test]
fn keys_depend_on_kernel_settings_and_problem() {
    let cache = support::cache_folder();
    let one = evaluator(&cache, SETTINGS);
    assert_eq!(one.key("a"), evaluator(&cache, SETTINGS).key("a"));
    assert_ne!(one.key("a"), one.key("b"));
    let other_seed = EvaluatorSettings {
        seed: Seed(2),
        ..SETTINGS
    };
    assert_ne!(one.key("a"), evaluator(&cache, other_seed).key("a"));
    let (mut problem, target) = small();
    problem.oracle_hash = autocomp_core::ContentHash::of(b"another problem");
    let other = evaluator_for(&problem, &target, &cache, SETTINGS);
    assert_ne!(one.key("a"), other.key("a"));
}

#[test]
fn a_broken_reference_is_an_error_that_names_it() {
    let (mut problem, target) = small();
    problem.reference = "void solution(void) { missing(); }".into();
    problem.oracle_hash = autocomp_core::ContentHash::of(b"broken");
    let cache = tempfile::tempdir().expect("a folder");
    let evaluator = evaluator_for(&problem, &target, cache.path(), SETTINGS);
    let error = evaluator.evaluate(&baseline()).expect_err("no oracle");
    assert!(error.to_string().contains("reference.c:1"), "{error}");
    assert!(matches!(error, EvalError::Input { remedies, .. } if !remedies.is_empty()));
}

#[test]
fn a_reference_that_does_not_keep_to_the_roles_of_buffers_is_told_where() {
    let left_out = "C[i][j] = sum > 127 ? 127 : sum < -128 ? -128 : sum;";
    let (problem, _) = small();
    assert!(
        problem.reference.contains(left_out),
        "{}",
        problem.reference
    );
    for (name, instead, told) in [
        (
            "leaves one out",
            "if (i != 5 || j != 3) ",
            "does not write C[5][3] (",
        ),
        (
            "changes an input",
            "if (i == 0 && j == 0) A[9][1]++; ",
            "changes its input A[9][1] (",
        ),
        (
            "adds to one",
            "if (i == 7 && j == 2) C[7][2] += 1; else ",
            "computes C[7][2] from ",
        ),
    ] {
        let reference = problem
            .reference
            .replace(left_out, &format!("{instead}{left_out}"));
        let error = evaluate_wrong(|problem, _| {
            problem.oracle_hash = autocomp_core::ContentHash::of(name.as_bytes());
            problem.reference = reference;
        });
        assert!(matches!(error, EvalError::Input { .. }), "{error}");
        assert!(error.to_string().contains(told), "{error}");
    }
}

#[test]
fn a_reference_with_other_parameters_does_not_build() {
    let error = evaluate_wrong(|problem, _| {
        problem.oracle_hash = autocomp_core::ContentHash::of(b"other parameters");
        problem.reference = problem.reference.replacen("int8_t C", "int32_t C", 1);
    });
    assert!(matches!(error, EvalError::Input { .. }), "{error}");
    assert!(error.to_string().contains("conflicting types"), "{error}");
}

#[test]
fn an_axis_that_is_no_symmetry_is_told() {
    for (name, of) in [
        // A's rows are permuted, C's are not; rows and columns of A are different indices.
        ("rows of one", vec![(0, 0)]),
        ("rows and columns", vec![(0, 0), (0, 1), (2, 0)]),
    ] {
        let error = evaluate_wrong(|problem, _| {
            problem.oracle_hash = autocomp_core::ContentHash::of(name.as_bytes());
            let position = |(buffer, dimension)| AxisPosition { buffer, dimension };
            let of = of.into_iter().map(position).collect();
            problem.axes = vec![Axis {
                name: "wrong".into(),
                of,
            }];
        });
        assert!(matches!(error, EvalError::Input { .. }), "{error}");
        let text = error.to_string();
        assert!(
            text.contains("with the indices of the axis `wrong` of problem"),
            "{text}"
        );
    }
}

/// Evaluates the baseline of a problem or for a target that `change` has made wrong.
fn evaluate_wrong(change: impl FnOnce(&mut Problem, &mut Target)) -> EvalError {
    let (mut problem, mut target) = small();
    change(&mut problem, &mut target);
    let evaluator = evaluator_for(&problem, &target, &support::cache_folder(), UNCACHED);
    evaluator
        .evaluate(&baseline())
        .expect_err("too fast to be true")
}

#[test]
fn a_problem_that_asks_for_more_than_has_to_be_done_is_unusable() {
    let macs = evaluate_wrong(|problem, _| problem.work.macs = u64::from(u32::MAX));
    let bytes = evaluate_wrong(|problem, _| problem.work.bytes = 1 << 30);
    for (error, named, figure) in [
        (macs, "`work.macs` is 4294967295, which", "`work.bytes`"),
        (bytes, "`work.bytes` is 1073741824, which", "`work.macs`"),
    ] {
        assert!(matches!(error, EvalError::Input { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains(named) && !text.contains(figure), "{text}");
        assert!(text.contains("262144 multiply-accumulate steps"), "{text}");
    }
}

#[test]
fn a_result_below_the_physical_floor_is_a_fault() {
    // All the work is done, in fewer cycles than this array would need for it.
    let error = evaluate_wrong(|_, target| {
        if let Some(roofline) = &mut target.roofline {
            roofline.peak_macs = 1.0;
        }
    });
    assert!(matches!(error, EvalError::Fault(_)), "{error}");
}

#[test]
fn every_compiler_of_the_machine_gives_right_programs() {
    // The pinned compiler is always there; others are tried where they are.
    let zig = autocomp_eval::Surroundings {
        path: None,
        ..support::search()
    };
    let zig = find_toolchain(&zig, &mut |_| ()).ok();
    let named = ["clang", "clang-19", "riscv64-unknown-elf-gcc"].map(|name| {
        let search = autocomp_eval::Surroundings {
            compiler: Some(name.into()),
            ..support::search()
        };
        find_toolchain(&search, &mut |_| ()).ok()
    });
    let (problem, target) = small();
    let mut families = Vec::new();
    for toolchain in [zig, Some(support::toolchain())]
        .into_iter()
        .chain(named)
        .flatten()
    {
        let name = toolchain.name.clone();
        families.push(toolchain.family);
        let settings = EvaluatorSettings {
            use_cache: false,
            ..SETTINGS
        };
        let cache = support::cache_folder();
        let evaluator = autocomp_gemmini_family::evaluator(
            &problem, &target, None, toolchain, &cache, settings,
        )
        .expect("an evaluator");
        for kernel in [&baseline(), &problem.reference] {
            let evaluation = evaluator.evaluate(kernel).expect("works");
            assert_eq!(
                evaluation.outcome,
                Outcome::Ok,
                "{name}: {:?}",
                evaluation.diagnostics
            );
        }
        // Source lines are found whatever the compiler.
        let looping = "volatile int x;\nvoid solution(int8_t A[64][64], int8_t B[64][64], int8_t C[64][64]) {\n  for (;;)\n    x++;\n}\n";
        let evaluation = evaluator.evaluate(looping).expect("works");
        let place = evaluation.diagnostics[0].location.as_ref().expect("a line");
        assert!((3..=4).contains(&place.line), "{name}: {place}");
        let failing = evaluator.evaluate("void solution(int8_t A[64][64], int8_t B[64][64], int8_t C[64][64]) {\n  y = 1;\n}\n").expect("works");
        assert_eq!(
            failing.diagnostics[0]
                .location
                .as_ref()
                .map(|place| place.line),
            Some(2),
            "{name}"
        );
    }
    assert!(!families.is_empty());
}

#[test]
fn threads_share_an_evaluator() {
    let cache = tempfile::tempdir().expect("a folder");
    let evaluator = evaluator(cache.path(), SETTINGS);
    let kernel = baseline();
    let results: Vec<Evaluation> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| evaluator.evaluate(&kernel).expect("works")))
            .collect();
        handles
            .into_iter()
            .map(|handle| handle.join().expect("no panic"))
            .collect()
    });
    for result in &results {
        assert_eq!(without_tiers(result), without_tiers(&results[0]));
    }
}

#[test]
fn a_kernel_whose_core_computes_everything_is_not_translated() {
    let cache = support::cache_folder();
    let evaluator = evaluator(&cache, SETTINGS);
    let translated = |kernel: &str| {
        let evaluation = evaluator.evaluate(kernel).expect("works");
        assert_eq!(evaluation.outcome, Outcome::Ok, "{evaluation:?}");
        evaluation.translated_percent()
    };
    assert_eq!(translated(&baseline()), 100.0);
    // What the array has made is overwritten.
    let by_core = "gemmini_fence();
        for (int i = 0; i < 64; i++) for (int j = 0; j < 64; j++) {
            int sum = 0;
            for (int k = 0; k < 64; k++) sum += A[i][k] * B[k][j];
            C[i][j] = sum > 127 ? 127 : sum < -128 ? -128 : sum;
        }";
    assert_eq!(translated(&ending("", by_core)), 0.0);
}

#[test]
fn what_a_kernel_leaves_behind_changes_nothing_of_the_next() {
    let settings = EvaluatorSettings {
        use_cache: false,
        threads: 2,
        ..SETTINGS
    };
    let cache = support::cache_folder();
    let kernel = baseline();
    let alone = evaluator(&cache, settings.clone())
        .evaluate(&kernel)
        .expect("works");
    assert_eq!(alone.outcome, Outcome::Ok);
    assert!(alone.feedback.is_some());
    let ending = |text: &str| ending("", text);
    let shared = evaluator(&cache, settings);
    let others = [
        // Crashes in the calls that are recorded: only their inputs have both.
        ending(
            "int three = 0, two = 0;\nfor (int i = 0; i < 64; i++) for (int k = 0; k < 64; k++) three |= A[i][k] == 3, two |= B[i][k] == 2;\nif (three && two) *(volatile int *)0 = 1;",
        ),
        // Sends other commands than the kernel.
        ending("for (int i = 0; i < 50; i++) gemmini_fence();"),
        // Is given up while it is timed.
        ending("C[0][0]++;"),
        baseline().replacen("k < 4", "k < 3", 2),
    ];
    let mut outcomes = Vec::new();
    for other in others {
        outcomes.push(shared.evaluate(&other).expect("works").outcome);
        let after = shared.evaluate(&kernel).expect("works");
        assert_eq!(without_tiers(&after), without_tiers(&alone), "{other}");
    }
    let expected = [Outcome::Crashed, Outcome::Ok, Outcome::Wrong];
    assert_eq!(outcomes[..3], expected);
}

/// Returns the baseline with declarations before it and statements at its end.
fn ending(declarations: &str, statements: &str) -> String {
    let kernel = baseline();
    let (body, _) = kernel.rsplit_once('}').expect("a kernel");
    format!("{declarations}\n{body}\n{statements}\n}}\n")
}

/// Changes one place of a kernel at random: a number, an operator, a line.
fn mutated(kernel: &str, seed: &mut Seed) -> String {
    let mut lines: Vec<String> = kernel.lines().map(str::to_owned).collect();
    let at = 1 + seed.below(lines.len() - 2);
    match seed.below(5) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(at, lines[at].clone()),
        2 => lines.swap(at, 1 + (at + 1) % (kernel.lines().count() - 2)),
        _ => {
            let digits: Vec<usize> = lines[at]
                .match_indices(|c: char| c.is_ascii_digit())
                .map(|(idx, _)| idx)
                .collect();
            if let Some(digit) = digits.get(seed.below(digits.len().max(1))) {
                let new = ["0", "1", "3", "7", "9", "99"][seed.below(6)];
                lines[at].replace_range(*digit..=*digit, new);
            }
        }
    }
    lines.join("\n")
}

#[test]
fn mutated_kernels_get_a_verdict_and_never_an_error() {
    let evaluator = evaluator(
        &support::cache_folder(),
        EvaluatorSettings {
            use_cache: false,
            ..SETTINGS
        },
    );
    let baseline = baseline();
    let mut seed = Seed(7);
    let mut outcomes = std::collections::BTreeMap::new();
    for _ in 0..60 {
        let kernel = mutated(&baseline, &mut seed);
        let evaluation = evaluator
            .evaluate(&kernel)
            .unwrap_or_else(|error| panic!("{error}\n{kernel}"));
        assert_eq!(
            evaluation.outcome == Outcome::Ok,
            evaluation.measurement.is_some()
        );
        assert!(evaluation.outcome == Outcome::Ok || !evaluation.diagnostics.is_empty());
        *outcomes.entry(evaluation.outcome).or_insert(0) += 1;
    }
    assert!(3 <= outcomes.len(), "mutations are varied: {outcomes:?}");
}
