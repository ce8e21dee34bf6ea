//! Tests of this crate from outside, in one program.

#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

mod hostile;
mod parts;
mod recordings;
mod reports;
mod synthetic;

use autocomp_reports::RunData;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Copies the recorded run of the program's tests, since opening a run may write into it.
fn recorded_run() -> (TempDir, RunData) {
    let place = TempDir::new().unwrap();
    let from = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../autocomp/tests/data/recorded-run"
    );
    let folder = place.path().join("recorded-run");
    copy(Path::new(from), &folder);
    let run = RunData::open_with_history(&folder).unwrap();
    (place, run)
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Makes up a run in which every text of others is `text`.
fn made_up_run(evaluations: u32, text: &str) -> (TempDir, RunData) {
    let place = TempDir::new().unwrap();
    let folder = place.path().join("run");
    let shape = synthetic::Shape {
        evaluations,
        text: text.to_owned(),
        seed: 7,
    };
    synthetic::write_run(&folder, &shape);
    let run = RunData::open(&folder).unwrap();
    (place, run)
}
