//! A trace as it is kept, and the parts of it that pages get.

use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

/// Activities on tracks.
pub struct Timeline {
    unit: String,
    end: u64,
    /// What activities are, that which takes longest first.
    names: Vec<String>,
    /// When each of them is done on any track: intervals in order, apart from each other.
    times: Vec<Vec<(u64, u64)>>,
    tracks: Vec<Track>,
}

struct Track {
    name: String,
    /// In order; none overlaps another.
    spans: Vec<Span>,
}

struct Span {
    from: u64,
    to: u64,
    name: u32,
    line: u32,
}

/// A trace in Chrome's format, as far as it is shown.
#[derive(Deserialize)]
struct Trace<'a> {
    #[serde(rename = "otherData", default)]
    about: BTreeMap<String, Value>,
    #[serde(rename = "traceEvents", borrow)]
    events: Vec<TraceEvent<'a>>,
}

#[derive(Deserialize)]
struct TraceEvent<'a> {
    ph: Cow<'a, str>,
    #[serde(default)]
    tid: u64,
    #[serde(default)]
    ts: u64,
    #[serde(default)]
    dur: u64,
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(default)]
    args: Arguments,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Arguments {
    line: u32,
    name: Option<String>,
}

impl Timeline {
    /// Reads a trace.
    pub fn read(text: &str) -> serde_json::Result<Self> {
        let trace: Trace = serde_json::from_str(text)?;
        let mut tracks: BTreeMap<u64, Track> = BTreeMap::new();
        let mut names: Vec<String> = Vec::new();
        let mut known: HashMap<Cow<'_, str>, u32> = HashMap::new();
        let mut end = 0;
        for event in trace.events {
            match &*event.ph {
                "M" if event.name == "thread_name" => {
                    tracks.insert(
                        event.tid,
                        Track {
                            name: event.args.name.unwrap_or_default(),
                            spans: Vec::new(),
                        },
                    );
                }
                "X" => {
                    let Some(track) = tracks.get_mut(&event.tid) else {
                        continue;
                    };
                    let next = names.len() as u32;
                    let name = *known.entry(event.name.clone()).or_insert_with(|| {
                        names.push(event.name.clone().into_owned());
                        next
                    });
                    let to = event.ts.saturating_add(event.dur.max(1));
                    end = end.max(to);
                    track.spans.push(Span {
                        from: event.ts,
                        to,
                        name,
                        line: event.args.line,
                    });
                }
                _ => {}
            }
        }
        let mut tracks: Vec<Track> = tracks.into_values().collect();
        tracks.retain(|track| !track.spans.is_empty());
        for track in &mut tracks {
            track.spans.sort_by_key(|it| it.from);
        }
        let times = order_names(&mut names, &mut tracks);
        let unit = trace.about.get("unit").and_then(Value::as_str);
        let unit = unit.and_then(|it| it.rsplit(' ').next());
        Ok(Self {
            unit: unit.unwrap_or("us").to_owned(),
            end,
            names,
            times,
            tracks,
        })
    }

    /// Returns what there is between two times: spans as they are where they are as wide as a
    /// column, otherwise what takes most of each column and how much of it is busy. `busy` is
    /// how long each activity goes on there, on however many tracks.
    pub fn part(&self, from: u64, to: Option<u64>, columns: usize) -> Value {
        let to = to.unwrap_or(self.end).clamp(1, self.end.max(1));
        let from = from.min(to - 1);
        let width = ((to - from) as f64 / columns as f64).max(1.0);
        let tracks: Vec<Value> = self
            .tracks
            .iter()
            .map(|track| json!({ "name": track.name, "spans": track.part(from, to, width) }))
            .collect();
        json!({
            "unit": self.unit,
            "end": self.end,
            "from": from,
            "to": to,
            "names": self.names,
            "busy": self.times.iter().map(|it| within(it, from, to)).collect::<Vec<u64>>(),
            "tracks": tracks,
        })
    }
}

/// Sorts names by how long what they stand for goes on, and returns when that is.
fn order_names(names: &mut Vec<String>, tracks: &mut [Track]) -> Vec<Vec<(u64, u64)>> {
    let mut times: Vec<Vec<(u64, u64)>> = vec![Vec::new(); names.len()];
    for span in tracks.iter().flat_map(|track| &track.spans) {
        times[span.name as usize].push((span.from, span.to));
    }
    for spans in &mut times {
        spans.sort_unstable();
        // Those that touch or overlap become one.
        spans.dedup_by(|next, before| {
            let joins = next.0 <= before.1;
            if joins {
                before.1 = before.1.max(next.1);
            }
            joins
        });
    }
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|place| std::cmp::Reverse(within(&times[*place], 0, u64::MAX)));
    let mut place_of = vec![0; names.len()];
    for (place, name) in order.iter().enumerate() {
        place_of[*name] = place as u32;
    }
    for span in tracks.iter_mut().flat_map(|track| &mut track.spans) {
        span.name = place_of[span.name as usize];
    }
    *names = order
        .iter()
        .map(|it| std::mem::take(&mut names[*it]))
        .collect();
    order
        .iter()
        .map(|it| std::mem::take(&mut times[*it]))
        .collect()
}

/// Returns how much of `intervals` lies between two times.
fn within(intervals: &[(u64, u64)], from: u64, to: u64) -> u64 {
    let first = intervals.partition_point(|it| it.1 <= from);
    let seen = intervals[first..].iter().take_while(|it| it.0 < to);
    seen.map(|it| it.1.min(to) - it.0.max(from)).sum()
}

/// A column of a track in which several activities are.
#[derive(Default)]
struct Column {
    number: u64,
    busy: u64,
    by_name: Vec<(u32, u64, u32)>,
}

impl Track {
    /// Spans as `[from, to, name, line, percent of it that is busy]`.
    fn part(&self, from: u64, to: u64, width: f64) -> Vec<[u64; 5]> {
        let mut out = Vec::new();
        let mut column = Column::default();
        let flush = |column: &mut Column, out: &mut Vec<[u64; 5]>| {
            if let Some(most) = column.by_name.iter().max_by_key(|it| it.1) {
                let begin = from + (column.number as f64 * width) as u64;
                let end = (from + ((column.number + 1) as f64 * width) as u64).max(begin + 1);
                let busy = (100 * column.busy / (end - begin)).clamp(1, 100);
                out.push([
                    begin,
                    end.min(to),
                    u64::from(most.0),
                    u64::from(most.2),
                    busy,
                ]);
            }
            *column = Column::default();
        };
        let first = self.spans.partition_point(|it| it.to <= from);
        for span in &self.spans[first..] {
            if to <= span.from {
                break;
            }
            let (begin, end) = (span.from.max(from), span.to.min(to));
            let length = end - begin;
            if 2.0 * width <= length as f64 || width <= 1.0 {
                flush(&mut column, &mut out);
                let (name, line) = (u64::from(span.name), u64::from(span.line));
                out.push([begin, end, name, line, 100]);
                continue;
            }
            let number = ((begin - from) as f64 / width) as u64;
            if number != column.number {
                flush(&mut column, &mut out);
                column.number = number;
            }
            column.busy += length;
            match column.by_name.iter_mut().find(|it| it.0 == span.name) {
                Some(it) => it.1 += length,
                None => column.by_name.push((span.name, length, span.line)),
            }
        }
        flush(&mut column, &mut out);
        out
    }
}
