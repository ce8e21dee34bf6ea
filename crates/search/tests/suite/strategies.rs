//! What holds for every strategy, and what each one promises.

use crate::world::{World, run, run_in, settings, started, translations};
use autocomp_core::{
    CandidateId, Event, Exhaustive, FinishReason, IterationOpened, SearchSettings, Seed,
    canonical_history,
};
use autocomp_search::{REGISTRY, Search, Task};
use proptest::prelude::{ProptestConfig, any, prop_assert, prop_assert_eq, proptest};
use proptest::sample::select;

pub(crate) fn names() -> Vec<&'static str> {
    REGISTRY.iter().map(|strategy| strategy.name()).collect()
}

pub(crate) fn with(strategy: &str) -> SearchSettings {
    SearchSettings {
        strategy: strategy.to_owned(),
        islands: 2,
        migration: 3,
        ..settings()
    }
}

/// Runs a search as `workers` workers would, which end in any order. Returns the
/// events and the most evaluations that there ever were with those under way.
pub(crate) fn run_with(
    world: &mut World,
    settings: SearchSettings,
    seed: u64,
    workers: usize,
    mut order: Seed,
) -> (Vec<Event>, u32) {
    let started = started(world, settings, seed);
    let mut search = Search::new(started.clone()).unwrap();
    let mut events = vec![Event::Started(started)];
    let mut running: Vec<Task> = Vec::new();
    let mut most = 0;
    loop {
        while let Some(event) = search.due() {
            search.apply(&event).unwrap();
            events.push(event);
        }
        for task in search.ready() {
            let is_running = running.iter().any(|it| match (it, &task) {
                (Task::Evaluate { source: one, .. }, Task::Evaluate { source, .. }) => {
                    one == source
                }
                _ => it.key() == task.key(),
            });
            if running.len() < workers && !is_running {
                running.push(task);
            }
        }
        let evaluations = running
            .iter()
            .filter(|it| matches!(it, Task::Evaluate { .. }));
        most = most.max(search.n_evaluations() + evaluations.count() as u32);
        if running.is_empty() {
            return (events, most);
        }
        let task = running.swap_remove(order.below(running.len()));
        let event = world.perform(&task);
        search.apply(&event).unwrap();
        events.push(event);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn neither_order_nor_workers_matter(
        strategy in select(names()),
        seed in 0_u64..1000,
        orders in any::<[u64; 2]>(),
        workers in 2_usize..9,
        beam in 1_u32..6,
        repairs in 0_u32..3,
        polish in 0_u32..3,
        extras in (1_usize..4, 0_u32..4, 0_u32..3),
        budget in proptest::option::of(1_u32..80),
        exhaustive in select(Exhaustive::ALL.to_vec()),
        translation in 0_u32..3,
        ideas in 0_u32..3,
        bandit: bool,
    ) {
        let (spellings, confirm, niches) = extras;
        let settings = SearchSettings {
            beam, repairs, polish, confirm, niches, max_evaluations: budget, newcomers: beam / 2,
            exhaustive, translation, ideas, bandit, early_slack: vec![1.5, 1.2], ..with(strategy)
        };
        let mut world = World {
            translated: Some(|(x, _)| 25.0 * x.clamp(0, 4) as f64),
            set_aside: translations(),
            spellings,
            is_faulty: true,
            ..World::default()
        };
        let (one, most) = run_with(&mut world, settings.clone(), seed, 1, Seed(orders[0]));
        let (many, most_of_many) = run_with(&mut world, settings, seed, workers, Seed(orders[1]));
        prop_assert_eq!(canonical_history(&one), canonical_history(&many));
        if let Some(budget) = budget {
            prop_assert!(most <= budget && most_of_many <= budget);
        }
        let (one, many) = (Search::fold(&one).unwrap(), Search::fold(&many).unwrap());
        prop_assert_eq!(one.progress(), many.progress());
        prop_assert_eq!(one.best_lineage(), many.best_lineage());
        if confirm != 0 && one.best().is_some() {
            let best = one.best().unwrap().id.unwrap();
            prop_assert!(!one.is_struck(best));
            let by = one.confirmations().filter(|(id, _, _)| *id == best).count();
            prop_assert!(by == 2 || best == CandidateId(0));
        }
    }
}

fn parents(events: &[Event]) -> Vec<&IterationOpened> {
    let opened = events.iter().filter_map(|event| match event {
        Event::IterationOpened(opened) => Some(opened),
        _ => None,
    });
    opened.collect()
}

#[test]
fn every_strategy_makes_kernels_faster() {
    for name in names() {
        let (search, _) = run(
            SearchSettings {
                iterations: 12,
                ..with(name)
            },
            3,
            Seed(1),
        );
        assert!(search.best().unwrap().cost.value < 1400, "{name}");
    }
}

#[test]
fn a_search_ends_at_the_floor() {
    let settings = SearchSettings {
        iterations: 100,
        ..with("beam")
    };
    let (search, _) = run(settings, 1, Seed(1));
    assert_eq!(search.finish(), Some(FinishReason::Floor));
    assert_eq!(search.best().unwrap().cost.value, 1000);
}

#[test]
fn a_search_ends_near_the_floor_when_no_gain_that_counts_is_left() {
    let finish = |floor: u64, patience: u32| {
        let settings = SearchSettings {
            iterations: 30,
            least_gain: 0.1,
            patience,
            ..with("beam")
        };
        let world = World {
            floor,
            ..World::default()
        };
        let (search, events) = run_in(world, settings, 1, Seed(1));
        let costs: Vec<u64> = events
            .iter()
            .filter_map(|it| match it {
                Event::IterationClosed(it) => {
                    Some(it.candidates.iter().map(|it| it.cost.value).min())
                }
                _ => None,
            })
            .flatten()
            .collect();
        (search.finish(), search.best().unwrap().cost.value, costs)
    };
    let (reason, best, costs) = finish(990, 20);
    assert_eq!(reason, Some(FinishReason::Floor));
    // The iteration that comes near is the last one.
    let (last, before) = costs.split_last().unwrap();
    assert_eq!(best, *last);
    assert!((1001..=1100).contains(last), "{costs:?}");
    assert!(before.iter().all(|it| 1100 < *it), "{costs:?}");
    // Whoever has endless patience wants the small gains, too.
    let (reason, best, _) = finish(990, 0);
    assert_eq!((reason, best), (Some(FinishReason::Iterations), 1000));
    // What only the problem says is tried before it is believed: here the first drafts refute it.
    let (_, _, costs) = finish(before[0] + 1, 20);
    assert_eq!(costs[0], before[0]);
}

/// Each place goes from a kernel to what came of its own drafts on it, or stays.
#[test]
fn chains_and_walks_keep_to_themselves() {
    for name in ["best-of-n", "random"] {
        let settings = SearchSettings {
            iterations: 8,
            ..with(name)
        };
        let world = World {
            floor: 1,
            ..World::default()
        };
        let (search, events) = run_in(world, settings, 4, Seed(1));
        let opened = parents(&events);
        let sources_at = |iteration: u32, place: usize| {
            events.iter().filter_map(move |event| match event {
                Event::Evaluated(it)
                    if it.key.iteration == iteration && it.key.parent as usize == place =>
                {
                    Some(it.source)
                }
                _ => None,
            })
        };
        let cost = |id: CandidateId| search.candidate(id).unwrap().cost;
        for pair in opened.windows(2) {
            for (place, (before, after)) in pair[0].parents.iter().zip(&pair[1].parents).enumerate()
            {
                let source = search.candidate(*after).unwrap().source;
                let mut made = sources_at(pair[0].iteration, place);
                assert!(before == after || made.any(|it| it == source), "{name}");
                assert!(name == "random" || cost(*after) <= cost(*before));
            }
        }
        let last: std::collections::BTreeSet<_> = opened.last().unwrap().parents.iter().collect();
        assert!(1 < last.len(), "{name}: places go apart");
    }
}

#[test]
fn hill_climbing_works_on_the_best_alone() {
    let (search, events) = run(with("hill-climbing"), 2, Seed(1));
    let mut best = u64::MAX;
    for opened in parents(&events) {
        assert!(opened.parents.iter().all(|id| *id == opened.parents[0]));
        let cost = search.candidate(opened.parents[0]).unwrap().cost.value;
        assert!(cost <= best);
        best = cost;
    }
}

/// But for migration, islands breed their own; all kernels at places are elites.
#[test]
fn islands_meet_only_when_they_migrate() {
    let settings = SearchSettings {
        iterations: 9,
        beam: 6,
        ..with("evolutionary")
    };
    let world = World {
        floor: 1,
        ..World::default()
    };
    let (search, events) = run_in(world, settings, 7, Seed(1));
    let mut foreign = 0;
    for opened in parents(&events) {
        for (place, id) in opened.parents.iter().enumerate() {
            let candidate = search.candidate(*id).unwrap();
            let is_own =
                candidate.key.iteration == 0 || candidate.key.parent as usize % 2 == place % 2;
            let is_migration = 1 < opened.iteration && (opened.iteration - 1) % 3 == 0;
            assert!(is_own || (is_migration && place < 2));
            foreign += usize::from(!is_own);
        }
    }
    assert!(0 < foreign);
    let last = parents(&events).pop().unwrap();
    let distinct: std::collections::BTreeSet<_> = last.parents.iter().collect();
    assert!(2 < distinct.len());
}

/// Returns a search of which a single verdict is open, in an iteration with several
/// survivors, if it comes to that.
fn with_one_open_task(strategy: &str, seed: u64) -> Option<(World, Search)> {
    let mut world = World::default();
    let mut search = Search::new(started(&mut world, with(strategy), seed)).unwrap();
    loop {
        while let Some(event) = search.due() {
            search.apply(&event).unwrap();
        }
        let tasks = search.ready();
        if let [Task::Evaluate { key, .. }] = &tasks[..]
            && 1 < key.iteration
            && search.iteration() < 6
        {
            return Some((world, search));
        }
        let event = world.perform(tasks.last()?);
        search.apply(&event).unwrap();
    }
}

/// Why an iteration begins when the one before is complete, and not when most of it is: the
/// last verdict decides at which place each parent stands, so that every task of the next
/// iteration, with its key and its seed, depends on it.
#[test]
fn the_last_verdict_of_an_iteration_decides_about_every_place_of_the_next() {
    for name in ["beam", "hill-climbing"] {
        let found = (0..50).find_map(|seed| with_one_open_task(name, seed));
        let (world, search) = found.unwrap();
        let next_with = |cycles: u64| {
            let mut search = search.clone();
            let tasks = search.ready();
            let mut event = World {
                points: world.points.clone(),
                ..World::default()
            }
            .perform(&tasks[0]);
            let Event::Evaluated(evaluated) = &mut event else {
                panic!("{name}: another task is left")
            };
            let evaluation = std::sync::Arc::make_mut(&mut evaluated.evaluation);
            evaluation.outcome = autocomp_core::Outcome::Ok;
            evaluation.diagnostics.clear();
            let source = evaluated.source;
            let mut measured = crate::world::evaluate(source, (1, 1), 1);
            let measurement = measured.measurement.as_mut().unwrap();
            measurement.cost = autocomp_core::Cost::cycles(cycles);
            evaluation.measurement = measured.measurement;
            search.apply(&event).unwrap();
            loop {
                let due = search.due().unwrap();
                search.apply(&due).unwrap();
                if let Event::IterationOpened(opened) = due {
                    let sources = opened.parents.iter();
                    return sources
                        .map(|id| search.candidate(*id).unwrap().source)
                        .collect::<Vec<_>>();
                }
            }
        };
        // Slower than all survivors, and faster than all.
        let (slow, fast) = (next_with(1_000_000), next_with(2));
        let places = slow.iter().zip(&fast);
        assert!(
            places.clone().count() == 4 && places.clone().all(|(a, b)| a != b),
            "{name}"
        );
    }
}
