//! Kernels that are equal to others, polish of the last survivors, confirmation,
//! niches and fronts.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::world::{World, form_of, run_in, settings};
use autocomp_core::{
    CandidateId, ContentHash, Duplicates, Event, IterationOpened, PlanKind, SearchSettings, Seed,
};
use std::collections::{BTreeMap, BTreeSet};

fn spelt(duplicates: Duplicates, seed: u64) -> (autocomp_search::Search, Vec<Event>) {
    let settings = SearchSettings {
        duplicates,
        iterations: 8,
        ..settings()
    };
    let world = World {
        spellings: 4,
        floor: 1,
        ..World::default()
    };
    run_in(world, settings, seed, Seed(seed))
}

/// What an earlier iteration has evaluated is not evaluated in another spelling.
#[test]
fn equal_forms_are_evaluated_once() {
    let mut n_equal = 0;
    for seed in 0..5 {
        let (search, events) = spelt(Duplicates::Form, seed);
        let mut forms: BTreeMap<ContentHash, ContentHash> = BTreeMap::new();
        let mut known = BTreeMap::from([(form_of((0, 0)), search.started().baseline)]);
        let mut open = Vec::new();
        let mut evaluated = BTreeSet::from([search.started().baseline]);
        for event in &events {
            match event {
                Event::Drafted(it) => {
                    if let autocomp_core::Proposal::Made(draft) = &it.result {
                        forms.insert(draft.source, draft.form.unwrap());
                    }
                }
                Event::Evaluated(it) if it.key.iteration != 0 => {
                    let form = forms[&it.source];
                    match it.same_as {
                        Some(same) => {
                            n_equal += 1;
                            assert_eq!(known.get(&form), Some(&same));
                            assert_ne!(same, it.source);
                            assert_eq!(search.equal_to(it.source), Some(same));
                        }
                        None => {
                            // Otherwise it has the very text of one that was.
                            let is_new = evaluated.insert(it.source);
                            assert!(!is_new || !known.contains_key(&form));
                            open.push((it.key, form, it.source));
                        }
                    }
                }
                Event::IterationClosed(_) => {
                    open.sort_unstable();
                    for (_, form, source) in open.drain(..) {
                        known.entry(form).or_insert(source);
                    }
                }
                _ => {}
            }
        }
        assert_eq!(search.progress().equal, n_equal_of(&events));
        // No two candidates of different iterations are equal.
        let mut first: BTreeMap<ContentHash, u32> = BTreeMap::new();
        for candidate in &search.candidates()[1..] {
            let iteration = candidate.key.iteration;
            let before = first.entry(forms[&candidate.source]).or_insert(iteration);
            assert_eq!(*before, iteration, "{}", candidate.id);
        }
    }
    assert!(20 < n_equal);
}

fn n_equal_of(events: &[Event]) -> u32 {
    let is_equal = |event: &&Event| matches!(event, Event::Evaluated(it) if it.same_as.is_some());
    events.iter().filter(is_equal).count() as u32
}

#[test]
fn texts_alone_count_where_that_is_asked_for() {
    let (by_text, events) = spelt(Duplicates::Text, 3);
    assert_eq!(n_equal_of(&events), 0);
    let (by_form, _) = spelt(Duplicates::Form, 3);
    assert!(by_form.n_evaluations() < by_text.n_evaluations());
}

/// Every survivor of the last iteration that never had a place is polished before the
/// run ends, whatever it ends for.
#[test]
fn the_last_survivors_are_polished() {
    let bounds = [
        (4, None, 0),
        (60, None, 2),
        (60, Some(60), 0),
        (6, Some(35), 0),
    ];
    let mut n_polished = 0;
    for (iterations, max_evaluations, patience) in bounds {
        let settings = SearchSettings {
            polish: 2,
            iterations,
            max_evaluations,
            patience,
            ..settings()
        };
        let world = World {
            floor: 1,
            ..World::default()
        };
        let (search, events) = run_in(world, settings, 2, Seed(1));
        let opened: Vec<&IterationOpened> = events
            .iter()
            .filter_map(|event| match event {
                Event::IterationOpened(opened) => Some(opened),
                _ => None,
            })
            .collect();
        let is_alone = |opened: &IterationOpened| {
            let mut kinds = opened.kinds.iter().flatten();
            opened.kinds.iter().any(|it| !it.is_empty())
                && kinds.all(|kind| matches!(kind, PlanKind::Polish { .. }))
        };
        let last = opened.iter().rposition(|it| !is_alone(it)).unwrap();
        let placed: BTreeSet<CandidateId> = opened[..=last]
            .iter()
            .flat_map(|it| it.parents.clone())
            .collect();
        let beam = events.iter().find_map(|event| match event {
            Event::IterationClosed(closed) if closed.iteration as usize == last + 1 => {
                Some(closed.beam.iter().copied().collect::<BTreeSet<_>>())
            }
            _ => None,
        });
        let new: Vec<CandidateId> = beam.unwrap().difference(&placed).copied().collect();
        let polished: Vec<CandidateId> = opened
            .get(last + 1)
            .map_or_else(Vec::new, |it| it.parents.clone());
        assert!(polished.iter().all(|id| new.contains(id)));
        n_polished += polished.len();
        match max_evaluations {
            None => assert_eq!(polished.len(), new.len()),
            Some(most) => {
                assert!(search.n_evaluations() <= most);
                let is_spent = search.n_evaluations() == most;
                assert!(new.is_empty() || !polished.is_empty() || is_spent);
            }
        }
    }
    assert!(2 < n_polished, "{n_polished}");
}

