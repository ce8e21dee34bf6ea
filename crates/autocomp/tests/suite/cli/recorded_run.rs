//! A run that was recorded before costs had units opens, shows and replays.

use super::program::{Place, copy, data};
use std::path::Path;

#[test]
fn a_run_of_an_older_version_shows_and_replays_to_the_cycle() {
    let place = Place::new();
    copy(Path::new(&data("recorded-run")), &place.path().join("old"));
    let (code, shown) = place.json(&["show", "old"]);
    assert_eq!(code, Some(0), "{shown}");
    let cycles: Vec<u64> = shown["lineage"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["cycles"].as_u64().unwrap())
        .collect();
    assert_eq!(cycles, [225_108, 83_138, 74_703]);
    assert_eq!(shown["lineage"][2]["cost"]["unit"], "cycles");
    let (code, replayed) = place.json(&["optimize", "--replay", "old", "--run-dir", "new"]);
    assert_eq!(code, Some(0), "{replayed}");
    assert_eq!(replayed["baseline_cycles"], 225_108);
    assert_eq!(replayed["best_cycles"], 74_703);
    assert_eq!(replayed["outcomes"]["ok"], 12);
    let ended = place.call(&["optimize", "--resume", "old", "--max-evaluations", "20"]);
    assert_ne!(ended.code, Some(0), "it is finished");
}
