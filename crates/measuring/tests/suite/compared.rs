//! What is told of a kernel that was compared with the problem's own.

use autocomp_core::Cost;
use autocomp_measuring::Compared;
use std::collections::BTreeMap;

const COMPARED: Compared<'_> = Compared {
    candidate_ns: &[1204.0, 1190.0, 1200.0],
    ratio: [0.49, 0.5, 0.52],
};

#[test]
fn words_name_the_device_the_ratio_and_the_machine_that_explains() {
    assert_eq!(
        COMPARED.words("a board at 1600 MHz", 987.4, "c908"),
        "The kernel takes 1200 ns on a board at 1600 MHz, 0.500 times what the problem's own \
         kernel takes. The simulated machine puts it at 987 ns. What limits it is told on machine \
         c908."
    );
}

#[test]
fn the_cost_is_the_median_and_its_spread_that_of_the_ratio() {
    let floor = Cost::nanoseconds(300, 0);
    let about = (floor, "cc".to_owned());
    let words = ("words".to_owned(), Vec::new());
    let verdict = COMPARED.verdict("engine", about, BTreeMap::new(), words);
    let measured = verdict.measurement.expect("a measurement");
    assert_eq!(measured.cost, Cost::nanoseconds(1200, 30_000));
    assert_eq!(measured.samples, [1204, 1190, 1200]);
    assert_eq!(measured.floor, floor);
    assert_eq!(verdict.feedback.expect("feedback").bottleneck, "words");
}
