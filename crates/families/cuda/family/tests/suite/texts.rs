//! Texts that are data.

use crate::told::each_is_told;
use autocomp_cuda::inside::TEXTS;
use autocomp_cuda_sim::timing::Removal;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .flat_map(|path| match path.is_dir() {
            true => files(&path),
            false => vec![path],
        })
        .collect()
}

fn sources(folder: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let texts = files(&folder).into_iter();
    let texts = texts.map(|path| std::fs::read_to_string(path).unwrap_or_default());
    texts.collect()
}

#[test]
fn each_part_of_the_time_has_its_words() {
    let estimate = sources("../sim/src/timing");
    let told = &TEXTS.parts;
    for name in told.names() {
        let part = told.of(name);
        assert!(!part.words.is_empty() && !part.remedy.is_empty(), "{name}");
        let is_named = estimate.contains(&format!("\"{name}\"")) || name == "launch";
        assert!(is_named, "no part is called {name}");
    }
    let list = estimate.split("let mut parts: Vec<Part> = [").nth(1);
    let list = list.and_then(|it| it.split("\n        ]").next());
    let list = list.expect("the list of parts");
    let names: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
    assert!(15 < names.len(), "{names:?}");
    for name in names.into_iter().chain(["alone"]) {
        assert!(told.get(name).is_some(), "{name} has no words");
    }
}

#[test]
fn each_remedy_is_for_a_code() {
    let code = sources("src");
    for name in TEXTS.remedies.names() {
        assert!(code.contains(&format!("\"{name}\"")), "no code {name}");
        assert!(!TEXTS.remedies.of(name).is_empty(), "{name}");
    }
}

/// What the program says is what the file has: a sentence that is not there would be empty.
#[test]
fn each_sentence_is_said_and_there_is_each_that_is() {
    let code = [
        sources("src/feedback"),
        sources("src/device"),
        include_str!("../../src/feedback.rs").to_owned(),
    ]
    .concat();
    let there: BTreeSet<&str> = TEXTS.sentences.names().collect();
    each_is_told(&code, &there, &["say(", "filled(", "sentences.of("]);
    for name in there {
        assert!(!TEXTS.sentences.of(name).is_empty(), "{name}");
    }
}

#[test]
fn each_experiment_has_its_words_and_nothing_else_has() {
    let told: BTreeSet<&str> = TEXTS.experiments.names().collect();
    let names: BTreeSet<&str> = Removal::ALL.iter().map(|it| it.name()).collect();
    assert_eq!(told, names);
    for name in told {
        assert!(TEXTS.experiments.of(name).starts_with("if "), "{name}");
    }
}

#[test]
fn the_table_of_costs_has_each_figure_that_there_is() {
    let machine = include_str!("../../../../../../targets/cuda-sm89/machines/l40s.toml");
    let machine = autocomp_cuda_sim::timing::Machine::parse(machine);
    let machine = machine.unwrap_or_else(|error| panic!("{error}"));
    let mut text = TEXTS.rates.clone();
    for (name, value) in autocomp_cuda_sim::timing::rates(&machine) {
        let name = format!("{{{name}}}");
        assert!(TEXTS.rates.contains(&name), "{name} stands nowhere");
        text = text.replace(&name, &value);
    }
    assert!(!text.contains('{'), "{text}");
}
