//! Beam search on the landscape, driven in any order.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::world::{World, run, run_in, settings, started};
use autocomp_core::{
    Cost, Event, FinishReason, IterationOpened, MenuItem, PlanKind, Scope, SearchSettings, Seed,
    TaskKey, canonical_history,
};
use autocomp_search::{Kinship, Search, SearchError};
use proptest::prelude::{ProptestConfig, prop_assert, prop_assert_eq, proptest};
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn the_beam_finds_the_optimum() {
    let settings = SearchSettings {
        iterations: 60,
        stop_at_percent_of_peak: Some(100.0),
        ..settings()
    };
    for seed in 0..5 {
        let (search, _) = run(settings.clone(), seed, Seed(1));
        assert_eq!(
            search.finish(),
            Some(FinishReason::PercentOfPeak),
            "seed {seed}"
        );
        assert_eq!(search.best().unwrap().cost, Cost::cycles(1000));
        let lineage = search.best_lineage();
        assert_eq!(lineage[0].key, TaskKey::BASELINE);
        assert!(lineage[1..].iter().all(|step| step.plan.is_some()));
        assert!(lineage.is_sorted_by(|a, b| a.key.iteration < b.key.iteration));
    }
}

#[test]
fn slack_crosses_a_ridge_that_faster_children_never_do() {
    // With steps of one, the way leads over two points that are 5 % slower.
    let best = |slack: f64, newcomers: u32, seed: u64| {
        let settings = SearchSettings {
            slack,
            newcomers,
            iterations: 300,
            stop_at_percent_of_peak: Some(100.0),
            ..settings()
        };
        let world = World {
            step: 1,
            ..World::default()
        };
        let (search, _) = run_in(world, settings, seed, Seed(1));
        search.best().unwrap().cost
    };
    // The point before the ridge, and the optimum.
    let (before, beyond) = (Cost::cycles(1000 + 10 * 13), Cost::cycles(1000));
    for seed in 0..3 {
        assert_eq!(best(1.0, 2, seed), before);
        assert_eq!(best(1.1, 2, seed), beyond);
    }
}

#[test]
fn selection_beats_random_parents_on_the_same_budget() {
    let mean_best = |strategy: &str| {
        let total: u64 = (0..10)
            .map(|seed| {
                let settings = SearchSettings {
                    strategy: strategy.to_owned(),
                    iterations: 12,
                    ..settings()
                };
                run(settings, seed, Seed(1)).0.best().unwrap().cost.value
            })
            .sum();
        total / 10
    };
    let (beam, random) = (mean_best("beam"), mean_best("random"));
    assert!(beam + 50 < random, "beam {beam}, random {random}");
}

#[test]
fn a_stalled_search_ends() {
    // Nothing is better than the baseline if only three plans may be drawn.
    let settings = SearchSettings {
        beam: 1,
        newcomers: 0,
        plans: 1,
        drafts: 1,
        iterations: 1000,
        patience: 4,
        least_gain: 0.0,
        ..settings()
    };
    let (search, events) = run(settings, 1, Seed(1));
    assert_eq!(search.finish(), Some(FinishReason::Stalled));
    let bests: Vec<Cost> = events
        .iter()
        .filter_map(|event| match event {
            Event::IterationClosed(closed) => {
                let id = closed.beam[0];
                Some(search.candidate(id).unwrap().cost)
            }
            _ => None,
        })
        .collect();
    let (last, before) = bests.split_last().unwrap();
    assert!(before.iter().rev().take(3).all(|cycles| cycles == last));
    assert!(4 <= bests.len());
}

#[test]
fn gains_below_the_least_do_not_prolong_a_search() {
    let closed_iterations = |least_gain: f64| {
        let settings = SearchSettings {
            iterations: 1000,
            patience: 2,
            least_gain,
            ..settings()
        };
        // No kernel is near the floor, where there would be nothing to wait for.
        let world = World {
            floor: 400,
            ..World::default()
        };
        let (search, events) = run_in(world, settings, 1, Seed(1));
        assert_eq!(search.finish(), Some(FinishReason::Stalled));
        let is_closed = |event: &&Event| matches!(event, Event::IterationClosed(_));
        events.iter().filter(is_closed).count()
    };
    // No gain is half of the cost, so patience never begins anew.
    assert_eq!(closed_iterations(0.5), 2);
    assert!(closed_iterations(0.5) < closed_iterations(0.01));
    assert!(closed_iterations(0.01) <= closed_iterations(0.0));
}

