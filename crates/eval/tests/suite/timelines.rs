//! Timelines as traces.

use autocomp_eval::timeline::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const CAUSE: Track = Track {
    place: 0,
    name: "cause",
};
const LOAD: Track = Track {
    place: 4,
    name: "load",
};

fn activity(start: u64, duration: u64) -> Activity {
    Activity {
        line: Some(3),
        ..Activity::new(LOAD, "move in A", start, duration)
    }
}

fn written(timeline: &Timeline) -> (Value, WrittenTrace) {
    let mut out = Vec::new();
    let written = timeline
        .write_chrome_trace("a \"title\"", &mut out)
        .expect("memory");
    (serde_json::from_slice(&out).expect("JSON"), written)
}

#[test]
fn events_are_in_order_and_those_on_one_lane_do_not_overlap() {
    let timeline = Timeline {
        unit: "cycle",
        activities: vec![
            activity(5, 10),
            activity(0, 8),
            activity(8, 4),
            activity(15, 1),
            Activity::new(CAUSE, "mesh", 2, 3),
        ],
        counters: vec![Counter::new("row buffer", "rows", vec![(0, 1), (9, 4)])],
        texts: [(3, "copy(\"A\");".to_owned())].into(),
    };
    let (trace, summary) = written(&timeline);
    assert_eq!((summary.events, summary.cut_at), (7, None));
    let events = trace["traceEvents"].as_array().expect("a list");
    let mut last = 0;
    let mut ends: BTreeMap<u64, u64> = BTreeMap::new();
    let mut spans = 0;
    for event in events.iter().filter(|event| event["ph"] == "X") {
        let number = |key: &str| event[key].as_u64().expect("a number");
        assert!(last <= number("ts"));
        last = number("ts");
        let end = ends.entry(number("tid")).or_default();
        assert!(*end <= last);
        *end = last + number("dur");
        spans += 1;
    }
    assert_eq!((spans, ends.len()), (5, 3));
    let names = events.iter().filter(|event| event["name"] == "thread_name");
    let names: Vec<(u64, &str)> = names
        .filter_map(|it| Some((it["tid"].as_u64()?, it["args"]["name"].as_str()?)))
        .collect();
    assert_eq!(names, [(100, "cause"), (500, "load"), (501, "load")]);
    let moves = events.iter().find(|event| event["name"] == "move in A");
    assert_eq!(
        moves.expect("a move")["args"],
        json!({ "line": 3, "source": "copy(\"A\");" })
    );
}

#[test]
fn too_many_activities_are_cut_off_at_a_cycle_that_is_told() {
    let timeline = Timeline {
        activities: (0..10).map(|at| activity(10 - at, 1)).collect(),
        ..Timeline::default()
    };
    let (kept, cut_at) = timeline.in_order(4);
    assert_eq!(cut_at, Some(5));
    assert!(kept.iter().all(|it| it.start < 5));
}

#[test]
fn a_counter_with_very_many_steps_keeps_its_peak_and_its_end() {
    let steps = (0..1_000_000).map(|at| (at, if at == 777_777 { 9 } else { at % 2 }));
    let counter = Counter::new(
        "row buffer",
        "rows",
        steps.chain([(1_000_000, 5)]).collect(),
    );
    assert!(counter.steps.len() <= MAX_STEPS + 1);
    assert_eq!(counter.steps.iter().map(|it| it.1).max(), Some(9));
    assert_eq!(counter.steps.last(), Some(&(1_000_000, 5)));
    let still = Counter::new("row buffer", "rows", vec![(0, 2), (4, 2), (6, 3)]);
    assert_eq!(still.steps, [(0, 2), (6, 3)]);
}
