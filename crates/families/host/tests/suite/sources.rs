//! Which sources decide that a result is known, and that a run goes on.

use std::path::Path;

include!("../../sources.rs");

/// Returns the files that are hashed, from the folder of this crate.
fn files(paths: &[&str]) -> Vec<String> {
    // Tests run in the folder of their crate.
    let found = autocomp_source_hash::files(paths, &[]).expect("folders");
    let text = |path: &Path| path.to_string_lossy().into_owned();
    found.iter().map(|path| text(path)).collect()
}

#[test]
fn comparison_and_catalog_count_and_schedules_do_not() {
    let (family, shared) = (files(FAMILY), files(SHARED));
    let has = |files: &[String], name: &str| files.iter().any(|file| file == name);
    for name in ["src/bench.rs", "src/bench/timing.rs"] {
        assert!(has(&family, name), "{name}");
    }
    let proposes = |file: &String| file.contains("nests/") || file.contains("c-loops/");
    assert!(!family.iter().chain(&shared).any(proposes));
    for name in [
        "../../eval/src/comparison/mod.rs",
        "../../catalog/src/distribution.rs",
        "../../native/runtime/runner.c",
        "../../native/src/reference.rs",
        "../../sandbox/src/lib.rs",
    ] {
        assert!(has(&shared, name), "{name}");
    }
}
