//! A problem solved on two cores of a chip.

use crate::problems::{cache, open};
use autocomp_core::Outcome;

#[test]
fn two_cores_take_less_than_one_and_say_what_is_not_known() {
    let (bench, problem) = open("trainium/rmsnorm-v2", &cache());
    let one = problem.kernel("tuned").expect("kernel");
    let two = one.replace("def solution(", "def kernel(").replace(
        "for i in range(rows // 128):",
        "for i in range(2 * nl.program_id(0), 2 * nl.program_id(0) + 2):",
    ) + "\n\ndef solution(a, g):\n    return kernel[2](a, g)\n";
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