/// The best kernel that is left is confirmed; those that failed are gone.
#[test]
fn kernels_that_cannot_be_confirmed_are_struck() {
    let mut n_struck = 0;
    for seed in 0..6 {
        let settings = SearchSettings {
            confirm: 2,
            iterations: 8,
            ..settings()
        };
        let world = World {
            is_faulty: true,
            floor: 1,
            ..World::default()
        };
        let (search, _) = run_in(world, settings, seed, Seed(seed));
        assert!(search.finish().is_some());
        let struck: BTreeSet<CandidateId> = search
            .candidates()
            .iter()
            .map(|it| it.id)
            .filter(|id| search.is_struck(*id))
            .collect();
        n_struck += struck.len();
        let best = search.best().unwrap();
        let standing = search.candidates().iter();
        let standing = standing.filter(|it| !struck.contains(&it.id));
        assert_eq!(Some(best.cost), standing.map(|it| it.cost).min());
        assert!(search.beam().iter().all(|id| !struck.contains(id)));
        let confirmed: BTreeSet<CandidateId> =
            search.confirmations().map(|(id, _, _)| id).collect();
        assert!(confirmed.contains(&best.id.unwrap()));
        for id in search.beam() {
            let lineage = search.lineage(*id);
            let descends = lineage
                .iter()
                .any(|it| it.id.is_some_and(|it| struck.contains(&it)));
            assert!(!descends || confirmed.contains(id), "{id} was not examined");
        }
    }
    assert!(3 < n_struck);
}

/// With places for niches, techniques survive that are not among the cheapest.
#[test]
fn niches_keep_techniques_apart() {
    let techniques = |niches: u32| {
        let mut n_techniques = 0;
        for seed in 0..6 {
            let settings = SearchSettings {
                niches,
                newcomers: 0,
                menu_dropout: 0.0,
                ..settings()
            };
            let world = World {
                floor: 1,
                ..World::default()
            };
            let (search, _) = run_in(world, settings, seed, Seed(1));
            let item = |id: &CandidateId| {
                let plan = search.candidate(*id).unwrap().plan.as_ref();
                plan.map(|it| it.menu_item.clone())
            };
            let best = search.best().unwrap();
            assert_eq!(
                search.beam()[0],
                best.id.unwrap(),
                "the best keeps its place"
            );
            let items: BTreeSet<_> = search.beam().iter().map(item).collect();
            n_techniques += items.len();
        }
        n_techniques
    };
    assert!(techniques(0) < techniques(3));
}

#[test]
fn a_front_has_what_nothing_beats() {
    let (search, _) = run_in(World::default(), settings(), 1, Seed(1));
    let objectives = ["instructions".to_owned()];
    assert_eq!(search.objectives(), objectives);
    let front = search.pareto_front(&objectives);
    assert!(1 < front.len());
    assert_eq!(front[0].id, search.best().unwrap().id.unwrap());
    let figures = |id: CandidateId| {
        let candidate = search.candidate(id).unwrap();
        let measurement = candidate.evaluation.measurement.as_ref().unwrap();
        (candidate.cost.value, measurement.figures["instructions"])
    };
    for candidate in search.candidates() {
        let (cost, instructions) = figures(candidate.id);
        let is_in = front.iter().any(|it| it.id == candidate.id);
        let beats = |it: &autocomp_search::FrontEntry| {
            let (other, others) = figures(it.id);
            it.id != candidate.id && other <= cost && others <= instructions
        };
        assert_eq!(is_in, !front.iter().any(beats), "{}", candidate.id);
    }
    assert_eq!(search.pareto_front(&[]).len(), 1);
    assert!(search.pareto_front(&["beauty".to_owned()]).is_empty());
}
