//! Names that a kernel may call, on every instance of the accelerator: the
//! kernels of `tests/data/problems/wrapped-*` use each with its customary
//! arguments and must be right.

use crate::evaluators;
use crate::support;

use autocomp_catalog::Catalog;
use autocomp_core::Outcome;
use autocomp_eval::Evaluator;
use evaluators::{UNCACHED, evaluator_for};
use std::collections::BTreeSet;
use std::path::Path;

/// What published kernels call; forms of one name count as one.
const NAMES: &[&str] = &[
    "config_ex",
    "config_ld",
    "config_st",
    "mvin",
    "mvin2",
    "mvin3",
    "mvout",
    "preload",
    "preload_zeros",
    "compute_preloaded",
    "compute_accumulated",
    "fence",
    "gemmini_fence",
    "gemmini_flush",
    "gemmini_extended_config_ex",
    "gemmini_extended3_config_ld",
    "gemmini_extended4_config_ld",
    "gemmini_extended5_config_ld",
    "gemmini_extended_config_st",
    "gemmini_extended_mvin",
    "gemmini_extended_mvin2",
    "gemmini_extended_mvin3",
    "gemmini_extended_mvout",
    "gemmini_extended_preload",
    "gemmini_extended_compute_preloaded",
    "gemmini_extended_compute_accumulated",
    "gemmini_loop_ws",
    "gemmini_loop_conv_ws",
    "tiled_matmul_auto",
    "tiled_conv_auto",
    "tiled_matmul_outer_eigen",
    "tiled_matmul_outer_eigen_bias",
    "counter_configure",
    "counter_read",
    "counter_reset",
    "counter_snapshot_take",
    "counter_snapshot_reset",
];

#[test]
fn every_name_works_on_every_instance() {
    let mut catalog = Catalog::built_in().expect("built-in data");
    let added = catalog
        .add_folder(Path::new("tests/data/problems"))
        .expect("problems of the tests");
    let mut called: BTreeSet<String> = BTreeSet::new();
    let mut targets = BTreeSet::new();
    let mut failures = Vec::new();
    for name in added.problems.iter().filter(|it| it.starts_with("wrapped")) {
        let problem = catalog.problem(name).expect("a problem");
        let target = catalog.target(&problem.targets[0]).expect("its target");
        // What the calls of the kernels expand to is called too.
        let tiled = String::from_utf8_lossy(&target.runtime["gemmini_tiled.h"]).into_owned();
        for source in problem.kernels.values().chain([&tiled]) {
            called.extend(
                source
                    .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                    .map(str::to_owned),
            );
        }
        let evaluator = evaluator_for(&problem, &target, &support::cache_folder(), UNCACHED);
        for (kernel, source) in &problem.kernels {
            let evaluation = evaluator.evaluate(source).expect("the machine allows it");
            if evaluation.outcome != Outcome::Ok {
                failures.push((name, kernel.clone(), evaluation.diagnostics));
            }
        }
        targets.extend(problem.targets);
    }
    assert!(failures.is_empty(), "{failures:#?}");
    assert_eq!(targets.len(), 3, "{targets:?}");
    for name in NAMES {
        assert!(called.contains(*name), "no kernel calls {name}");
    }
}

#[test]
fn a_machine_with_the_older_loop_for_convolutions_is_given_its_fields() {
    let mut catalog = Catalog::built_in().expect("built-in data");
    let added = catalog
        .add_folder(Path::new("tests/data/problems"))
        .expect("problems of the tests");
    let mut count = 0;
    for name in added
        .problems
        .iter()
        .filter(|it| it.starts_with("wrapped-conv-gemmini-int8-16"))
    {
        let problem = catalog.problem(name).expect("a problem");
        let target = catalog.target(&problem.targets[0]).expect("its target");
        let folder = support::cache_folder();
        let evaluator = autocomp_gemmini_family::evaluator(
            &problem,
            &target,
            Some("rtl"),
            support::toolchain(),
            &folder,
            UNCACHED,
        );
        let evaluator = evaluator.expect("an evaluator");
        let evaluation = evaluator
            .evaluate(&problem.kernels["baseline"])
            .expect("works");
        assert_eq!(
            evaluation.outcome,
            Outcome::Ok,
            "{name}: {:#?}",
            evaluation.diagnostics
        );
        count += 1;
    }
    assert!(0 < count);
}
