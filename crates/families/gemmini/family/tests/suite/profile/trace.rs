//! Timelines as traces: that they are in the format, and what they show.

use super::{baseline, profile};
use autocomp_eval::timeline::Timeline;
use autocomp_gemmini_family::tracks;
use std::collections::BTreeMap;

pub fn trace(timeline: &Timeline) -> serde_json::Value {
    let mut text = Vec::new();
    let written = timeline.write_chrome_trace("a kernel", &mut text);
    assert_eq!(written.expect("memory").cut_at, None);
    serde_json::from_slice(&text).expect("JSON")
}

/// Checks a trace against the published description of the trace event format
/// ("Trace Event Format", Google, 2016), as strictly as it can be read: the
/// fields that each phase needs, their types, order, nesting.
pub fn check_trace(trace: &serde_json::Value) {
    let events = trace["traceEvents"].as_array().expect("a list of events");
    assert!(["ms", "ns"].contains(&trace["displayTimeUnit"].as_str().expect("a unit")));
    let mut names: BTreeMap<u64, String> = BTreeMap::new();
    let mut ends: BTreeMap<u64, u64> = BTreeMap::new();
    let mut counters: BTreeMap<String, u64> = BTreeMap::new();
    let mut last = 0;
    for event in events {
        let number = |key: &str| {
            event[key]
                .as_u64()
                .unwrap_or_else(|| panic!("{key}: {event}"))
        };
        let name = event["name"].as_str().expect("a name");
        assert!(!name.is_empty());
        assert_eq!(number("pid"), 1);
        let arguments = event["args"].as_object().expect("arguments");
        match event["ph"].as_str().expect("a phase") {
            "M" => {
                let told = || arguments["name"].as_str().expect("a name").to_owned();
                match name {
                    "process_name" => assert!(told().contains("cycle")),
                    "thread_name" => {
                        assert!(names.insert(number("tid"), told()).is_none(), "named twice");
                    }
                    "thread_sort_index" => assert!(arguments["sort_index"].is_u64()),
                    other => panic!("metadata {other}"),
                }
            }
            "X" => {
                let (start, thread) = (number("ts"), number("tid"));
                assert!(names.contains_key(&thread), "a thread without a name");
                assert!(last <= start, "not in order of time");
                last = start;
                let end = ends.entry(thread).or_default();
                assert!(*end <= start, "overlap on one thread");
                *end = start + number("dur");
            }
            "C" => {
                let at = counters.entry(name.to_owned()).or_default();
                assert!(*at <= number("ts"), "counters go back");
                *at = number("ts");
                assert!(!arguments.is_empty() && arguments.values().all(|it| it.is_u64()));
            }
            other => panic!("phase {other}"),
        }
    }
    assert!((2..=5).contains(&counters.len()));
    let first = events.iter().find(|it| it["name"] == "thread_name");
    assert_eq!(first.expect("a track")["args"]["name"], "cause");
    assert!(!ends.is_empty());
}

#[test]
fn the_trace_names_lines_and_counts_rows() {
    let (profile, timeline) = profile(baseline());
    let trace = trace(&timeline);
    let events = trace["traceEvents"].as_array().expect("a list");
    let most = |name: &str, of: &str| {
        let steps = events.iter().filter(|event| event["name"] == name);
        steps.filter_map(|it| it["args"][of].as_u64()).max()
    };
    assert_eq!(most("scratchpad", "rows in use"), profile.scratchpad.peak);
    assert_eq!(most("accumulator", "rows in use"), profile.accumulator.peak);
    assert_eq!(most("array", "entries in use"), Some(16));
    let moves = events.iter().filter(|event| event["name"] == "move in B");
    let lines: Vec<_> = moves
        .map(|it| (&it["args"]["line"], &it["args"]["source"]))
        .collect();
    let line = baseline().lines().nth(16).expect("a line").trim();
    let shown: String = line.chars().take(40).collect();
    assert!(
        !lines.is_empty()
            && lines
                .iter()
                .all(|it| *it.0 == 17 && *it.1 == shown.as_str()),
        "{lines:?}"
    );
    // Whatever the core does is one line after the other, until it returns.
    let core = timeline
        .activities
        .iter()
        .filter(|it| it.track == tracks::CORE);
    let mut at = 0;
    for it in core {
        assert!(at <= it.start, "{it:?}");
        at = it.start + it.duration;
    }
    assert_eq!(at, profile.core.issue_cycles);
}
