//! Parts of a timeline.

use autocomp_dashboard::inside::Timeline;
use serde_json::json;

#[test]
fn a_part_has_no_more_spans_than_columns() {
    let mut events = vec![json!({
        "ph": "M", "pid": 1, "tid": 100, "name": "thread_name", "args": { "name": "array" },
    })];
    events.extend((0..10_000u64).map(|idx| {
        json!({
            "ph": "X", "pid": 1, "tid": 100, "ts": idx * 10, "dur": 5,
            "name": if idx % 4 == 0 { "waits" } else { "multiplies" }, "args": { "line": 7 },
        })
    }));
    let trace = json!({ "otherData": { "unit": "1 us = 1 cycle" }, "traceEvents": events });
    let timeline = Timeline::read(&trace.to_string()).unwrap();
    let whole = timeline.part(0, None, 100);
    assert_eq!(
        (&whole["unit"], &whole["end"]),
        (&json!("cycle"), &json!(99_995))
    );
    let spans = whole["tracks"][0]["spans"].as_array().unwrap();
    assert!((90..=101).contains(&spans.len()), "{}", spans.len());
    for span in spans {
        assert_eq!(
            whole["names"][span[2].as_u64().unwrap() as usize],
            "multiplies"
        );
        assert!((45..=55).contains(&span[4].as_u64().unwrap()), "{span}");
    }
    // What takes longest comes first, and how long it takes does not depend on the columns.
    assert_eq!(whole["names"], json!(["multiplies", "waits"]));
    for columns in [1, 7, 100, 2_000] {
        assert_eq!(
            timeline.part(0, None, columns)["busy"],
            json!([37_500, 12_500])
        );
    }
    // Near enough, every activity is there as it is.
    let near = timeline.part(100, Some(200), 200);
    let spans = near["tracks"][0]["spans"].as_array().unwrap();
    assert_eq!(spans.len(), 10);
    assert_eq!(spans[0], json!([100, 105, 0, 7, 100]));
    assert_eq!(near["busy"], json!([40, 10]));
    // Nonsense from an address line is no panic.
    timeline.part(u64::MAX, Some(0), 1);
}

#[test]
fn what_goes_on_on_several_tracks_at_once_counts_once() {
    let mut events: Vec<_> = [100, 101]
        .map(|tid| {
            json!({
                "ph": "M", "pid": 1, "tid": tid, "name": "thread_name", "args": { "name": "DMA" },
            })
        })
        .into();
    for (tid, ts, dur) in [(100, 0, 10), (101, 5, 10), (100, 20, 5)] {
        events.push(json!({
            "ph": "X", "pid": 1, "tid": tid, "ts": ts, "dur": dur, "name": "load", "args": {},
        }));
    }
    let trace = json!({ "otherData": { "unit": "1 us = 1 ns" }, "traceEvents": events });
    let part = Timeline::read(&trace.to_string())
        .unwrap()
        .part(0, None, 10);
    assert_eq!((&part["busy"], &part["end"]), (&json!([20]), &json!(25)));
}
