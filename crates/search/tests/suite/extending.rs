//! Runs that go on after their end, and runs that begin with kernels of others.

use crate::world::{World, go_on, run, settings, started};
use autocomp_core::{
    Event, Extended, FinishReason, PlanRecord, SearchSettings, Seed, TakenKernel, canonical_history,
};
use autocomp_search::Search;
use proptest::prelude::{ProptestConfig, prop_assert, prop_assert_eq, proptest};

fn extension(search: &Search, more: u32) -> Extended {
    let settings = &search.started().settings;
    Extended {
        iteration: search.iteration(),
        after_end: search.finish().is_some(),
        iterations: settings.iterations + more,
        max_evaluations: settings.max_evaluations.map(|most| most + 20 * more),
        patience: settings.patience,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A finished run goes on where it ended, and keeps its new bounds.
    #[test]
    fn a_finished_run_can_be_extended(
        seed: u64,
        order: u64,
        most in proptest::option::of(20..60_u32),
        patience in 0..3_u32,
    ) {
        let settings = SearchSettings {
            max_evaluations: most,
            patience,
            iterations: 4,
            ..settings()
        };
        let extended_run = |order: u64| {
            let (first, mut events) = run(settings.clone(), seed, Seed(order));
            // The run's world, which knows the same kernels.
            let mut world = World::default();
            let mut search = started_again(&mut world, &events);
            let extended = Event::Extended(extension(&search, 3));
            search.apply(&extended).unwrap();
            events.push(extended);
            let before = first.n_evaluations();
            go_on(&mut world, &mut search, &mut events, &mut Seed(order));
            (before, search, events)
        };
        let (before, search, events) = extended_run(order);
        prop_assert!(search.finish().is_some());
        prop_assert!(before <= search.n_evaluations());
        if let Some(most) = most {
            prop_assert!(search.n_evaluations() <= most + 60);
        }
        prop_assert!(search.iteration() <= 7);
        // Nothing but patience and the floor ends it before its new bounds.
        if search.finish() == Some(FinishReason::Iterations) {
            prop_assert_eq!(search.iteration(), 7);
        }
        let folded = Search::fold(&events).unwrap();
        prop_assert_eq!(folded.progress(), search.progress());
        let (_, _, again) = extended_run(!order);
        prop_assert_eq!(canonical_history(&events), canonical_history(&again));
    }
}

/// Folds the events of a run anew, in a world that learns its kernels.
fn started_again(world: &mut World, events: &[Event]) -> Search {
    for x in -40..80 {
        for y in -40..80 {
            world.name((x, y));
        }
    }
    Search::fold(events).unwrap()
}

#[test]
fn extensions_that_do_not_fit_are_refused() {
    let (search, events) = run(settings(), 1, Seed(1));
    let right = extension(&search, 1);
    for wrong in [
        Extended {
            iteration: 0,
            ..right.clone()
        },
        Extended {
            after_end: false,
            ..right.clone()
        },
        Extended {
            iterations: 0,
            ..right.clone()
        },
        Extended {
            max_evaluations: Some(0),
            ..right.clone()
        },
    ] {
        let mut search = Search::fold(&events).unwrap();
        assert!(search.apply(&Event::Extended(wrong)).is_err());
        assert_eq!(search.finish(), Some(FinishReason::Iterations));
    }
}

#[test]
fn a_run_begins_with_kernels_of_another() {
    let mut world = World::default();
    let mut start = started(&mut world, settings(), 5);
    // The last one is wrong, and is left out.
    let points = [(14, 20), (17, 29), (-3, 4)];
    start.taken = points
        .map(|point| TakenKernel {
            source: world.name(point),
            plan: PlanRecord {
                menu_item: "taken".to_owned(),
                proposer: "other run".to_owned(),
                plan: world.name((0, 0)),
            },
        })
        .into();
    let history = |order: u64| {
        let mut search = Search::new(start.clone()).unwrap();
        let mut world = World::default();
        for x in -40..80 {
            for y in -40..80 {
                world.name((x, y));
            }
        }
        let mut events = vec![Event::Started(start.clone())];
        go_on(&mut world, &mut search, &mut events, &mut Seed(order));
        (search, canonical_history(&events))
    };
    let (search, one) = history(1);
    assert_eq!(one, history(2).1);
    let first = one.iter().find_map(|event| match event {
        Event::IterationOpened(opened) => Some(opened.parents.clone()),
        _ => None,
    });
    let first: Vec<u32> = first.unwrap().iter().map(|id| id.0).collect();
    assert_eq!(
        first,
        [2, 1, 2, 1],
        "the cheaper one first, the baseline not at all"
    );
    let lineage = search.best_lineage();
    assert_eq!(lineage[0].id.map(|id| id.0), Some(0));
    assert_eq!(lineage[1].plan.as_ref().unwrap().menu_item, "taken");

    let few = SearchSettings {
        max_evaluations: Some(3),
        ..settings()
    };
    start.settings = few;
    let error = Search::new(start).unwrap_err();
    assert!(error.to_string().contains("must be at least 4"), "{error}");
}
