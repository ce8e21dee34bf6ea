//! Profiles: every cycle has one cause, and what is said about a kernel is so.

mod advice;
use crate::evaluators;
mod experiments;
mod invariants;
use crate::support;
mod trace;
mod traffic;

use autocomp_catalog::{Catalog, Problem, Ranking};
use autocomp_core::Outcome;
use autocomp_eval::EvaluatorSettings;
use autocomp_eval::timeline::Timeline;
use autocomp_gemmini_family::profile::{Cause, Profile};
use autocomp_gemmini_family::{Explained, GemminiEvaluator};
use evaluators::{UNCACHED, evaluator_for};
use invariants::{check, check_gains};
use std::path::Path;
use std::sync::OnceLock;

fn evaluator() -> &'static (Problem, GemminiEvaluator) {
    static MADE: OnceLock<(Problem, GemminiEvaluator)> = OnceLock::new();
    MADE.get_or_init(|| evaluator_of("gemm-64x64x64", UNCACHED))
}

fn evaluator_of(problem: &str, settings: EvaluatorSettings) -> (Problem, GemminiEvaluator) {
    evaluator_ranked(problem, settings, Ranking::Warm)
}

fn evaluator_ranked(
    problem: &str,
    settings: EvaluatorSettings,
    ranking: Ranking,
) -> (Problem, GemminiEvaluator) {
    let mut catalog = Catalog::built_in().expect("built-in data");
    catalog
        .add_folder(Path::new("tests/data/problems"))
        .expect("problems of the tests");
    let mut problem = catalog.problem(problem).expect("a problem");
    problem.ranking = ranking;
    let target = catalog.target(&problem.targets[0]).expect("its target");
    let evaluator = evaluator_for(&problem, &target, &support::cache_folder(), settings);
    (problem, evaluator)
}

fn baseline() -> &'static str {
    evaluator().0.kernel("baseline").expect("a baseline")
}

fn profile(source: &str) -> (Profile, Timeline) {
    profile_by(&evaluator().1, source)
}

fn profile_by(evaluator: &GemminiEvaluator, source: &str) -> (Profile, Timeline) {
    match evaluator.explain(source).expect("works") {
        Explained::Right { profile, timeline } => (*profile, timeline.expect("a timeline")),
        Explained::Failed(evaluation) => panic!("{:?}", evaluation.diagnostics),
    }
}

/// Returns the baseline with `from`, which must be in it, replaced.
fn changed(from: &str, to: &str) -> String {
    assert!(baseline().contains(from), "{}", baseline());
    baseline().replace(from, to)
}

#[test]
fn every_profile_adds_up() {
    let kernels: [(&str, &[&str]); 4] = [
        (
            "gemmini/gemm-256x256x256",
            &["baseline", "software", "library", "fsm", "expert"],
        ),
        ("gemmini/tinympc-forward-5", &["baseline", "expert"]),
        ("gemmini/tinympc-backward-5", &["baseline"]),
        ("gemmini/resadd-784x256", &["baseline", "fsm", "expert"]),
    ];
    for (name, kernels) in kernels {
        let (problem, evaluator) = evaluator_of(name, UNCACHED);
        for kernel in kernels {
            let source = problem.kernel(kernel).expect("a kernel");
            let (profile, timeline) = profile_by(&evaluator, source);
            check(&profile, &timeline);
            let words = profile.bottleneck.split_whitespace().count();
            assert!(words < 300, "{words} words: {}", profile.bottleneck);
            check_gains(&profile.bottleneck);
        }
    }
}

#[test]
fn causes_and_lines_add_up_to_the_cycles_of_the_call() {
    let (profile, timeline) = profile(baseline());
    check(&profile, &timeline);
    // 64 x 64 x 64 steps, 256 at a time.
    assert_eq!(profile.cycles_of(Cause::Mesh), 1024);
}

#[test]
fn a_profile_is_of_the_call_that_is_ranked() {
    use autocomp_eval::Evaluator as _;
    let evaluation = evaluator().1.evaluate(baseline()).expect("works");
    let (profile, _) = profile(baseline());
    assert_eq!(evaluation.cost().map(|it| it.value), Some(profile.cycles));
    let feedback = evaluation.feedback.as_ref().expect("feedback");
    assert_eq!(feedback.counters["mesh_cycles"], 1024.0);
    // Warm calls count unless the problem says otherwise, and are the faster ones.
    let cold = |evaluation: &autocomp_core::Evaluation| {
        let measured = evaluation.measurement.as_ref().expect("right");
        (measured.cost, measured.figures["cold_cycles"])
    };
    let (warm, first) = cold(&evaluation);
    assert!(warm.value < first, "{warm} {first}");
    let (_, by_cold) = evaluator_ranked("gemm-64x64x64", UNCACHED, Ranking::Cold);
    let evaluation = by_cold.evaluate(baseline()).expect("works");
    assert_eq!(
        cold(&evaluation),
        (autocomp_core::Cost::cycles(first), first)
    );
    let (of_cold, _) = profile_by(&by_cold, baseline());
    assert_eq!(of_cold.cycles, first);
    // Without experiments less is said, but of the same cycles.
    let first = |text: &str| text.split("; ").next().unwrap_or("").to_owned();
    assert_eq!(first(&feedback.bottleneck), first(&profile.bottleneck));
}

#[test]
fn a_wrong_kernel_has_no_profile() {
    let wrong = changed("mvout(&C[i * 16]", "mvout(&C[0 * i]");
    let result = evaluator().1.explain(&wrong).expect("works");
    let Explained::Failed(evaluation) = result else {
        panic!("a profile of a wrong kernel");
    };
    assert_ne!(evaluation.outcome, Outcome::Ok);
}

#[test]
fn the_shape_of_the_data_is_stable() {
    let (profile, _) = profile(baseline());
    let value = serde_json::to_value(&profile).expect("serialises");
    let mut keys: Vec<&str> = value
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect();
    keys.sort_unstable();
    insta::assert_snapshot!(keys.join("\n"));
}
