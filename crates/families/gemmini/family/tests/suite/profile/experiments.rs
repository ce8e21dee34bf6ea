//! What a call would take without one of its waits.

use super::evaluators::{UNCACHED, evaluator_for};
use super::{baseline, changed, evaluator, evaluator_of, profile, profile_by, support};
use autocomp_catalog::Catalog;
use autocomp_eval::EvaluatorSettings;
use autocomp_gemmini_family::profile::{Removal, WhatIf};

#[test]
fn experiments_bound_what_a_change_of_the_kernel_gains() {
    let (same, _) = profile(baseline());
    let without = |removal: Removal| {
        let found = same.what_if.iter().find(|it| it.without == removal);
        found.expect("tried").cycles
    };
    // B in another bank removes what the experiment removes, and not more.
    let (apart, _) = profile(&changed("1024 + k * 64", "4096 + k * 64"));
    assert!(without(Removal::Banks) <= apart.cycles);
    assert!(without(Removal::Banks) < same.cycles);
    assert!(without(Removal::Loads) < same.cycles);
    let told = format!("at most {:.0} %", {
        let most = same.what_if.iter().map(|it| it.gain).max().unwrap_or(0);
        100.0 * most as f64 / same.cycles as f64
    });
    assert!(same.bottleneck.contains(&told), "{}", same.bottleneck);
}

#[test]
fn an_experiment_takes_what_a_call_on_such_a_machine_takes() {
    let (problem, evaluator) = evaluator_of("gemmini/gemm-256x256x256", UNCACHED);
    let source = problem.kernel("software").expect("a kernel");
    let (same, _) = profile_by(&evaluator, source);
    let tried = |it: &&WhatIf| it.without == Removal::Entries;
    let tried = same.what_if.iter().find(tried).expect("tried");
    let mut target = Catalog::built_in()
        .and_then(|catalog| catalog.target(&problem.targets[0]))
        .expect("its target");
    let machine = target.machines.get_mut(&target.default_machine);
    let machine = machine.expect("a machine");
    for fewer in ["load_entries = 8\n", "store_entries = 4\n"] {
        assert!(machine.contains(fewer), "{machine}");
        let (name, _) = fewer.split_once(" = ").expect("a setting");
        *machine = machine.replace(fewer, &format!("{name} = 16\n"));
    }
    let larger = evaluator_for(&problem, &target, &support::cache_folder(), UNCACHED);
    let (larger, _) = profile_by(&larger, source);
    assert!(larger.cycles < same.cycles);
    assert_eq!(tried.cycles, larger.cycles);
}

#[test]
fn feedback_by_experiments_is_the_paragraph_of_the_profile() {
    use autocomp_eval::Evaluator as _;
    let settings = EvaluatorSettings {
        experiments: true,
        ..UNCACHED
    };
    let (_, thorough) = evaluator_of("gemm-64x64x64", settings);
    let evaluation = thorough.evaluate(baseline()).expect("works");
    let (profile, _) = profile(baseline());
    let feedback = evaluation.feedback.expect("feedback");
    assert_eq!(feedback.bottleneck, profile.bottleneck);
    // Its verdict is the same, but it is not taken for the other's.
    let quick = evaluator().1.evaluate(baseline()).expect("works");
    assert_eq!(evaluation.measurement, quick.measurement);
    assert_ne!(evaluation.key, quick.key);
}
