//! Texts that are data.

use autocomp_riscv::Cause;
use autocomp_rvv::inside::TEXTS;

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
fn each_sentence_is_told() {
    let code = [
        include_str!("../../src/remedies.rs"),
        include_str!("../../src/vector_work.rs"),
    ];
    let names = TEXTS.sentences.names().chain(TEXTS.remedies.names());
    let mut count = 0;
    for name in names {
        let quoted = format!("\"{name}\"");
        assert!(
            code.iter().any(|it| it.contains(&quoted)),
            "nobody tells {name}"
        );
        count += 1;
    }
    assert!(8 < count, "{count}");
}
