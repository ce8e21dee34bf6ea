//! Sentences that are data.

use crate::told::each_is_told;
use autocomp_trainium_family::inside::SENTENCES;

/// What the program says is what the file has.
#[test]
fn each_sentence_is_said_and_there_is_each_that_is() {
    let code = [
        include_str!("../../src/explanation.rs"),
        include_str!("../../src/cost.rs"),
        include_str!("../../src/neuron/bench.rs"),
    ]
    .concat();
    let count = each_is_told(&code, &SENTENCES.names().collect(), &["say("]);
    assert!(10 < count, "{count}");
}
