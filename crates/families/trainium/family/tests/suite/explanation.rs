//! Sentences that are data.

use autocomp_trainium_family::inside::SENTENCES;
use std::collections::BTreeSet;
use std::path::Path;

/// What the program says is what the file has: a sentence that is not there would be empty.
#[test]
fn each_sentence_is_said_and_there_is_each_that_is() {
    let source = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(name);
        std::fs::read_to_string(path).expect("a source")
    };
    let (explanation, cost) = (source("explanation.rs"), source("cost.rs"));
    let quoted = |text: &str| -> BTreeSet<String> {
        let parts = text.split('"').skip(1).step_by(2);
        parts.map(str::to_owned).collect()
    };
    let in_source = &quoted(&explanation) | &quoted(&cost);
    let there: BTreeSet<String> = SENTENCES.names().map(str::to_owned).collect();
    let unsaid: Vec<_> = there.difference(&in_source).collect();
    assert!(unsaid.is_empty(), "{unsaid:?}");
    let named = |text: &str, before: &str| -> Vec<String> {
        let mut parts = text.split(before).skip(1);
        let names = parts.by_ref().filter_map(|it| it.split('"').next());
        names.map(str::to_owned).collect()
    };
    let said = [named(&explanation, "say(\""), named(&cost, "say(\"")].concat();
    assert!(10 < said.len(), "{said:?}");
    for name in said {
        assert!(there.contains(&name), "{name} has no sentence");
    }
}
