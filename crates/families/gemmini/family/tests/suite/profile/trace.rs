//! Timelines as traces: that they are in the format, and what they show.

use super::{baseline, profile};
use autocomp_eval::timeline::Timeline;
use autocomp_gemmini_family::tracks;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Formatter;

/// Returns the trace of a timeline as a text.
pub fn trace(timeline: &Timeline) -> Vec<u8> {
    let mut text = Vec::new();
    let written = timeline.write_chrome_trace("a kernel", &mut text);
    assert_eq!(written.expect("memory").cut_at, None);
    text
}

/// A trace, read at once: as values without a type, hundreds of thousands of events take
/// longer than what they are of.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Trace<'t> {
    display_time_unit: &'t str,
    #[serde(borrow, rename = "otherData")]
    _other_data: BTreeMap<&'t str, Value>,
    #[serde(borrow)]
    trace_events: Vec<Event<'t>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Event<'t> {
    ph: &'t str,
    #[serde(borrow)]
    name: Cow<'t, str>,
    pid: u64,
    tid: Option<u64>,
    ts: Option<u64>,
    dur: Option<u64>,
    #[serde(borrow)]
    args: Arguments<'t>,
}

/// The arguments of an event in their order, each of them once.
#[derive(Debug)]
struct Arguments<'t>(Vec<(Cow<'t, str>, Argument<'t>)>);

#[derive(Debug)]
enum Argument<'t> {
    Number,
    Text(Cow<'t, str>),
}

impl Arguments<'_> {
    fn get(&self, name: &str) -> Option<&Argument<'_>> {
        let mut all = self.0.iter();
        all.find(|(of, _)| of == name).map(|(_, value)| value)
    }

    fn text(&self, name: &str) -> &str {
        match self.get(name) {
            Some(Argument::Text(text)) => text,
            other => panic!("{name}: {other:?}"),
        }
    }
}

impl<'de: 't, 't> Deserialize<'de> for Arguments<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Arguments<'de>;

            fn expecting(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("an object of numbers and texts")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Arguments(Vec::new());
                while let Some((name, value)) = map.next_entry::<Text<'de>, Argument<'de>>()? {
                    if members.get(&name.0).is_some() {
                        return Err(A::Error::custom(format!("{} is there twice", name.0)));
                    }
                    members.0.push((name.0, value));
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Members)
    }
}

#[derive(Deserialize)]
struct Text<'t>(#[serde(borrow)] Cow<'t, str>);

impl<'de: 't, 't> Deserialize<'de> for Argument<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Argument<'de>;

            fn expecting(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("a number or a text")
            }

            fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
                Ok(Argument::Number)
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Argument::Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Argument::Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

/// Checks a trace against the published description of the trace event format
/// ("Trace Event Format", Google, 2016), as strictly as it can be read: the
/// fields that each phase needs, their types, order, nesting.
pub fn check_trace(text: &[u8]) {
    let trace: Trace<'_> = serde_json::from_slice(text).expect("a trace");
    assert!(["ms", "ns"].contains(&trace.display_time_unit));
    let mut names: BTreeMap<u64, String> = BTreeMap::new();
    let mut ends: BTreeMap<u64, u64> = BTreeMap::new();
    let mut counters: BTreeMap<String, u64> = BTreeMap::new();
    let mut last = 0;
    for event in &trace.trace_events {
        let number = |number: Option<u64>| number.unwrap_or_else(|| panic!("{event:?}"));
        let (name, arguments) = (event.name.as_ref(), &event.args);
        assert!(!name.is_empty());
        assert_eq!(event.pid, 1);
        match event.ph {
            "M" => match name {
                "process_name" => assert!(arguments.text("name").contains("cycle")),
                "thread_name" => {
                    let name = arguments.text("name").to_owned();
                    assert!(
                        names.insert(number(event.tid), name).is_none(),
                        "named twice"
                    );
                }
                "thread_sort_index" => {
                    let index = arguments.get("sort_index");
                    assert!(matches!(index, Some(Argument::Number)));
                }
                other => panic!("metadata {other}"),
            },
            "X" => {
                let (start, thread) = (number(event.ts), number(event.tid));
                assert!(names.contains_key(&thread), "a thread without a name");
                assert!(last <= start, "not in order of time");
                last = start;
                let end = ends.entry(thread).or_default();
                assert!(*end <= start, "overlap on one thread");
                *end = start + number(event.dur);
            }
            "C" => {
                let time = number(event.ts);
                match counters.get_mut(name) {
                    Some(at) => {
                        assert!(*at <= time, "counters go back");
                        *at = time;
                    }
                    None => drop(counters.insert(name.to_owned(), time)),
                }
                let is_number = |(_, value): &(_, Argument<'_>)| matches!(value, Argument::Number);
                assert!(!arguments.0.is_empty() && arguments.0.iter().all(is_number));
            }
            other => panic!("phase {other}"),
        }
    }
    assert!((2..=5).contains(&counters.len()));
    let mut events = trace.trace_events.iter();
    let first = events.find(|it| it.name == "thread_name");
    assert_eq!(first.expect("a track").args.text("name"), "cause");
    assert!(!ends.is_empty());
}

#[test]
fn the_trace_names_lines_and_counts_rows() {
    let (profile, timeline) = profile(baseline());
    let trace: Value = serde_json::from_slice(&trace(&timeline)).expect("JSON");
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
