//! Words of a source.

use autocomp_c::inside::tokens;
use proptest::prelude::*;

#[test]
fn comments_and_literals_hide_words_and_splices_do_not() {
    let words: Vec<String> = tokens("a /* asm */ \"asm\" // asm\n as\\\nm 'b' %:include")
        .iter()
        .map(|token| token.word().to_owned())
        .filter(|word| !word.is_empty())
        .collect();
    assert_eq!(words, ["a", "asm", "include"]);
}

proptest! {
    #[test]
    fn any_text_is_survived(text in "([a-z/*\"'\\\\\n #<%:>{}]|.){0,80}") {
        let lines = 1 + text.matches('\n').count() as u32;
        for token in tokens(&text) {
            prop_assert!(1 <= token.line && token.line <= lines && 1 <= token.column);
        }
    }
}
