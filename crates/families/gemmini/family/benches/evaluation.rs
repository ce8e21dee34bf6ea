//! Evaluations per second of kernels for 512x512x512, as a whole and by tier.
//!
//! The tier `time` is given in simulated cycles of the cold and the warm call per second
//! that threads work on them, added up. A RISC-V compiler is looked for, and installed if there
//! is none, in `AUTOCOMP_CACHE_DIR` or a folder for temporary files.

#![allow(missing_docs, reason = "made by the benchmark's macros")]
#![allow(clippy::unwrap_used, reason = "a benchmark may fail")]

mod compiler;

use autocomp_catalog::Problem;
use autocomp_core::{Evaluation, Outcome, Seed};
use autocomp_eval::{Evaluator, EvaluatorSettings};
use autocomp_gemmini_family::GemminiEvaluator;
use compiler::{cache_folder, problem, toolchain};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::cell::Cell;
use std::time::Duration;

const KERNELS: [&str; 4] = ["baseline", "software", "expert", "fsm"];
const TIERS: [&str; 3] = ["check", "test", "time"];

fn evaluator() -> (Problem, GemminiEvaluator) {
    let (problem, target) = problem();
    let (toolchain, cache_folder) = (toolchain(), cache_folder());
    let settings = EvaluatorSettings {
        use_cache: false,
        seed: Seed(1),
        threads: 2,
        max_instructions: None,
        experiments: false,
    };
    let evaluator = autocomp_gemmini_family::evaluator(
        &problem,
        &target,
        None,
        toolchain,
        &cache_folder,
        settings,
    )
    .unwrap();
    evaluator.prepare().unwrap();
    (problem, evaluator)
}

fn evaluate(evaluator: &GemminiEvaluator, source: &str) -> Evaluation {
    let evaluation = evaluator.evaluate(source).unwrap();
    assert_eq!(evaluation.outcome, Outcome::Ok);
    evaluation
}

fn evaluations(criterion: &mut Criterion) {
    let (problem, evaluator) = evaluator();
    let mut group = criterion.benchmark_group("evaluation");
    group.sample_size(20);
    for kernel in KERNELS {
        let source = problem.kernel(kernel).unwrap();
        // The program comes from the cache of builds, the verdict does not.
        let first = evaluate(&evaluator, source);
        group.throughput(Throughput::Elements(1));
        group.bench_function(format!("{kernel}/whole without compiler"), |bencher| {
            bencher.iter(|| evaluate(&evaluator, source))
        });
        for name in TIERS {
            let cycles = first
                .measurement
                .as_ref()
                .map_or(0, |it| it.cost.value + it.figures["cold_cycles"]);
            group.throughput(Throughput::Elements(match name {
                "time" => cycles,
                _ => 1,
            }));
            group.bench_function(format!("{kernel}/{name}"), |bencher| {
                bencher.iter_custom(|count| {
                    (0..count)
                        .map(|_| tier(&evaluate(&evaluator, source), name))
                        .sum()
                })
            });
        }
    }
    let source = problem.kernel("expert").unwrap();
    let number = Cell::new(0);
    group.throughput(Throughput::Elements(1));
    group.bench_function("expert/whole with compiler", |bencher| {
        bencher.iter(|| {
            // A comment makes it another kernel, which must be built.
            number.set(number.get() + 1);
            let marked = format!("{source}\n// {} {}\n", number.get(), std::process::id());
            evaluate(&evaluator, &marked)
        })
    });
    group.finish();
}

fn tier(evaluation: &Evaluation, name: &str) -> Duration {
    evaluation
        .tiers
        .iter()
        .filter(|tier| tier.tier == name)
        .map(|tier| Duration::from_nanos(tier.wall_ns.0))
        .sum()
}

criterion_group!(benches, evaluations);
criterion_main!(benches);
