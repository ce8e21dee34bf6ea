//! What machine files say of costs by which schedules are ranked.

use autocomp_catalog::{Catalog, Problem, Target};
use autocomp_eval::{EvalError, Family as _};
use autocomp_gemmini_family::Gemmini;

const SECTION: &str = "\n[ranking]\n";

fn built_in() -> (Problem, Target) {
    let catalog = Catalog::built_in().expect("the built-in folders are sound");
    let problem = catalog.problem("gemmini/gemm-512x512x512");
    let target = catalog.target("gemmini-int8-16");
    (
        problem.expect("it is built in"),
        target.expect("it is built in"),
    )
}

/// Returns the target with the text of its default machine changed.
fn changed(target: &Target, change: impl Fn(&str) -> String) -> Target {
    let mut other = target.clone();
    let text = other.machines.get_mut(&target.default_machine);
    let text = text.expect("the default machine has a file");
    let before = text.clone();
    *text = change(&before);
    assert_ne!(*text, before);
    other
}

fn message(error: EvalError) -> String {
    match error {
        EvalError::Input { message, .. } => message,
        error => panic!("{error}"),
    }
}

#[test]
fn all_built_in_machines_have_costs_for_the_rewriter() {
    let (problem, _) = built_in();
    let catalog = Catalog::built_in().expect("the built-in folders are sound");
    let targets = catalog.target_names().map(|name| catalog.target(name));
    let targets = targets.map(|target| target.expect("it is built in"));
    let mut machines = 0;
    for target in targets.filter(|target| target.family == "gemmini") {
        for name in target.machines.keys() {
            let rewriter = Gemmini.rewriter(&problem, &target, name);
            assert!(rewriter.expect("a rewriter").is_some());
            machines += 1;
        }
    }
    assert!(4 < machines, "{machines}");
}

#[test]
fn a_machine_without_costs_for_the_rewriter_still_evaluates() {
    let (problem, target) = built_in();
    let without = changed(&target, |text| {
        let (before, _) = text.split_once(SECTION).expect("a section");
        before.to_owned()
    });
    Gemmini.check_target(&without).expect("a sound target");
    let error = Gemmini.rewriter(&problem, &without, &target.default_machine);
    let message = message(error.expect_err("no costs"));
    assert!(message.contains("`[ranking]`"), "{message}");
}

#[test]
fn costs_that_are_missing_or_cannot_be_are_named() {
    let (_, target) = built_in();
    for (from, to, told) in [
        ("block_cycles = 130.0\n", "", "missing field `block_cycles`"),
        ("slice_cycles", "slices", "unknown field `slices`"),
        ("lost_share = 0.2", "lost_share = \"some\"", "[ranking]"),
        ("lost_share = 0.2", "lost_share = nan", "ranking.lost_share"),
        (
            "port_bytes_per_cycle = 14.0",
            "port_bytes_per_cycle = 0.0",
            "ranking.port_bytes_per_cycle",
        ),
        (
            "load_cycles = 2\n",
            "load_cycles = -2\n",
            "ranking.chains.load_cycles",
        ),
    ] {
        let other = changed(&target, |text| text.replace(from, to));
        let message = message(Gemmini.check_target(&other).expect_err("no such costs"));
        assert!(message.contains(told), "{message}");
    }
}
