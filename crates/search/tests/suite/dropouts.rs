//! What is left of a menu.

use crate::world::{World, evaluate, run_in, settings};
use autocomp_core::{ContentHash, Event, MenuItem, Proposal, SearchSettings, Seed};
use autocomp_search::menu_after_dropout;
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

fn menu(n_regular: usize) -> Vec<MenuItem> {
    let item = |id: String| MenuItem {
        id,
        text: String::new(),
        ..MenuItem::default()
    };
    let mut menu: Vec<MenuItem> = (0..n_regular).map(|idx| item(format!("m{idx}"))).collect();
    menu.push(item(MenuItem::OTHER.to_owned()));
    menu
}

proptest! {
    #[test]
    fn keeps_other_and_a_fixed_count(n in 1usize..40, dropout in 0.0f64..0.999, seed: u64) {
        let menu = menu(n);
        let kept = menu_after_dropout(&menu, None, dropout, Seed(seed));
        prop_assert!(kept.iter().any(|item| item.id == MenuItem::OTHER));
        let again = menu_after_dropout(&menu, None, dropout, Seed(seed ^ 1));
        prop_assert_eq!(kept.len(), again.len());
        prop_assert!(2 <= kept.len() && kept.len() <= menu.len());
        // In the menu's order, without repetition.
        let places: Vec<usize> = kept
            .iter()
            .map(|item| menu.iter().position(|other| other == item).unwrap())
            .collect();
        prop_assert!(places.is_sorted_by(|a, b| a < b));
    }
}

#[test]
fn no_dropout_keeps_the_menu() {
    assert_eq!(menu_after_dropout(&menu(17), None, 0.0, Seed(3)), menu(17));
}

#[test]
fn every_item_is_kept_about_equally_often() {
    let menu = menu(10);
    let mut counts = [0; 10];
    for seed in 0..4000 {
        for item in menu_after_dropout(&menu, None, 0.7, Seed(seed)) {
            if let Some(idx) = menu[..10].iter().position(|other| *other == item) {
                counts[idx] += 1;
            }
        }
    }
    // 1,200 expected each, standard deviation 29.
    assert!(
        counts.iter().all(|count| (1050..1350).contains(count)),
        "{counts:?}"
    );
}

#[test]
fn what_the_kernel_is_known_to_have_or_to_lack_is_not_drawn() {
    let mut menu = menu(10);
    for (idx, name, least) in [(1, "launches", 2), (4, "launches", 4), (6, "waves", 1)] {
        menu[idx].needs.insert(name.to_owned(), least);
    }
    let mut evaluation = evaluate(ContentHash::of(b"kernel"), (0, 0), 1);
    let measurement = evaluation.measurement.as_mut().expect("a measurement");
    measurement.figures.insert("launches".to_owned(), 3);
    let mut with_unknown = 0;
    for seed in 0..200 {
        let kept = menu_after_dropout(&menu, Some(&evaluation), 0.5, Seed(seed));
        let has = |idx: usize| kept.contains(&menu[idx]);
        assert!(has(1) && !has(4) && has(10), "{kept:?}");
        // Half of nine, and `other`.
        assert_eq!(kept.len(), 5 + 1);
        with_unknown += u32::from(has(6));
    }
    assert!((60..140).contains(&with_unknown), "{with_unknown}");
}

/// The world sees to it that no plan for a kernel is offered an item that it says nothing of.
#[test]
fn what_the_text_of_a_kernel_says_nothing_of_is_not_drawn() {
    for bandit in [false, true] {
        let world = World {
            lacks: |(x, _)| {
                let lacks: &[&str] = match x.rem_euclid(3) {
                    0 => &["a"],
                    1 => &["a", "b", "c"],
                    _ => &[],
                };
                lacks.iter().map(|it| (*it).to_owned()).collect()
            },
            ..World::default()
        };
        let settings = SearchSettings {
            bandit,
            ..settings()
        };
        let (_, events) = run_in(world, settings, 1, Seed(2));
        let mut chosen: Vec<String> = events
            .iter()
            .filter_map(|event| match event {
                Event::Planned(planned) => match &planned.result {
                    Proposal::Made(plan) => Some(plan.menu_item.clone()),
                    _ => None,
                },
                _ => None,
            })
            .collect();
        chosen.sort();
        chosen.dedup();
        assert_eq!(chosen, ["a", "b", "c", MenuItem::OTHER]);
    }
}
