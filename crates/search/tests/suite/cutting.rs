//! Kernels that are cut early: the course of a run is the same as without.

use crate::world::{World, run_in, settings, started};
use autocomp_core::{Cost, Event, Outcome, SearchSettings, Seed};
use autocomp_search::{REGISTRY, Search};
use proptest::prelude::{ProptestConfig, prop_assert_eq, proptest};
use proptest::sample::select;

/// Who survived each iteration, by source, and the bound of the iteration.
fn survivors(search: &Search, events: &[Event]) -> Vec<Vec<autocomp_core::ContentHash>> {
    let closed = events.iter().filter_map(|event| match event {
        Event::IterationClosed(closed) => Some(closed),
        _ => None,
    });
    let source = |id| search.candidate(id).unwrap().source;
    closed
        .map(|it| it.beam.iter().copied().map(source).collect())
        .collect()
}

fn n_cut(events: &[Event]) -> usize {
    let cut = events.iter().filter(
        |event| matches!(event, Event::Evaluated(it) if it.evaluation.outcome == Outcome::Cut),
    );
    cut.count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn what_is_cut_would_not_have_survived(
        strategy in select(REGISTRY.iter().map(|it| it.name()).collect::<Vec<_>>()),
        seed in 0_u64..1000,
        beam in 1_u32..6,
        repairs in 0_u32..3,
        polish in 0_u32..3,
        spellings in 1_usize..4,
        extras in (0_u32..2, 0_u32..2, 0_u32..2),
        budget in proptest::option::of(10_u32..120),
        early_slack in proptest::collection::vec(1.0_f64..1.1, 0..4),
        slack in 1.0_f64..1.06,
        step in 3_usize..12,
        bandit: bool,
    ) {
        let (confirm, niches, siblings) = extras;
        let run = |early_cut| {
            let settings = SearchSettings {
                strategy: strategy.to_owned(),
                beam, repairs, polish, confirm, niches, siblings, slack, bandit,
                early_slack: early_slack.clone(),
                max_evaluations: budget, newcomers: beam / 2, early_cut, islands: 2,
                ..settings()
            };
            let world = World { spellings, step, is_faulty: true, ..World::default() };
            run_in(world, settings, seed, Seed(seed))
        };
        let (cut, cut_events) = run(true);
        let (whole, whole_events) = run(false);
        prop_assert_eq!(n_cut(&whole_events), 0);
        prop_assert_eq!(survivors(&cut, &cut_events), survivors(&whole, &whole_events));
        prop_assert_eq!(cut.n_evaluations(), whole.n_evaluations());
        prop_assert_eq!(cut.finish(), whole.finish());
        let best = |search: &Search| search.best().map(|it| (it.source, it.cost));
        prop_assert_eq!(best(&cut), best(&whole));
        let slow_are_wanted = confirm != 0 || niches != 0;
        if slow_are_wanted || ["random", "evolutionary"].contains(&strategy) {
            prop_assert_eq!(n_cut(&cut_events), 0);
        }
    }
}

/// Otherwise the test above would show nothing.
#[test]
fn slow_kernels_are_cut() {
    for strategy in ["beam", "hill-climbing", "best-of-n"] {
        let settings = SearchSettings {
            strategy: strategy.to_owned(),
            iterations: 10,
            slack: 1.01,
            ..settings()
        };
        let world = World {
            step: 9,
            ..World::default()
        };
        let (search, events) = run_in(world, settings, 1, Seed(1));
        let progress = search.progress();
        assert!(0 < n_cut(&events), "{strategy}");
        assert_eq!(progress.repairs.made, 0);
        // Those of a later iteration with the same source repeat the verdict.
        assert!(progress.outcomes[&Outcome::Cut] as usize <= n_cut(&events));
    }
}

/// A run that an older program began goes on without.
#[test]
fn older_runs_are_not_cut() {
    let mut world = World::default();
    let mut old = started(&mut world, settings(), 1);
    old.format = 4;
    let mut search = Search::new(old.clone()).unwrap();
    let mut events = vec![Event::Started(old)];
    crate::world::go_on(&mut world, &mut search, &mut events, &mut Seed(1));
    assert_eq!(n_cut(&events), 0);
    assert!(events.iter().all(|event| match event {
        Event::IterationOpened(opened) => opened.bound.is_none(),
        _ => true,
    }));
}

/// The spread of what is measured is the margin.
#[test]
fn what_may_be_within_the_bound_is_not_cut() {
    let evaluation = |cost| {
        let world = &mut World::default();
        let point = (3, 4);
        let source = world.name(point);
        let mut evaluation = crate::world::evaluate(source, point, 1);
        evaluation.measurement.as_mut().unwrap().cost = cost;
        evaluation
    };
    let measured = |value| Cost::nanoseconds(value, 20_000);
    let within = |cost, bound| evaluation(cost).within(Some(bound)).outcome;
    assert_eq!(within(measured(103), measured(100)), Outcome::Ok);
    assert_eq!(within(measured(106), measured(100)), Outcome::Cut);
    assert_eq!(within(Cost::cycles(100), Cost::cycles(100)), Outcome::Ok);
    assert_eq!(within(Cost::cycles(101), Cost::cycles(100)), Outcome::Cut);
    let mut contradicts = evaluation(Cost::cycles(101));
    contradicts.outcome = Outcome::Wrong;
    let found = contradicts.within(Some(Cost::cycles(100)));
    assert_eq!(found.outcome, Outcome::Wrong);
}
