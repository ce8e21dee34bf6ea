//! Texts that are data.

use crate::told::each_is_told;
use autocomp_riscv::Cause;
use autocomp_rvv::inside::TEXTS;
use std::collections::BTreeSet;

#[test]
fn each_cause_has_its_words_and_nothing_else_has() {
    let told = &TEXTS.causes;
    assert_eq!(told.names().count(), Cause::ALL.len());
    for cause in Cause::ALL {
        let text = told.get(cause.name()).expect("a cause without words");
        assert!(!text.meaning.is_empty() && !text.remedy.is_empty());
    }
}

#[test]
fn each_sentence_is_told_and_there_is_each_that_is() {
    let code = [
        include_str!("../../src/experiment.rs"),
        include_str!("../../src/platform.rs"),
        include_str!("../../src/profile.rs"),
        include_str!("../../src/remedies.rs"),
        include_str!("../../src/vector_work.rs"),
    ]
    .concat();
    let texts = [
        &TEXTS.sentences,
        &TEXTS.experiments,
        &TEXTS.others,
        &TEXTS.remedies,
    ];
    let there: BTreeSet<&str> = texts.into_iter().flat_map(|it| it.names()).collect();
    let count = each_is_told(&code, &there, &["say(", "filled(", "said("]);
    assert!(10 < count, "{count}");
}
