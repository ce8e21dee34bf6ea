//! Texts of causes.

use autocomp_catalog::Catalog;
use autocomp_gemmini_family::inside::texts;
use autocomp_gemmini_family::profile::{Cause, Removal};
use std::collections::BTreeSet;

/// Names by which texts call habits.
const NAMES: [&str; 6] = [
    "moves-once",
    "multiplies-nothing",
    "fences-once",
    "wide-moves",
    "wide-stores",
    "works-on-vectors",
];

#[test]
fn all_that_can_be_named_has_its_words_and_nothing_else_has() {
    let found = texts();
    assert_eq!(found.causes.len(), Cause::ALL.len());
    assert_eq!(found.experiments.len(), Removal::ALL.len());
    let catalog = Catalog::built_in().expect("built-in data");
    let target = catalog.target("gemmini-int8-16").expect("a target");
    let menu: BTreeSet<&str> = target.menu.iter().map(|it| it.id.as_str()).collect();
    for cause in Cause::ALL {
        let text = &found.causes[cause.name()];
        assert!(!text.summary.is_empty(), "{cause:?}");
        assert!(!text.explanation.is_empty(), "{cause:?}");
        assert_eq!(text.remedies.is_empty(), text.menu.is_empty(), "{cause:?}");
        for item in &text.menu {
            assert!(menu.contains(item.as_str()), "{cause:?}: {item}");
        }
        for habit in text.remedies.iter().filter_map(|it| it.unless.as_deref()) {
            assert!(NAMES.contains(&habit), "{cause:?}: {habit}");
        }
    }
    for removal in Removal::ALL {
        assert!(!removal.machine().is_empty(), "{removal:?}");
    }
}
