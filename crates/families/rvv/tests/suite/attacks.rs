//! Kernels that want a cost without the work.

use autocomp_catalog::Catalog;
use autocomp_core::{Outcome, Seed};
use autocomp_eval::{EvaluatorSettings, Family, Opening, Surroundings};
use autocomp_rvv::Rvv;
use std::path::PathBuf;

/// What timed calls leave in memory is compared, since the machine that keeps time leaves
/// agnostic elements as they were and the one that tests poisons them.
#[test]
fn timed_calls_compute_what_tests_have_seen() {
    let catalog = Catalog::built_in().expect("built-in data");
    let problem = catalog.problem("rvv/sum-f32-5x333").expect("a problem");
    let target = catalog.target("rvv-k230").expect("a target");
    let cache = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("autocomp-cache");
    let surroundings = Surroundings::installing(cache, std::env::var_os("PATH"));
    let opening = Opening {
        problem: &problem,
        target: &target,
        machine: &target.default_machine,
        settings: EvaluatorSettings {
            use_cache: false,
            seed: Seed(1),
            threads: 1,
            max_instructions: None,
            experiments: false,
        },
        surroundings: &surroundings,
        progress: &mut |_| (),
    };
    let bench = Rvv.open(opening).expect("a bench");
    let honest = bench.evaluate(problem.kernel("lanes").expect("a kernel"));
    assert_eq!(honest.expect("an evaluation").outcome, Outcome::Ok);
    let attack = bench.evaluate(include_str!("../attacks/agnostic_tail.c"));
    let attack = attack.expect("an evaluation");
    assert_eq!(attack.outcome, Outcome::Wrong, "{:?}", attack.cost());
}