#[test]
fn foreign_events_are_refused_and_change_nothing() {
    let (_, events) = run(settings(), 1, Seed(1));
    // Leave out one event; some later event must not fit, or the run is not finished.
    for missing in 1..events.len() {
        let kept = events.iter().enumerate().filter(|(idx, _)| *idx != missing);
        match Search::fold(kept.map(|(_, event)| event)) {
            Err(SearchError::Apply(_)) => {}
            Err(error) => panic!("{error}"),
            Ok(search) => assert_eq!(search.finish(), None, "without event {missing}"),
        }
    }
    // Twice is once too often.
    for twice in 0..events.len() {
        let mut search = Search::fold(&events[..=twice]).unwrap();
        let before = search.progress();
        assert!(search.apply(&events[twice]).is_err(), "event {twice} twice");
        assert_eq!(search.progress(), before);
    }
}

#[test]
fn drafts_that_fail_are_repaired_as_often_as_allowed() {
    let count = |repairs: u32| {
        let mut counts = [0; 3];
        let mut n_repaired = 0;
        for seed in 0..5 {
            let settings = SearchSettings {
                repairs,
                iterations: 3,
                ..settings()
            };
            let (search, events) = run(settings, seed, Seed(1));
            for event in &events {
                let Event::Drafted(drafted) = event else {
                    continue;
                };
                counts[drafted.key.repair as usize] += 1;
            }
            // A candidate that came from a repair has its draft's parent and plan.
            for candidate in &search.candidates()[1..] {
                assert!(candidate.plan.is_some() && candidate.parent.is_some());
                n_repaired += usize::from(0 < candidate.key.repair);
            }
        }
        (counts[1], counts[2], n_repaired)
    };
    assert_eq!(count(0), (0, 0, 0));
    let (first, second, _) = count(1);
    assert!(20 < first && second == 0, "{first} {second}");
    // Only drafts further than a step away need a second attempt.
    let (first, second, repaired) = count(2);
    assert!(0 < second && second < first);
    assert!(0 < repaired);
}

