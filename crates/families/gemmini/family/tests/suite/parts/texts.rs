//! Texts of causes.

use crate::told::each_is_told;
use autocomp_catalog::Catalog;
use autocomp_gemmini_family::inside::TEXTS;
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
    assert_eq!(TEXTS.causes.names().count(), Cause::ALL.len());
    assert_eq!(TEXTS.experiments.names().count(), Removal::ALL.len());
    let catalog = Catalog::built_in().expect("built-in data");
    let target = catalog.target("gemmini-int8-16").expect("a target");
    let menu: BTreeSet<&str> = target.menu.iter().map(|it| it.id.as_str()).collect();
    for cause in Cause::ALL {
        let text = TEXTS.causes.of(cause.name());
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

/// Names in the code and names in the file are the same: a sentence that is not there would be
/// empty.
#[test]
fn each_sentence_is_told_and_there_is_each_that_is() {
    let code = [
        include_str!("../../../src/bottleneck.rs"),
        include_str!("../../../src/bottleneck/traffic.rs"),
        include_str!("../../../src/feedback.rs"),
    ]
    .concat();
    let there = [&TEXTS.limits, &TEXTS.sentences, &TEXTS.idle, &TEXTS.ways];
    let there: BTreeSet<&str> = there.into_iter().flat_map(|it| it.names()).collect();
    let count = each_is_told(&code, &there, &["say(", "filled("]);
    assert!(20 < count, "{count}");
}
