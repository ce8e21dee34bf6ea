//! What happened when during a call, in the format that trace viewers read.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io;
use std::sync::{Mutex, PoisonError};

/// Activities written at most; a file of them has some 200 MB, which viewers
/// still open.
const MAX_ACTIVITIES: usize = 2_000_000;

/// Steps of a counter kept at most.
pub const MAX_STEPS: usize = 50_000;

/// Characters of a source line given with an activity.
const TEXT_SHOWN: usize = 40;

/// Lanes of a track at most; there are no more moves under way at a time.
const LANES: usize = 100;

/// Process of all tracks: there is one call.
const PROCESS: u32 = 1;

/// A name of a track, a counter or a unit.
pub type Name = &'static str;

/// Names of tracks, counters and units that came from elsewhere: few, so they are kept for ever.
static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// Names that are kept at most.
const MOST_NAMES: usize = 10_000;

fn kept<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static str, D::Error> {
    let name = Cow::<'de, str>::deserialize(deserializer)?;
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name.as_ref()) {
        return Ok(known);
    }
    if MOST_NAMES <= names.len() {
        return Err(serde::de::Error::custom("too many names of tracks"));
    }
    let name: &'static str = Box::leak(name.into_owned().into_boxed_str());
    names.insert(name);
    Ok(name)
}

/// Where an activity is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Track {
    /// Place from top to bottom, from 0.
    pub place: u8,
    /// What viewers show.
    #[serde(deserialize_with = "kept")]
    pub name: Name,
}

impl Track {
    /// Returns the number of the thread that stands for a lane. Viewers show it
    /// behind the name.
    fn thread(self, lane: usize) -> usize {
        (usize::from(self.place) + 1) * LANES + lane
    }
}

/// Something that takes some time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Activity {
    /// Where it is drawn.
    pub track: Track,
    /// What it is.
    pub name: Cow<'static, str>,
    /// When it begins, in units of the timeline since the call.
    pub start: u64,
    /// How long it takes, in the same units.
    pub duration: u64,
    /// Kernel line.
    pub line: Option<u32>,
    /// Kernel line that it holds up, if that is another one.
    pub holds_up: Option<u32>,
    /// Bytes moved.
    pub bytes: Option<u64>,
    /// How much of it something else is waited for.
    pub waits: Option<u64>,
}

impl Activity {
    /// Makes an activity about which no more is known.
    #[must_use]
    pub fn new(
        track: Track,
        name: impl Into<Cow<'static, str>>,
        start: u64,
        duration: u64,
    ) -> Self {
        Self {
            track,
            name: name.into(),
            start,
            duration,
            line: None,
            holds_up: None,
            bytes: None,
            waits: None,
        }
    }
}

/// A number that changes over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counter {
    /// What has it.
    #[serde(deserialize_with = "kept")]
    pub of: Name,
    /// What is counted.
    #[serde(deserialize_with = "kept")]
    pub name: Name,
    /// Time since the call and number from then on, in order.
    pub steps: Vec<(u64, u64)>,
}

impl Counter {
    /// Makes a counter. Steps that change nothing are left out; of very many,
    /// only the highest of neighbouring ones are kept, so that peaks are exact.
    pub fn new(of: &'static str, name: &'static str, mut steps: Vec<(u64, u64)>) -> Self {
        steps.dedup_by_key(|(_, value)| *value);
        let Some(last) = steps.last().copied() else {
            return Self { of, name, steps };
        };
        let every = steps.len().div_ceil(MAX_STEPS).max(1);
        if 1 < every {
            let highest = |steps: &[(u64, u64)]| {
                let value = steps.iter().map(|(_, value)| *value).max();
                (steps[0].0, value.unwrap_or(0))
            };
            steps = steps.chunks(every).map(highest).collect();
            steps.push(last);
        }
        Self { of, name, steps }
    }
}

/// What was written of a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct WrittenTrace {
    /// Activities and steps of counters.
    pub events: usize,
    /// Time from which on activities were left out, because there are too
    /// many of them.
    pub cut_at: Option<u64>,
}

/// What happened when.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// What one step of time is (`cycle`).
    #[serde(deserialize_with = "kept")]
    pub unit: Name,
    /// Activities in no order.
    pub activities: Vec<Activity>,
    /// Counters.
    pub counters: Vec<Counter>,
    /// Texts of the lines that activities name.
    pub texts: BTreeMap<u32, String>,
}

