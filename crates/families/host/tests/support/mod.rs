//! A small problem and the bench that tests its kernels.
#![allow(
    dead_code,
    clippy::print_stdout,
    reason = "not every test needs everything; what is skipped is printed"
)]

use autocomp_catalog::{Catalog, Problem};
use autocomp_core::{Diagnostic, Outcome, Seed};
use autocomp_eval::Surroundings;
use autocomp_host::bench::{HostBench, Settings, Tested, Timed};
use autocomp_host::detection::Processor;
use autocomp_measuring::Effort;
use autocomp_toolchain::{Toolchain, find_toolchain};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

/// y = x + sums of x: every element needs all inputs.
const PROBLEM: &str = r#"
target = "host-x86-64-avx2"
description = "Running sums of 3000 numbers"
entry = "solution"
signature = "void solution(float x[3000], float y[3000])"
tolerance = { kind = "close", relative = 0.0, absolute = 1e-3 }
work = { macs = 3000, bytes = 24000 }
buffer = [
  { name = "x", dtype = "float32", shape = [3000], role = "input" },
  { name = "y", dtype = "float32", shape = [3000], role = "output" },
]
[[input_set]]
name = "whole"
fill.x = { kind = "uniform", low = -8, high = 8 }
[[input_set]]
name = "ones"
fill.x = { kind = "constant", value = 1.0 }
[[input_set]]
name = "real"
fill.x = { kind = "real", low = -1.0, high = 1.0 }
"#;

const REFERENCE: &str = "void solution(float x[3000], float y[3000]) {
  double sum = 0;
  for (int i = 0; i < 3000; i++) { sum += x[i]; y[i] = (float)sum; }
}
";

/// Returns the cache folder of tests, below the build folder of cargo.
pub fn cache_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("autocomp-cache")
}

/// Returns the compiler, which is installed if the machine has none.
pub fn toolchain() -> Toolchain {
    static FOUND: OnceLock<Toolchain> = OnceLock::new();
    let search = Surroundings::installing(cache_folder(), std::env::var_os("PATH"));
    FOUND
        .get_or_init(|| find_toolchain(&search, &mut |_| ()).expect("a compiler"))
        .clone()
}

/// Returns the bench of the small problem; none, with the reason printed, on a
/// processor that no target is for.
pub fn bench() -> Option<HostBench> {
    bench_of(PROBLEM, REFERENCE)
}

/// Returns the bench of a problem whose reference and baseline are one text.
pub fn bench_of(description: &str, reference: &str) -> Option<HostBench> {
    let folder = tempfile::tempdir().expect("a folder");
    let problem = folder.path().join("problems/own/small");
    std::fs::create_dir_all(&problem).expect("a folder");
    for (name, text) in [
        ("problem.toml", description),
        ("reference.c", reference),
        ("baseline.c", reference),
    ] {
        std::fs::write(problem.join(name), text).expect("a file");
    }
    let mut catalog = Catalog::built_in().expect("built-in data");
    catalog.add_folder(folder.path()).expect("the problem");
    let problem = catalog.problem("own/small").expect("the problem");
    open(problem, &catalog, Seed(1))
}

/// Returns the bench of a problem, whose inputs are drawn from `seed`.
pub fn open(problem: Problem, catalog: &Catalog, seed: Seed) -> Option<HostBench> {
    let Some(target) = Processor::detect().target() else {
        println!("skipped: there is no target for this processor");
        return None;
    };
    let settings = Settings {
        toolchain: toolchain(),
        cache_folder: cache_folder(),
        effort: Effort {
            least_rounds: 3,
            most_rounds: 3,
            wall: Duration::from_secs(600),
            confirmation: 1,
            ..Effort::default()
        },
        // Of a processor, which other work does not take away: what is right takes a
        // thousandth of it, and what never ends takes all.
        command_time: Duration::from_secs(2),
        evaluation_time: Duration::from_secs(20),
        seed,
        timed_seed: Seed(2),
    };
    let target = catalog.target(target).expect("the target");
    Some(HostBench::open(problem, &target, "this", settings).expect("a bench"))
}

/// Asserts that a kernel computes what the reference does; `why` says what made it. It is not
/// timed, which takes the core that only one process has at a time.
pub fn assert_right(bench: &HostBench, source: &str, why: &str) {
    let program = bench
        .build(source)
        .expect("a compiler")
        .unwrap_or_else(|found| panic!("{why}\n{source}\n{found:#?}"));
    let tested = bench.test(&program, source).expect("a machine");
    assert!(
        matches!(tested, Tested::Right(_)),
        "{why}\n{source}\n{tested:#?}"
    );
}

/// Returns what becomes of a kernel: how far it comes, and what is said of it.
pub fn outcome(bench: &HostBench, source: &str) -> (Outcome, Option<Diagnostic>) {
    let program = match bench.build(source).expect("a compiler") {
        Ok(program) => program,
        Err(found) => return (Outcome::BuildFailed, found.into_iter().next()),
    };
    let right = match bench.test(&program, source).expect("a machine") {
        Tested::Failed(outcome, found) => return (outcome, Some(*found)),
        Tested::Right(right) => right,
    };
    match bench.time(program, source, right).expect("a machine") {
        Timed::Failed(outcome, found) => (outcome, Some(*found)),
        Timed::Cost(_) => (Outcome::Ok, None),
    }
}
