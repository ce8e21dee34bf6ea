//! What the settings of the method do: exhaustive plans, translation, menu items of
//! models, slack by iteration, and choices by what helped.

use crate::world::{World, cycles, run_in, settings, translations};
use autocomp_core::{
    CandidateId, Event, Exhaustive, IterationOpened, MenuItem, PlanKind, Proposal, SearchSettings,
    Seed,
};
use autocomp_search::{Search, Task};
use std::collections::{BTreeMap, BTreeSet};

fn endless() -> World {
    World {
        floor: 1,
        ..World::default()
    }
}

fn opened(events: &[Event]) -> Vec<&IterationOpened> {
    let opened = events.iter().filter_map(|event| match event {
        Event::IterationOpened(opened) => Some(opened),
        _ => None,
    });
    opened.collect()
}

/// Returns the menus that plans of single steps saw, by iteration, as identifiers.
fn menus(events: &[Event]) -> Vec<(u32, CandidateId, Vec<String>)> {
    let mut search: Option<Search> = None;
    let mut menus = Vec::new();
    for event in events {
        let Some(search) = &mut search else {
            let Event::Started(started) = event else {
                panic!("a run begins with its start");
            };
            search = Some(Search::new(started.clone()).unwrap());
            continue;
        };
        if let Event::Planned(planned) = event
            && let Some(Task::Plan {
                kind: PlanKind::Step,
                menu,
                parent,
                ..
            }) = search.proposal_task(planned.key)
        {
            let ids = menu.into_iter().map(|item| item.id).collect();
            menus.push((planned.key.iteration, parent, ids));
        }
        search.apply(event).unwrap();
    }
    menus
}

/// Plans of one kind for a kernel are numbered over all places that hold it.
#[test]
fn plans_for_a_kernel_are_numbered() {
    let (_, events) = run_in(endless(), settings(), 11, Seed(1));
    let mut search: Option<Search> = None;
    let mut numbers: BTreeMap<_, Vec<(u32, u32)>> = BTreeMap::new();
    for event in &events {
        let Some(search) = &mut search else {
            search = Some(Search::fold([event]).unwrap());
            continue;
        };
        if let Event::Planned(planned) = event
            && let Some(Task::Plan {
                key,
                kind,
                parent,
                place,
                number,
                ..
            }) = search.proposal_task(planned.key)
        {
            let same = (key.iteration, parent, format!("{kind:?}"));
            numbers.entry(same).or_default().push((place, number));
        }
        search.apply(event).unwrap();
    }
    let mut most = 0;
    for of_one in numbers.values_mut() {
        of_one.sort_unstable();
        let place = of_one[0].0;
        let numbered = (0..of_one.len() as u32).map(|number| (place, number));
        assert!(numbered.eq(of_one.iter().copied()), "{of_one:?}");
        most = most.max(of_one.len());
    }
    assert!(search.unwrap().started().settings.plans < most as u32);
}

/// Every item has a turn on the best survivors, none has two on the same, and the number
/// of drafts is what it would be.
#[test]
fn exhaustive_plans_go_through_the_menu() {
    let settings = SearchSettings {
        exhaustive: Exhaustive::Always,
        ..settings()
    };
    let (_, events) = run_in(endless(), settings.clone(), 3, Seed(1));
    let mut turns: BTreeMap<CandidateId, BTreeSet<&str>> = BTreeMap::new();
    for opened in opened(&events) {
        let drafts: u32 = opened.slots.iter().flatten().sum();
        assert_eq!(drafts, settings.drafts_per_iteration());
        let first = opened.parents[0];
        for (parent, kinds) in opened.parents.iter().zip(&opened.kinds) {
            for kind in kinds {
                if let PlanKind::Exhaustive { item } = kind {
                    assert!(turns.entry(*parent).or_default().insert(item), "twice");
                }
            }
        }
        assert_eq!(turns[&first], BTreeSet::from(["a", "b", "c"]));
    }
}

