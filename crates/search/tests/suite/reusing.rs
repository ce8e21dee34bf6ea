//! Schedules of other runs, replayed step by step.

use crate::world::{World, go_on, run_in, settings, started};
use autocomp_core::{
    Event, IterationOpened, PlanKind, PlanRecord, SearchSettings, Seed, canonical_history,
};
use autocomp_search::{REGISTRY, Search};
use proptest::prelude::{ProptestConfig, prop_assert, prop_assert_eq, proptest};

/// Steps over the ridge and towards the best point; the third is wrong where it is
/// tried, and the fifth costs more than the slack allows.
const STEPS: [(i64, i64); 6] = [(7, 3), (3, 9), (-30, 0), (5, 5), (-9, -9), (3, 6)];

/// A world with a schedule whose drafts always come.
fn world() -> World {
    let mut world = World::default();
    world.reused = STEPS
        .into_iter()
        .map(|step| PlanRecord {
            menu_item: "a".to_owned(),
            proposer: "other run".to_owned(),
            plan: world.name(step),
        })
        .collect();
    world
}

fn openings(events: &[Event]) -> impl Iterator<Item = &IterationOpened> {
    events.iter().filter_map(|event| match event {
        Event::IterationOpened(opened) => Some(opened),
        _ => None,
    })
}

fn is_reused(kind: &PlanKind) -> bool {
    matches!(kind, PlanKind::Reused { .. })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Every strategy replays a step in each of the first iterations, explores with its
    /// share meanwhile, keeps to its evaluations, and takes the same course in any order
    /// of completion and after a kill between any two events.
    #[test]
    fn a_schedule_is_replayed_beside_the_search(
        seed in 0..1000_u64,
        orders in [0..1000_u64, 0..1000],
        beam in 1..6_u32,
        explore in 0.1..0.9_f64,
        strategy in 0..REGISTRY.len(),
        most in proptest::option::of(2..40_u32),
        repairs in 0..3_u32,
        cut in 0.0..1.0_f64,
    ) {
        let settings = SearchSettings {
            strategy: REGISTRY[strategy].name().to_owned(),
            iterations: 9,
            max_evaluations: most,
            beam,
            explore,
            repairs,
            ..settings()
        };
        let run = |order| run_in(world(), settings.clone(), seed, Seed(order));
        let (search, events) = run(orders[0]);
        let (_, others) = run(orders[1]);
        prop_assert_eq!(canonical_history(&events), canonical_history(&others));
        prop_assert!(most.is_none_or(|most| search.n_evaluations() <= most));

        let mut n_exploring = 0;
        for opened in openings(&events) {
            let kinds: Vec<&PlanKind> = opened.kinds.iter().flatten().collect();
            let n_reused = kinds.iter().filter(|kind| is_reused(kind)).count();
            let replays = opened.iteration as usize <= STEPS.len();
            prop_assert_eq!(n_reused, usize::from(replays));
            if replays {
                n_exploring += kinds.len() - n_reused;
                let share = n_exploring as f64 / (n_exploring as f64 + f64::from(opened.iteration));
                prop_assert!(most.is_some() || explore - 1e-6 <= share, "{share}");
                prop_assert!(opened.parents.len() == beam as usize);
            }
        }

        let cut = 1 + (cut * (events.len() - 1) as f64) as usize;
        let mut again = Search::fold(&events[..cut]).unwrap();
        let mut world = world();
        for x in -99..99 {
            for y in -99..99 {
                world.name((x, y));
            }
        }
        let mut resumed = events[..cut].to_vec();
        go_on(&mut world, &mut again, &mut resumed, &mut Seed(orders[1]));
        prop_assert_eq!(canonical_history(&events), canonical_history(&resumed));
    }
}

/// Steps that fail or cost more are left out, and the others go on from the last
/// good one; patience waits for the last step.
#[test]
fn steps_that_do_harm_are_left_out() {
    let mut world = world();
    let settings = SearchSettings {
        patience: 1,
        iterations: 7,
        ..settings()
    };
    let start = started(&mut world, settings, 4);
    let mut search = Search::new(start.clone()).unwrap();
    let mut events = vec![Event::Started(start)];
    go_on(&mut world, &mut search, &mut events, &mut Seed(1));
    let tips: Vec<_> = openings(&events)
        .filter(|opened| opened.kinds.iter().flatten().any(is_reused))
        .map(|opened| {
            let tip = opened.parents.last().unwrap();
            world.points[&search.candidate(*tip).unwrap().source]
        })
        .collect();
    assert_eq!(
        tips,
        [(0, 0), (7, 3), (10, 12), (10, 12), (15, 17), (15, 17)]
    );
    let last = search
        .candidates()
        .iter()
        .find(|it| world.points[&it.source] == (18, 23));
    assert!(
        last.is_some(),
        "the last step, behind those that were left out"
    );
}
