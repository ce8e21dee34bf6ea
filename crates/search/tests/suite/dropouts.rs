//! What is left of a menu.

use autocomp_core::{MenuItem, Seed};
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
        let kept = menu_after_dropout(&menu, dropout, Seed(seed));
        prop_assert!(kept.iter().any(|item| item.id == MenuItem::OTHER));
        let again = menu_after_dropout(&menu, dropout, Seed(seed ^ 1));
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
    assert_eq!(menu_after_dropout(&menu(17), 0.0, Seed(3)), menu(17));
}

#[test]
fn every_item_is_kept_about_equally_often() {
    let menu = menu(10);
    let mut counts = [0; 10];
    for seed in 0..4000 {
        for item in menu_after_dropout(&menu, 0.7, Seed(seed)) {
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
