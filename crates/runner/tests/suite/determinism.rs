//! The course of a run depends neither on the number of workers nor on timing.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::script;

use autocomp_core::{Duplicates, Event, SearchSettings};
use autocomp_runner::RunView;
use autocomp_search::REGISTRY;
use script::{events, history, method_settings, run_whole, settings};
use std::collections::BTreeSet;

#[test]
fn any_number_of_workers_gives_the_same_history() {
    let root = script::scratch();
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
    let root = script::scratch();
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
    let root = script::scratch();
    let history_of = |seed: u64| {
        let folder = root.path().join(seed.to_string());
        run_whole(&folder, settings(), seed, 2);
        history(&folder)
    };
    assert_ne!(history_of(1), history_of(2));
}

#[test]
fn journals_differ_in_order_and_reports_agree() {
    let root = script::scratch();
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

/// Of the requests for code of one kernel by plans of the same words no two are the same, and
/// those of later iterations are told how many there were.
#[test]
fn requests_for_code_differ() {
    let root = script::scratch();
    let (mut in_an_iteration, mut over_iterations) = (0, 0);
    for seed in 0..4 {
        let folder = root.path().join(seed.to_string());
        let settings = SearchSettings {
            plans: 8,
            iterations: 16,
            ..settings()
        };
        run_whole(&folder, settings, seed, 4);
        let view = RunView::open(&folder).unwrap();
        let mut asked: Vec<(u32, String)> = Vec::new();
        for event in events(&folder) {
            let Event::Drafted(drafted) = event else {
                continue;
            };
            let prompts = drafted.exchanges.iter().filter(|_| drafted.key.repair == 0);
            for exchange in prompts {
                let prompt = view.blobs().get_text(exchange.prompt).unwrap();
                asked.push((drafted.key.iteration, prompt));
            }
        }
        let distinct: BTreeSet<&String> = asked.iter().map(|(_, prompt)| prompt).collect();
        assert_eq!(distinct.len(), asked.len());
        for (iteration, prompt) in &asked {
            let (question, version) = prompt.split_once(", plan ").unwrap();
            let (_, reply) = version.split_once(", reply ").unwrap();
            let reply: u32 = reply.parse().unwrap();
            let others = asked.iter().filter(|(_, it)| it.starts_with(question));
            let before = others.clone().filter(|(it, _)| it < iteration).count() as u32;
            // Some of those before came to nothing, and this iteration asks for two.
            assert!(before < reply, "{prompt}");
            over_iterations += u32::from(0 < before);
            in_an_iteration += u32::from(2 < others.filter(|(it, _)| it == iteration).count());
        }
    }
    assert!(
        3 < in_an_iteration && 3 < over_iterations,
        "{in_an_iteration} {over_iterations}"
    );
}
