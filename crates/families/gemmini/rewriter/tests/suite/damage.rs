//! Texts that are no kernels, and kernels that are damaged.

use crate::int8_16;
use autocomp_gemmini_rewriter::GemminiRewriter;
use proptest::prelude::*;

const PLAIN: &str = include_str!("../spellings/plain.c");

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text_does_not_panic(text in "\\PC{0,200}") {
        let _ = GemminiRewriter::new(int8_16()).proposals(&text);
    }

    #[test]
    fn damaged_kernels_do_not_panic(
        cuts in proptest::collection::vec((0usize..1500, 0usize..12, "[-+*/%&|(){};<0-9a-z ]{0,6}"), 1..5)
    ) {
        let mut text = PLAIN.to_owned();
        for (from, length, insert) in cuts {
            let from = from.min(text.len());
            let to = (from + length).min(text.len());
            text.replace_range(from..to, &insert);
        }
        let rewriter = GemminiRewriter::new(int8_16());
        if let Ok(proposals) = rewriter.proposals(&text) {
            for proposal in proposals.iter().take(6) {
                let _ = rewriter.offered(&text, &proposal.parameters);
            }
        }
    }
}
