//! The course of a run depends neither on the number of workers nor on timing.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::scripted;

use autocomp_core::{Duplicates, Event, SearchSettings};
use autocomp_runner::RunView;
use autocomp_search::REGISTRY;
use scripted::{events, history, method_settings, run_whole, settings};

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
fn any_number_of_workers_gives_the_same_history_with_every_strategy() {
    let root = scripted::scratch();
    for strategy in REGISTRY {
        let settings = SearchSettings {
            strategy: strategy.name().to_owned(),
            max_evaluations: Some(50),
            duplicates: Duplicates::Code,
            confirm: 2,
            niches: 1,
            ..method_settings()
        };
        let histories = [1, 3, 8].map(|workers| {
            let folder = root.path().join(format!("{}-{workers}", strategy.name()));
            let end = run_whole(&folder, settings.clone(), 9, workers);
            assert!(end.progress.evaluations <= 50);
            history(&folder)
        });
        assert_eq!(histories[0], histories[1], "{}", strategy.name());
        assert_eq!(histories[0], histories[2], "{}", strategy.name());
    }
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
        let report = RunView::open(folder).unwrap().whole_report();
        let lineage = serde_json::to_value(&report.lineage).unwrap();
        (report.history, report.progress, lineage)
    };
    assert_eq!(report(&a), report(&b));
}
