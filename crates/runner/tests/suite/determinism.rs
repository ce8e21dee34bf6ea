//! The course of a run depends neither on the number of workers nor on timing.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::scripted;

use autocomp_core::Event;
use autocomp_runner::RunView;
use scripted::{events, history, run_whole, settings};

#[test]
fn any_number_of_workers_gives_the_same_history() {
    let root = scripted::scratch();
    let runs: Vec<_> = [1, 2, 8]
        .map(|workers| {
            let folder = root.path().join(workers.to_string());
            let end = run_whole(&folder, settings(), 42, workers);
            (history(&folder), end.progress)
        })
        .into();
    assert!(runs[0].0.lines().count() > 100);
    assert_eq!(runs[0].0, runs[1].0);
    assert_eq!(runs[0].0, runs[2].0);
    assert_eq!(runs[0].1, runs[2].1);
}

#[test]
fn another_seed_takes_another_course() {
    let root = scripted::scratch();
    let history_of = |seed: u64| {
        let folder = root.path().join(seed.to_string());
        run_whole(&folder, settings(), seed, 2);
        history(&folder)
    };
    assert_ne!(history_of(1), history_of(2));
}

#[test]
fn journals_differ_in_order_and_reports_agree() {
    let root = scripted::scratch();
    let (a, b) = (root.path().join("a"), root.path().join("b"));
    run_whole(&a, settings(), 7, 8);
    run_whole(&b, settings(), 7, 8);
    // Otherwise the comparison of histories would show nothing.
    let order = |folder: &std::path::Path| -> Vec<_> {
        events(folder).iter().filter_map(Event::key).collect()
    };
    assert_ne!(order(&a), order(&b));
    let report = |folder: &std::path::Path| {
        let report = RunView::open(folder).unwrap().report();
        let lineage = serde_json::to_value(&report.lineage).unwrap();
        (report.history, report.progress, lineage)
    };
    assert_eq!(report(&a), report(&b));
}
