//! Profiles: every cycle has one cause, and what is said about a kernel is so.

mod support;

use autocomp_core::{Outcome, Seed};
use autocomp_eval::profile::{Cause, Profile};
use autocomp_eval::timeline::Timeline;
use autocomp_eval::{EvaluatorSettings, GemminiEvaluator, Profiled};
use autocomp_targets::{Catalog, Problem};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

const SETTINGS: EvaluatorSettings = EvaluatorSettings {
    use_cache: false,
    seed: Seed(1),
    threads: 1,
    max_instructions: None,
};

fn evaluator() -> &'static (Problem, GemminiEvaluator) {
    static MADE: OnceLock<(Problem, GemminiEvaluator)> = OnceLock::new();
    MADE.get_or_init(|| {
        let mut catalog = Catalog::built_in().expect("built-in data");
        catalog
            .add_folder(Path::new("tests/data/problems"))
            .expect("problems of the tests");
        let problem = catalog.problem("gemm-64x64x64").expect("a problem");
        let target = catalog.target(&problem.target).expect("its target");
        let (toolchain, cache) = (support::toolchain(), support::cache_folder());
        let evaluator = GemminiEvaluator::new(&problem, &target, None, toolchain, &cache, SETTINGS);
        (problem, evaluator.expect("an evaluator"))
    })
}

fn baseline() -> &'static str {
    evaluator().0.kernel("baseline").expect("a baseline")
}

fn profile(source: &str) -> (Profile, Timeline) {
    match evaluator().1.profile(source).expect("works") {
        Profiled::Right { profile, timeline } => (*profile, timeline),
        Profiled::Failed(evaluation) => panic!("{:?}", evaluation.diagnostics),
    }
}

/// Returns the baseline with `from`, which must be in it, replaced.
fn changed(from: &str, to: &str) -> String {
    assert!(baseline().contains(from), "{}", baseline());
    baseline().replace(from, to)
}

#[test]
fn causes_and_lines_add_up_to_the_cycles_of_the_call() {
    let (profile, timeline) = profile(baseline());
    let causes: u64 = profile.causes.iter().map(|it| it.cycles).sum();
    let lines: u64 = profile.lines.iter().map(|it| it.cycles).sum();
    assert_eq!((causes, lines), (profile.cycles, profile.cycles));
    let mut by_line: BTreeMap<Cause, u64> = BTreeMap::new();
    for (cause, cycles) in profile.lines.iter().flat_map(|line| &line.causes) {
        *by_line.entry(*cause).or_default() += cycles;
    }
    for it in &profile.causes {
        assert_eq!(by_line[&it.cause], it.cycles, "{:?}", it.cause);
    }
    // 64 x 64 x 64 steps, 256 at a time.
    assert_eq!(profile.cycles_of(Cause::Mesh), 1024);
    assert_eq!(profile.cycles_of(Cause::Unrecorded), 0);
    let mut causes: Vec<(u64, u64)> = timeline
        .activities
        .iter()
        .filter(|it| it.track == autocomp_eval::timeline::Track::Cause)
        .map(|it| (it.start, it.cycles))
        .collect();
    causes.sort_unstable();
    let mut at = 0;
    for (start, cycles) in causes {
        assert_eq!(start, at);
        at += cycles;
    }
    assert_eq!(at, profile.cycles);
}

#[test]
fn a_profile_is_of_the_call_that_is_ranked() {
    use autocomp_eval::Evaluator as _;
    let evaluation = evaluator().1.evaluate(baseline()).expect("works");
    let (profile, _) = profile(baseline());
    assert_eq!(evaluation.cycles().map(|it| it.0), Some(profile.cycles));
    let feedback = evaluation.feedback.expect("feedback");
    assert_eq!(feedback.bottleneck, profile.bottleneck);
    assert_eq!(feedback.counters["mesh_cycles"], 1024.0);
}

#[test]
fn operands_in_one_bank_are_told_and_moving_them_apart_helps() {
    let (same, _) = profile(baseline());
    let conflict = same.cycles_of(Cause::BankConflict);
    assert!(
        same.bottleneck.contains("in one scratchpad bank"),
        "{}",
        same.bottleneck
    );
    // B moves from bank 0, where A lies, to bank 1.
    let apart = changed("1024 + k * 64", "4096 + k * 64");
    let (apart, _) = profile(&apart);
    assert!(500 < conflict);
    assert_eq!(apart.cycles_of(Cause::BankConflict), 0);
    assert!(apart.cycles < same.cycles);
    assert!(
        !apart.bottleneck.contains("in one scratchpad bank"),
        "{}",
        apart.bottleneck
    );
}

#[test]
fn bytes_are_counted_by_buffer_and_reloads_are_told() {
    let (profile, _) = profile(baseline());
    let moved: Vec<(&str, u64, u64, f64)> = profile
        .buffers
        .iter()
        .map(|it| (it.buffer.as_str(), it.bytes_in, it.bytes_out, it.times))
        .collect();
    let expected = [
        ("A", 4096, 0, 1.0),
        ("B", 16384, 0, 4.0),
        ("C", 0, 4096, 1.0),
    ];
    assert_eq!(moved, expected);
    let told = "most of the excess is B, moved 4.0 times";
    assert!(profile.bottleneck.contains(told), "{}", profile.bottleneck);
}

#[test]
fn fences_in_the_middle_are_told() {
    let (without, _) = profile(baseline());
    let fenced = changed("        mvout(", "        fence();\n        mvout(");
    let (with, _) = profile(&fenced);
    let fence = |profile: &Profile| profile.cycles_of(Cause::Fence);
    assert!(fence(&without) < fence(&with), "{:?}", with.causes);
    assert!(without.cycles < with.cycles);
}

#[test]
fn a_wrong_kernel_has_no_profile() {
    let wrong = changed("mvout(&C[i * 16]", "mvout(&C[0 * i]");
    let result = evaluator().1.profile(&wrong).expect("works");
    let Profiled::Failed(evaluation) = result else {
        panic!("a profile of a wrong kernel");
    };
    assert_ne!(evaluation.outcome, Outcome::Ok);
}

#[test]
fn the_trace_has_ordered_events_with_lines() {
    let (_, timeline) = profile(baseline());
    let text = timeline.chrome_trace().to_string();
    let trace: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("a list");
    let mut last = 0;
    let mut ends: BTreeMap<u64, u64> = BTreeMap::new();
    for event in events.iter().filter(|event| event["ph"] == "X") {
        let number = |key: &str| event[key].as_u64().expect("a number");
        let start = number("ts");
        assert!(last <= start);
        last = start;
        let end = ends.entry(number("tid")).or_default();
        assert!(*end <= start, "{event}");
        *end = start + number("dur");
    }
    let loads = events.iter().filter(|event| event["cat"] == "load");
    let lines: Vec<u64> = loads.filter_map(|it| it["args"]["line"].as_u64()).collect();
    assert!(lines.contains(&17), "{lines:?}");
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
