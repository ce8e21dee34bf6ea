//! Texts that are data.

use autocomp_cuda::inside::TEXTS;
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