#[test]
fn stagnation_brings_every_item_its_turn() {
    let settings = SearchSettings {
        exhaustive: Exhaustive::Stalled,
        iterations: 40,
        ..settings()
    };
    let (search, events) = run_in(endless(), settings, 3, Seed(1));
    let mut best = search.candidates()[0].cost;
    let mut n_exhaustive = 0;
    let is_exhaustive = |opened: &IterationOpened| {
        let mut kinds = opened.kinds.iter().flatten();
        kinds.any(|kind| matches!(kind, PlanKind::Exhaustive { .. }))
    };
    let opened = opened(&events);
    for (before, after) in opened.iter().zip(&opened[1..]) {
        let made = search.candidates().iter();
        let made = made.filter(|it| it.key.iteration == before.iteration);
        let cost = made.map(|it| it.cost).min().unwrap_or(best).min(best);
        let gains = (cost.value as f64) < best.value as f64 * 0.995;
        if gains {
            best = cost;
        }
        assert!(!(gains && is_exhaustive(after)), "{}", after.iteration);
        n_exhaustive += u32::from(is_exhaustive(after));
    }
    assert!(!is_exhaustive(opened[0]) && 0 < n_exhaustive);
}

/// From x = 8 on a kernel is translated, and there the way is uphill.
fn abroad() -> World {
    World {
        translated: Some(|(x, _)| 12.5 * x.clamp(0, 8) as f64),
        set_aside: translations(),
        step: 5,
        floor: 1,
        ..World::default()
    }
}

/// Returns whether an iteration translates, if `last` are to at most: as long as nothing is
/// translated.
fn translates(search: &Search, events: &[Event], iteration: u32, last: u32) -> bool {
    let opened = opened(events);
    let parents = &opened[iteration as usize - 1].parents;
    let is_translated = |id: &CandidateId| search.candidate(*id).unwrap().is_translated();
    iteration <= last && !parents.iter().any(is_translated)
}

#[test]
fn translation_ends_when_nothing_is_left_of_the_original() {
    let settings = SearchSettings {
        translation: 6,
        slack: 1.0,
        iterations: 8,
        ..settings()
    };
    let (search, events) = run_in(abroad(), settings.clone(), 5, Seed(1));
    let n_translating = (1..=8).filter(|it| translates(&search, &events, *it, 6));
    assert!((1..6).contains(&n_translating.count()));
    for (iteration, _, menu) in menus(&events) {
        let is_own = menu
            .iter()
            .any(|id| ["move", "compute"].contains(&id.as_str()));
        assert_eq!(
            is_own,
            translates(&search, &events, iteration, 6),
            "{iteration}"
        );
    }
    // What is translated from the beginning is not translated again.
    let at_home = World {
        translated: Some(|_| 100.0),
        ..abroad()
    };
    let (_, events) = run_in(at_home, settings, 5, Seed(1));
    for (_, _, menu) in menus(&events) {
        assert!(
            !menu
                .iter()
                .any(|id| ["move", "compute"].contains(&id.as_str()))
        );
    }
}

#[test]
fn translation_has_its_own_menu_slack_and_end() {
    let with = |translation: u32, drop_original: bool| SearchSettings {
        translation,
        drop_original,
        slack: 1.0,
        iterations: 8,
        ..settings()
    };
    let (search, events) = run_in(abroad(), with(3, true), 5, Seed(1));
    for (iteration, _, menu) in menus(&events) {
        let is_own = |id: &&String| ["move", "compute"].contains(&id.as_str());
        let n_own = menu.iter().filter(is_own).count();
        if translates(&search, &events, iteration, 3) {
            assert_eq!((n_own, menu.len()), (1, 2), "{menu:?}");
        } else {
            assert_eq!(n_own, 0, "{menu:?}");
        }
        assert!(menu.contains(&MenuItem::OTHER.to_owned()));
    }
    let percent = |id: &CandidateId| {
        let candidate = search.candidate(*id).unwrap();
        candidate.evaluation.translated_percent()
    };
    for opened in opened(&events) {
        let least = opened.parents.iter().map(percent).fold(100.0, f64::min);
        let most = opened.parents.iter().map(percent).fold(0.0, f64::max);
        if !translates(&search, &events, opened.iteration, 3) {
            assert!(95.0 <= least, "originals have left: {least}");
        }
        // What is most translated stands first.
        if 1 < opened.iteration && opened.iteration <= 3 {
            assert_eq!(percent(&opened.parents[0]), most);
        }
    }
    // Without the rule, and without the phase, originals may stay.
    for (settings, place) in [(with(3, false), 3), (with(0, true), 1)] {
        let (search, events) = run_in(abroad(), settings, 5, Seed(1));
        let after = opened(&events)[place];
        let percent = |id: &CandidateId| {
            let candidate = search.candidate(*id).unwrap();
            candidate.evaluation.translated_percent()
        };
        assert!(after.parents.iter().any(|id| percent(id) < 95.0));
    }
}

