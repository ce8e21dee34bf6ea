//! A problem solved on two cores of a chip.

use crate::opening;
use crate::problems::cache;
use autocomp_catalog::{Catalog, Target};
use autocomp_core::Outcome;

#[test]
fn two_cores_take_less_than_one_and_say_what_is_not_known() {
    let catalog = Catalog::built_in().expect("catalog");
    let problem = catalog.problem("trainium/rmsnorm-v2").expect("problem");
    let mut target = catalog.target("trainium-trn2").expect("target");
    let open = |target: &Target| opening::open(&problem, target, cache(), 1, 2).expect("bench");
    let on_one = open(&target);
    let text = target
        .machine(None)
        .expect("machine")
        .replace("generation = 3", "generation = 3\ncores = 2");
    target.machines.insert("two-cores".to_owned(), text);
    target.default_machine = "two-cores".to_owned();
    let bench = open(&target);
    let one = problem.kernel("tuned").expect("kernel");
    let two = one.replace("def solution(", "def kernel(").replace(
        "for i in range(rows // 128):",
        "for i in range(2 * nl.program_id(0), 2 * nl.program_id(0) + 2):",
    ) + "\n\ndef solution(a, g):\n    return kernel[2](a, g)\n";
    // The machine that a target has unless another is asked for is one core.
    let refused = on_one.evaluate(&two).expect("evaluated");
    assert_eq!(refused.outcome, Outcome::Illegal);
    assert_eq!(refused.diagnostics[0].code, "one-core");
    let (one, two) = (bench.evaluate(one), bench.evaluate(&two));
    let (one, two) = (one.expect("evaluated"), two.expect("evaluated"));
    assert_eq!(two.outcome, Outcome::Ok, "{:?}", two.diagnostics);
    let cost = |it: &autocomp_core::Evaluation| it.cost().expect("cost").value;
    assert!(cost(&two) < cost(&one), "{} {}", cost(&two), cost(&one));
    assert!(one.cost().expect("cost").value < 2 * cost(&two));
    assert!(two.diagnostics.iter().any(|it| it.code == "several-cores"));
    let floor = two.measurement.expect("measured").floor.value;
    assert_eq!(floor, bench.facts().floor.value.div_ceil(2));
}