#[test]
fn unusable_settings_are_refused() {
    let mut world = World::default();
    let mut error = |settings: SearchSettings| {
        Search::new(started(&mut world, settings, 1))
            .unwrap_err()
            .to_string()
    };
    insta::assert_snapshot!(
        error(SearchSettings { strategy: "annealing".to_owned(), ..settings() }),
        @"there is no strategy `annealing`; there are: beam, evolutionary, best-of-n, hill-climbing, random"
    );
    insta::assert_snapshot!(
        error(SearchSettings { slack: 0.9, ..settings() }),
        @"setting `slack` is 0.9, but must be from 1 to 100"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_order_of_work_does_not_matter(
        seed in 0u64..1000,
        order_a: u64,
        order_b: u64,
        beam in 1u32..5,
        plans in 1u32..4,
        drafts in 1u32..4,
        repairs in 0u32..3,
        max_evaluations in proptest::option::of(1u32..80),
    ) {
        let settings =
            SearchSettings { beam, newcomers: beam / 2, repairs, plans, drafts, max_evaluations, ..settings() };
        let (a, events_a) = run(settings.clone(), seed, Seed(order_a));
        let (b, events_b) = run(settings, seed, Seed(order_b));
        prop_assert_eq!(canonical_history(&events_a), canonical_history(&events_b));
        prop_assert_eq!(a.progress(), b.progress());
        prop_assert_eq!(a.best_lineage(), b.best_lineage());
        if let Some(most) = max_evaluations {
            prop_assert!(a.n_evaluations() <= most);
        }
    }

    #[test]
    fn the_best_is_never_lost_and_the_beam_has_no_doubles(
        seed in 0u64..1000,
        slack in 1.0f64..2.0,
        siblings in 0u32..3,
        newcomers in 0u32..4,
    ) {
        let settings = SearchSettings { slack, siblings, newcomers, ..settings() };
        let (_, events) = run(settings, seed, Seed(1));
        let mut cycles = BTreeMap::from([(0, 1500)]);
        let mut best = u64::MAX;
        for event in &events {
            let Event::IterationClosed(closed) = event else { continue };
            cycles.extend(closed.candidates.iter().map(|new| (new.id.0, new.cost.value)));
            let first = cycles[&closed.beam[0].0];
            prop_assert!(first <= best);
            prop_assert_eq!(Some(&first), cycles.values().min());
            best = first;
            let distinct: BTreeSet<_> = closed.beam.iter().collect();
            prop_assert_eq!(distinct.len(), closed.beam.len());
            prop_assert!(closed.beam.len() <= 4);
        }
    }
}

fn set_aside(id: &str, scope: Scope, percent: &[u8]) -> MenuItem {
    MenuItem {
        id: id.to_owned(),
        scope,
        percent: percent.to_vec(),
        ..MenuItem::default()
    }
}

fn openings(events: &[Event]) -> Vec<&IterationOpened> {
    let opened = events.iter().filter_map(|event| match event {
        Event::IterationOpened(opened) => Some(opened),
        _ => None,
    });
    opened.collect()
}

/// Returns whether an iteration is the one that polishes the last survivors.
fn is_polish_alone(opened: &IterationOpened) -> bool {
    let mut kinds = opened.kinds.iter().flatten().peekable();
    kinds.peek().is_some() && kinds.all(|kind| matches!(kind, PlanKind::Polish { .. }))
}

fn world_with_items() -> World {
    World {
        set_aside: vec![
            set_aside("anew", Scope::Schedule, &[50, 25]),
            set_aside("both", Scope::Combination, &[0, 20]),
        ],
        ..World::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Plans are set aside as the menu says, pairs of kernels are combined once,
    /// polish goes to survivors, and no order of events changes any of it.
    #[test]
    fn plans_are_for_what_the_menu_says(seed: u64, order: u64, polish in 0..3_u32) {
        let settings = SearchSettings {
            beam: 4,
            plans: 5,
            polish,
            iterations: 6,
            patience: 0,
            max_evaluations: None,
            ..SearchSettings::default()
        };
        let (search, events) = run_in(world_with_items(), settings.clone(), seed, Seed(order));
        let again = run_in(world_with_items(), settings.clone(), seed, Seed(!order)).1;
        prop_assert_eq!(canonical_history(&events), canonical_history(&again));
        let folded = Search::fold(&events).unwrap();
        prop_assert_eq!(folded.progress(), search.progress());

        let mut pairs = BTreeSet::new();
        for opened in openings(&events).into_iter().filter(|it| !is_polish_alone(it)) {
            let kinds: Vec<&PlanKind> = opened.kinds.iter().flatten().collect();
            let count = |is: &dyn Fn(&PlanKind) -> bool| {
                kinds.iter().filter(|kind| is(kind)).count()
            };
            let is_item = |kind: &PlanKind, id: &str| {
                matches!(kind, PlanKind::Reserved { item, .. } if item == id)
            };
            let anew = if opened.iteration == 1 { 10 } else { 5 };
            prop_assert_eq!(count(&|kind| is_item(kind, "anew")), anew);
            prop_assert!(count(&|kind| is_item(kind, "both")) <= 4);
            let distinct: BTreeSet<_> = opened.parents.iter().collect();
            let polished = count(&|kind| matches!(kind, PlanKind::Polish { .. }));
            prop_assert_eq!(polished, polish as usize * distinct.len());
            for (parent, kinds) in opened.parents.iter().zip(&opened.kinds) {
                for kind in kinds {
                    if let PlanKind::Reserved { other: Some(other), .. } = kind {
                        prop_assert!(opened.parents.contains(other) && other != parent);
                        prop_assert!(pairs.insert((*parent.min(other), *parent.max(other))));
                    }
                }
            }
        }
        prop_assert!(!pairs.is_empty());
    }

    /// Polish leaves three quarters of a bounded iteration to the plans, and the
    /// bound holds.
    #[test]
    fn polish_keeps_within_the_budget(seed: u64, most in 2..120_u32) {
        let settings = SearchSettings {
            beam: 4,
            plans: 5,
            repairs: 1,
            polish: 8,
            iterations: 6,
            patience: 0,
            max_evaluations: Some(most),
            ..SearchSettings::default()
        };
        let (search, events) = run(settings, seed, Seed(seed));
        prop_assert!(search.n_evaluations() <= most);
        for opened in openings(&events).into_iter().filter(|it| !is_polish_alone(it)) {
            let slots: u32 = opened.slots.iter().flatten().sum();
            let polished = opened.kinds.iter().flatten();
            let polished = polished.filter(|kind| matches!(kind, PlanKind::Polish { .. })).count();
            let polished = polished as u32;
            let are_plans_full = slots - polished == 20;
            prop_assert!(polished * 4 <= slots || are_plans_full, "{polished} of {slots}");
        }
    }
}

/// What was tried is known from the next iteration on, the nearest first, and
/// never what made the kernel itself.
#[test]
fn attempts_are_remembered_by_kernel() {
    let settings = SearchSettings {
        beam: 3,
        plans: 4,
        repairs: 1,
        iterations: 5,
        patience: 0,
        max_evaluations: None,
        ..SearchSettings::default()
    };
    let (search, _) = run(settings, 3, Seed(9));
    let mut kinships = BTreeSet::new();
    for candidate in search.candidates() {
        let near = search.attempts_near(candidate.id, usize::MAX);
        assert!(near.is_sorted_by_key(|(_, kinship)| *kinship));
        for (attempt, kinship) in near {
            kinships.insert(kinship);
            let parent = search.candidate(attempt.parent).unwrap();
            match kinship {
                Kinship::Itself => assert_eq!(attempt.parent, candidate.id),
                Kinship::Parent => {
                    assert_eq!(Some(attempt.parent), candidate.parent);
                    assert_ne!(attempt.source, Some(candidate.source));
                }
                Kinship::Sibling => assert_eq!(parent.parent, candidate.parent),
            }
            if let Some(source) = attempt.source {
                assert!(search.evaluation(source).is_some());
            }
        }
    }
    assert_eq!(kinships.len(), 3);
}
