//! Kernels that are right, changed in one place: nearly all of the changed ones must fail.

use crate::mutations::mutants;
use crate::problems::{cache, open};
use autocomp_core::Outcome;

/// Every how many of the mutants of a kernel one is tried. All of them are tried by the example
/// `mutants`.
const STRIDE: usize = 7;

#[test]
fn nearly_all_mutants_fail() {
    let (mut count, mut alive) = (0, Vec::new());
    for name in [
        "rope",
        "rmsnorm",
        "rmsnorm-v2",
        "rope-v2",
        "conv1d",
        "gemm",
        "bmm",
        "adamw",
    ] {
        let (bench, problem) = open(&format!("trainium/{name}"), &cache());
        let source = problem.kernel("baseline").expect("kernel");
        for mutant in mutants(source).into_iter().step_by(STRIDE) {
            let evaluation = bench.evaluate(&mutant.source).expect("evaluated");
            let place = format!("{name}, {}, {}", mutant.kind, mutant.place);
            assert_ne!(evaluation.outcome, Outcome::Fault, "{place}");
            count += 1;
            if evaluation.outcome == Outcome::Ok {
                alive.push(place);
            }
        }
    }
    assert!(40 <= count, "{count} mutants");
    assert!(
        alive.len() * 10 <= count,
        "{} of {count} mutants live: {alive:?}",
        alive.len()
    );
}
