//! What models are told of a kernel that is right.

use crate::benches::{open_on, problem};
use autocomp_catalog::Catalog;
use autocomp_core::Feedback;
use autocomp_cuda::Cuda;
use autocomp_eval::Family;
use autocomp_eval::profile::Profiled;
use std::fmt::Write;

/// Returns the feedback of a kernel that comes along, and the nanoseconds that it takes.
fn feedback(name: &str, kernel: &str) -> (Feedback, u64) {
    let problem = problem(name);
    let bench = open_on(&problem, "cuda-sm89");
    let evaluation = bench
        .evaluate(&problem.kernels[kernel])
        .unwrap_or_else(|error| panic!("{error}"));
    let cost = evaluation.cost().map_or(0, |it| it.value);
    let Some(feedback) = evaluation.feedback else {
        panic!("{name} {kernel}: {:?}", evaluation.diagnostics);
    };
    (feedback, cost)
}

#[test]
fn a_call_of_three_launches_is_told_launch_by_launch() {
    let (feedback, cost) = feedback("cuda/scan-i32-262144", "baseline");
    let mut text = format!("{cost} ns\n{}\n", feedback.bottleneck.replace(". ", ".\n"));
    for (name, value) in &feedback.counters {
        let _ = writeln!(text, "{name} = {value}");
    }
    for line in &feedback.lines {
        let _ = writeln!(
            text,
            "{}: {} ns, {}",
            line.location, line.cost.value, line.cause
        );
    }
    insta::assert_snapshot!(text);
}

/// Returns what a kernel would take without each cost that matters, the largest gain first.
fn without(name: &str, kernel: &str, from: &str, to: &str) -> Vec<(String, f64)> {
    let problem = problem(name);
    let source = problem.kernels[kernel].replace(from, to);
    let bench = open_on(&problem, "cuda-sm89");
    let profile = match bench.profile(&source) {
        Ok(Profiled::Right(profile)) => profile,
        other => panic!("{name} {kernel}: {other:?}"),
    };
    let all = profile.data["ns"].as_f64().unwrap_or_default();
    let rows = profile.data["without"].as_array().into_iter().flatten();
    let rows = rows.map(|row| {
        let ns = row["ns"].as_f64().unwrap_or_default();
        (
            row["cost"].as_str().unwrap_or_default().to_owned(),
            ns / all,
        )
    });
    rows.collect()
}

#[test]
fn experiments_find_what_was_planted() {
    let tile = "cuda/transpose-f32-1000x777";
    let banks = "if threads never met in a bank of shared memory";
    let padded = without(tile, "tuned", "", "");
    assert!(padded.iter().all(|it| it.0 != banks), "{padded:?}");
    let met = without(tile, "tuned", "[32][33]", "[32][32]");
    assert!(met.iter().any(|it| it.0 == banks), "{met:?}");
    // A row for each thread: two warps on each of eight SMs.
    let few = without("cuda/softmax-f32-500x333", "baseline", "", "");
    assert_eq!(few[0].0, "if no warp waited for a result", "{few:?}");
    let mut text = String::new();
    for (name, rows) in [("padded", padded), ("met", met), ("few", few)] {
        for (cost, share) in rows {
            let _ = writeln!(text, "{name}: {:.0} % {cost}", 100.0 * share);
        }
    }
    insta::assert_snapshot!(text);
}

/// Lines, launches themselves and what no line owns are the whole time; lines of one kernel are
/// no more than its launch.
#[test]
fn lines_are_no_more_than_what_they_are_lines_of() {
    for name in [
        "cuda/scan-i32-262144",
        "cuda/top-k-f32-512x1024x8",
        "cuda/gemm-f16-256x256x256",
        "cuda/reduce-sum-f32-1048576",
    ] {
        for kernel in ["baseline", "tuned"] {
            let (feedback, cost) = feedback(name, kernel);
            let lines: u64 = feedback.lines.iter().map(|it| it.cost.value).sum();
            let counters = &feedback.counters;
            let all = lines as f64 + counters["launching_ns"] + counters["no_line_ns"];
            assert!(all <= cost as f64 + 1.0, "{name} {kernel}: {all} of {cost}");
        }
    }
    let (feedback, _) = feedback("cuda/scan-i32-262144", "baseline");
    let of_spread = feedback.lines.iter().filter(|it| it.location.line == 24);
    let of_spread: u64 = of_spread.map(|it| it.cost.value).sum();
    let told = feedback.bottleneck.split("`spread` ").nth(1);
    let launch = told.and_then(|it| it.split(" ns").next());
    let launch = launch.map(|it| it.replace(',', ""));
    let launch: u64 = launch.and_then(|it| it.parse().ok()).unwrap_or(0);
    assert!(
        0 < of_spread && of_spread + 1600 <= launch,
        "{of_spread} of {launch}"
    );
}

#[test]
fn targets_tell_what_things_cost() {
    let catalog = Catalog::built_in().unwrap_or_else(|error| panic!("{error}"));
    let target = catalog
        .target("cuda-sm89")
        .unwrap_or_else(|error| panic!("{error}"));
    let figures = Cuda
        .figures(&target, "l40s")
        .unwrap_or_else(|error| panic!("{error}"));
    insta::assert_snapshot!(figures["rates"]);
}
