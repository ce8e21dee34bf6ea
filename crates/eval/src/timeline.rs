//! What happened when during a call, in the format that trace viewers read.

use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Events written at most: viewers do not like more.
const MAX_EVENTS: usize = 500_000;

/// Steps of a counter kept at most.
const MAX_STEPS: usize = 20_000;

/// Where an activity is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Track {
    /// What each cycle is spent on.
    Cause,
    /// Operations of the array.
    Array,
    /// Moves in.
    Load,
    /// Moves out.
    Store,
    /// Waits of the core.
    Core,
}

impl Track {
    const ALL: [Self; 5] = [
        Self::Cause,
        Self::Array,
        Self::Load,
        Self::Store,
        Self::Core,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Cause => "cause",
            Self::Array => "array",
            Self::Load => "load",
            Self::Store => "store",
            Self::Core => "core",
        }
    }
}

/// Something that takes some cycles.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Activity {
    /// Where it is drawn.
    pub track: Track,
    /// What it is.
    pub name: String,
    /// Cycle of the call at which it begins.
    pub start: u64,
    /// Cycles it takes.
    pub cycles: u64,
    /// Kernel line.
    pub line: Option<u32>,
    /// Bytes moved.
    pub bytes: Option<u64>,
}

/// A number that changes over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Counter {
    /// What is counted.
    pub name: &'static str,
    /// Cycle of the call and number from then on, in order.
    pub steps: Vec<(u64, u64)>,
}

impl Counter {
    /// Makes a counter; of very many steps only some are kept.
    pub(crate) fn new(name: &'static str, steps: Vec<(u64, u64)>) -> Self {
        let every = steps.len().div_ceil(MAX_STEPS).max(1);
        let last = steps.len().saturating_sub(1);
        let kept = steps.into_iter().enumerate();
        Self {
            name,
            steps: kept
                .filter(|(idx, _)| idx % every == 0 || *idx == last)
                .map(|(_, step)| step)
                .collect(),
        }
    }
}

/// What happened when.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Timeline {
    /// Activities in no order.
    pub activities: Vec<Activity>,
    /// Counters.
    pub counters: Vec<Counter>,
}

impl Timeline {
    /// Returns the timeline in Chrome's trace event format, which Perfetto
    /// opens: one microsecond stands for one cycle. Activities at the same
    /// time on one track are put on lanes of their own.
    #[must_use]
    pub fn chrome_trace(&self) -> Value {
        let mut activities: Vec<&Activity> = self.activities.iter().collect();
        activities.sort_by_key(|it| (it.start, it.track, std::cmp::Reverse(it.cycles)));
        let left_out = activities.len().saturating_sub(MAX_EVENTS);
        activities.truncate(MAX_EVENTS);
        let mut lanes: BTreeMap<Track, Vec<u64>> = BTreeMap::new();
        let mut events = Vec::with_capacity(activities.len());
        for activity in activities {
            let free_from = lanes.entry(activity.track).or_default();
            let end = activity.start + activity.cycles;
            let lane = match free_from.iter().position(|from| *from <= activity.start) {
                Some(lane) => {
                    free_from[lane] = end;
                    lane
                }
                None => {
                    free_from.push(end);
                    free_from.len() - 1
                }
            };
            let mut arguments = serde_json::Map::new();
            if let Some(line) = activity.line {
                arguments.insert("line".to_owned(), line.into());
            }
            if let Some(bytes) = activity.bytes {
                arguments.insert("bytes".to_owned(), bytes.into());
            }
            events.push(json!({
                "name": activity.name,
                "cat": activity.track.name(),
                "ph": "X",
                "ts": activity.start,
                "dur": activity.cycles,
                "pid": 1,
                "tid": thread(activity.track, lane),
                "args": arguments,
            }));
        }
        let mut all = vec![json!({
            "name": "process_name", "ph": "M", "ts": 0, "pid": 1, "tid": 0,
            "args": { "name": "kernel (1 us = 1 cycle)" },
        })];
        for (track, free_from) in &lanes {
            for lane in 0..free_from.len() {
                let name = match lane {
                    0 => track.name().to_owned(),
                    _ => format!("{} {}", track.name(), lane + 1),
                };
                all.push(json!({
                    "name": "thread_name", "ph": "M", "ts": 0, "pid": 1,
                    "tid": thread(*track, lane), "args": { "name": name },
                }));
            }
        }
        for counter in &self.counters {
            for (cycle, value) in &counter.steps {
                all.push(json!({
                    "name": counter.name, "ph": "C", "ts": cycle, "pid": 1,
                    "args": { "rows": value },
                }));
            }
        }
        all.append(&mut events);
        json!({
            "displayTimeUnit": "ns",
            "otherData": { "unit": "1 us = 1 cycle", "events_left_out": left_out },
            "traceEvents": all,
        })
    }
}

fn thread(track: Track, lane: usize) -> usize {
    let place = Track::ALL.iter().position(|it| *it == track).unwrap_or(0);
    (place + 1) * 100 + lane
}

#[cfg(test)]
mod tests {
    use super::*;

    fn activity(start: u64, cycles: u64) -> Activity {
        Activity {
            track: Track::Load,
            name: "move in".into(),
            start,
            cycles,
            line: Some(3),
            bytes: None,
        }
    }

    #[test]
    fn events_are_in_order_and_those_on_one_lane_do_not_overlap() {
        let timeline = Timeline {
            activities: vec![
                activity(5, 10),
                activity(0, 8),
                activity(8, 4),
                activity(15, 1),
            ],
            counters: vec![Counter::new("rows", vec![(0, 1), (9, 4)])],
        };
        let trace = timeline.chrome_trace();
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
        assert_eq!((spans, ends.len()), (4, 2));
    }
}
