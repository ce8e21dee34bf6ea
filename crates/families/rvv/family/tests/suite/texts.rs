//! Texts that are data.

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
    for name in &there {
        let quoted = format!("\"{name}\"");
        assert!(code.contains(&quoted), "nobody tells {name}");
    }
    let said = ["say(", "filled(", "said("].map(|call| {
        let calls = code.split(call).skip(1);
        let names = calls.filter_map(|it| it.trim_start().strip_prefix('"')?.split('"').next());
        names.collect::<Vec<_>>()
    });
    let said = said.concat();
    assert!(10 < said.len(), "{said:?}");
    for name in said {
        assert!(there.contains(name), "{name} has no sentence");
    }
}
