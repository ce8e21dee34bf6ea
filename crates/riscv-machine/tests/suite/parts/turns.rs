//! Turns between probes and the core.

use autocomp_riscv_machine::inside::{RUNS, Turns};

#[test]
fn the_core_has_a_turn_between_runs_of_probes_but_not_within_one() {
    let mut turns = Turns::default();
    for (from, end) in [(10, 20), (12, 30), (30, 40), (42, 52)] {
        turns.add(from, end);
    }
    let asked = [5, 9, 10, 29, 39, 40, 41, 42, 52, 60];
    let expected = [5, 9, 40, 40, 40, 40, 41, 52, 52, 60];
    assert_eq!(asked.map(|cycle| turns.next(cycle)), expected);
    assert!(turns.runs.is_empty());
}

#[test]
fn runs_that_no_one_asks_about_are_forgotten() {
    let mut turns = Turns::default();
    for run in 0..1000 {
        turns.add(run * 10, run * 10 + 5);
    }
    assert_eq!(turns.runs.len(), RUNS);
    assert_eq!(turns.next(9_992), 9_995);
}
