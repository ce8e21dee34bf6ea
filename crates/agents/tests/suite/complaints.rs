//! What is said of unusable replies.

use autocomp_agents::inside::{Complaint, texts};
use std::collections::BTreeSet;

/// Every complaint that the code makes has its text, every text is used, and all
/// values that a text names are given.
#[test]
fn complaints_and_texts_belong_together() {
    let sources = [
        include_str!("../../src/asking.rs"),
        include_str!("../../src/code_reply.rs"),
        include_str!("../../src/edit_reply.rs"),
        include_str!("../../src/isa_choice.rs"),
        include_str!("../../src/llm_proposer.rs"),
        include_str!("../../src/llm_tasks.rs"),
        include_str!("../../src/plan_reply.rs"),
    ];
    let mut used = BTreeSet::new();
    for source in sources {
        for mark in ["Complaint::of(", "text("] {
            for call in source.split(mark).skip(1) {
                let Some(call) = call.trim_start().strip_prefix('"') else {
                    continue;
                };
                let name = call.split('"').next().unwrap_or_default();
                let Some((_, text)) = texts().find(|(known, _)| *known == name) else {
                    panic!("the complaint {name} has no text");
                };
                let given = call.split_once("])").map_or(call, |(before, _)| before);
                for value in text.split('{').skip(1) {
                    let value = value.split('}').next().unwrap_or_default();
                    assert!(
                        given.contains(&format!("(\"{value}\"")),
                        "{name}: {value} is not given"
                    );
                }
                used.insert(name);
            }
        }
    }
    let all: BTreeSet<&str> = texts().map(|(name, _)| name).collect();
    assert_eq!(used, all);
}

#[test]
fn braces_in_values_mean_nothing() {
    let complaint = Complaint::of(
        "choice-unknown",
        &[("value", "\"{items}\""), ("items", "a, b")],
    );
    assert_eq!(
        complaint.0,
        "\"{items}\" is not in the list of optimizations; choose one of: a, b"
    );
}