impl Timeline {
    /// Writes the timeline in Chrome's trace event format, which Perfetto
    /// opens: one microsecond stands for one unit, `title` is shown above the
    /// tracks. Activities at the same time on one track are put on lanes of
    /// their own.
    ///
    /// # Errors
    ///
    /// What writing to `out` fails with.
    pub fn write_chrome_trace(
        &self,
        title: &str,
        out: &mut impl io::Write,
    ) -> io::Result<WrittenTrace> {
        let (activities, cut_at) = self.in_order(MAX_ACTIVITIES);
        let placed = lanes(&activities);
        let unit = self.unit;
        write!(out, "{{\"displayTimeUnit\":\"ns\",\"otherData\":")?;
        let about = json!({
            "title": title, "unit": format!("1 us = 1 {unit}"),
            (format!("activities_left_out_from_{unit}")): cut_at,
        });
        write!(out, "{about},\"traceEvents\":[")?;
        let name = json!({
            "ph": "M", "pid": PROCESS, "name": "process_name",
            "args": { "name": format!("{title}, 1 us = 1 {unit}") },
        });
        write!(out, "\n{name}")?;
        for (track, lane) in placed.used() {
            let (thread, name) = (track.thread(lane), track.name);
            for (what, arguments) in [
                ("thread_name", json!({ "name": name })),
                ("thread_sort_index", json!({ "sort_index": thread })),
            ] {
                let event = json!({
                    "ph": "M", "pid": PROCESS, "tid": thread, "name": what, "args": arguments,
                });
                write!(out, ",\n{event}")?;
            }
        }
        let mut events = 0;
        for counter in &self.counters {
            // Viewers show both names, one behind the other.
            let (of, name) = (Value::from(counter.of), Value::from(counter.name));
            for (time, value) in &counter.steps {
                write!(
                    out,
                    ",\n{{\"ph\":\"C\",\"pid\":{PROCESS},\"ts\":{time},\"name\":{of},\"args\":{{{name}:{value}}}}}",
                )?;
                events += 1;
            }
        }
        let arguments = Arguments::of(self);
        let mut event = String::new();
        for (activity, lane) in activities.iter().zip(&placed.of) {
            let thread = activity.track.thread(*lane);
            event.clear();
            // Texts take everything.
            let _ = write!(
                event,
                ",\n{{\"ph\":\"X\",\"pid\":{PROCESS},\"tid\":{thread},\"ts\":{},\"dur\":{},\"name\":{},\"args\":{{",
                activity.start,
                activity.duration,
                Value::from(activity.name.as_ref()),
            );
            arguments.write(activity, &mut event);
            event.push_str("}}");
            out.write_all(event.as_bytes())?;
            events += 1;
        }
        writeln!(out, "\n]}}")?;
        Ok(WrittenTrace { events, cut_at })
    }

    /// Returns at most `limit` activities in order, and the time from which on
    /// some are missing.
    #[doc(hidden)]
    #[must_use]
    pub fn in_order(&self, limit: usize) -> (Vec<&Activity>, Option<u64>) {
        let mut activities: Vec<&Activity> = self.activities.iter().collect();
        activities.sort_by_key(|it| (it.start, it.track, std::cmp::Reverse(it.duration)));
        let cut_at = activities.get(limit).map(|it| it.start);
        activities.truncate(limit);
        (activities, cut_at)
    }
}

/// What is told with activities, made once for each line: there are hundreds of thousands.
struct Arguments {
    /// Lines with their text.
    lines: BTreeMap<u32, String>,
    waiting: String,
}

impl Arguments {
    fn of(timeline: &Timeline) -> Self {
        let lines = timeline.texts.iter().map(|(line, text)| {
            let text: String = text.chars().take(TEXT_SHOWN).collect();
            let text = Value::from(text);
            (*line, format!("\"line\":{line},\"source\":{text}"))
        });
        Self {
            lines: lines.collect(),
            waiting: Value::from(format!("{}s waiting", timeline.unit)).to_string(),
        }
    }

    /// Adds the members of an object.
    fn write(&self, activity: &Activity, out: &mut String) {
        let empty = out.len();
        if let Some(line) = activity.line {
            // Texts take everything.
            let _ = match self.lines.get(&line) {
                Some(told) => out.write_str(told),
                None => write!(out, "\"line\":{line}"),
            };
        }
        for (name, value) in [
            ("\"holds up line\"", activity.holds_up.map(u64::from)),
            ("\"bytes\"", activity.bytes),
            (self.waiting.as_str(), activity.waits.filter(|it| 0 < *it)),
        ] {
            if let Some(value) = value {
                let comma = if empty < out.len() { "," } else { "" };
                let _ = write!(out, "{comma}{name}:{value}");
            }
        }
    }
}

/// Lanes of activities in order.
struct Lanes {
    /// Lane of each.
    of: Vec<usize>,
    /// Lanes there are.
    count: BTreeMap<Track, usize>,
}

impl Lanes {
    fn used(&self) -> impl Iterator<Item = (Track, usize)> {
        let tracks = self.count.iter();
        tracks.flat_map(|(track, lanes)| (0..*lanes).map(|lane| (*track, lane)))
    }
}

/// Gives each activity the first lane of its track that is free when it begins.
fn lanes(activities: &[&Activity]) -> Lanes {
    let mut free_from: BTreeMap<Track, Vec<u64>> = BTreeMap::new();
    let mut of = Vec::with_capacity(activities.len());
    for activity in activities {
        let lanes = free_from.entry(activity.track).or_default();
        let free = lanes.iter().position(|from| *from <= activity.start);
        let lane = free.unwrap_or(lanes.len());
        let end = activity.start + activity.duration;
        match lanes.get_mut(lane) {
            Some(from) => *from = end,
            None => lanes.push(end),
        }
        of.push(lane);
    }
    let count = free_from.iter().map(|(track, it)| (*track, it.len()));
    Lanes {
        of,
        count: count.collect(),
    }
}