/// Slower children survive as far as the slack of their iteration goes.
#[test]
fn slack_changes_from_iteration_to_iteration() {
    let settings = SearchSettings {
        early_slack: vec![1.0, 1.5, 1.5, 1.5],
        slack: 1.0,
        newcomers: 5,
        beam: 6,
        plans: 2,
        drafts: 1,
        iterations: 12,
        ..settings()
    };
    let (search, events) = run_in(endless(), settings, 5, Seed(1));
    let slower = |iteration: u32| {
        let opened = opened(&events);
        let opened = opened.iter().find(|it| it.iteration == iteration).unwrap();
        let parents = opened.parents.iter();
        let candidates = parents.map(|id| search.candidate(*id).unwrap());
        let new = candidates.filter(|it| it.key.iteration + 1 == iteration);
        let is_slower = |it: &&autocomp_search::Candidate| {
            let parent = it.parent.and_then(|id| search.candidate(id));
            parent.is_some_and(|parent| parent.cost < it.cost)
        };
        new.filter(is_slower).count()
    };
    assert!(0 < (3..=5).map(slower).sum::<usize>());
    assert_eq!((6..=12).map(slower).sum::<usize>(), 0);
}

/// Items are written once for each survivor, before it is planned for, and its plans alone
/// can choose them.
#[test]
fn ideas_are_asked_for_once_and_shown_to_their_kernel() {
    let settings = SearchSettings {
        ideas: 2,
        menu_dropout: 0.0,
        ..settings()
    };
    let (_, events) = run_in(endless(), settings, 3, Seed(9));
    let mut made: BTreeMap<CandidateId, bool> = BTreeMap::new();
    let mut parents: Vec<CandidateId> = Vec::new();
    for event in &events {
        match event {
            Event::IterationOpened(opened) => parents.clone_from(&opened.parents),
            Event::Ideas(ideas) => {
                let parent = parents[ideas.key.parent as usize];
                let is_made = matches!(ideas.result, Proposal::Made(_));
                assert!(made.insert(parent, is_made).is_none(), "asked twice");
            }
            Event::Planned(planned) => {
                assert!(made.contains_key(&parents[planned.key.parent as usize]));
            }
            _ => {}
        }
    }
    assert!(made.values().any(|it| *it) && made.values().any(|it| !*it));
    for (_, parent, menu) in menus(&events) {
        let n_ideas = menu.iter().filter(|id| id.starts_with("idea-")).count();
        assert_eq!(n_ideas, if made[&parent] { 2 } else { 0 });
    }
}

/// Menus are drawn by what helped, all of the same size (what the draws prefer is tested
/// where they are made).
#[test]
fn the_bandit_draws_other_menus_of_equal_size() {
    let shown = |bandit: bool| {
        let settings = SearchSettings {
            bandit,
            iterations: 12,
            ..settings()
        };
        let (search, events) = run_in(endless(), settings, 3, Seed(9));
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for (_, _, menu) in menus(&events) {
            for id in menu {
                *counts.entry(id).or_default() += 1;
            }
        }
        (search.best().unwrap().cost.value, counts)
    };
    let (with, without) = (shown(true), shown(false));
    assert_ne!(with.1, without.1);
    assert_eq!(with.1["other"], without.1["other"], "every plan sees it");
    assert!(with.0 <= cycles((0, 0)));
}
