//! A run whose journal ends anywhere ends like an undisturbed one.
//!
//! Tests begin in the order of their names: the longest one begins first and has others
//! beside it to its end.

use crate::script::{copy_folder, events, history, method_settings, resume, run_whole, scratch};
use autocomp_core::{Duplicates, SearchSettings};
use autocomp_search::REGISTRY;
use autocomp_store::RunWriter;

/// Every beginning of a journal, whatever was written down together with what.
#[test]
fn every_beginning_of_every_strategy_leads_to_the_same_end() {
    let root = scratch();
    for strategy in REGISTRY {
        let name = strategy.name();
        let settings = SearchSettings {
            strategy: name.to_owned(),
            iterations: 3,
            max_evaluations: Some(30),
            beam: 2,
            plans: 2,
            duplicates: Duplicates::Code,
            confirm: 1,
            ..method_settings()
        };
        let whole = root.path().join(name);
        let undisturbed = run_whole(&whole, settings, 5, 2);
        let events = events(&whole);
        // The beam is gone through in full, for the others every third will do.
        let stride = if name == "beam" { 1 } else { 3 };
        for kept in (1..events.len()).step_by(stride) {
            let part = root.path().join(format!("{name}-{kept}"));
            let mut writer = RunWriter::create(&part).unwrap();
            for (idx, event) in events[..kept].iter().enumerate() {
                writer.append(event, idx as u64).unwrap();
            }
            copy_folder(&whole.join("blobs"), &part.join("blobs"));
            drop(writer);
            let end = resume(&part, 1 + kept % 8);
            assert_eq!(end.progress, undisturbed.progress, "{name}, {kept} events");
            assert_eq!(history(&part), history(&whole), "{name}, {kept} events");
        }
    }
}
